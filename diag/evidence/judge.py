"""`judge`: does the source give this period to this value or event? Deterministic, no model.

Three looks, the surest first: a value that the source also has, with the periods it is bound to there; a sentence that
the source also has, word for word but for its period; at last, whether the period is in the source at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Literal

from diag.evidence.agreement import Agreement, Bound, agreement
from diag.evidence.claim import ASKS_WHEN, Said, read_claim
from diag.evidence.clauses import NEAR_WORDS, Dated
from diag.evidence.comparison import agrees, compare
from diag.evidence.source import Mention, Source, SourceReading, read_source, with_terms
from diag.evidence.values import Value, agree_scaled
from diag.records import Record, SourceSpan
from diag.timex import FiscalYearEnd, Period, TimeExpression, find

Verdict = Literal["supported", "misbound", "fabricated", "underspecified", "omitted", "undetermined"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the source says of a claim's time, and where.

    `supported`: the source gives that period. `underspecified`: it gives a part of it. `misbound`: the source has the
    value or event, under another period. `fabricated`: the period is nowhere in the source, which gives another.
    `omitted`: a time was asked for and none was said. `undetermined`: the source does not decide.
    """

    verdict: Verdict
    evidence: tuple[SourceSpan, ...] = ()
    period_said: Period | None = None
    period_in_source: Period | None = None
    correction: str | None = None
    """The period that the source gives, in the notation of the claim's."""
    said_span: tuple[int, int] | None = None
    """Offsets of the judged time expression: in the answer, or in the question where the answer has none."""
    is_in_source: bool = False
    """Presence: whether the source names the said period at all, in any notation."""


def judge(
    question: str,
    answer: str,
    source: str | Source | Record,
    *,
    document_date: date | str | None = None,
    fiscal_year_end: str | FiscalYearEnd | None = None,
    language: str | None = None,
    day_first: bool = False,
) -> Judgement:
    """Judge the time of `answer` (of `question`, where the answer is a value for the period asked) against `source`.

    With an empty question the answer is a claim that stands by itself. Where the claim names several periods, the
    worst of them decides. Raises ValueError for an unreadable document date or fiscal year end.
    """
    judgements = judge_each(
        question,
        answer,
        source,
        document_date=document_date,
        fiscal_year_end=fiscal_year_end,
        language=language,
        day_first=day_first,
    )
    return min(judgements, key=lambda judgement: _SEVERITY.index(judgement.verdict))


def judge_each(
    question: str,
    answer: str,
    source: str | Source | Record,
    *,
    document_date: date | str | None = None,
    fiscal_year_end: str | FiscalYearEnd | None = None,
    language: str | None = None,
    day_first: bool = False,
) -> list[Judgement]:
    """A judgement for each period that the claim says (`said_span` tells which); one without a span where it says none."""
    held = Source(source) if isinstance(source, str) else Source.of(source) if isinstance(source, Record) else source
    reading = read_source(held, language, document_date, fiscal_year_end, day_first)

    def find_in(text: str) -> list[TimeExpression]:
        return find(
            text, language=language, document_date=document_date, fiscal_year_end=fiscal_year_end, day_first=day_first
        )

    answer_times = with_terms(answer, find_in(answer), reading.terms)
    said = read_claim(question, answer, find_in(question), answer_times)
    if not said:
        return [Judgement("omitted" if ASKS_WHEN.search(question) and answer.strip() else "undetermined")]
    return [_judge_one(question, one, reading) for one in said]


_SEVERITY = ("misbound", "fabricated", "omitted", "underspecified", "supported", "undetermined")


def _judge_one(question: str, said: Said, reading: SourceReading) -> Judgement:
    present = _is_present(said.bound, reading)
    verdict = _by_comparison(question, said, reading) if said.is_comparison and not said.answer_words else None
    if verdict is None and said.dated is not None:
        verdict = _by_wording(said, reading)
    if verdict is None and said.values:
        verdict = _by_values(said, reading)
    if verdict is None and not said.values and not said.is_comparison:
        verdict = _by_event(said, reading)
    if verdict is None:
        verdict = Judgement("undetermined")
    if verdict.verdict == "misbound" and not present:
        verdict = _with(verdict, "fabricated")
    may_be_absent = not (present or said.is_comparison or said.answer_words)
    if verdict.verdict == "undetermined" and may_be_absent and _is_fabricated(said.bound, reading):
        verdict = _with(verdict, "fabricated")
    start, end = said.expression.start, said.expression.end
    return Judgement(
        verdict.verdict,
        verdict.evidence,
        said.bound.period,
        verdict.period_in_source,
        verdict.correction,
        (start, end),
        present,
    )


