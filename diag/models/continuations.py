"""Log-probabilities of several continuations of one prefix, its KV cache computed once."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from diag.models.batches import forward_options
from diag.models.model import Model
from diag.models.shared_prefix import plain_layers
from diag.models.steps import plain

_TOKENS_AT_ONCE = 16_384
"""Continuations times prefix length, where each continuation reads the prefix by itself."""
_NODES_AT_ONCE = 512
"""Tokens of a tree that are scored at once: each has a row of logits."""


class CachedRow(NamedTuple):
    """One row of a batch's KV cache: its first `head` positions, and then those from `first` on, hold its tokens in order."""

    cache: Any
    row: int
    first: int
    head: int = 0


class Fork(NamedTuple):
    """A place in a row of tokens, behind its first `length` (at least one), and what could stand there instead."""

    length: int
    continuations: Sequence[Sequence[int]]


def continuation_logprobs(
    model: Model, prefix: Sequence[int], continuations: Sequence[Sequence[int]], cached: CachedRow | None = None
) -> list[tuple[float, ...]]:
    """`fork_logprobs` for one place: behind `prefix`."""
    return fork_logprobs(model, prefix, [Fork(len(prefix), continuations)], cached)[0]


def fork_logprobs(
    model: Model, ids: Sequence[int], forks: Sequence[Fork], cached: CachedRow | None = None
) -> list[list[tuple[float, ...]]]:
    """For each fork of a row of tokens the log-probabilities of each of its continuations' tokens, all in one batch.

    `cached` holds the keys and values of the row, at least up to the last fork but for one token; without it, or for a cache
    that cannot be forked (sliding windows, recurrent states), they are computed here.
    """
    if any(fork.length < 1 for fork in forks):
        raise ValueError("a continuation needs a prefix of at least one token")
    if not any(one for fork in forks for one in fork.continuations):
        return [[() for _ in fork.continuations] for fork in forks]
    longest = max(fork.length for fork in forks if any(fork.continuations))
    with torch.inference_mode():
        known = cached
        if known is None or plain_layers(known.cache) is None:
            known = _read_prefix(model, ids[:longest])
        if known is not None and "position_ids" in inspect.signature(model.network.forward).parameters:
            return _score_tree(model, ids, forks, known)
        return [_score_apart(model, ids[: fork.length], fork.continuations) for fork in forks]


