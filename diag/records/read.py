"""`read`: the records of a file, a folder or a data set, streamed, with the rows that are none beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from diag.errors import InputError
from diag.records.fields import records_of, resolve_mapping
from diag.records.record import Record
from diag.records.rejects import Rejects, RowError
from diag.records.rows import RawRow, raw_rows

_WHY_BROKEN = "broken JSON"


class Reading(Iterator[Record]):
    """The records of one source, read once, front to back; `rejects` grows as rows turn out to be none."""

    def __init__(
        self, rows: Iterator[RawRow], names: Mapping[str, tuple[str, ...]], *, strict: bool, where: str
    ) -> None:
        self.rejects = Rejects()
        self._strict = strict
        self._where = where
        self._names = names
        self._records = self._read(rows)

    def __next__(self) -> Record:
        return next(self._records)

    def _read(self, rows: Iterator[RawRow]) -> Iterator[Record]:
        seen: set[int] = set()
        for row in rows:
            for record in parse(row, self._names, self.rejects, strict=self._strict, where=self._where):
                key = id_hash(record.id)
                if key in seen:
                    error = RowError("id", f"the id {record.id!r} stands on an earlier row already")
                    reject(self.rejects, row, error, strict=self._strict, where=self._where)
                else:
                    seen.add(key)
                    yield record


def read(
    path: str | Path, *, map: Mapping[str, str] | None = None, format: str | None = None, strict: bool = False
) -> Reading:
    """Stream the records of `path`: a JSONL, JSON, CSV, TSV or Parquet file, or what `datasets.load_dataset` takes.

    `map` names the columns of fields that go by other names (`{"context": "passage"}`). A row that is no record goes
    to `rejects` of what is returned and the rest goes on; with `strict` the first one raises InputError. A second row
    with an id that was seen is rejected too. Raises InputError where nothing can be read at all.
    """
    try:
        names = resolve_mapping(map)
    except ValueError as error:
        raise InputError(str(error)) from error
    return Reading(rows_of(path, format), names, strict=strict, where=str(path))


def rows_of(path: str | Path, format: str | None = None) -> Iterator[RawRow]:
    """The raw rows of a file, of all data files of a folder, or of a data set of the hub."""
    from diag.records.hub import dataset_rows

    place = Path(path)
    if format == "datasets":
        return dataset_rows(str(path))
    if place.is_file():
        return raw_rows(place, format)
    if place.is_dir():
        files = sorted(
            file for file in place.iterdir() if file.suffix.lower() in (".jsonl", ".parquet", ".csv", ".json")
        )
        is_saved = (place / "dataset_info.json").exists() or (place / "dataset_dict.json").exists()
        if is_saved or not files:
            return dataset_rows(str(path))
        if all(file.suffix.lower() == files[0].suffix.lower() for file in files):
            return _in_sequence(files, format)
        return dataset_rows(str(path))
    if place.suffix and place.parent != Path() and not place.exists():
        raise InputError(f"{path}: no such file")
    if place.suffix in (".jsonl", ".json", ".csv", ".tsv", ".parquet"):
        raise InputError(f"{path}: no such file")
    return dataset_rows(str(path))


def _in_sequence(files: list[Path], format: str | None) -> Iterator[RawRow]:
    shift = 0
    for file in files:
        line = 0
        for row in raw_rows(file, format):
            line = row.line
            yield RawRow(shift + line, row.content)
        shift += line


def parse(
    row: RawRow, names: Mapping[str, tuple[str, ...]], rejects: Rejects, *, strict: bool, where: str
) -> Iterator[Record]:
    """The records of one raw row; what is wrong with it goes to `rejects`, or is raised where `strict`."""
    try:
        yield from records_of(_value(row), row.line, names)
    except RowError as error:
        reject(rejects, row, error, strict=strict, where=where)


def reject(rejects: Rejects, row: RawRow, error: RowError, *, strict: bool, where: str) -> None:
    """Keep a bad row, or raise InputError where `strict`."""
    if strict:
        field = f", field {error.field!r}" if error.field else ""
        raise InputError(f"{where}, row {row.line}{field}: {error.reason}")
    rejects.add(row.line, error, _raw_text(row))


def id_hash(identity: str) -> int:
    """64 bits of an id: what is kept of each to know it again."""
    return int.from_bytes(hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _value(row: RawRow) -> object:
    if isinstance(row.content, RowError):
        raise row.content
    if not isinstance(row.content, bytes):
        return row.content
    try:
        return orjson.loads(row.content)
    except orjson.JSONDecodeError as error:
        raise RowError("", _reason(row.content, error)) from error


def _reason(content: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as broken:
        return f"not UTF-8 at byte {broken.start} of the line"
    if b"\x00" in content:
        return f"{_WHY_BROKEN}: a NUL byte at byte {content.index(0)} of the line"
    if "surrogate" in str(error) or "hex escape" in str(error):
        return f"{_WHY_BROKEN}: a lone surrogate (half of a character) at character {error.pos} of the line"
    return f"{_WHY_BROKEN} at character {error.pos} ({error.msg})"


def _raw_text(row: RawRow) -> str:
    if isinstance(row.content, bytes):
        return row.content.decode("utf-8", "backslashreplace")
    if isinstance(row.content, RowError):
        return ""
    return orjson.dumps(row.content, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
