"""What `find` returns: a character span that names a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from diag.timex.period import Period

Kind = Literal["date", "time", "duration", "set", "range"]
Issue = Literal["invalid_date", "inverted_range", "weekday_mismatch"]


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time expression (TIMEX3's sense): `text == source[start:end]`, always."""

    start: int
    end: int
    text: str
    kind: Kind
    period: Period | None
    """What it names; None where nothing given says (`last quarter` without a document date)."""
    ambiguous: bool = False
    """Whether another reading is as good (`3/4/2023`), the one taken being the documented default."""
    issue: Issue | None = None
    """What is wrong with it as written: a day that does not exist, a range that ends before it starts, …"""
    absolute: bool = True
    """Whether it names its period by itself, without the document date or the text around it."""
