"""Whether the period that a claim says is the one that a place in the source gives."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from diag.timex import Period, TimeExpression

Agreement = Literal["same", "coarser", "unknown", "different"]
_YEAR = re.compile(r"^(?:FY)?(\d{4})$")
_SAYS_CIVIL = re.compile(r"calendar|civil|公历|自然年", re.IGNORECASE)
_YEARS = re.compile(r"\d{4}")


class Bound(NamedTuple):
    """A period with how it was written; `is_bare` where only a year is written, which names either calendar's."""

    period: Period
    text: str
    is_bare: bool = False


def bound_of(expression: TimeExpression) -> Bound | None:
    """The period of an expression that names a time on the calendar; None for durations, sets and unresolved ones."""
    period = expression.period
    if period is None or expression.kind in ("duration", "set"):
        return None
    is_year = _YEAR.match(period.value) is not None
    is_bare = is_year and period.calendar == "civil" and _SAYS_CIVIL.search(expression.text) is None
    return Bound(period, expression.text, is_bare and not re.search(r"ended|ending|止", expression.text))


@lru_cache(maxsize=8192)
def agreement(said: Bound, given: Bound) -> Agreement:
    """`same`; `coarser` where the claim says less than the source; `unknown` where the two cannot be compared.

    A bare year is taken for the year of that name in either calendar, as readers take it; "fiscal 2022" against
    "calendar 2022" is compared by dates where the fiscal year end is known, else unknown.
    """
    one, other = said.period, given.period
    equal = one.equals(other)
    if equal:
        return "same"
    if equal is None:
        return _without_calendar(said, given)
    if one.is_partial or other.is_partial:
        return "different" if one.granularity == other.granularity else "unknown"
    if (
        (said.is_bare or given.is_bare)
        and _named_year(said) == _named_year(given)
        and _is_yearlong(one)
        and _is_yearlong(other)
    ):
        return "same"
    if one.is_range and other.is_range:
        return "different"
    if one.contains(other):
        return "coarser"
    if other.contains(one):
        return "unknown"
    if one.overlaps(other) and not (_is_yearlong(one) and _is_yearlong(other)):
        return "unknown"
    return "different"


def _without_calendar(said: Bound, given: Bound) -> Agreement:
    one, other = said.period, given.period
    if one.is_partial or other.is_partial:
        return "same"
    if _named_year(said) != _named_year(given):
        return "different"
    if one.granularity == other.granularity:
        if said.is_bare or given.is_bare:
            return "same"
        tail = one.value.removeprefix("FY") == other.value.removeprefix("FY")
        return "unknown" if tail or one.granularity == "year" else "different"
    return "coarser" if said.is_bare else "unknown"


def _named_year(bound: Bound) -> str | None:
    """The year that the period goes by: that of its value's last end."""
    years = _YEARS.findall(bound.period.value)
    return years[-1] if years else None


def _is_yearlong(period: Period) -> bool:
    if period.start is None or period.end is None:
        return period.granularity == "year" and not period.is_range
    return 350 <= (period.end - period.start).days <= 380
