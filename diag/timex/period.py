"""The value of a time expression, and its algebra.

A `Period` is written as a TIMEX3 value string (TimeML 1.2.1), extended by halves (`2023-H1`), fiscal periods
(`FY2023-Q3`) and ranges (`2022-03/2022-05`). Every question about two periods has three answers: True, False, and
None where they cannot be compared (a fiscal period without a known fiscal year end, a quarter without its year).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from diag.timex.calendar import (
    GRANULARITIES,
    UNIT_MONTHS,
    Calendar,
    FiscalYearEnd,
    Granularity,
    add_months,
    bounds,
    enclosing,
    month_span_value,
    parse_fiscal_year_end,
)

if TYPE_CHECKING:
    from diag.timex.expression import TimeExpression

_POINT = re.compile(
    r"(?P<fy>FY)?(?P<year>\d{4}|XXXX)"
    r"(?:-(?:Q(?P<quarter>[1-4])|H(?P<half>[12])|W(?P<week>\d\d|XX)(?:-(?P<weekday>[1-7]))?"
    r"|(?P<month>\d\d|XX)(?:-(?P<day>\d\d|XX))?))?"
    r"(?:T(?P<time>\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?|[A-Z]{2}))?"
    r"|(?P<decade>\d{3})|(?P<century>\d{2})"
)
_FIELDS: tuple[tuple[str, Granularity], ...] = (
    ("time", "time"), ("day", "day"), ("month", "month"), ("weekday", "day"), ("week", "week"), ("quarter", "quarter"),
    ("half", "half"), ("decade", "decade"), ("century", "century"),
)  # fmt: skip
_DURATION = re.compile(r"P(?:(?P<n>\d+(?:\.\d+)?|X)(?P<unit>[YQMWD])|T(?P<tn>\d+(?:\.\d+)?|X)(?P<tunit>[HMS]))")
_DURATION_UNITS: dict[str, Granularity] = {"Y": "year", "Q": "quarter", "M": "month", "W": "week", "D": "day"}

Equality = bool | None
"""True, False, or None where the two cannot be compared."""


@dataclass(frozen=True, slots=True)
class Period:
    """A normalised time: TIMEX3 `value`, first and last day (both inclusive), granularity and calendar.

    `start` or `end` is None where it is open (`2016/`) or unknown (`XXXX-Q3`, or a fiscal period whose fiscal year
    end is not known). `calendar` is `fiscal` for the periods of a company's own year.
    """

    value: str
    start: date | None
    end: date | None
    granularity: Granularity
    calendar: Calendar = "civil"
    fiscal_year_end: FiscalYearEnd | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, value: str, *, fiscal_year_end: str | FiscalYearEnd | None = None) -> Period:
        """The period of a TIMEX3 value string. Raises ValueError where the string names no possible period."""
        return _parse(value, parse_fiscal_year_end(fiscal_year_end))

    @property
    def is_duration(self) -> bool:
        """Whether it measures a length of time (`P3M`) and names no place on the calendar."""
        return self.value.startswith("P")

    @property
    def is_range(self) -> bool:
        """Whether it is written as two ends, either of them perhaps open."""
        return "/" in self.value

    @property
    def is_partial(self) -> bool:
        """Whether its year is not known (`XXXX-Q3`)."""
        return "XX" in self.value

    @property
    def is_placed(self) -> bool:
        """Whether at least one end is a known day."""
        return self.start is not None or self.end is not None

    def equals(self, other: Period) -> Equality:
        """Whether both name the same days, in whatever notation; None where that cannot be known."""
        if self.is_duration or other.is_duration:
            return _duration_key(self.value) == _duration_key(other.value)
        if self.value == other.value:
            return True if not (self.is_partial or self.calendar != other.calendar) else None
        if self.is_partial or other.is_partial:
            return _partial_equality(self.value, other.value)
        if self._shares_calendar(other):
            if "T" in self.value or "T" in other.value or not self.is_placed:
                return False
            return (self.start, self.end) == (other.start, other.end)
        return None

    def contains(self, other: Period) -> Equality:
        """Whether every day of `other` lies in this period (equal periods contain each other)."""
        if self.is_duration or other.is_duration:
            return False
        if self.is_partial or other.is_partial:
            return True if _partial_equality(self.value, other.value) else None
        if not self._shares_calendar(other):
            return None
        if self.start is None and self.end is None:
            return _fiscal_contains(self.value, other.value)
        if "T" in self.value:
            return self.value == other.value
        after_start = self.start is None or (other.start is not None and self.start <= other.start)
        before_end = self.end is None or (other.end is not None and other.end <= self.end)
        return after_start and before_end

    def overlaps(self, other: Period) -> Equality:
        """Whether the two share a day."""
        if self.is_duration or other.is_duration:
            return False
        if self.is_partial or other.is_partial:
            return None
        if not self._shares_calendar(other):
            return None
        if not (self.is_placed and other.is_placed):
            inside = _fiscal_contains(self.value, other.value), _fiscal_contains(other.value, self.value)
            return any(inside)
        if self.granularity == other.granularity == "time":
            return self.value == other.value
        starts_before = self.start is None or other.end is None or self.start <= other.end
        ends_after = self.end is None or other.start is None or other.start <= self.end
        return starts_before and ends_after

    def shift(self, k: int, unit: Granularity | None = None) -> Period:
        """The period `k` units later (earlier where negative); `unit` is the period's own granularity by default.

        Shifting back by the same `k` gives the period again, except where a day is shifted by months into a month
        that is too short for it (31 January, one month on). The last day of a month stays a last day. Raises
        ValueError for durations, for partial periods, and beyond the years 1 to 9999.
        """
        if self.is_duration or self.is_partial:
            raise ValueError(f"{self.value} has no place on the calendar, so it cannot be shifted")
        shifted = "/".join(_shift_point(point, k, unit) if point else "" for point in self.value.split("/"))
        return _parse(shifted, self.fiscal_year_end)

    def competing(self, source: Iterable[Period] = ()) -> tuple[Period, ...]:
        """The periods that could stand in its place: those of its granularity in `source`, then its siblings.

        Siblings are the other quarters, halves or months of the year, the same one a year before and after, and for
        years, days and weeks the two neighbours on each side.
        """
        rivals: dict[str, Period] = {}
        for period in source:
            same_kind = period.granularity == self.granularity and period.is_range == self.is_range
            if same_kind and not period.is_partial and period.equals(self) is not True:
                rivals.setdefault(period.value, period)
        for period in self._siblings():
            rivals.setdefault(period.value, period)
        rivals.pop(self.value, None)
        return tuple(rivals.values())

    def format(self, language: str = "en") -> str:
        """The period in words of `language` (`en` or `zh`); `find` reads it back as the same period."""
        from diag.timex.notation import format_period

        return format_period(self, language)

    def format_like(self, example: str | TimeExpression) -> str:
        """The period in the notation of `example` (`3Q23` for `1Q22`), or in its language's plain form."""
        from diag.timex.notation import format_like

        return format_like(self, example if isinstance(example, str) else example.text)

    def _siblings(self) -> Iterable[Period]:
        if self.is_duration or self.is_partial or not (self.is_placed or self.calendar == "fiscal"):
            return
        steps: Iterable[tuple[int, Granularity | None]]
        if self.granularity in ("quarter", "half", "month") and not self.is_range:
            count = {"quarter": 4, "half": 2, "month": 12}[self.granularity]
            match = re.search(r"(\d+)$", self.value)
            own = int(match.group(1)) if match else 1
            steps = [(n - own, None) for n in range(1, count + 1)] + [(-1, "year"), (1, "year")]
        elif self.granularity == "day":
            steps = [(-1, "month"), (1, "month"), (-1, "year"), (1, "year"), (-1, None), (1, None)]
        elif self.is_range:
            steps = [(-1, "year"), (1, "year"), (-1, None), (1, None)]
        else:
            steps = [(-1, None), (1, None), (-2, None), (2, None)]
        for k, unit in steps:
            try:
                yield self.shift(k, unit)
            except ValueError:
                continue

    def _shares_calendar(self, other: Period) -> bool:
        unplaced = [not period.is_placed for period in (self, other)]
        if any(unplaced):
            return all(unplaced) and self.calendar == other.calendar
        return True

    def __str__(self) -> str:
        return self.value


