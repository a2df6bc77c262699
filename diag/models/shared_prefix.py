"""What all prompts of a batch begin with (system turn, examples, often the source) is run once, and its KV cache shared."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from diag.models.batches import forward_options, left_padded
from diag.models.model import Model

_LEAST = 24
"""Tokens from which sharing pays."""


class SharedBatch(NamedTuple):
    """Rows behind a prefix that they share: `[prefix][padding][rest]`, shape (rows, width)."""

    ids: Tensor
    mask: Tensor
    head: int
    """Tokens of the prefix, whose keys and values `cache` holds for every row; 0 where nothing is shared."""
    cache: Any


def share_prefix(
    model: Model, rows: Sequence[Sequence[int]], *, least_left: int = 1, least: int = _LEAST
) -> SharedBatch:
    """The rows as one batch, their common beginning of `least` tokens or more computed once.

    At least `least_left` tokens of each row are left to run.
    """
    head = _common(rows, least_left)
    cache = _prefill(model, rows[0][:head], len(rows)) if head >= least and len(rows) > 1 else None
    if cache is None:
        return SharedBatch(*left_padded(model, rows), 0, None)
    ids, mask = left_padded(model, [row[head:] for row in rows])
    first = torch.tensor([list(rows[0][:head])] * len(rows), device=ids.device)
    return SharedBatch(torch.cat([first, ids], 1), torch.cat([torch.ones_like(first), mask], 1), head, cache)


def _common(rows: Sequence[Sequence[int]], least_left: int) -> int:
    """Tokens that all rows begin with, so many of each row's not counted."""
    shortest = min(map(len, rows)) - least_left
    first = rows[0]
    for place in range(shortest):
        if any(row[place] != first[place] for row in rows):
            return place
    return max(shortest, 0)


def plain_layers(cache: Any) -> list[Any] | None:
    """A cache's layers where each holds plain keys and values of every position; None for any other cache."""
    from transformers.cache_utils import DynamicLayer

    layers = getattr(cache, "layers", None)
    if not layers or any(type(layer) is not DynamicLayer or not layer.is_initialized for layer in layers):
        return None
    return list(layers)


def _prefill(model: Model, prefix: Sequence[int], copies: int) -> Any:
    """The prefix's cache for each of the rows; None for an architecture whose cache or positions cannot be shared."""
    if "position_ids" not in inspect.signature(model.network.forward).parameters:
        return None
    ids = torch.tensor([list(prefix)], device=model.device)
    output: Any = model.network(input_ids=ids, use_cache=True, **forward_options(model, keep=1))
    layers = plain_layers(getattr(output, "cache", None))
    return None if layers is None else repeated_cache(layers, copies)


def repeated_cache(layers: Sequence[Any], copies: int, length: int | None = None) -> Any:
    """A new cache: the first `length` positions of a one-row cache's layers, for so many rows; the old one stays as it is."""
    from transformers import DynamicCache

    cache = DynamicCache()
    for index, layer in enumerate(layers):
        keys, values = layer.keys[:, :, :length], layer.values[:, :, :length]
        cache.update(keys.expand(copies, -1, -1, -1), values.expand(copies, -1, -1, -1), index)
    return cache
