"""The checks that need the whole data set: duplicate ids, near-duplicates, leakage, and the balance of the labels.

They work on the fingerprints' columns alone, by sorting, so that memory grows by tens of bytes a record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from diag.checks.finding import CHECKS, Finding
from diag.checks.fingerprint import BANDS, Fingerprint, likeness
from diag.statistics import wilson

NEAR = 0.9
"""The estimated Jaccard similarity from which two masked records are near-duplicates."""
_FEW_LABELS = 20
_UNBALANCED = 0.5
_BATCH = 10_000
_PAIRS = pa.schema([("first", pa.int64()), ("second", pa.int64())])

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


Signatures = Callable[[int], bytes]
"""Gives the MinHash signature of a row by its place: they are large, and needed for few."""


def duplicate_ids(prints: pa.Table) -> Iterator[Finding]:
    """Records whose id stands on an earlier line."""
    pairs = _neighbours(prints, "id")
    for first, second in zip(pairs.column("first").to_pylist(), pairs.column("second").to_pylist(), strict=True):
        row, earlier = _row(prints, second), _row(prints, first)
        yield _finding("duplicate_id", row, f"the id {row.record!r} stands on line {earlier.line} already")


def near_duplicates(prints: pa.Table, signatures: Signatures) -> Iterator[Finding]:
    """Pairs with the same label and the same question but for its period, whose sources differ in periods alone."""
    pairs = _pairs(prints, same=("answer", "question"), other=("times",))
    for first, second, is_exact in _near(prints, pairs, signatures):
        one, here = _row(prints, first), _row(prints, second)
        how = "nothing but its periods" if is_exact else "little but its periods"
        message = f"differs from {one.record!r} (line {one.line}) in {how}, under the same label"
        yield _finding("near_duplicate", here, message)


def leaks(prints: pa.Table, other: pa.Table, where: str, signatures: Signatures) -> Iterator[Finding]:
    """Records that the other data set has too: the same question over the same, or nearly the same, source.

    `signatures` counts the rows of `other` first, then those of `prints`.
    """
    both = pa.concat_tables([other, prints])
    border = other.num_rows
    pairs = _pairs(both, same=("answer", "question", "times"))
    crossing = pairs.filter((pc.field("first") < border) & (pc.field("second") >= border))
    for first, second, is_exact in _near(both, crossing, signatures):
        one, here = _row(both, first), _row(both, second)
        how = "is" if is_exact else "is nearly"
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


def _row(prints: pa.Table, index: int) -> _Row:
    return _Row(prints.column("record")[index].as_py(), prints.column("line")[index].as_py())


def _finding(check: str, row: _Row, message: str) -> Finding:
    return Finding(check, CHECKS[check][0], row.record, row.line, "", 0, 0, "", message)


def _pairs(prints: pa.Table, *, same: Sequence[str], other: Sequence[str] = ()) -> pa.Table:
    """Pairs that share a band of their signatures, or everything but their times; ordered by the later row."""
    columns = ("masked", *(f"band{band}" for band in range(BANDS)))
    found = pa.concat_tables([_neighbours(prints, column, same=same, other=other) for column in columns])
    once = found.group_by(["first", "second"], use_threads=False).aggregate([])
    return once.sort_by([("second", "ascending"), ("first", "ascending")])


def _near(prints: pa.Table, pairs: pa.Table, signatures: Signatures) -> Iterator[tuple[int, int, bool]]:
    """The pairs that are alike but for their times, and whether in every word; one pair for each later row."""
    masked = prints.column("masked")
    done = -1
    for batch in pairs.to_batches(max_chunksize=_BATCH):
        exact = pc.equal(masked.take(batch.column("first")), masked.take(batch.column("second")))
        rows = zip(
            batch.column("first").to_pylist(), batch.column("second").to_pylist(), exact.to_pylist(), strict=True
        )
        for first, second, is_exact in rows:
            if second != done and (is_exact or likeness(signatures(first), signatures(second)) >= NEAR):
                done = second
                yield first, second, is_exact


def _neighbours(prints: pa.Table, column: str, *, same: Sequence[str] = (), other: Sequence[str] = ()) -> pa.Table:
    """Rows that hold the same in `column` and in `same`, each paired with the one before it, where they differ in `other`."""
    if prints.num_rows < 2:
        return _PAIRS.empty_table()
    columns: dict[str, Any] = {name: prints.column(name) for name in (column, *same, *other)}
    keyed = pa.table({**columns, "row": pa.array(range(prints.num_rows), pa.int64())})
    ordered = keyed.sort_by([(name, "ascending") for name in (column, *same, "row")])
    chosen: pa.Array | None = None
    for name in (column, *same, *other):
        values = ordered.column(name).combine_chunks()
        later, earlier = values.slice(1), values.slice(0, len(values) - 1)
        kept = pc.not_equal(later, earlier) if name in other else pc.equal(later, earlier)
        chosen = kept if chosen is None else pc.and_(chosen, kept)
    assert chosen is not None
    rows = ordered.column("row").combine_chunks()
    places = pc.indices_nonzero(chosen)
    return pa.table([rows.take(places), rows.slice(1).take(places)], schema=_PAIRS)
