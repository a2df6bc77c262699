"""The scores of each time expression (and each value, where a value is the answer) of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from diag.evidence import Judgement, Verdict, judge_each
from diag.models import Answer, CachedRow, Model, Prompt, TokenScores, token_logprobs, token_range
from diag.records import Record, SourceSpan
from diag.risk.competition import Asked, Competition, Rival, candidates, compete
from diag.risk.said import Said, SaidKind, SaidSpan, read_record, read_said
from diag.timex import known_language


@dataclass(frozen=True, slots=True)
class SpanScore:
    """One span of an answer with its figures. Log-probabilities and entropies in nats; `tokens` is its range, end exclusive."""

    start: int
    end: int
    text: str
    kind: SaidKind
    period: str | None
    """TIMEX3 value; None for a value, and for an expression that names no period."""
    granularity: str | None
    tokens: tuple[int, int]
    logprob: float
    """Sum over its tokens."""
    mean_logprob: float
    mean_entropy: float
    max_entropy: float
    min_margin: float
    logprob_without_source: float | None
    """Of the same tokens behind the question alone; None where that was not asked for."""
    context_gap: float | None
    """How much the source raises the log-probability, a token: near 0, the model would have said it unread."""
    competition: float | None
    """Temporal competition: its probability, renormalised over it and its rivals; None where that was not asked for."""
    rivals: tuple[Rival, ...]
    is_in_source: bool
    """Presence: whether the source names the period (has the value) at all, in any notation."""
    verdict: Verdict
    evidence: tuple[SourceSpan, ...]
    period_in_source: str | None
    correction: str | None
    is_decisive: bool
    """Whether it is what answers the question."""
    is_restated: bool
    """Whether the question says it already."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which of the scores that need the model again to compute."""

    context_gap: bool = True
    competition: bool = True


def score_answers(
    model: Model,
    records: Sequence[Record],
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
    cached: Sequence[CachedRow],
    options: Options,
) -> list[tuple[Said, list[SpanScore]]]:
    """The span scores of a batch of answers. `cached` (may be empty) holds the KV cache of each prompt with its answer."""
    said = [read_said(record, answer.text) for record, answer in zip(records, answers, strict=True)]
    placed = [_placed(answer, one) for answer, one in zip(answers, said, strict=True)]
    bare = _without_source(model, prompts, answers, placed) if options.context_gap else {}
    found: list[tuple[Said, list[SpanScore]]] = []
    for row, record in enumerate(records):
        answer, spans = answers[row], placed[row]
        judgements = _judge_each(record, answer.text)
        competing: list[Competition | None] = [None] * len(spans)
        if options.competition:
            asked = [Asked(one.span, one.tokens, _logprob(answer, one), candidates(record, one.span)) for one in spans]
            competing = list(compete(model, prompts[row], answer, asked, cached[row] if cached else None))
        scores: list[SpanScore] = []
        for one, competition in zip(spans, competing, strict=True):
            is_decisive = one.number == said[row].decisive
            judgement = _judgement_of(record, one.span, judgements, is_decisive=is_decisive)
            scores.append(_span_score(one, answer.scores, bare.get(row), competition, judgement, is_decisive))
        found.append((said[row], scores))
    return found


class _Placed(NamedTuple):
    """A span that has tokens, its place among what was said, and the range of its tokens."""

    number: int
    span: SaidSpan
    tokens: tuple[int, int]


def _placed(answer: Answer, said: Said) -> list[_Placed]:
    ranges = [token_range(answer.offsets, span.start, span.end) for span in said.spans]
    every = [
        _Placed(number, span, tokens) for number, (span, tokens) in enumerate(zip(said.spans, ranges, strict=True))
    ]
    return [one for one in every if one.tokens[0] < one.tokens[1]]


def _logprob(answer: Answer, one: _Placed) -> float:
    return sum(answer.scores.logprobs[slice(*one.tokens)])


def _without_source(
    model: Model, prompts: Sequence[Prompt], answers: Sequence[Answer], placed: Sequence[Sequence[_Placed]]
) -> dict[int, tuple[float, ...]]:
    """The log-probabilities of the same tokens behind the questions alone, as far as the last span, for answers that have one."""
    rows = [row for row, spans in enumerate(placed) if spans]
    if not rows:
        return {}
    ends = [max(one.tokens[1] for one in placed[row]) for row in rows]
    logprobs = token_logprobs(
        model,
        [prompts[row].without_source for row in rows],
        [answers[row].scores.ids[:end] for row, end in zip(rows, ends, strict=True)],
    )
    return dict(zip(rows, logprobs, strict=True))


def judge_span(record: Record, answer: str, said: Said, number: int) -> Judgement:
    """The judgement on a time expression; for a value that answers, that on the question with the value alone as its answer."""
    return _judgement_of(record, said.spans[number], _judge_each(record, answer), is_decisive=number == said.decisive)


def _judgement_of(record: Record, span: SaidSpan, judgements: Sequence[Judgement], *, is_decisive: bool) -> Judgement:
    if span.kind == "time":
        own = next((one for one in judgements if one.said_span == (span.start, span.end)), None)
        return own or Judgement("undetermined")
    assert span.value is not None
    is_there = span.value.number in read_record(record).mentions
    if not is_decisive:
        return Judgement("undetermined", is_in_source=is_there)
    return replace(_judge_each(record, span.written)[0], is_in_source=is_there)


def _judge_each(record: Record, answer: str) -> list[Judgement]:
    return judge_each(
        record.question,
        answer,
        record,
        document_date=record.document_date,
        fiscal_year_end=record.fiscal_year_end,
        language=known_language(record.language),
    )


def _span_score(
    placed: _Placed,
    scores: TokenScores,
    bare: Sequence[float] | None,
    competition: Competition | None,
    judgement: Judgement,
    is_decisive: bool,
) -> SpanScore:
    span, tokens = placed.span, placed.tokens
    part = slice(*tokens)
    count = tokens[1] - tokens[0]
    logprob = sum(scores.logprobs[part])
    without = sum(bare[part]) if bare is not None else None
    given = judgement.period_in_source
    return SpanScore(
        start=span.start,
        end=span.end,
        text=span.text,
        kind=span.kind,
        period=span.period.value if span.period else None,
        granularity=span.period.granularity if span.period else None,
        tokens=tokens,
        logprob=logprob,
        mean_logprob=logprob / count,
        mean_entropy=sum(scores.entropies[part]) / count,
        max_entropy=max(scores.entropies[part]),
        min_margin=min(scores.margins[part]),
        logprob_without_source=without,
        context_gap=None if without is None else (logprob - without) / count,
        competition=competition.share if competition else None,
        rivals=competition.rivals if competition else (),
        is_in_source=judgement.is_in_source,
        verdict=judgement.verdict,
        evidence=judgement.evidence,
        period_in_source=given.value if given else None,
        correction=judgement.correction,
        is_decisive=is_decisive,
        is_restated=span.is_restated,
    )
