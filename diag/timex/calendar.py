"""Days, months and fiscal years: the arithmetic under `Period`, on plain numbers and TIMEX3 value strings."""

from __future__ import annotations

import calendar as _stdlib_calendar
import re
from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple

Granularity = Literal["time", "day", "week", "month", "quarter", "half", "year", "decade", "century"]
Calendar = Literal["civil", "fiscal"]

GRANULARITIES: tuple[Granularity, ...] = (
    "time", "day", "week", "month", "quarter", "half", "year", "decade", "century",
)  # fmt: skip
"""From the finest to the coarsest."""

UNIT_MONTHS: dict[Granularity, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


class FiscalYearEnd(NamedTuple):
    """The last day of a company's year; a day of 28 or 29 in February means the month's last."""

    month: int
    day: int


@lru_cache(maxsize=1024)
def parse_fiscal_year_end(text: str | FiscalYearEnd | None) -> FiscalYearEnd | None:
    """`09-30`, `--09-30`, `September 30`, `September` or `9月30日` as a month and a day.

    Raises ValueError where the text is none of these or the day does not exist.
    """
    if text is None or isinstance(text, FiscalYearEnd):
        return text
    cleaned = text.strip().lower()
    if not cleaned:
        return None
    day: int | None
    if match := re.fullmatch(r"(?:--|\d{4}-)?(\d{1,2})[-/](\d{1,2})", cleaned):
        month, day = int(match[1]), int(match[2])
    elif match := re.fullmatch(r"(\d{1,2})月(?:(\d{1,2})日|底|末)?", cleaned):
        month, day = int(match[1]), int(match[2]) if match[2] else None
    elif match := re.fullmatch(r"([a-z]{3,9})\.?\s*(\d{1,2})?", cleaned):
        names = [name for name in MONTHS if name.startswith(match[1]) or name[:3] == match[1][:3] == "sep"]
        if not names:
            raise ValueError(_fiscal_year_end_error(text))
        month, day = MONTHS.index(names[0]) + 1, int(match[2]) if match[2] else None
    else:
        raise ValueError(_fiscal_year_end_error(text))
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= last_day(2024, month)):
        raise ValueError(_fiscal_year_end_error(text))
    return FiscalYearEnd(month, day if day is not None else last_day(2023, month))


def _fiscal_year_end_error(text: str) -> str:
    return f"fiscal_year_end {text!r} is not a day of the year: write it as MM-DD, such as 09-30"


def last_day(year: int, month: int) -> int:
    """The number of days of a month."""
    return _stdlib_calendar.monthrange(year, month)[1]


