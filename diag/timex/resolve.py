"""From what an expression says to the period it names, given the document date and the text before it."""

from __future__ import annotations

import re
from datetime import date, timedelta

from diag.timex.calendar import (
    UNIT_MONTHS,
    FiscalYearEnd,
    Granularity,
    enclosing,
    fiscal_year_last_day,
    last_day,
    month_span_value,
)
from diag.timex.grammar import Meaning, Relative
from diag.timex.period import Period

_YEAR = re.compile(r"(FY)?(\d{4})")
_END_SLACK = 6


class Context:
    """What is known while a text is read from left to right."""

    __slots__ = ("document_date", "fiscal_year_end", "previous")

    def __init__(self, document_date: date | None, fiscal_year_end: FiscalYearEnd | None) -> None:
        self.document_date = document_date
        self.fiscal_year_end = fiscal_year_end
        self.previous: Period | None = None

    def parse(self, value: str) -> Period:
        """The period of a value under this text's fiscal year end."""
        return Period.parse(value, fiscal_year_end=self.fiscal_year_end)

    def remember(self, period: Period) -> None:
        """Keep the period as the one that later expressions are told from."""
        if not period.is_partial and not period.is_duration:
            self.previous = period

    def year(self, basis: str = "text") -> tuple[str, int] | None:
        """The year at hand, with `FY` where it is fiscal: the text's before the document date's, or the other way."""
        of_text = _YEAR.findall(self.previous.value) if self.previous else []
        if self.document_date is not None and (basis == "document" or not of_text):
            return "", self.document_date.year
        return (of_text[-1][0], int(of_text[-1][1])) if of_text else None


def resolve(meaning: Meaning, context: Context) -> Period | None:
    """The period, or None where nothing says it. Raises ValueError where it is none that a calendar has."""
    if meaning.relative is not None:
        return _resolve_relative(meaning.relative, context)
    value = meaning.value
    if value is None:
        return None
    if meaning.kind == "set" or "XXXX" not in value:
        return _months_ended(value, context) if "<" in value else context.parse(value)
    if value.startswith("XXXX-XX-XXT"):
        return _time_of_day(value, context)
    placed = _place_in_year(value, context)
    return _months_ended(placed, context) if "<" in placed else context.parse(placed)


def _place_in_year(value: str, context: Context) -> str:
    """Fill an unsaid year: the text's, else the latest one that is not after the document date."""
    year = context.year()
    if year is None:
        return value
    prefix, number = year
    is_part = bool(re.search(r"XXXX-[QH]", value))
    fiscal = "FY" if value.startswith("FY") or (prefix and is_part) else ""
    filled = value.removeprefix("FY").replace("XXXX", f"{fiscal}{number:04d}")
    if context.previous is None or not _YEAR.search(context.previous.value):
        start = context.parse(filled).start if "<" not in filled else date.fromisoformat(filled.split("<")[0])
        if start and context.document_date and start > context.document_date:
            filled = value.removeprefix("FY").replace("XXXX", f"{fiscal}{number - 1:04d}")
    return filled


def _months_ended(value: str, context: Context) -> Period | None:
    """`2023-09-30<3`: the three months that end then; 52- and 53-week years end within days of a month's end."""
    end, _, count = value.partition("<")
    if end.startswith("XXXX"):
        return None
    year, month, day = (int(part) for part in end.split("-"))
    months = int(count)
    if day < 28 and _END_SLACK < day < last_day(year, month) - _END_SLACK:
        last = date(year, month, day)
        first_year, first_month = divmod(year * 12 + month - 1 - months, 12)
        first = date(first_year, first_month + 1, min(day, last_day(first_year, first_month + 1))) + timedelta(days=1)
        return context.parse(f"{first.isoformat()}/{last.isoformat()}")
    if day <= _END_SLACK:
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
    return context.parse(month_span_value(year, month, months, context.fiscal_year_end))


def _time_of_day(value: str, context: Context) -> Period:
    day = context.document_date
    if context.previous is not None and context.previous.granularity in ("day", "time") and context.previous.start:
        day = context.previous.start
    return context.parse(value.replace("XXXX-XX-XX", day.isoformat()) if day else value)


