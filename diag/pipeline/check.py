"""`check`: the data quality findings of a data set, which need no model."""

from __future__ import annotations

import multiprocessing
import os
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa

from diag import __version__, checks, records, runs
from diag.errors import InputError
from diag.statistics import wilson
from diag.timex import Period

STEP = "check"
_PART_BYTES = 1 << 20
_PART_ROWS = 512
_ROW_BYTES = 2048
_PARTS_A_PROCESS = 80
"""After these a worker makes way for a new one: the allocator never gives back all of what large rows took."""

RECORDS = pa.schema(
    [
        *((name, pa.string()) for name in ("id",)),
        ("line", pa.int64()),
        *((name, pa.string()) for name in ("group", "language", "document_date", "fiscal_year_end")),
        *((name, pa.string()) for name in ("context", "tables", "question", "answer", "extra")),
        *((name, pa.string()) for name in ("verdict", "period_said", "period_in_source", "correction")),
        ("is_in_source", pa.bool_()),
        ("label_class", pa.string()),
    ]
)
FINDINGS = pa.schema(
    [
        *((name, pa.string()) for name in ("check", "severity", "record")),
        ("line", pa.int64()),
        ("field", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        *((name, pa.string()) for name in ("text", "message")),
    ]
)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What `check` is asked to do; the same options on the same data give the same tables."""

    map: Mapping[str, str] | None = None
    format: str | None = None
    strict: bool = False
    against: str | None = None
    day_first: bool = False
    """Read `3/4/2023` as 3 April."""
    workers: int = 0
    """Processes; 0 is one a core."""
    resume: bool = False


class CheckResult(NamedTuple):
    """Where the run is, and its report."""

    folder: Path
    report: dict[str, Any]


class _Part(NamedTuple):
    folder: Path
    number: int
    rows: list[records.RawRow]
    names: Mapping[str, tuple[str, ...]]
    strict: bool
    day_first: bool
    where: str


Progress = Callable[[int], None]
"""Told the bytes of input done since it was last told."""


def check(
    data: str | Path, out: Path, options: CheckOptions | None = None, progress: Progress | None = None
) -> CheckResult:
    """Check a data set and write the run folder `out`.

    Raises InputError for input that cannot be read (and, with `strict`, for the first bad row), DiagError where the
    folder cannot be written.
    """
    options = options or CheckOptions()
    began = time.monotonic()
    names = mapping(options.map)
    rows = records.rows_of(data, options.format)
    identity = _identity(data, options)
    runs.start_run(out, identity, resume=options.resume)
    seconds = {"start": time.monotonic() - began}
    began = time.monotonic()
    report = check_rows(rows, names, out, options, str(data), progress)
    seconds["check"] = time.monotonic() - began
    from diag.report import check_html

    runs.write_json(out / "report.json", report)
    runs.write_text(out / "report.html", check_html(report, out))
    runs.finish_run(out, {"seconds": {name: round(value, 3) for name, value in seconds.items()}})
    return CheckResult(out, report)


def mapping(given: Mapping[str, str] | None) -> Mapping[str, tuple[str, ...]]:
    """The columns that each field may have. Raises InputError for a field that there is not."""
    try:
        return records.resolve_mapping(given)
    except ValueError as error:
        raise InputError(str(error)) from error


def check_rows(
    rows: Iterable[records.RawRow],
    names: Mapping[str, tuple[str, ...]],
    out: Path,
    options: CheckOptions,
    where: str,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The check as a step of any run: writes `records`, `findings` and `rejects` of the run folder, and gives the report."""
    _run_parts(out, _parts(out, rows, names, options, where), options.workers or os.cpu_count() or 1, progress)
    return _join(out, options)


def figure_names() -> list[str]:
    """The figures that `--fail-if` can ask about."""
    return ["records", "rejects", "errors", "warnings", *checks.CHECKS, *(f"{name}_rate" for name in checks.CHECKS)]


def figures(report: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a report, by the names of `figure_names`."""
    found: dict[str, float] = dict.fromkeys(figure_names(), 0.0)
    found["records"], found["rejects"] = report["records"], report["rejects"]
    for name, row in report["findings"].items():
        found[name] = row["count"]
        found[f"{name}_rate"] = row["rate"]
        found["errors" if row["severity"] == "error" else "warnings"] += row["count"]
    return found


def _identity(data: str | Path, options: CheckOptions) -> dict[str, Any]:
    place = Path(data)
    return {
        "command": "check",
        "data": str(data),
        "data_sha256": runs.hash_file(place) if place.exists() else None,
        "map": dict(options.map or {}),
        "format": options.format,
        "strict": options.strict,
        "against": options.against,
        "day_first": options.day_first,
        "version": __version__,
        "python": platform.python_version(),
        "seed": None,
    }


def _parts(
    out: Path, rows: Iterable[records.RawRow], names: Mapping[str, tuple[str, ...]], options: CheckOptions, where: str
) -> Iterator[tuple[_Part | None, int]]:
    """The parts still to do (None for one that is done), with the bytes that each takes."""
    number = size = 0
    part: list[records.RawRow] = []
    for row in rows:
        part.append(row)
        size += len(row.content) if isinstance(row.content, bytes) else _ROW_BYTES
        if size >= _PART_BYTES or len(part) >= _PART_ROWS:
            yield _part(out, number, part, names, options, where), size
            number, size, part = number + 1, 0, []
    if part or number == 0:
        yield _part(out, number, part, names, options, where), size


def _part(
    out: Path,
    number: int,
    rows: list[records.RawRow],
    names: Mapping[str, tuple[str, ...]],
    options: CheckOptions,
    where: str,
) -> _Part | None:
    return (
        None
        if runs.has_part(out, STEP, number)
        else _Part(out, number, rows, names, options.strict, options.day_first, where)
    )


def _run_parts(out: Path, parts: Iterator[tuple[_Part | None, int]], workers: int, progress: Progress | None) -> None:
    """Do the parts, over several processes where there is more than one, with few of them in memory at a time."""
    advance: Progress = progress or _tell_nobody
    first = next(parts, None)
    second = next(parts, None)
    ahead = [part for part in (first, second) if part is not None]
    if workers == 1 or second is None:
        for part, size in chain(ahead, parts):
            if part is not None:
                _check_part(part)
            advance(size)
        return
    pending: dict[Future[None], int] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, max_tasks_per_child=_PARTS_A_PROCESS) as pool:
        try:
            for part, size in chain(ahead, parts):
                if part is None:
                    advance(size)
                    continue
                pending[pool.submit(_check_part, part)] = size
                if len(pending) > workers:
                    _collect(pending, advance, FIRST_COMPLETED)
            while pending:
                _collect(pending, advance, FIRST_COMPLETED)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _tell_nobody(_: int) -> None:
    pass


def _collect(pending: dict[Future[None], int], advance: Progress, until: str) -> None:
    done, _ = wait(pending, return_when=until)
    for future in done:
        advance(pending.pop(future))
        future.result()


def _check_part(part: _Part) -> None:
    rejects = records.Rejects()
    rows: dict[str, list[Any]] = {name: [] for name in RECORDS.names}
    findings: list[checks.Finding] = []
    prints: list[tuple[str, int, checks.Fingerprint]] = []
    for raw in part.rows:
        for record in records.parse(raw, part.names, rejects, strict=part.strict, where=part.where):
            try:
                checked = checks.check_record(record, day_first=part.day_first)
                print_ = checks.fingerprint(record, checked.expressions)
            except Exception as error:
                if part.strict:
                    raise
                reason = f"could not be checked, by a fault of the program ({type(error).__name__}: {error})"
                records.reject(rejects, raw, records.RowError("", reason), strict=False, where=part.where)
                continue
            findings.extend(checked.findings)
            prints.append((record.id, record.line, print_))
            _append(rows, record, checked)
    tables = {
        "records": pa.table(rows, schema=RECORDS),
        "findings": findings_table(findings),
        "fingerprints": checks.fingerprint_table(prints),
    }
    lines = {"rejects.jsonl": b"".join(reject.to_json() for reject in rejects)}
    runs.write_part(part.folder, STEP, part.number, tables, lines)


def findings_table(findings: Iterable[checks.Finding]) -> pa.Table:
    """Findings as a table."""
    return pa.Table.from_pylist([asdict(finding) for finding in findings], schema=FINDINGS)


def _append(rows: dict[str, list[Any]], record: records.Record, checked: checks.Checked) -> None:
    judgement = checked.judgement
    tables = [{"title": table.title, "rows": table.rows} for table in record.tables]
    values: dict[str, Any] = {
        "tables": orjson.dumps(tables).decode() if tables else None,
        "extra": orjson.dumps(record.extra, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
        if record.extra
        else None,
        "verdict": judgement.verdict,
        "period_said": _value(judgement.period_said),
        "period_in_source": _value(judgement.period_in_source),
        "correction": judgement.correction,
        "is_in_source": judgement.is_in_source,
        "label_class": checks.label_class(checked.label),
    }
    for name, column in rows.items():
        column.append(values[name] if name in values else getattr(record, name))


def _value(period: Period | None) -> str | None:
    return period.value if period is not None else None


def _join(out: Path, options: CheckOptions) -> dict[str, Any]:
    prints = pa.concat_tables(runs.part_tables(out, STEP, "fingerprints", _LIGHT))
    verdicts: Counter[str] = Counter()
    classes: dict[str, Counter[str]] = {}
    tallies: dict[str, _Tally] = {}
    for table in runs.part_tables(out, STEP, "records", ["verdict", "label_class"]):
        verdicts.update(table.column("verdict").to_pylist())
        for name in table.column("label_class").drop_null().to_pylist():
            kind = "quarter" if name[0] == "Q" else "half" if name[0] == "H" else name.split()[0]
            classes.setdefault(kind, Counter())[name] += 1
    for table in runs.part_tables(out, STEP, "findings"):
        _tally(tallies, table)
    runs.join_tables(out, STEP, "records", RECORDS)
    runs.join_tables(out, STEP, "findings", FINDINGS, _late_findings(out, options, prints, classes, tallies))
    runs.join_lines(out, STEP, "rejects.jsonl")
    return _report(out, options, prints.num_rows, verdicts, classes, tallies)


def _late_findings(
    out: Path,
    options: CheckOptions,
    prints: pa.Table,
    classes: Mapping[str, Counter[str]],
    tallies: dict[str, _Tally],
) -> Iterator[pa.Table]:
    """The findings over the whole data set, counted as they pass, some thousands in memory at a time."""
    with ExitStack() as files:
        found: list[Iterable[checks.Finding]] = [
            checks.duplicate_ids(prints),
            checks.near_duplicates(prints, files.enter_context(_signatures(out))),
        ]
        if options.against:
            other = _fingerprints_of(options.against, options)
            both = files.enter_context(_signatures(out, before=other))
            found.append(checks.leaks(prints, other.select(_LIGHT), options.against, both))
        found.append(checks.balance(classes))
        late = chain.from_iterable(found)
        while table := findings_table(islice(late, _BATCH)):
            _tally(tallies, table)
            yield table


def _tally(tallies: dict[str, _Tally], table: pa.Table) -> None:
    for row in table.to_pylist():
        tallies.setdefault(row["check"], _Tally()).add(row)


_BATCH = 5_000
_EXAMPLES = 20
_LIGHT = [name for name in checks.FINGERPRINTS.names if name != "signature"]


class _Tally:
    """The findings of one check, counted as they pass; those of one record stand together."""

    def __init__(self) -> None:
        self.count = 0
        self.records = 0
        self.examples: list[dict[str, Any]] = []
        self._last: tuple[str, int] | None = None

    def add(self, row: dict[str, Any]) -> None:
        self.count += 1
        record = (row["record"], row["line"])
        if record != self._last:
            self._last = record
            self.records += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(row)


@contextmanager
def _signatures(out: Path, before: pa.Table | None = None) -> Generator[checks.Signatures]:
    """The signatures of the parts' rows, `before` standing before them, read one by one from a file that has no name."""
    width = checks.SIGNATURE_BYTES
    with tempfile.TemporaryFile(dir=out, buffering=0) as file:
        for table in chain(
            [] if before is None else [before], runs.part_tables(out, STEP, "fingerprints", ["signature"])
        ):
            file.write(b"".join(table.column("signature").to_pylist()))

        def read(row: int) -> bytes:
            file.seek(row * width)
            return file.read(width)

        yield read


def _report(
    out: Path,
    options: CheckOptions,
    total: int,
    verdicts: Counter[str],
    classes: Mapping[str, Counter[str]],
    tallies: Mapping[str, _Tally],
) -> dict[str, Any]:
    manifest = runs.read_manifest(out) or {}
    with (out / "rejects.jsonl").open("rb") as stream:
        rejected = sum(1 for _ in stream)
    found: dict[str, Any] = {}
    for name, (severity, advice) in checks.CHECKS.items():
        tally = tallies.get(name)
        if tally is not None:
            share = wilson(tally.records, total)
            found[name] = {
                "severity": severity,
                "advice": advice,
                "count": tally.count,
                "records": tally.records,
                "rate": share.rate,
                "interval": [share.low, share.high],
                "examples": tally.examples,
            }
    return {
        "data": manifest.get("data"),
        "data_sha256": manifest.get("data_sha256"),
        "version": __version__,
        "records": total,
        "rejects": rejected,
        "verdicts": {
            name: {"count": count, "rate": wilson(count, total).rate, "interval": list(wilson(count, total)[1:])}
            for name, count in sorted(verdicts.items())
        },
        "findings": found,
        "label_balance": {kind: dict(sorted(counts.items())) for kind, counts in sorted(classes.items())},
    }


def _fingerprints_of(data: str, options: CheckOptions) -> pa.Table:
    """The fingerprints of another data set, in this process."""
    prints: list[tuple[str, int, checks.Fingerprint]] = []
    for record in records.read(data, map=options.map):
        from diag.timex import find, known_language

        prints.append(
            (
                record.id,
                record.line,
                checks.fingerprint(record, find(record.context, language=known_language(record.language))),
            )
        )
    return checks.fingerprint_table(prints)
