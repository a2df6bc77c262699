"""The scores of each time expression (and each value, where a value is the answer) of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diag.evidence import Judgement, Verdict, judge_each
from diag.models import AlignedText, Answer, CachedRow, Model, Prompt, TokenScores, score_tokens, token_range
from diag.records import Record, SourceSpan
from diag.risk.competition import Rival, candidates, compete
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
    bare = _without_source(model, prompts, answers, said) if options.context_gap else {}
    found: list[tuple[Said, list[SpanScore]]] = []
    for row, record in enumerate(records):
        judgements = _judge_each(record, answers[row].text)
        scores: list[SpanScore] = []
        for number, span in enumerate(said[row].spans):
            tokens = token_range(answers[row].offsets, span.start, span.end)
            if tokens[0] == tokens[1]:
                continue
            share, rivals = None, ()
            if options.competition:
                competition = compete(
                    model,
                    prompts[row].ids,
                    prompts[row].text,
                    AlignedText(answers[row].text, answers[row].offsets),
                    answers[row].scores.ids,
                    span,
                    tokens,
                    sum(answers[row].scores.logprobs[slice(*tokens)]),
                    candidates(record, span),
                    cached[row] if cached else None,
                )
                share, rivals = competition.share, competition.rivals
            is_decisive = number == said[row].decisive
            judgement = _judgement_of(record, span, judgements, is_decisive=is_decisive)
            scores.append(
                _span_score(span, answers[row].scores, tokens, bare.get(row), share, rivals, judgement, is_decisive)
            )
        found.append((said[row], scores))
    return found


def _without_source(
    model: Model, prompts: Sequence[Prompt], answers: Sequence[Answer], said: Sequence[Said]
) -> dict[int, TokenScores]:
    """The scores of the same tokens behind the questions alone, for answers that have a span."""
    rows = [row for row, one in enumerate(said) if one.spans and len(answers[row].scores)]
    if not rows:
        return {}
    forced = score_tokens(
        model, [prompts[row].without_source for row in rows], [answers[row].scores.ids for row in rows]
    )
    return dict(zip(rows, forced.scores, strict=True))


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
    span: SaidSpan,
    scores: TokenScores,
    tokens: tuple[int, int],
    bare: TokenScores | None,
    share: float | None,
    rivals: tuple[Rival, ...],
    judgement: Judgement,
    is_decisive: bool,
) -> SpanScore:
    part = slice(*tokens)
    count = tokens[1] - tokens[0]
    logprob = sum(scores.logprobs[part])
    without = sum(bare.logprobs[part]) if bare is not None else None
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
        competition=share,
        rivals=rivals,
        is_in_source=judgement.is_in_source,
        verdict=judgement.verdict,
        evidence=judgement.evidence,
        period_in_source=given.value if given else None,
        correction=judgement.correction,
        is_decisive=is_decisive,
        is_restated=span.is_restated,
    )
