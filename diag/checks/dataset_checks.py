"""The checks that need the whole data set: duplicate ids, near-duplicates, leakage, and the balance of the labels.

They work on the fingerprints' columns alone, by sorting, so that memory grows by tens of bytes a record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from diag.checks.finding import CHECKS, Finding
from diag.checks.fingerprint import BANDS, Fingerprint, likeness
from diag.statistics import wilson

NEAR = 0.9
"""The estimated Jaccard similarity from which two masked records are near-duplicates."""
_FEW_LABELS = 20
_UNBALANCED = 0.5

FINGERPRINTS = pa.schema(
    [
        ("record", pa.string()),
        ("line", pa.int64()),
        ("id", pa.int64()),
        ("masked", pa.int64()),
        ("question", pa.int64()),
        ("times", pa.int64()),
        ("answer", pa.int64()),
        *((f"band{band}", pa.int64()) for band in range(BANDS)),
        ("signature", pa.binary()),
    ]
)


def fingerprint_table(rows: Iterable[tuple[str, int, Fingerprint]]) -> pa.Table:
    """Fingerprints with their records' ids and lines, as a table."""
    columns: dict[str, list[Any]] = {name: [] for name in FINGERPRINTS.names}
    for record, line, print_ in rows:
        columns["record"].append(record)
        columns["line"].append(line)
        for name in ("id", "masked", "question", "times", "answer", "signature"):
            columns[name].append(getattr(print_, name))
        for band, value in enumerate(print_.bands):
            columns[f"band{band}"].append(value)
    return pa.table(columns, schema=FINGERPRINTS)


def duplicate_ids(prints: pa.Table) -> Iterator[Finding]:
    """Records whose id stands on an earlier line."""
    for first, second in _equal_neighbours(prints, "id"):
        row, earlier = _row(prints, second), _row(prints, first)
        yield _finding("duplicate_id", row, f"the id {row.record!r} stands on line {earlier.line} already")


def near_duplicates(prints: pa.Table) -> Iterator[Finding]:
    """Pairs with the same label and the same question but for its period, whose sources differ in periods alone."""
    for first, second in _candidates(prints):
        one, other = _row(prints, first), _row(prints, second)
        if one.times == other.times or one.answer != other.answer or one.question != other.question:
            continue
        if one.masked == other.masked or likeness(one.signature, other.signature) >= NEAR:
            exact = "nothing but its periods" if one.masked == other.masked else "little but its periods"
            yield _finding(
                "near_duplicate",
                other,
                f"differs from {one.record!r} (line {one.line}) in {exact}, under the same label",
            )


def leaks(prints: pa.Table, other: pa.Table, where: str) -> Iterator[Finding]:
    """Records that the other data set has too: the same question over the same, or nearly the same, source."""
    both = pa.concat_tables([other, prints])
    border = other.num_rows
    for first, second in _candidates(both):
        if not first < border <= second:
            continue
        one, here = _row(both, first), _row(both, second)
        if one.question != here.question or one.answer != here.answer:
            continue
        same = one.masked == here.masked and one.times == here.times
        if same or (one.times == here.times and likeness(one.signature, here.signature) >= NEAR):
            how = "is" if same else "is nearly"
            yield _finding("leakage", here, f"{how} the record {one.record!r} (line {one.line}) of {where}")


def balance(classes: Mapping[str, Counter[str]]) -> Iterator[Finding]:
    """Kinds of label of which one class is more than half, beyond chance (the Wilson interval's lower end)."""
    for kind, counts in classes.items():
        total = sum(counts.values())
        if len(counts) < 2 or total < _FEW_LABELS:
            continue
        name, most = max(counts.items(), key=lambda item: (item[1], item[0]))
        share = wilson(most, total)
        if share.low > max(_UNBALANCED, 1 / len(counts)):
            message = f"{name} is the label of {most} of {total} records that ask for a {kind} ({share.rate:.0%})"
            yield Finding("imbalance", CHECKS["imbalance"][0], "", 0, "answer", 0, 0, name, message)


class _Row(NamedTuple):
    record: str
    line: int
    masked: int
    question: int
    times: int
    answer: int
    signature: bytes


def _row(prints: pa.Table, index: int) -> _Row:
    return _Row(*(prints.column(name)[index].as_py() for name in _Row._fields))


def _finding(check: str, row: _Row, message: str) -> Finding:
    return Finding(check, CHECKS[check][0], row.record, row.line, "", 0, 0, "", message)


def _candidates(prints: pa.Table) -> list[tuple[int, int]]:
    """Pairs that share a band of their signatures, or everything but their times; the earlier row first."""
    pairs: set[tuple[int, int]] = set()
    for column in ("masked", *(f"band{band}" for band in range(BANDS))):
        pairs.update(_equal_neighbours(prints, column))
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


def _equal_neighbours(prints: pa.Table, column: str) -> Iterator[tuple[int, int]]:
    """Rows that hold the same value, each paired with the one before it of that value."""
    if prints.num_rows < 2:
        return
    keyed = pa.table({"key": prints.column(column), "row": pa.array(range(prints.num_rows), pa.int64())})
    ordered = keyed.sort_by([("key", "ascending"), ("row", "ascending")])
    keys, rows = ordered.column("key").combine_chunks(), ordered.column("row").combine_chunks()
    equal = pc.equal(keys.slice(1), keys.slice(0, len(keys) - 1))
    places = cast(list[int], pc.indices_nonzero(equal).to_pylist())
    for place in places:
        yield rows[place].as_py(), rows[place + 1].as_py()
