"""Two question sets from TAT-QA's real reports.

R1, by a fixed seed: which period a given value belongs to ("In which year was … $158,371?"), from its tables and paragraphs.
R2: TAT-QA's own span questions that name a period, or ask for one. Documents are split in two halves by a hash of their id:
`dev` (to fit and choose on) and `test`.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from diag.evidence import ASKS_WHEN, bound_of
from diag.records import Record, SourceSpan, Table, read
from diag.timex import find

TATQA = Path(__file__).parents[3] / "shared/data/tatqa/tatqa_dataset_dev.json"
SEED = 20230930
Split = Literal["dev", "test"]
_DEV_SHARE = 0.35
_PER_TABLE = 3
_YEAR = re.compile(r"(?<![\d,.$-])(?:19|20)\d\d(?![\d,%]|\.\d)")


def split_of(group: str) -> Split:
    """Which half a document belongs to."""
    share = int.from_bytes(hashlib.sha256(group.encode()).digest()[:4], "big") / 2**32
    return "dev" if share < _DEV_SHARE else "test"


def _documents(path: Path) -> Iterator[Record]:
    seen: set[str] = set()
    for record in read(path):
        if record.group not in seen:
            seen.add(record.group or "")
            yield record


def r1(split: Split, path: Path = TATQA) -> list[Record]:
    """Questions that give a value and its row's label, and ask for its year: that of the nearest header above it.

    The gold year is read off the raw cells, not by the evidence tier. Only values that stand once in the whole source, in
    a row whose values have at least two years.
    """
    found: list[Record] = []
    for record in _documents(path):
        if split_of(record.group or record.id) == split:
            found.extend(_ask(record, random.Random(f"{SEED} {record.group}")))
    return found


def _ask(record: Record, draw: random.Random) -> Iterator[Record]:
    everything = " ".join([record.context, *(cell for table in record.tables for row in table.rows for cell in row)])
    candidates: list[tuple[str, dict[int, str], int, int]] = []
    for number, table in enumerate(record.tables):
        for index, row in enumerate(table.rows):
            label = row[0].strip().rstrip(":") if row else ""
            if not re.search(r"[A-Za-z]{3}", label) or _YEAR.search(label):
                continue
            years = {column: year for column in range(1, len(row)) if (year := _year_above(table, index, column))}
            values = {column: year for column, year in years.items() if _is_unique_value(row[column], everything)}
            if values and len(set(years.values())) >= 2:
                candidates.append((label, values, number, index))
    for place, (label, values, number, index) in enumerate(draw.sample(candidates, min(_PER_TABLE, len(candidates)))):
        column = draw.choice(sorted(values))
        cell = record.tables[number].rows[index][column]
        yield replace(
            record,
            id=f"r1-{record.group}-{place}",
            question=f"In which year was the amount of {label} {cell.strip()}?",
            answer=values[column],
            evidence=(SourceSpan(0, len(cell), cell, number, index, column),),
            extra={"asks": "period"},
        )


def _year_above(table: Table, row: int, column: int) -> str | None:
    """The year of the nearest cell above that names one and no other; None where there is none."""
    for cells in reversed(table.rows[:row]):
        if column < len(cells):
            years = set(_YEAR.findall(cells[column]))
            if len(years) == 1:
                return years.pop()
            if years:
                return None
    return None


def _is_unique_value(cell: str, everything: str) -> bool:
    digits = re.sub(r"[^\d.,]", "", cell).strip(".,")
    plain = re.fullmatch(r"[\s$€£(]*[\d.,]+[\s)%]*", cell)
    return plain is not None and len(re.sub(r"\D", "", digits)) >= 3 and everything.count(digits) == 1


def r2(split: Split, path: Path = TATQA) -> list[Record]:
    """TAT-QA's own span questions whose answer is a value for the one period that they name, or a period."""
    found: list[Record] = []
    for record in read(path):
        if split_of(record.group or record.id) != split or record.extra.get("answer_type") != "span":
            continue
        times = [bound for one in find(record.question) if (bound := bound_of(one))]
        names_one = len({bound.period for bound in times}) == 1 and re.search(r"\d", record.answer)
        asks_one = ASKS_WHEN.search(record.question) and _YEAR.fullmatch(record.answer.strip())
        if names_one or asks_one:
            found.append(record)
    return found
