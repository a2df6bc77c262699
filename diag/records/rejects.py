"""Rows that could not be read: kept with their place and reason, so that nothing is lost and the rest goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

_LONGEST_RAW = 1_000_000


class Reject(NamedTuple):
    """A row that is no record: its line, the field at fault (empty: the whole row), the reason, the row as it was."""

    line: int
    field: str
    reason: str
    raw: str

    def to_json(self) -> bytes:
        """One line of `rejects.jsonl`; a raw row beyond a million characters is cut, and says so."""
        raw = self.raw.encode("utf-8", "backslashreplace").decode("utf-8")
        row: dict[str, Any] = {"line": self.line, "field": self.field, "reason": self.reason, "raw": raw}
        if len(raw) > _LONGEST_RAW:
            row["raw"], row["raw_length"] = raw[:_LONGEST_RAW], len(raw)
        return orjson.dumps(row) + b"\n"


class RowError(ValueError):
    """What is wrong with one row, before its place in the file is known."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field
        self.reason = reason


class Rejects:
    """The rejected rows of one reading, in order."""

    def __init__(self) -> None:
        self.rows: list[Reject] = []

    def add(self, line: int, error: RowError, raw: str) -> None:
        """Keep a row with what is wrong with it."""
        self.rows.append(Reject(line, error.field, error.reason, raw))

    def __iter__(self) -> Iterator[Reject]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)
