"""Temporal competition: what else the model could have said in this place, and how likely each was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from diag.evidence import bound_of, rival_values, values_in
from diag.models import Answer, CachedRow, Fork, Model, Prompt, continuation_ids, fork_logprobs
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


class Asked(NamedTuple):
    """A span of an answer whose rivals are asked for."""

    span: SaidSpan
    tokens: tuple[int, int]
    """Its range among the answer's tokens; where the first begins before the span, its head is kept in front of each form."""
    logprob: float
    """The sum over its own tokens."""
    rivals: Sequence[Candidate]


def compete(
    model: Model, prompt: Prompt, answer: Answer, asked: Sequence[Asked], cached: CachedRow | None = None
) -> list[Competition]:
    """Score every form of every rival in the place of each span, all in one batch behind the answer that they share.

    Renormalised over what was said and each rival's best form. `cached` may hold the KV cache of prompt and answer.
    """
    forks = [Fork(len(prompt.ids) + one.tokens[0], _written(model, prompt, answer, one)) for one in asked]
    scored = fork_logprobs(model, [*prompt.ids, *answer.scores.ids], forks, cached)
    return [_renormalised(one, logprobs) for one, logprobs in zip(asked, scored, strict=True)]


def _written(model: Model, prompt: Prompt, answer: Answer, asked: Asked) -> list[tuple[int, ...]]:
    """The tokens of each form of each rival."""
    start = answer.offsets[asked.tokens[0]][0]
    head = answer.text[start : asked.span.start]
    before = (prompt.text + answer.text[:start])[-_TAIL:]
    return [continuation_ids(model, before, head + form) for rival in asked.rivals for form in rival.forms]


def _renormalised(asked: Asked, scored: Sequence[Sequence[float]]) -> Competition:
    forms = [(number, form) for number, rival in enumerate(asked.rivals) for form in rival.forms]
    best: dict[int, tuple[float, str]] = {}
    for (number, form), logprobs in zip(forms, scored, strict=True):
        total = sum(logprobs) if logprobs else -math.inf
        if math.isfinite(total) and (number not in best or total > best[number][0]):
            best[number] = (total, form)
    normaliser = _logsumexp([asked.logprob, *(total for total, _ in best.values())])
    found = [
        Rival(form, _value(asked.rivals[number].period), total, math.exp(total - normaliser))
        for number, (total, form) in best.items()
    ]
    found.sort(key=lambda rival: (-rival.logprob, rival.text))
    return Competition(math.exp(asked.logprob - normaliser), tuple(found))


_TAIL = 24


def _value(period: Period | None) -> str | None:
    return period.value if period is not None else None


def _logsumexp(numbers: Sequence[float]) -> float:
    top = max(numbers)
    return top + math.log(sum(math.exp(number - top) for number in numbers))
