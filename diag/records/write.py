"""Records back to files: what `read` reads again as the same records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from diag.records.record import Record


def row_of(record: Record) -> dict[str, Any]:
    """The record as a flat row; empty fields are left out, extra fields stand beside the others."""
    row: dict[str, Any] = dict(record.extra)
    row["id"] = record.id
    for name in ("context", "question", "answer", "document_date", "fiscal_year_end", "language", "group"):
        value = getattr(record, name)
        if value:
            row[name] = value
    if record.tables:
        row["tables"] = [
            {"title": table.title, "rows": [list(cells) for cells in table.rows]} for table in record.tables
        ]
    if record.evidence:
        row["evidence"] = [
            {name: value for name, value in asdict(span).items() if value is not None} for span in record.evidence
        ]
    return row


def write(records: Iterable[Record], path: str | Path) -> int:
    """Write records as JSONL, through a temporary file renamed at the end; returns how many."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.part")
    count = 0
    with temporary.open("wb") as stream:
        for record in records:
            stream.write(orjson.dumps(row_of(record)) + b"\n")
            count += 1
    temporary.replace(target)
    return count
