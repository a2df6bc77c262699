"""Questions that compare ("in which year was it largest?", "… less than 600,000?"): answered from the row of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from diag.evidence.agreement import Bound, agreement
from diag.evidence.source import Mention, SourceReading
from diag.evidence.values import values_in
from diag.evidence.words import words_of
from diag.timex import find

_MORE = r"larg(?:er|est)|high(?:er|est)|great(?:er|est)|bigg(?:er|est)|most|more|maximum|最[高大多]"
_LESS = r"small(?:er|est)|low(?:er|est)|least|less|fewe(?:r|st)|minimum|最[低小少]"
_OVER = r"(?:more|larger|higher|greater|bigger) than|exceed(?:s|ed|ing)?|above|over|at least|超过|高于|不低于"
_UNDER = r"(?:less|smaller|lower|fewer) than|below|under|at most|低于|不足|不超过"
_LIMIT = re.compile(rf"(?:(?P<over>{_OVER})|(?P<under>{_UNDER}))\s*(?:[$€£¥]|[a-z]{{3}})?\s*(?=[\d.])", re.IGNORECASE)
_EXTREME = re.compile(rf"(?<![a-z])(?:(?P<more>{_MORE})|(?P<less>{_LESS}))(?![a-z])", re.IGNORECASE)
_DERIVED = re.compile(
    r"\b(?:change|changes|difference|average|sum|ratio of|led to|caused?|reasons?|why|how many|compared|growth)\b|变化|差额|平均",
    re.IGNORECASE,
)
"""What is compared stands in no row of its own."""
_IS_NEGATIVE = re.compile(r"\s*[$€£¥]?\s*[(（\-−–]\s*[$€£¥]?\s*[\d.]")
_ALIKE = 0.6
_AHEAD = 0.1


class Compared(NamedTuple):
    """The mentions of the row asked about that answer the question, and those that do not."""

    fitting: tuple[Mention, ...]
    others: tuple[Mention, ...]


def compare(question: str, reading: SourceReading) -> Compared | None:
    """Which values of the row that the question names fit it. None where it compares nothing, or no row is surely meant."""
    limit = _LIMIT.search(question)
    extreme = _EXTREME.search(question)
    if _DERIVED.search(question) or not (limit or extreme):
        return None
    row = _row(question, reading)
    if row is None:
        return None
    numbers = [
        -mention.value.number if _IS_NEGATIVE.match(mention.span.text) else mention.value.number for mention in row
    ]
    fits = _within(question, limit, row) if limit else _at_the_end(numbers, is_most=bool(extreme and extreme["more"]))
    if fits is None:
        return None
    fitting = tuple(mention for mention, number in zip(row, numbers, strict=True) if fits(number))
    others = tuple(mention for mention, number in zip(row, numbers, strict=True) if not fits(number))
    return Compared(fitting, others) if fitting and others else None


def agrees(said: Bound, mentions: Sequence[Mention]) -> Mention | None:
    """The first of the mentions whose period the claim's is, or is a longer one of."""
    for wanted in ("same", "coarser"):
        for mention in mentions:
            if any(agreement(said, bound) == wanted for bound in mention.bounds[:1]):
                return mention
    return None


Fits = Callable[[float], bool]


def _at_the_end(numbers: Sequence[float], *, is_most: bool) -> Fits | None:
    """The largest or smallest; of a row of losses it cannot be said which end is meant."""
    if all(number < 0 for number in numbers):
        return None
    end = max(numbers) if is_most else min(numbers)
    return lambda number: number == end


def _within(question: str, limit: re.Match[str], row: Sequence[Mention]) -> Fits | None:
    """Over or under the limit that the question gives, in its own scale or in the table's."""
    values = values_in(question[limit.end() :])
    if not values:
        return None
    bound = values[0].number
    unit = row[0].unit
    scale = values[0].scale
    named = re.search(r"thousand|million|billion", question[limit.end() :], re.IGNORECASE)
    if named or scale != 1.0:
        factors = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
        factor = scale if scale != 1.0 else factors[named.group().lower()] if named else 1.0
        bound = bound * factor / unit if unit != 1.0 else bound
    elif unit != 1.0 and bound >= 1000 * max(mention.value.number for mention in row):
        bound /= unit
    if limit["over"]:
        return lambda number: number > bound
    return lambda number: number < bound


def _row(question: str, reading: SourceReading) -> list[Mention] | None:
    """The row of a table that shares most with the question: one value for each of two periods or more."""
    bare = _LIMIT.sub(" ", _EXTREME.sub(" ", question))
    for expression in reversed(find(bare)):
        bare = f"{bare[: expression.start]} {bare[expression.end :]}"
    words = words_of(bare.lower())
    rows: dict[tuple[str, int], list[Mention]] = {}
    for mentions in reading.mentions.values():
        for mention in mentions:
            if "table" in mention.place[0] and mention.bounds:
                rows.setdefault(mention.place, []).append(mention)
    scored = sorted(((_likeness(words, row), place) for place, row in rows.items()), key=lambda one: (-one[0], one[1]))
    if not words or not scored or scored[0][0] < _ALIKE:
        return None
    if len(scored) > 1 and scored[1][0] > scored[0][0] - _AHEAD:
        return None
    row = rows[scored[0][1]]
    periods = [mention.bounds[0].period for mention in row]
    alike = len({mention.value.is_percent for mention in row}) == 1
    return row if len(row) > 1 and len(set(periods)) == len(periods) and alike else None


_WHOLE = 0.9
_SECTION = 0.3


def _likeness(words: frozenset[str], row: Sequence[Mention]) -> float:
    """F1 of the words that all cells of the row have (its label) against the question's.

    A label has the words of its section too, which questions leave out: one that has every word of the question is near enough.
    """
    label = frozenset[str].intersection(*(mention.words for mention in row))
    shared = len(label & words)
    if not shared:
        return 0.0
    whole = _WHOLE if shared == len(words) and shared >= _SECTION * len(label) else 0.0
    return max(whole, 2 * shared / (len(label) + len(words)))
