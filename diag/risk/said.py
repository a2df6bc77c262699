"""What an answer says: its time expressions and, where it answers with a value for a period, its values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from diag.evidence import (
    ASKS_WHEN,
    Bound,
    Source,
    SourceReading,
    Value,
    agreement,
    bound_of,
    read_source,
    values_in,
    with_terms,
)
from diag.records import Record
from diag.timex import Period, TimeExpression, find, known_language

SaidKind = Literal["time", "value"]

_UNIT = re.compile(r"(year|quarter|month|half|day|date|week)|(年|季度|月|半年|天|日)", re.IGNORECASE)
_UNITS = {
    "year": "year", "quarter": "quarter", "month": "month", "half": "half", "day": "day", "date": "day", "week": "week",
    "年": "year", "季度": "quarter", "月": "month", "半年": "half", "天": "day", "日": "day",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SaidSpan:
    """A time expression or a value of an answer; characters `start` to `end` of it."""

    start: int
    end: int
    text: str
    kind: SaidKind
    bound: Bound | None = None
    value: Value | None = None
    expression: TimeExpression | None = None
    is_restated: bool = False
    """Whether the question says it too, so that the answer adds nothing by it."""
    written: str = ""
    """A value with its scale and percent sign, as `text` has the number alone."""

    @property
    def period(self) -> Period | None:
        """The period, of a time expression that names one."""
        return self.bound.period if self.bound else None


@dataclass(frozen=True, slots=True)
class Said:
    """An answer's spans, and which of them answers the question: None where none does."""

    spans: tuple[SaidSpan, ...]
    decisive: int | None
    asks_when: bool

    @property
    def decisive_span(self) -> SaidSpan | None:
        """The span that answers the question."""
        return None if self.decisive is None else self.spans[self.decisive]


def read_record(record: Record) -> SourceReading:
    """A record's source, read under its language, dates and calendar."""
    language = known_language(record.language)
    return read_source(Source.of(record), language, record.document_date, record.fiscal_year_end)


def find_in(record: Record, text: str) -> list[TimeExpression]:
    """Time expressions of a text under a record's language, dates and calendar."""
    language = known_language(record.language)
    return find(text, language=language, document_date=record.document_date, fiscal_year_end=record.fiscal_year_end)


def read_said(record: Record, answer: str) -> Said:
    """What an answer to a record's question says.

    A question that asks for a time is answered by the answer's first period that the question does not have, one of
    the granularity asked for before others; a question that names a period, by the first value that it does not have.
    """
    asked_times = find_in(record, record.question)
    asked = [bound for one in asked_times if (bound := bound_of(one))]
    asks_when = ASKS_WHEN.search(record.question) is not None
    times = with_terms(answer, find_in(record, answer), read_record(record).terms)
    spans = [_time_span(one, asked) for one in times]
    values: list[SaidSpan] = []
    if not asks_when and asked:
        taken = [(one.start, one.end) for one in asked_times]
        known = {value.number for value in values_in(record.question, taken)}
        values = [_value_span(answer, one, known) for one in _values(answer, times)]
        # "2019" as the answer to "how many shares" is a number, though it looks like a year.
        if not values:
            spans, values = _years_as_values(answer, spans, known)
    ordered = sorted([*spans, *values], key=lambda span: span.start)
    decisive = _decisive(record.question, ordered, asks_when, is_value=bool(values))
    return Said(tuple(ordered), decisive, asks_when)


def _values(answer: str, times: list[TimeExpression]) -> list[Value]:
    return values_in(answer, [(one.start, one.end) for one in times])


def _time_span(expression: TimeExpression, asked: list[Bound]) -> SaidSpan:
    bound = bound_of(expression)
    is_restated = bound is not None and any(agreement(bound, one) == "same" for one in asked)
    return SaidSpan(expression.start, expression.end, expression.text, "time", bound, None, expression, is_restated)


def _value_span(answer: str, value: Value, known: set[float]) -> SaidSpan:
    end = value.start + len(re.match(r"[\d.,，]*\d", answer[value.start :]).group())  # type: ignore[union-attr]
    text, written = answer[value.start : end], answer[value.start : value.end]
    return SaidSpan(value.start, end, text, "value", None, value, None, value.number in known, written)


_YEAR_ALONE = re.compile(r"[12]\d{3}")


def _years_as_values(answer: str, spans: list[SaidSpan], known: set[float]) -> tuple[list[SaidSpan], list[SaidSpan]]:
    rest = [one for one in spans if one.is_restated or not _YEAR_ALONE.fullmatch(one.text)]
    years = [one for one in spans if one not in rest]
    found = [value for one in years for value in values_in(answer[one.start : one.end])]
    moved = [value._replace(start=one.start, end=one.end) for value, one in zip(found, years, strict=False)]
    return rest, [_value_span(answer, value, known) for value in moved]


def _decisive(question: str, spans: list[SaidSpan], asks_when: bool, *, is_value: bool) -> int | None:
    free = [index for index, span in enumerate(spans) if not span.is_restated]
    if is_value:
        return next((index for index in free if spans[index].kind == "value"), None)
    times = [index for index in free if spans[index].bound is not None]
    if not asks_when:
        return times[0] if times else None
    match = _UNIT.search(_asking_part(question))
    unit = _UNITS[match.group().lower()] if match else None
    fitting = [index for index in times if (period := spans[index].period) and period.granularity == unit]
    return (fitting or times or [None])[0]


def _asking_part(question: str) -> str:
    match = ASKS_WHEN.search(question)
    return question[match.start() : match.end() + 6] if match else ""