@lru_cache(maxsize=8192)
def _parse(value: str, fiscal_year_end: FiscalYearEnd | None) -> Period:
    if value.startswith("P"):
        match = _DURATION.fullmatch(value)
        if match is None:
            raise ValueError(f"not a TIMEX3 duration: {value!r}")
        unit: Granularity = _DURATION_UNITS[match["unit"]] if match["unit"] else "time"
        return Period(value, None, None, unit)
    if "/" in value:
        return _parse_range(value, fiscal_year_end)
    match = _POINT.fullmatch(value)
    if match is None:
        raise ValueError(f"not a TIMEX3 value: {value!r}")
    granularity = _granularity(match)
    calendar: Calendar = "fiscal" if match["fy"] else "civil"
    known_end = fiscal_year_end if calendar == "fiscal" else None
    start, end = bounds(match.groupdict(), granularity, known_end)
    return Period(value, start, end, granularity, calendar, fiscal_year_end)


def _granularity(match: re.Match[str]) -> Granularity:
    for name, granularity in _FIELDS:
        if match[name]:
            return granularity
    return "year"


def _parse_range(value: str, fiscal_year_end: FiscalYearEnd | None) -> Period:
    first, _, last = value.partition("/")
    if not (first or last) or "/" in last:
        raise ValueError(f"not a TIMEX3 range: {value!r}")
    ends = [_parse(part, fiscal_year_end) for part in (first, last) if part]
    granularities: list[Granularity] = [end.granularity for end in ends]
    granularity: Granularity = min(granularities, key=GRANULARITIES.index)
    start = ends[0].start if first else None
    end = ends[-1].end if last else None
    is_fiscal = first.startswith("FY") and last.startswith("FY")
    if end < start if start and end else is_fiscal and first[:6] > last[:6]:
        raise ValueError(f"the range ends before it starts: {value}")
    calendar: Calendar = "fiscal" if any(end.calendar == "fiscal" for end in ends) else "civil"
    return Period(value, start, end, granularity, calendar, fiscal_year_end)