def _is_present(said: Bound, reading: SourceReading) -> bool:
    """Whether the source names the period, or both ends of the range."""
    if any(agreement(said, bound) == "same" for bound in reading.bounds):
        return True
    first, _, last = said.period.value.partition("/")
    if not (first and last):
        return False
    ends = (Period.parse(end, fiscal_year_end=said.period.fiscal_year_end) for end in (first, last))
    return all(any(agreement(Bound(end, said.text, True), bound) == "same" for bound in reading.bounds) for end in ends)


def _with(judgement: Judgement, verdict: Verdict) -> Judgement:
    return Judgement(verdict, judgement.evidence, None, judgement.period_in_source, judgement.correction)


def _is_fabricated(said: Bound, reading: SourceReading) -> bool:
    """Whether the source names periods, and every one of them is another."""
    return bool(reading.bounds) and all(agreement(said, bound) == "different" for bound in reading.bounds)


# ---- by comparison ---------------------------------------------------------------------------------------------------


def _by_comparison(question: str, said: Said, reading: SourceReading) -> Judgement | None:
    """The period that the question's own comparison leads to, where its row is surely known."""
    compared = compare(question, reading) if ASKS_WHEN.search(question) else None
    if compared is None:
        return None
    right = agrees(said.bound, compared.fitting)
    if right is not None:
        return Judgement("supported", (right.span,), period_in_source=right.bounds[0].period)
    if agrees(said.bound, compared.others) is None:
        return None
    best = compared.fitting[0]
    correction = _correction(best.bounds[0].period, said.expression) if len(compared.fitting) == 1 else None
    return Judgement("misbound", (best.span,), period_in_source=best.bounds[0].period, correction=correction)


# ---- by values -------------------------------------------------------------------------------------------------------


def _by_values(said: Said, reading: SourceReading) -> Judgement | None:
    """Hold each value of the claim against the places where the source has it too, best labelled first."""
    undecided: Judgement | None = None
    for value in sorted(said.values, key=lambda value: (-len(f"{value.number:g}"), value.start)):
        mentions = reading.mentions.get(value.key) or _scaled(value, reading)
        if not mentions:
            continue
        judgement = _among(said, mentions)
        if judgement.verdict != "undetermined":
            return judgement
        undecided = undecided or judgement
    return undecided


def _scaled(value: Value, reading: SourceReading) -> list[Mention]:
    if value.scale == 1.0:
        return []
    return [
        mention
        for group in reading.mentions.values()
        for mention in group
        if agree_scaled(value, mention.value, mention.unit)
    ]


_CLOSE = 0.6
_COMMON_NUMBER = 100
_LABELLED = 1.3
"""What a small number or a percentage, which stands in many places by chance, needs in common with its label."""


def _among(said: Said, mentions: list[Mention]) -> Judgement:
    scores = [_label_score(said.words, mention.words) for mention in mentions]
    best = max(scores)
    chosen = [mention for mention, score in zip(mentions, scores, strict=True) if score >= best * _CLOSE]
    with_period = [mention for mention in chosen if mention.bounds]
    if not with_period:
        return Judgement("undetermined", tuple(mention.span for mention in chosen))
    agreed = _agreed(said, [(bound, mention.span) for mention in with_period for bound in mention.bounds])
    if agreed is not None:
        return agreed
    weak = all(mention.value.number < _COMMON_NUMBER or mention.value.is_percent for mention in mentions)
    if best < (_LABELLED if weak else 0.01 if len(mentions) > 1 else 0.0):
        return Judgement("undetermined", tuple(mention.span for mention in chosen))
    top = max(range(len(mentions)), key=lambda index: (bool(mentions[index].bounds), scores[index]))
    mention = mentions[top]
    return _misbound(said, _closest(said.bound, mention.bounds), mention.span)


def _label_score(claim: frozenset[str], label: frozenset[str]) -> float:
    shared = len(claim & label)
    return shared + shared / len(label) if label else 0.0


_AGREEMENTS: tuple[tuple[Agreement, Verdict], ...] = (
    ("same", "supported"),
    ("coarser", "underspecified"),
    ("unknown", "undetermined"),
)


def _agreed(said: Said, given: Sequence[tuple[Bound, SourceSpan]]) -> Judgement | None:
    """The best that any of the source's periods says for the claim's; None where each is another."""
    graded = [(agreement(said.bound, bound), bound, span) for bound, span in given]
    for wanted, verdict in _AGREEMENTS:
        for grade, bound, span in graded:
            if grade == wanted:
                if verdict == "underspecified" and said.is_fine_enough:
                    return Judgement("supported", (span,), period_in_source=bound.period)
                correction = _correction(bound.period, said.expression) if verdict == "underspecified" else None
                return Judgement(verdict, (span,), period_in_source=bound.period, correction=correction)
    return None