def _score_apart(
    model: Model, prefix: Sequence[int], continuations: Sequence[Sequence[int]]
) -> list[tuple[float, ...]]:
    found: list[tuple[float, ...]] = []
    size = max(1, _TOKENS_AT_ONCE // len(prefix))
    for start in range(0, len(continuations), size):
        found.extend(_score_whole(model, prefix, continuations[start : start + size]))
    return found


def _read_prefix(model: Model, prefix: Sequence[int]) -> CachedRow | None:
    if len(prefix) < 2:
        return None
    ids = torch.tensor([list(prefix[:-1])], device=model.device)
    output = model.network(input_ids=ids, use_cache=True, **forward_options(model, keep=1))
    cache = getattr(output, "cache", None)
    return None if plain_layers(cache) is None else CachedRow(cache, 0, 0)


class _Tree:
    """Continuations as trees of tokens: what they share is computed once. Each root is the last token before its fork."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.places: list[int] = []
        self._known: dict[tuple[int, int], int] = {}

    def root(self, ids: Sequence[int], length: int) -> int:
        """The node of the row's token before a fork of that length."""
        return self._node(-length, ids[length - 1], -1, length - 1)

    def path(self, root: int, tokens: Sequence[int]) -> list[int]:
        """The nodes that foretell each of the tokens; nodes are made for all but the last, which foretells nothing."""
        nodes = [root]
        for token in tokens[:-1]:
            nodes.append(self._node(nodes[-1], token, nodes[-1], self.places[nodes[-1]] + 1))
        return nodes[: len(tokens)]

    def _node(self, under: int, token: int, parent: int, place: int) -> int:
        key = (under, token)
        if key not in self._known:
            self._known[key] = len(self.tokens)
            self.tokens.append(token)
            self.parents.append(parent)
            self.places.append(place)
        return self._known[key]


def _score_tree(
    model: Model, ids: Sequence[int], forks: Sequence[Fork], known: CachedRow
) -> list[list[tuple[float, ...]]]:
    found: list[tuple[float, ...]] = []
    tree, waiting = _Tree(), list[_Waiting]()
    for fork in forks:
        for one in fork.continuations:
            if len(tree.tokens) >= _NODES_AT_ONCE:
                found.extend(_read_paths(_tree_logprobs(model, tree, known), waiting))
                tree, waiting = _Tree(), []
            waiting.append(_Waiting(tree.path(tree.root(ids, fork.length), one), one))
    if waiting:
        found.extend(_read_paths(_tree_logprobs(model, tree, known), waiting))
    scored = iter(found)
    return [[next(scored) for _ in fork.continuations] for fork in forks]


class _Waiting(NamedTuple):
    nodes: list[int]
    tokens: Sequence[int]


def _read_paths(logprobs: Tensor, waiting: Sequence[_Waiting]) -> list[tuple[float, ...]]:
    nodes = torch.tensor([node for one in waiting for node in one.nodes], dtype=torch.long, device=logprobs.device)
    tokens = torch.tensor([token for one in waiting for token in one.tokens], dtype=torch.long, device=logprobs.device)
    scored = iter(plain(logprobs[nodes, tokens]))
    return [tuple(next(scored) for _ in one.nodes) for one in waiting]


def _tree_logprobs(model: Model, tree: _Tree, known: CachedRow) -> Tensor:
    """Log-probabilities behind each node, shape (nodes, vocabulary): a node sees the row before its root, and its ancestors."""
    count = len(tree.tokens)
    length = max(place for place, parent in zip(tree.places, tree.parents, strict=True) if parent < 0)
    dtype = model.network.dtype
    mask = torch.full((count, length + count), torch.finfo(dtype).min, dtype=dtype)
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            mask[node] = mask[parent]
        else:
            mask[node, : tree.places[node]] = 0
        mask[node, length + node] = 0
    device = model.device
    output = model.network(
        input_ids=torch.tensor([tree.tokens], device=device),
        position_ids=torch.tensor([tree.places], device=device),
        attention_mask=mask[None, None].to(device),
        cache=_fork(known, length),
        use_cache=True,
    )
    return torch.log_softmax(output.logits[0].float(), -1)


def _score_whole(
    model: Model, prefix: Sequence[int], continuations: Sequence[Sequence[int]]
) -> list[tuple[float, ...]]:
    longest = max(map(len, continuations))
    # Padding stands on the right, where causal attention keeps it from every token that counts.
    rows = [[*prefix, *one, *[model.pad_id] * (longest - len(one))] for one in continuations]
    ids = torch.tensor([row[:-1] for row in rows], device=model.device)
    targets = torch.tensor([row[len(prefix) :] for row in rows], device=model.device)
    output = model.network(input_ids=ids, use_cache=False, **forward_options(model, keep=longest))
    wide = output.logits[:, -longest:].float()
    chosen = wide.gather(-1, targets.to(wide.device).unsqueeze(-1)).squeeze(-1) - torch.logsumexp(wide, -1)
    return [tuple(row[: len(one)]) for row, one in zip(plain(chosen), continuations, strict=True)]


def _fork(known: CachedRow, length: int) -> Any:
    """A new cache with the first `length` positions of one row; the old one stays as it is."""
    from transformers import DynamicCache

    cache = DynamicCache()
    head = min(length, known.head)
    rest = slice(known.first, known.first + length - head)
    row = slice(known.row, known.row + 1)
    for index, layer in enumerate(known.cache.layers):
        cache.update(_join(layer.keys[row], head, rest), _join(layer.values[row], head, rest), index)
    return cache


def _join(states: Tensor, head: int, rest: slice) -> Tensor:
    """Shape (1, heads, positions, head size): the first positions, then those of `rest`."""
    return torch.cat([states[:, :, :head], states[:, :, rest]], dim=2)
