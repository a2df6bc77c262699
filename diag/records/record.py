"""A record: a source (text, tables), a question, and the answer whose time is in question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """A table as rows of cell texts; rows may differ in length. Which rows are headers is for the reader to find."""

    rows: tuple[tuple[str, ...], ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A place in a record's source: characters of its context, or of a table's cell where `table` is not None."""

    start: int
    end: int
    text: str
    table: int | None = None
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One question over one source. `group` names the document it came from: statistics cluster by it."""

    id: str
    context: str = ""
    question: str = ""
    answer: str = ""
    tables: tuple[Table, ...] = ()
    evidence: tuple[SourceSpan, ...] = ()
    document_date: str | None = None
    fiscal_year_end: str | None = None
    language: str | None = None
    group: str | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())
    """Every field of the row that has no place above, unchanged."""
    line: int = 0
    """Where it stands in its file: the line or row, counted from 1."""