def _misbound(said: Said, bound: Bound, span: SourceSpan) -> Judgement:
    correction = _correction(bound.period, said.expression)
    return Judgement("misbound", (span,), period_in_source=bound.period, correction=correction)


def _closest(said: Bound, bounds: tuple[Bound, ...]) -> Bound:
    """The bound that answers in the claim's own granularity, else the first."""
    alike = [
        bound for bound in bounds if bound.period.granularity == said.period.granularity and not bound.period.is_partial
    ]
    return (alike or list(bounds))[0]


def _correction(period: Period, expression: TimeExpression) -> str:
    return period.format_like(expression)


# ---- by wording ------------------------------------------------------------------------------------------------------

_NEAR_VERBATIM = 0.6
_ALIGNED = 0.5
"""The agreement of the words next to two expressions from which they stand in the same place; else values decide."""


def _by_wording(said: Said, reading: SourceReading) -> Judgement | None:
    """A sentence that the source has too: the expression that stands between the same words there is the true one."""
    assert said.dated is not None
    if len(said.words) < 2:
        return None
    best: list[tuple[float, Dated]] = []
    top = 0.0
    similar: dict[int, float] = {}
    for dated in reading.dated:
        if dated.sentence not in similar:
            similar[dated.sentence] = _containment(said.words, reading.sentences[dated.sentence].words)
        likeness = similar[dated.sentence]
        if likeness < _NEAR_VERBATIM:
            continue
        score = likeness + _context_score(said.dated, dated)
        best.append((score, dated))
        top = max(top, score)
    close = [dated for score, dated in best if score >= top - 1e-9]
    if not close or top < 1.0:
        return None
    if said.values and top - max(similar.values()) < _ALIGNED:
        return None
    agreed = _agreed(said, [(dated.bound, _span(dated)) for dated in close])
    return agreed or _misbound(said, close[0].bound, _span(close[0]))


def _containment(claim: frozenset[str], sentence: frozenset[str]) -> float:
    return len(claim & sentence) / len(claim) if claim else 0.0


def _context_score(one: Dated, other: Dated) -> float:
    """How far the words agree outwards from the expression on either side; 2 where both sides agree to the end."""
    return _side(one.before, other.before) + _side(one.after, other.after)


def _side(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    agreed = sum(weight for weight, mine, its in zip(_WEIGHTS, one, other, strict=False) if mine == its)
    return agreed / _TOTALS[longest]


_WEIGHTS = tuple(1 / (1 + index) for index in range(NEAR_WORDS))
_TOTALS = tuple(accumulate(_WEIGHTS, initial=0.0))


def _span(dated: Dated) -> SourceSpan:
    expression = dated.expression
    return SourceSpan(expression.start, expression.end, expression.text)


# ---- by event --------------------------------------------------------------------------------------------------------


_EVENT_WORDS = 3
_EVENT_SHARE = 0.6
_WHOLE_EVENT = 0.9


def _by_event(said: Said, reading: SourceReading) -> Judgement | None:
    """No value to hold on to: the sentences that share most with the claim, and the periods they name."""
    if not said.words:
        return None
    words = said.words & reading.vocabulary
    scored = [
        (len(words & sentence.words), _containment(words, sentence.words), index)
        for index, sentence in enumerate(reading.sentences)
    ]
    shared, best, _ = max(scored, default=(0, 0.0, 0))
    if not (shared >= _EVENT_WORDS and best >= _EVENT_SHARE) and not (
        shared == _EVENT_WORDS - 1 and best >= _WHOLE_EVENT
    ):
        return None
    chosen = {index for count, _, index in scored if count == shared}
    if said.answer_words:
        chosen = {i for i in chosen if _containment(said.answer_words, reading.sentences[i].words) >= _EVENT_SHARE}
    dated = [one for one in reading.dated if one.sentence in chosen]
    if not dated:
        return None
    agreed = _agreed(said, [(one.bound, _span(one)) for one in dated])
    if agreed is not None:
        return agreed
    alike = [one for one in dated if one.bound.period.granularity == said.bound.period.granularity]
    alike = alike or dated
    # What an entity was in one year it may have been in others: only a period in the answer, or of a value, is misbound.
    if said.answer_words or len({one.bound.period for one in alike}) != 1:
        return Judgement("undetermined", tuple(_span(one) for one in dated))
    return _misbound(said, alike[0].bound, _span(alike[0]))
