"""Which periods a table gives to each of its values: from row labels, column headers and the sections between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from diag.evidence.agreement import Bound, bound_of
from diag.evidence.values import Value, table_unit, values_in
from diag.evidence.words import words_of
from diag.timex import TimeExpression

Find = Callable[[str], list[TimeExpression]]
_MAY_NAME_TIME = re.compile(
    r"\d\d|[qh][1-4]|[1-4][qh]|quarter|half|year|month|week|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|today|[年季月期日]",
    re.IGNORECASE,
)
"""What a cell without any of it can be passed over for: most cells, and much faster than to look for times in each."""
_HAS_DIGIT = re.compile(r"\d")
_YEAR_ONLY = re.compile(
    r"\s*(?:fy|fiscal(?: year)?\s)?\s*(?:19|20)\d\d\s*(?:\(\w{1,2}\)|[*†年]|年度)?\s*", re.IGNORECASE
)
_NO_VALUE = re.compile(r"[\s$€£¥%()—–\-*.n/a]*", re.IGNORECASE)


class CellValue(NamedTuple):
    """A value in a table with the periods it belongs to, most telling first, and the words that label it."""

    value: Value
    bounds: tuple[Bound, ...]
    words: frozenset[str]
    row: int
    column: int


class TableReading(NamedTuple):
    """A table's values, all periods named in it, and its scale (`in thousands`)."""

    values: tuple[CellValue, ...]
    bounds: tuple[Bound, ...]
    unit: float


class _Label(NamedTuple):
    text: str
    bounds: tuple[Bound, ...]


_EMPTY = _Label("", ())


def read_table(rows: Sequence[Sequence[str]], find: Find, caption: str = "") -> TableReading:
    """Bind each value to periods. `find` finds time expressions under the record's dates; `caption` names the table."""
    labels: dict[str, _Label] = {}

    def label(text: str) -> _Label:
        if text not in labels:
            bounds = tuple(filter(None, map(bound_of, find(text)))) if _MAY_NAME_TIME.search(text) else ()
            labels[text] = _Label(text, bounds)
        return labels[text]

    width = max((len(row) for row in rows), default=0)
    headers: list[list[str]] = []
    reading_header = True
    section = _EMPTY
    columns: list[_Label] = [_EMPTY] * width
    column_words: list[frozenset[str]] = [frozenset()] * width
    found: list[CellValue] = []
    for number, row in enumerate(rows):
        cells = [cell.strip() for cell in row] + [""] * (width - len(row))
        body = cells[1:]
        filled = [cell for cell in body if cell]
        if _is_header(cells, filled, label, bool(found)):
            if not reading_header:
                headers, reading_header = [], True
                section = _EMPTY
            headers.append(_spread(cells))
            columns = [_column(headers, column, label) for column in range(width)]
            column_words = [words_of(column.text.lower()) for column in columns]
            continue
        if not filled:
            if cells and cells[0]:
                section = label(cells[0])
            continue
        reading_header = False
        row_label = label(cells[0])
        row_bounds = _row_bounds(row_label, section, label)
        row_words = words_of(cells[0].lower()) | words_of(section.text.lower())
        first = 1 if cells[0] and not _is_value(cells[0]) else 0
        for column in range(first, width):
            cell = cells[column]
            if not cell or not _HAS_DIGIT.search(cell):
                continue
            values = values_in(cell)
            if not values:
                continue
            bounds = _cell_bounds(row_label, row_bounds, columns[column], label)
            found.append(CellValue(values[0], bounds, row_words | column_words[column], number, column))
    every = tuple(bound for text in labels.values() for bound in text.bounds)
    return TableReading(tuple(found), every, table_unit(f"{caption} {' '.join(' '.join(row) for row in rows[:4])}"))


def _is_header(cells: list[str], filled: list[str], label: Callable[[str], _Label], has_values: bool) -> bool:
    """A row without values beside its label: words, units or periods. Years alone count as periods, not as values."""
    if not filled:
        return False
    if any(_is_value(cell) for cell in filled):
        return False
    if any(label(cell).bounds or re.search(r"\bended\b|\bfiscal\b|止", cell, re.IGNORECASE) for cell in filled):
        return not cells[0] or not has_values or len(filled) > 1
    return not has_values or (not cells[0] and all(_NO_VALUE.fullmatch(cell) is None for cell in filled))


def _is_value(cell: str) -> bool:
    if not _HAS_DIGIT.search(cell) or _YEAR_ONLY.fullmatch(cell):
        return False
    bare = re.sub(r"[\s$€£¥%(),.—–\-*x]|\(\d\)", "", cell)
    return bare.isdigit()


def _spread(cells: list[str]) -> list[str]:
    """A header cell stands above its empty neighbours: those to its right, and those to its left where none is nearer."""
    spread = list(cells)
    current = ""
    for index in range(1, len(spread)):
        current = spread[index] or current
        spread[index] = current
    first = next((cell for cell in spread[1:] if cell), "")
    for index in range(1, len(spread)):
        if spread[index]:
            break
        spread[index] = first
    return spread


def _column(headers: list[list[str]], column: int, label: Callable[[str], _Label]) -> _Label:
    """The column's header, its rows joined: `Years ended September 30,` above `2019` is one expression."""
    parts = list(dict.fromkeys(row[column] for row in headers if row[column]))
    joined = label(" ".join(parts))
    bounds = list(joined.bounds)
    for part in reversed(parts):
        bounds.extend(bound for bound in label(part).bounds if bound not in bounds and not bound.period.is_partial)
    return _Label(joined.text, tuple(bounds))


def _row_bounds(row: _Label, section: _Label, label: Callable[[str], _Label]) -> tuple[Bound, ...]:
    if row.bounds and any(bound.period.is_partial for bound in row.bounds) and section.bounds:
        return label(f"{row.text} {section.text}").bounds or row.bounds
    return row.bounds or section.bounds


def _cell_bounds(
    row: _Label, row_bounds: tuple[Bound, ...], column: _Label, label: Callable[[str], _Label]
) -> tuple[Bound, ...]:
    if row_bounds and any(bound.period.is_partial for bound in row_bounds) and column.bounds:
        joined = label(f"{row.text} {column.text}").bounds
        return tuple(dict.fromkeys((*joined, *column.bounds)))
    return tuple(dict.fromkeys((*row_bounds, *column.bounds)))