def _resolve_relative(relative: Relative, context: Context) -> Period | None:
    previous = context.previous
    if relative.to_date:
        return _year_to_date(context)
    if relative.unit is None:
        return previous.shift(relative.steps, "year") if previous is not None else None
    if relative.unit == "own":
        return previous.shift(relative.steps) if previous is not None else None
    if relative.unit == "year":
        year = context.year(relative.basis)
        if year is None:
            return None
        fiscal = "FY" if relative.fiscal or (year[0] and relative.part[1:2] in ("", "Q", "H")) else ""
        number = year[1] + relative.steps
        if fiscal and not year[0] and _is_past_fiscal_year_end(context, year[1]):
            number += 1
        ends = relative.part.split("/") if relative.part else [""]
        return context.parse("/".join(f"{fiscal}{number:04d}{end}" for end in ends))
    if relative.unit == "month" and relative.part.startswith("-"):
        return _named_month(relative, context)
    if relative.fiscal:
        return _fiscal_unit(relative, context)
    return _unit_from_reference(relative, relative.unit, context)


def _is_past_fiscal_year_end(context: Context, year: int) -> bool:
    """Whether the document date lies in the fiscal year that is named after the next civil year."""
    day, year_end = context.document_date, context.fiscal_year_end
    return day is not None and year_end is not None and day > fiscal_year_last_day(year, year_end)


def _year_to_date(context: Context) -> Period | None:
    end = context.document_date or (context.previous.end if context.previous else None)
    return context.parse(f"{end.year:04d}-01-01/{end.isoformat()}") if end else None


def _named_month(relative: Relative, context: Context) -> Period | None:
    """`last December`: the latest one before the document date's month."""
    day = context.document_date
    if day is None:
        return None
    month = int(relative.part[1:])
    year = day.year
    if relative.steps < 0 and month >= day.month:
        year -= 1
    if relative.steps > 0 and month <= day.month:
        year += 1
    return context.parse(f"{year:04d}-{month:02d}")


def _fiscal_unit(relative: Relative, context: Context) -> Period | None:
    """A fiscal quarter or half told from the document date (where the fiscal year end is known) or from the text."""
    unit = relative.unit
    if context.document_date and context.fiscal_year_end and unit in ("quarter", "half"):
        year = context.document_date.year
        letter, count = ("Q", 4) if unit == "quarter" else ("H", 2)
        for name in (f"FY{y:04d}-{letter}{n}" for y in (year, year + 1) for n in range(1, count + 1)):
            period = context.parse(name)
            if period.start and period.end and period.start <= context.document_date <= period.end:
                return period.shift(relative.steps)
    if context.previous is not None and context.previous.granularity == unit:
        return context.previous.shift(relative.steps)
    return None


def _unit_from_reference(relative: Relative, unit: Granularity, context: Context) -> Period | None:
    previous = context.previous
    from_text = previous is not None and (relative.basis == "text" or context.document_date is None)
    if from_text and previous is not None:
        if previous.granularity == unit and not previous.is_range:
            base = previous
        elif previous.end is not None and _is_finer(previous.granularity, unit):
            base = context.parse(enclosing(previous.end, unit))
        elif previous.granularity in UNIT_MONTHS and unit in UNIT_MONTHS and not previous.is_range:
            return None
        else:
            return None
    elif context.document_date is not None:
        base = context.parse(enclosing(context.document_date, unit))
    else:
        return None
    shifted = base.shift(relative.steps)
    if relative.part == "end" and shifted.end:
        return context.parse(shifted.end.isoformat())
    if relative.part and unit == "week" and shifted.start:
        day = shifted.start + timedelta(days=int(relative.part[1:]) - 1)
        if relative.steps == 0 and context.document_date and day > context.document_date:
            day -= timedelta(days=7)
        return context.parse(day.isoformat())
    return shifted


def _is_finer(one: Granularity, other: Granularity) -> bool:
    from diag.timex.calendar import GRANULARITIES

    return GRANULARITIES.index(one) < GRANULARITIES.index(other)
