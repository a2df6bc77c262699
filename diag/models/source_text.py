"""A record's source as the model reads it, and where a place of the record stands in it and in a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diag.records import Record, SourceSpan

if TYPE_CHECKING:
    from diag.models.prompts import Prompt

_APART = "\n\n"


def source_text(record: Record) -> str:
    """Tables as Markdown rows, then the context."""
    parts = [_table_text(table.title, table.rows) for table in record.tables]
    if record.context:
        parts.append(record.context)
    return _APART.join(parts)


def _table_text(title: str, rows: Sequence[Sequence[str]]) -> str:
    text = "\n".join(_row_text(row) for row in rows)
    return f"{title}\n{text}" if title else text


def _row_text(row: Sequence[str]) -> str:
    return f"| {' | '.join(cell.strip() for cell in row)} |"


def in_source(record: Record, span: SourceSpan) -> tuple[int, int]:
    """Where a place of the record stands in its source text: characters, end exclusive."""
    if span.table is None:
        shift = len(source_text(record)) - len(record.context)
        return shift + span.start, shift + span.end
    assert span.row is not None and span.column is not None
    before = sum(len(_table_text(one.title, one.rows)) + len(_APART) for one in record.tables[: span.table])
    table = record.tables[span.table]
    if table.title:
        before += len(table.title) + 1
    before += sum(len(_row_text(row)) + 1 for row in table.rows[: span.row])
    row = table.rows[span.row]
    before += len("| ") + sum(len(cell.strip()) + len(" | ") for cell in row[: span.column])
    cell = row[span.column]
    cut = len(cell) - len(cell.lstrip())
    length = len(cell.strip())
    return before + min(max(0, span.start - cut), length), before + min(max(0, span.end - cut), length)


def in_prompt(record: Record, prompt: Prompt, span: SourceSpan) -> tuple[int, int] | None:
    """Where a place of the record stands in a prompt made from it; None where the prompt does not show all of it."""
    start, end = in_source(record, span)
    for piece in prompt.pieces:
        if piece.in_source <= start and end <= piece.in_source + piece.length:
            shift = piece.in_prompt - piece.in_source
            return start + shift, end + shift
    return None
