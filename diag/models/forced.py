"""Scores of answers that are given: one teacher-forced pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from diag.models.batches import forward_options
from diag.models.continuations import CachedRow
from diag.models.model import Model
from diag.models.shared_prefix import share_prefix
from diag.models.steps import TokenScores, read_logits, token_scores


class Forced(NamedTuple):
    """Scores by row, and each row's KV cache of prompt and answer where it was asked for."""

    scores: list[TokenScores]
    cached: list[CachedRow]


def score_tokens(
    model: Model, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], *, keep_cache: bool = False
) -> Forced:
    """The figures of each answer's tokens behind its prompt (not empty), in one batch."""
    if not all(prompts):
        raise ValueError("an answer needs a prompt of at least one token before it")
    rows = [[*prompt, *answer] for prompt, answer in zip(prompts, answers, strict=True)]
    longest = max(map(len, answers))
    if not longest:
        return Forced([TokenScores((), (), (), (), (), ()) for _ in rows], [])
    with torch.inference_mode():
        batch = share_prefix(model, rows, least_left=longest + 1)
        ids, head = batch.ids, batch.head
        options = forward_options(model, mask=batch.mask, keep=longest + 1)
        if head:
            options["position_ids"] = options["position_ids"][:, head:]
            options["cache"] = batch.cache
        output: Any = model.network(input_ids=ids[:, head:], use_cache=keep_cache or bool(head), **options)
        # Left padding puts every answer at the end: the logits before its tokens are the last but one.
        read = read_logits(output.logits[:, -longest - 1 : -1])
        figures = read.of(ids[:, -longest:].to(read.logits.device))
    scores = [
        token_scores(
            ids[index, -longest:], type(figures)(*(part[index] for part in figures)), longest - len(one), longest
        )
        for index, one in enumerate(answers)
    ]
    width = ids.shape[1]
    cache = getattr(output, "cache", None) if keep_cache else None
    firsts = [width - len(row) + head for row in rows]
    cached = [CachedRow(cache, row, first, head) for row, first in enumerate(firsts)] if cache is not None else []
    return Forced(scores, cached)
