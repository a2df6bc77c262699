"""Log-probabilities of several continuations of one prefix, its KV cache computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from diag.models.batches import forward_options
from diag.models.model import Model

_TOKENS_AT_ONCE = 16_384
"""Continuations times prefix length: each continuation of a batch has a copy of the prefix's cache."""


class CachedRow(NamedTuple):
    """One row of a batch's KV cache: positions `first` and on, of which the cache holds those of `ids`, in order."""

    cache: Any
    row: int
    first: int


def continuation_logprobs(
    model: Model, prefix: Sequence[int], continuations: Sequence[Sequence[int]], cached: CachedRow | None = None
) -> list[tuple[float, ...]]:
    """For each continuation the log-probability of each of its tokens after `prefix` (not empty).

    `cached` holds the keys and values of at least the prefix but for its last token; without it, or for a cache that cannot
    be forked (sliding windows, recurrent states), they are computed here.
    """
    if not prefix:
        raise ValueError("a continuation needs a prefix of at least one token")
    found: list[tuple[float, ...]] = []
    if not any(continuations):
        return [() for _ in continuations]
    with torch.inference_mode():
        known = cached
        if known is None or _layers(known.cache) is None:
            known = _read_prefix(model, prefix)
        size = max(1, _TOKENS_AT_ONCE // len(prefix))
        for start in range(0, len(continuations), size):
            found.extend(_score(model, prefix, continuations[start : start + size], known))
    return found


def _read_prefix(model: Model, prefix: Sequence[int]) -> CachedRow | None:
    if len(prefix) < 2:
        return None
    ids = torch.tensor([list(prefix[:-1])], device=model.device)
    output = model.network(input_ids=ids, use_cache=True, **forward_options(model, keep=1))
    cache = getattr(output, "cache", None)
    return None if _layers(cache) is None else CachedRow(cache, 0, 0)


def _score(
    model: Model, prefix: Sequence[int], continuations: Sequence[Sequence[int]], known: CachedRow | None
) -> list[tuple[float, ...]]:
    longest = max(map(len, continuations))
    rows = [[prefix[-1], *one, *[model.pad_id] * (longest - len(one))] for one in continuations]
    targets = torch.tensor([row[1:] for row in rows], device=model.device)
    # Padding stands on the right, where causal attention keeps it from every token that counts.
    if known is not None:
        ids = torch.tensor([row[:-1] for row in rows], device=model.device)
        cache = _fork(known, len(prefix) - 1, len(rows))
        output = model.network(input_ids=ids, cache=cache, use_cache=True)
        logits = output.logits
    else:
        ids = torch.tensor([[*prefix[:-1], *row[:-1]] for row in rows], device=model.device)
        output = model.network(input_ids=ids, use_cache=False, **forward_options(model, keep=longest))
        logits = output.logits[:, -longest:]
    wide = logits.float()
    chosen = wide.gather(-1, targets.to(wide.device).unsqueeze(-1)).squeeze(-1) - torch.logsumexp(wide, -1)
    return [tuple(row[: len(one)]) for row, one in zip(chosen.tolist(), continuations, strict=True)]


def _layers(cache: Any) -> list[Any] | None:
    """A cache's layers where each holds plain keys and values of every position; None for any other cache."""
    from transformers.cache_utils import DynamicLayer

    layers = getattr(cache, "layers", None)
    if not layers or any(type(layer) is not DynamicLayer or not layer.is_initialized for layer in layers):
        return None
    return list(layers)


def _fork(known: CachedRow, length: int, copies: int) -> Any:
    """A new cache with the first `length` positions of one row, `copies` times; the old one stays as it is."""
    from transformers import DynamicCache

    cache = DynamicCache()
    for index, layer in enumerate(known.cache.layers):
        cache.update(_copies(layer.keys, known, length, copies), _copies(layer.values, known, length, copies), index)
    return cache


def _copies(states: Tensor, known: CachedRow, length: int, copies: int) -> Tensor:
    """Shape (copies, heads, length, head size); a view."""
    part = states[known.row : known.row + 1, :, known.first : known.first + length]
    return part.expand(copies, -1, -1, -1)
