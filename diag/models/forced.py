"""Scores of answers that are given: one teacher-forced pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from diag.models.batches import forward_options
from diag.models.continuations import CachedRow
from diag.models.model import Model
from diag.models.shared_prefix import share_prefix
from diag.models.steps import TokenScores, plain, read_logits, token_scores


class Forced(NamedTuple):
    """Scores by row, and each row's KV cache of prompt and answer where it was asked for."""

    scores: list[TokenScores]
    cached: list[CachedRow]


def score_tokens(
    model: Model, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], *, keep_cache: bool = False
) -> Forced:
    """The figures of each answer's tokens behind its prompt (not empty), in one batch."""
    if not any(answers):
        return Forced([TokenScores((), (), (), (), (), ()) for _ in answers], [])
    with torch.inference_mode():
        done = _pass(model, prompts, answers, keep_cache=keep_cache)
        figures = read_logits(done.logits).of(done.ids)
    longest = done.ids.shape[1]
    scores = [
        token_scores(done.ids[row], type(figures)(*(part[row] for part in figures)), longest - len(one), longest)
        for row, one in enumerate(answers)
    ]
    return Forced(scores, done.cached)


def token_logprobs(
    model: Model, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]
) -> list[tuple[float, ...]]:
    """The log-probability of each answer's tokens behind its prompt (not empty), in one batch: the cheapest of the figures."""
    if not any(answers):
        return [() for _ in answers]
    with torch.inference_mode():
        done = _pass(model, prompts, answers)
        chosen = done.logits.gather(-1, done.ids.unsqueeze(-1)).squeeze(-1).float()
        rows = plain(chosen - torch.logsumexp(done.logits.float(), -1))
    return [tuple(row[len(row) - len(one) :]) for row, one in zip(rows, answers, strict=True)]


class _Pass(NamedTuple):
    """Answers padded on the left, and the logits before each of their tokens: (rows, tokens), (rows, tokens, vocabulary)."""

    ids: Tensor
    logits: Tensor
    cached: list[CachedRow]


def _pass(
    model: Model, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], *, keep_cache: bool = False
) -> _Pass:
    if not all(prompts):
        raise ValueError("an answer needs a prompt of at least one token before it")
    rows = [[*prompt, *answer] for prompt, answer in zip(prompts, answers, strict=True)]
    longest = max(map(len, answers))
    batch = share_prefix(model, rows, least_left=longest + 1)
    ids, head = batch.ids, batch.head
    options = forward_options(model, mask=batch.mask, keep=longest + 1)
    if head:
        options["position_ids"] = options["position_ids"][:, head:]
        options["cache"] = batch.cache
    output: Any = model.network(input_ids=ids[:, head:], use_cache=keep_cache or bool(head), **options)
    # Left padding puts every answer at the end: the logits before its tokens are the last but one.
    logits = output.logits[:, -longest - 1 : -1]
    firsts = [ids.shape[1] - len(row) + head for row in rows]
    cache = getattr(output, "cache", None) if keep_cache else None
    cached = [CachedRow(cache, row, first, head) for row, first in enumerate(firsts)] if cache is not None else []
    return _Pass(ids[:, -longest:].to(logits.device), logits, cached)