def _shift_point(value: str, k: int, unit: Granularity | None) -> str:
    match = _POINT.fullmatch(value)
    if match is None:
        raise ValueError(f"{value!r} cannot be shifted")
    fields = match.groupdict()
    prefix = fields["fy"] or ""
    if fields["century"] or fields["decade"]:
        size = 100 if fields["century"] else 10
        years = {"century": 100, "decade": 10, "year": 1, None: size}.get(unit)
        if years is None or (k * years) % size:
            raise ValueError(f"{value} cannot be shifted by {k} {unit}")
        number = int(value) + k * years // size
        if not 0 < number * size < 10000:
            raise ValueError(f"{value} shifted by {k} leaves the calendar")
        return f"{number:0{len(value)}d}"
    year = int(fields["year"])
    if fields["day"] or fields["week"]:
        shifted = _shift_days(fields, k, unit)
        return shifted + (f"T{fields['time']}" if fields["time"] else "")
    own = _granularity(match)
    size = UNIT_MONTHS[own]
    months = k * UNIT_MONTHS.get(unit or own, 0)
    if not UNIT_MONTHS.get(unit or own) or months % size:
        raise ValueError(f"{value} cannot be shifted by {k} {unit}")
    index = year * 12 + (int(fields[own]) - 1 if own != "year" else 0) * size + months
    year, rest = divmod(index, 12)
    if not 1 <= year <= 9999:
        raise ValueError(f"{value} shifted by {k} leaves the calendar")
    number = rest // size + 1
    suffix = {"month": f"-{number:02d}", "quarter": f"-Q{number}", "half": f"-H{number}"}.get(own, "")
    return f"{prefix}{year:04d}{suffix}"


def _shift_days(fields: dict[str, str | None], k: int, unit: Granularity | None) -> str:
    granularity: Granularity = "week" if fields["week"] and not fields["weekday"] else "day"
    start, _ = bounds(fields, granularity, None)
    if start is None:
        raise ValueError("a day without its year cannot be shifted")
    unit = unit or granularity
    try:
        if unit in ("day", "week"):
            moved = start + timedelta(days=k * (7 if unit == "week" else 1))
        elif unit in UNIT_MONTHS:
            moved = add_months(start, k * UNIT_MONTHS[unit])
        else:
            raise ValueError(f"a day cannot be shifted by {unit}")
    except OverflowError as error:
        raise ValueError("the shifted day leaves the calendar") from error
    if granularity == "week":
        year, week, _ = moved.isocalendar()
        return f"{year:04d}-W{week:02d}"
    return moved.isoformat()


def _duration_key(value: str) -> tuple[str, float] | str:
    match = _DURATION.fullmatch(value)
    if match is None or "X" in (match["n"], match["tn"]):
        return value
    if match["unit"]:
        family, factor = {"Y": ("M", 12), "Q": ("M", 3), "M": ("M", 1), "W": ("D", 7), "D": ("D", 1)}[match["unit"]]
        return family, float(match["n"]) * factor
    return "S", float(match["tn"]) * {"H": 3600, "M": 60, "S": 1}[match["tunit"]]


def _partial_equality(one: str, other: str) -> Equality:
    """False where two known fields differ, or the granularity does; else None."""
    first, second = _POINT.fullmatch(one), _POINT.fullmatch(other)
    if first is None or second is None:
        return None
    for name in ("quarter", "half", "week", "weekday", "month", "day"):
        known = first[name], second[name]
        if (known[0] is None) != (known[1] is None):
            return False if first["fy"] == second["fy"] else None
        if known[0] != known[1] and "XX" not in known:
            return False if first["fy"] == second["fy"] else None
    return None


def _fiscal_contains(outer: str, inner: str) -> bool:
    """Containment of fiscal values by their fields alone, for the years whose end is not known."""
    if "/" in outer or "/" in inner:
        return outer == inner
    if outer == inner or inner.startswith(f"{outer}-"):
        return True
    half, quarter = re.fullmatch(r"(FY\d{4})-H([12])", outer), re.fullmatch(r"(FY\d{4})-Q([1-4])", inner)
    return bool(half and quarter and half[1] == quarter[1] and (int(quarter[2]) + 1) // 2 == int(half[2]))


def span_of_months(end_year: int, end_month: int, months: int, *, fiscal_year_end: FiscalYearEnd | None = None) -> str:
    """The value of the `months` months that end with the given one: `2023-Q3`, `2023-H1`, `2023`, or a range.

    A span that is exactly the fiscal year is given as one (`FY2019`) where the fiscal year does not end in December.
    """
    return month_span_value(end_year, end_month, months, fiscal_year_end)


def period_of(day: date, unit: Granularity, *, fiscal_year_end: FiscalYearEnd | None = None) -> Period:
    """The civil period of granularity `unit` that holds `day`."""
    return _parse(enclosing(day, unit), fiscal_year_end)
