"""Temporal competition: what else the model could have said in this place, and how likely each was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diag.evidence import bound_of, rival_values, values_in
from diag.models import AlignedText, CachedRow, Model, continuation_ids, continuation_logprobs
from diag.records import Record
from diag.risk.said import SaidSpan, read_record
from diag.timex import Period, TimeExpression

MOST_RIVALS = 12
_MOST_FORMS = 3


@dataclass(frozen=True, slots=True)
class Rival:
    """A competing period (or, for a value, the value of another period) in its likeliest surface form."""

    text: str
    period: str | None
    """Its TIMEX3 value."""
    logprob: float
    """Of the whole form, in nats, in the place of what was said."""
    share: float
    """Its probability, renormalised over what was said and all rivals."""


@dataclass(frozen=True, slots=True)
class Competition:
    """What was said against its rivals, the likeliest first. `share` is 1 where it has none."""

    share: float
    rivals: tuple[Rival, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rival with the forms in which it could be written here."""

    period: Period | None
    forms: tuple[str, ...]


def candidates(record: Record, span: SaidSpan) -> list[Candidate]:
    """What could stand in a span's place, with the forms it could have there.

    For a period: those of its granularity in the source, then its siblings, each in the said one's notation and in the
    source's own. For a value: those that the source gives under other periods.
    """
    reading = read_record(record)
    if span.kind == "value":
        assert span.value is not None
        mentions = rival_values(record.question, span.value.number, reading)
        periods = [mention.bounds[0].period if mention.bounds else None for mention in mentions]
        forms = [_number_text(mention.span.text, mention.value.number) for mention in mentions]
        return [
            Candidate(period, (form,))
            for period, form in zip(periods, forms, strict=True)
            if form is not None and form != span.text
        ]
    if span.period is None or span.expression is None:
        return []
    written: dict[str, list[str]] = {}
    for expression in reading.expressions:
        if (bound := bound_of(expression)) is not None:
            written.setdefault(bound.period.value, []).append(expression.text)
    rivals = span.period.competing(bound.period for bound in reading.bounds)
    found: list[Candidate] = []
    for period in rivals[:MOST_RIVALS]:
        forms = _forms(period, span.expression, written.get(period.value, []))
        if forms:
            found.append(Candidate(period, forms))
    return found


def _forms(period: Period, said: TimeExpression, written: Iterable[str]) -> tuple[str, ...]:
    forms = dict.fromkeys([period.format_like(said), *written])
    forms.pop(said.text, None)
    return tuple(forms)[:_MOST_FORMS]


def _number_text(cell: str, number: float) -> str | None:
    """The number as a cell or a sentence writes it."""
    for value in values_in(cell):
        if value.number == number:
            text = cell[value.start : value.end]
            return text.rstrip(" %％)abcdefghijklmnopqrstuvwxyz元美百千万亿") or None
    return None


def compete(
    model: Model,
    prompt: Sequence[int],
    prompt_tail: str,
    aligned: AlignedText,
    ids: Sequence[int],
    span: SaidSpan,
    tokens: tuple[int, int],
    said_logprob: float,
    rivals: Sequence[Candidate],
    cached: CachedRow | None = None,
) -> Competition:
    """Score every form of every rival in the place of `span`, in one batch behind the prefix that they share.

    `tokens` is the span's token range; where its first token begins before the span, its head is kept in front of each
    form. `said_logprob` is the sum over the span's own tokens. Renormalised over what was said and each rival's best form.
    """
    if not rivals:
        return Competition(1.0, ())
    first = tokens[0]
    token_start = aligned.offsets[first][0]
    head = aligned.text[token_start : span.start]
    before = (prompt_tail + aligned.text[:token_start])[-_TAIL:]
    forms = [(number, form) for number, rival in enumerate(rivals) for form in rival.forms]
    tails = [continuation_ids(model, before, head + form) for _, form in forms]
    scored = continuation_logprobs(model, [*prompt, *ids[:first]], tails, cached)
    best: dict[int, tuple[float, str]] = {}
    for (number, form), logprobs in zip(forms, scored, strict=True):
        total = sum(logprobs) if logprobs else -math.inf
        if math.isfinite(total) and (number not in best or total > best[number][0]):
            best[number] = (total, form)
    normaliser = _logsumexp([said_logprob, *(total for total, _ in best.values())])
    found = [
        Rival(form, _value(rivals[number].period), total, math.exp(total - normaliser))
        for number, (total, form) in best.items()
    ]
    found.sort(key=lambda rival: (-rival.logprob, rival.text))
    return Competition(math.exp(said_logprob - normaliser), tuple(found))


_TAIL = 24


def _value(period: Period | None) -> str | None:
    return period.value if period is not None else None


def _logsumexp(numbers: Sequence[float]) -> float:
    top = max(numbers)
    return top + math.log(sum(math.exp(number - top) for number in numbers))