def add_months(day: date, months: int) -> date:
    """The day `months` later; a month's last day stays a last day, a day beyond the month's end is moved to it."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    if not 1 <= year <= 9999:
        raise ValueError("the shifted day leaves the calendar")
    longest = last_day(year, month + 1)
    is_last = day.day == last_day(day.year, day.month)
    return date(year, month + 1, longest if is_last else min(day.day, longest))


def bounds(
    fields: Mapping[str, str | None], granularity: Granularity, fiscal_year_end: FiscalYearEnd | None
) -> tuple[date | None, date | None]:
    """First and last day of the fields of a TIMEX3 value; None, None where the year or the fiscal year end is unknown.

    Raises ValueError for a day, week or month that does not exist.
    """
    if fields["century"]:
        return _years(int(fields["century"]) * 100, 100)
    if fields["decade"]:
        return _years(int(fields["decade"]) * 10, 10)
    month = int(fields["month"]) if fields["month"] and fields["month"] != "XX" else None
    if month is not None and not 1 <= month <= 12:
        raise ValueError(f"there is no month {month}")
    year_text = fields["year"] or "XXXX"
    if year_text == "XXXX" or "XX" in (fields["month"], fields["day"], fields["week"]):
        if month and fields["day"] and fields["day"] != "XX" and not 1 <= int(fields["day"]) <= last_day(2024, month):
            raise ValueError(f"month {month} has no day {fields['day']}")
        return None, None
    year = int(year_text)
    if not 1 <= year <= 9999:
        raise ValueError(f"year {year} is outside 1 to 9999")
    if fields["fy"]:
        return _fiscal_bounds(year, fields, fiscal_year_end)
    if fields["day"] and month:
        return (day := date(year, month, int(fields["day"]))), day
    if fields["week"]:
        weekday = int(fields["weekday"] or 1)
        start = date.fromisocalendar(year, int(fields["week"]), weekday)
        return start, start if fields["weekday"] else start + timedelta(days=6)
    if month:
        first_month, count = month, 1
    elif fields["quarter"]:
        first_month, count = 3 * int(fields["quarter"]) - 2, 3
    elif fields["half"]:
        first_month, count = 6 * int(fields["half"]) - 5, 6
    else:
        first_month, count = 1, 12
    last_month = first_month + count - 1
    return date(year, first_month, 1), date(year, last_month, last_day(year, last_month))


def _years(first: int, count: int) -> tuple[date, date]:
    return date(max(first, 1), 1, 1), date(first + count - 1, 12, 31)


def _fiscal_bounds(
    year: int, fields: Mapping[str, str | None], fiscal_year_end: FiscalYearEnd | None
) -> tuple[date | None, date | None]:
    if fiscal_year_end is None:
        return None, None
    start = fiscal_year_last_day(year - 1, fiscal_year_end) + timedelta(days=1)
    if fields["quarter"]:
        skip, count = 3 * (int(fields["quarter"]) - 1), 3
    elif fields["half"]:
        skip, count = 6 * (int(fields["half"]) - 1), 6
    else:
        skip, count = 0, 12
    if skip + count == 12:
        return _plain_months(start, skip), fiscal_year_last_day(year, fiscal_year_end)
    return _plain_months(start, skip), _plain_months(start, skip + count) - timedelta(days=1)


def _plain_months(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, last_day(year, month + 1)))


def fiscal_year_last_day(year: int, fiscal_year_end: FiscalYearEnd) -> date:
    """The last day of the fiscal year named `year` (a fiscal year is named by the civil year in which it ends)."""
    longest = last_day(year, fiscal_year_end.month)
    day = longest if fiscal_year_end.month == 2 and fiscal_year_end.day >= 28 else min(fiscal_year_end.day, longest)
    return date(year, fiscal_year_end.month, day)


def month_span_value(year: int, month: int, months: int, fiscal_year_end: FiscalYearEnd | None) -> str:
    """The TIMEX3 value of `months` whole months that end with `month` of `year`."""
    first_year, first_index = divmod(year * 12 + month - months, 12)
    first = first_index + 1
    if months == 12 and fiscal_year_end and fiscal_year_end.month == month and month != 12:
        return f"FY{year:04d}"
    if first_year == year:
        if months == 12:
            return f"{year:04d}"
        if months == 6 and first in (1, 7):
            return f"{year:04d}-H{1 if first == 1 else 2}"
        if months == 3 and first % 3 == 1:
            return f"{year:04d}-Q{first // 3 + 1}"
        if months == 1:
            return f"{year:04d}-{month:02d}"
    return f"{first_year:04d}-{first:02d}/{year:04d}-{month:02d}"


def enclosing(day: date, unit: Granularity) -> str:
    """The value of the civil period of granularity `unit` that holds `day`."""
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04d}-W{week:02d}"
    return {
        "day": day.isoformat(),
        "month": f"{day.year:04d}-{day.month:02d}",
        "quarter": f"{day.year:04d}-Q{(day.month + 2) // 3}",
        "half": f"{day.year:04d}-H{1 if day.month <= 6 else 2}",
        "year": f"{day.year:04d}",
        "decade": f"{day.year // 10:03d}",
        "century": f"{day.year // 100:02d}",
    }[unit]
