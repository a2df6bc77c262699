"""One row of figures for each answer: what baselines, calibration and tables are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence

from diag.evidence import Verdict
from diag.models import TokenScores
from diag.risk.spans import SpanScore

BASELINES: dict[str, str] = {
    "max_probability": "one less the probability of the whole answer",
    "perplexity": "exp of the mean surprisal of its tokens",
    "mean_entropy": "mean entropy of its tokens' distributions",
    "margin": "smallest difference between the likeliest two tokens, negated",
    "span_surprisal": "mean surprisal of the tokens of the span that answers",
    "context_gap": "how little the source raises that span's log-probability",
    "temporal_competition": "one less the span's probability among its rivals",
    "presence_check": "the period (or value) is nowhere in the source",
    "evidence_verdict": "the evidence tier alone: misbound and fabricated highest, supported lowest",
}
"""Scores of an answer, each higher for a more doubtful one; all but the last two need no evidence tier."""

_VERDICT_ORDER: dict[Verdict, float] = {
    "supported": 0.0,
    "underspecified": 0.3,
    "undetermined": 0.5,
    "omitted": 0.5,
    "fabricated": 1.0,
    "misbound": 1.0,
}
FEATURES = (
    "surprisal",
    "max_entropy",
    "margin",
    "context_gap",
    "competition",
    "rank",
    "answer_surprisal",
    "is_supported",
    "is_misbound",
    "is_fabricated",
    "is_underspecified",
    "is_value",
    "is_absent",
)


def scores(answer: TokenScores, span: SpanScore) -> dict[str, float]:
    """The baselines of an answer whose deciding span is `span`; finite."""
    count = max(1, len(answer))
    total = sum(answer.logprobs)
    return {
        "max_probability": 1.0 - math.exp(total),
        "perplexity": math.exp(min(50.0, -total / count)),
        "mean_entropy": sum(answer.entropies) / count,
        "margin": -min(answer.margins, default=0.0),
        "span_surprisal": -span.mean_logprob,
        "context_gap": -(span.context_gap or 0.0),
        "temporal_competition": 1.0 - (1.0 if span.competition is None else span.competition),
        "presence_check": float(not span.is_in_source),
        "evidence_verdict": _VERDICT_ORDER[span.verdict],
    }


def features(answer: TokenScores, span: SpanScore) -> list[float]:
    """The inputs of the calibrated risk, in the order of `FEATURES`."""
    share = 1.0 if span.competition is None else span.competition
    best = max((rival.share for rival in span.rivals), default=0.0)
    return [
        min(-span.mean_logprob, _MOST),
        span.max_entropy,
        min(span.min_margin, _MOST),
        max(-_MOST, min(span.context_gap or 0.0, _MOST)),
        _logit(share),
        float(best > share),
        min(-sum(answer.logprobs) / max(1, len(answer)), _MOST),
        float(span.verdict == "supported"),
        float(span.verdict == "misbound"),
        float(span.verdict == "fabricated"),
        float(span.verdict == "underspecified"),
        float(span.kind == "value"),
        float(not span.is_in_source),
    ]


_MOST = 12.0


def _logit(share: float) -> float:
    kept = min(max(share, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


def deciding(spans: Sequence[SpanScore]) -> SpanScore | None:
    """The span that answers the question; None where the answer has none."""
    return next((span for span in spans if span.is_decisive), None)
