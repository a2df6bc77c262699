"""Which parts of a long source to keep: those that the question points at, in the source's own order."""

from __future__ import annotations

import re
from collections.abc import Callable

from diag.evidence import values_in, words_of
from diag.timex import find

_HAS_TIME = 0.3
_HAS_VALUE = 5.0
_NEIGHBOUR = 0.4
"""The share of a unit's score that its neighbours get: headings, and sentences that carry a period on."""


def excerpt(source: str, question: str, room: int, count: Callable[[str], int]) -> list[tuple[int, int]]:
    """Spans of `source`, in order and not touching, that have at most `room` tokens together.

    Units are lines (paragraphs, table rows; the first rows of a table come along with any of its rows). They are taken
    by what they share with the question: its values first, then its words, then that they name a time at all. `count`
    gives the tokens of a text. The question's own answer, and marked evidence, have no say: they are what is tested.
    """
    if count(source) <= room:
        return [(0, len(source))]
    units = _units(source)
    scores = _scores(source, units, question)
    header = _headers(source, units)
    sizes = [count(source[start:end]) + 4 for start, end in units]
    chosen: set[int] = set()
    left = room
    for index in sorted(range(len(units)), key=lambda index: (-scores[index], index)):
        wanted = {index, *header.get(index, ())} - chosen
        size = sum(sizes[one] for one in wanted)
        if size <= left:
            chosen |= wanted
            left -= size
    if not chosen:
        return [_window(source, units[max(range(len(units)), key=scores.__getitem__)], room, count)]
    spans: list[tuple[int, int]] = []
    for index in sorted(chosen):
        start, end = units[index]
        if spans and index - 1 in chosen:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _units(source: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"[^\n]+", source)]


def _scores(source: str, units: list[tuple[int, int]], question: str) -> list[float]:
    words = words_of(question.lower())
    taken = [(expression.start, expression.end) for expression in find(question)]
    values = {value.key for value in values_in(question, taken)}
    own: list[float] = []
    for start, end in units:
        line = source[start:end]
        shared = len(words & words_of(line.lower()))
        has_value = bool(values) and any(value.key in values for value in values_in(line))
        own.append(shared + _HAS_VALUE * has_value + _HAS_TIME * bool(find(line)))
    near = [
        max(own[index - 1] if index else 0.0, own[index + 1] if index + 1 < len(own) else 0.0)
        for index in range(len(own))
    ]
    return [one + _NEIGHBOUR * other for one, other in zip(own, near, strict=True)]


_HEADER_ROWS = 3


def _headers(source: str, units: list[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """For each row of a Markdown table, the table's first rows."""
    found: dict[int, tuple[int, ...]] = {}
    first = 0
    for index, (start, _) in enumerate(units):
        if source[start] != "|":
            first = index + 1
        elif index >= first + _HEADER_ROWS:
            found[index] = tuple(range(first, first + _HEADER_ROWS))
    return found


def _window(source: str, unit: tuple[int, int], room: int, count: Callable[[str], int]) -> tuple[int, int]:
    """The beginning of one unit that alone is too long."""
    start, end = unit
    low, high = 0, end - start
    while low < high:
        middle = (low + high + 1) // 2
        if count(source[start : start + middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return start, start + low
