"""Batches by length, left-padded, and the memory that each may take."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from diag.models.model import Model

_TOKENS_A_BATCH = 32_768
"""Rows times padded length: what bounds the KV cache of a batch."""


def batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Places of `lengths` in batches of at most `size`, alike in length, the longest first.

    The longest come first so that a batch that does not fit into memory fails at once.
    """
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    batch: list[int] = []
    for place in order:
        widest = lengths[batch[0]] if batch else lengths[place]
        if batch and (len(batch) == size or (len(batch) + 1) * widest > _TOKENS_A_BATCH):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def left_padded(model: Model, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token ids and attention mask, shape (rows, longest row), padded on the left."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), model.pad_id, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for index, row in enumerate(rows):
        if row:
            ids[index, width - len(row) :] = torch.tensor(list(row))
            mask[index, width - len(row) :] = 1
    return ids.to(model.device), mask.to(model.device)


def forward_options(model: Model, *, mask: Tensor | None = None, keep: int = 0) -> dict[str, Any]:
    """What a forward call of this architecture understands: positions under left padding, logits of the last `keep` alone."""
    known = inspect.signature(model.network.forward).parameters
    options: dict[str, Any] = {}
    if mask is not None:
        options["attention_mask"] = mask
        if "position_ids" in known:
            options["position_ids"] = (mask.cumsum(-1) - 1).clamp_min(0)
    if keep and "logits_to_keep" in known:
        options["logits_to_keep"] = keep
    return options
