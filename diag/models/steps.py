"""From logits to the few figures kept of each step: in one pass over the vocabulary, nothing of its size kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

TOP = 5
"""How many of the likeliest tokens are kept of each step."""


class StepFigures(NamedTuple):
    """Figures of one or more positions; natural logarithms. The last dimension of `top_*` is the rank."""

    logprob: Tensor
    """Of the token that stands there."""
    entropy: Tensor
    """Of the whole distribution, in nats."""
    margin: Tensor
    """Log-probability of the likeliest token less that of the second."""
    top_ids: Tensor
    top_logprobs: Tensor


class Distribution(NamedTuple):
    """What is kept of logits before the chosen token is known, and the logits themselves, to look it up."""

    logits: Tensor
    normaliser: Tensor
    entropy: Tensor
    top_ids: Tensor
    top_logprobs: Tensor

    def of(self, ids: Tensor) -> StepFigures:
        """The figures of positions whose tokens are `ids` (shape: that of the logits without the vocabulary)."""
        chosen = self.logits.gather(-1, ids.unsqueeze(-1)).squeeze(-1).float()
        margin = self.top_logprobs[..., 0] - self.top_logprobs[..., 1]
        return StepFigures(chosen - self.normaliser, self.entropy, margin, self.top_ids, self.top_logprobs)


def read_logits(logits: Tensor) -> Distribution:
    """Raw logits, shape (…, vocabulary), as a distribution; computed in fp32 whatever the model's type."""
    wide = logits.float()
    normaliser = torch.logsumexp(wide, dim=-1)
    top = torch.topk(wide, min(TOP, wide.shape[-1]), dim=-1)
    # Entropy as log Z - E[logit]: no second tensor of log-probabilities. Logits of -inf have no part in it.
    probabilities = torch.exp(wide - normaliser.unsqueeze(-1))
    expected = torch.where(probabilities > 0, probabilities * wide, 0.0).sum(-1)
    entropy = (normaliser - expected).clamp_min(0.0)
    return Distribution(logits, normaliser, entropy, top.indices, top.values - normaliser.unsqueeze(-1))


@dataclass(frozen=True, slots=True)
class TokenScores:
    """The tokens of one answer with their figures; lists of equal length."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    entropies: tuple[float, ...]
    margins: tuple[float, ...]
    top_ids: tuple[tuple[int, ...], ...]
    top_logprobs: tuple[tuple[float, ...], ...]

    def __len__(self) -> int:
        """How many tokens."""
        return len(self.ids)


def token_scores(ids: Tensor, figures: StepFigures, start: int, end: int) -> TokenScores:
    """One row's figures, positions `start` to `end`, as plain numbers. `ids` and the figures have shape (positions,)."""
    part = slice(start, end)
    return TokenScores(
        tuple(plain(ids[part])),
        tuple(plain(figures.logprob[part])),
        tuple(plain(figures.entropy[part])),
        tuple(plain(figures.margin[part])),
        tuple(map(tuple, plain(figures.top_ids[part]))),
        tuple(map(tuple, plain(figures.top_logprobs[part]))),
    )


def plain(numbers: Tensor) -> list[Any]:
    """A tensor as nested lists of plain numbers."""
    return numbers.tolist()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
