"""From a file to its raw rows, in a stream: JSONL, JSON, CSV, TSV and Parquet, whatever their encoding.

A raw row is what one process can hand to another before it is understood: bytes of a JSON line, or a mapping.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import orjson

from diag.errors import InputError
from diag.records.rejects import RowError

LONGEST_LINE = 64 * 1024 * 1024
_LARGEST_JSON = 1024 * 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
FORMATS = ("jsonl", "json", "csv", "tsv", "parquet")
_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet",
    ".pq": "parquet",
}  # fmt: skip


class RawRow(NamedTuple):
    """A row as it stands in its file: the line it starts at, and bytes to parse, a mapping, or what is wrong."""

    line: int
    content: bytes | dict[str, Any] | RowError


def format_of(path: Path) -> str:
    """The format by the file's ending. Raises InputError for an unknown one."""
    try:
        return _SUFFIXES[path.suffix.lower()]
    except KeyError:
        known = ", ".join(sorted(_SUFFIXES))
        raise InputError(
            f"{path}: the ending {path.suffix!r} says no format; known: {known}, or give --format"
        ) from None


def raw_rows(path: Path, format: str | None = None) -> Iterator[RawRow]:
    """The rows of a file, one at a time. Raises InputError where the file as a whole cannot be read."""
    kind = format or format_of(path)
    try:
        if kind == "jsonl":
            yield from _json_lines(path)
        elif kind == "json":
            yield from _json_document(path)
        elif kind in ("csv", "tsv"):
            yield from _delimited(path, "\t" if kind == "tsv" else ",")
        elif kind == "parquet":
            yield from _parquet(path)
        else:
            raise InputError(f"unknown format {kind!r}; known: {', '.join(FORMATS)}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error


def encoding_of(head: bytes) -> str:
    """The encoding by the first bytes: a byte order mark, or UTF-16's zero bytes around ASCII; else UTF-8."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    if len(head) >= 4:
        if head[0] and not head[1] and head[2] and not head[3]:
            return "utf-16-le"
        if not head[0] and head[1] and not head[2] and head[3]:
            return "utf-16-be"
    return "utf-8"


def _json_lines(path: Path) -> Iterator[RawRow]:
    with path.open("rb") as stream:
        encoding = encoding_of(stream.read(4))
        stream.seek(len(codecs.BOM_UTF8) if encoding == "utf-8-sig" else 0)
        if encoding not in ("utf-8", "utf-8-sig"):
            yield from _decoded_lines(stream, encoding)
            return
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                size = len(line)
                while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    size += len(rest)
                reason = f"the line has over {LONGEST_LINE // 2**20} MiB ({(size + len(rest)) // 2**20} MiB)"
                yield RawRow(number, RowError("", reason))
            elif content := line.strip():
                yield RawRow(number, content)


def _decoded_lines(stream: io.BufferedReader, encoding: str) -> Iterator[RawRow]:
    with io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            if content := line.strip():
                yield RawRow(number, content.encode("utf-8", "surrogatepass"))


def _json_document(path: Path) -> Iterator[RawRow]:
    size = path.stat().st_size
    if size > _LARGEST_JSON:
        raise InputError(f"{path}: {size / 2**30:.1f} GiB in one JSON document; write it as JSONL, a row on each line")
    raw = path.read_bytes()
    encoding = encoding_of(raw[:4])
    try:
        document: object = orjson.loads(raw if encoding == "utf-8" else raw.decode(encoding).encode())
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not {encoding} at byte {error.start}") from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: broken JSON at line {error.lineno}, column {error.colno} ({error.msg})") from error
    rows: list[object]
    if isinstance(document, dict):
        fields = cast(dict[str, object], document)
        lists = [cast(list[object], value) for value in fields.values() if isinstance(value, list)]
        nested = "questions" not in fields and len(lists) == 1 and "context" not in fields
        rows = lists[0] if nested else [fields]
    elif isinstance(document, list):
        rows = cast(list[object], document)
    else:
        raise InputError(f"{path}: a list of records was expected, the document is {type(document).__name__}")
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            yield RawRow(number, cast(dict[str, Any], row))
        else:
            yield RawRow(number, RowError("", f"a row must be an object with named fields, this one is {row!r:.60}"))


def _delimited(path: Path, delimiter: str) -> Iterator[RawRow]:
    csv.field_size_limit(LONGEST_LINE)
    with path.open("rb") as binary:
        encoding = encoding_of(binary.read(4))
    with path.open(encoding=encoding, errors="strict", newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter)
        header: list[str] | None = None
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except UnicodeDecodeError as error:
                raise InputError(f"{path}: not {encoding} near line {line}; save it as UTF-8") from error
            except csv.Error as error:
                yield RawRow(line, RowError("", f"broken CSV: {error}"))
                continue
            if header is None:
                header = [name.strip() for name in cells]
                if len(set(header)) < len(header):
                    raise InputError(f"{path}: two columns have the same name")
            elif cells and len(cells) != len(header):
                yield RawRow(line, RowError("", f"{len(cells)} cells where the header names {len(header)}"))
            elif cells:
                yield RawRow(line, dict(zip(header, cells, strict=True)))


def _parquet(path: Path) -> Iterator[RawRow]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path)
        number = 0
        for batch in table.iter_batches(batch_size=512):
            for row in batch.to_pylist():
                number += 1
                yield RawRow(number, row)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: not a readable Parquet file ({error})") from error
