"""The run folder: written part by part, each by rename, so that a run killed at any point can go on.

While a run works, `parts/00012/` holds what came of the twelfth part of its data, complete or not there. At the end the
parts are joined into the folder's tables, and taken away.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from diag.errors import DiagError, InputError

SCHEMA_VERSION = 1
_PARTS = "parts"
_BLOCK = 1 << 20


def start_run(folder: Path, identity: Mapping[str, Any], *, resume: bool) -> None:
    """Make the run folder, or take up an unfinished one.

    `identity` is what makes two runs the same: command, data hash, arguments, versions. Raises InputError where the
    folder holds another run, a finished one, or an unfinished one without `resume`.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty and holds no run: give another --out")
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "manifest.json", {**identity, "schema_version": SCHEMA_VERSION, "finished": False})
    elif manifest.get("finished"):
        raise InputError(f"{folder} holds a finished run: give another --out")
    elif not resume:
        raise InputError(f"{folder} holds an unfinished run: add --resume to go on with it, or give another --out")
    else:
        changed = [key for key, value in identity.items() if manifest.get(key) != value]
        if changed:
            raise InputError(
                f"{folder} was begun with another {', '.join(changed)}: it cannot be resumed, give another --out"
            )
    (folder / _PARTS).mkdir(exist_ok=True)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a run folder; None where there is none. Raises InputError where it is broken."""
    try:
        return orjson.loads((folder / "manifest.json").read_bytes())
    except FileNotFoundError:
        return None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{folder}/manifest.json is broken: the folder cannot be used") from error


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its manifest and report, and its tables, read when asked for."""

    folder: Path
    manifest: Mapping[str, Any]
    report: Mapping[str, Any]

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The table `name`. Raises InputError where the run has none."""
        path = self.folder / f"{name}.parquet"
        if not path.exists():
            raise InputError(f"{self.folder} has no {path.name}: it is a run of `diag {self.manifest.get('command')}`")
        return pq.read_table(path, columns=list(columns) if columns else None)

    @property
    def records(self) -> pa.Table:
        """The records, one row each."""
        return self.table("records")

    @property
    def predictions(self) -> pa.Table:
        """The answers, one row each."""
        return self.table("predictions")

    @property
    def attributions(self) -> pa.Table:
        """What made the model say it, one row an answer. Raises InputError before `diag attribute` was run."""
        return self.table("attributions")

    @property
    def spans(self) -> pa.Table:
        """The time expressions and values of the answers, one row each."""
        return self.table("spans")


def load_run(folder: str | Path) -> Run:
    """Open a finished run. Raises InputError where the folder holds none."""
    place = Path(folder)
    manifest = read_manifest(place)
    if manifest is None:
        raise InputError(f"{place} holds no run")
    if not manifest.get("finished"):
        raise InputError(f"{place} holds an unfinished run: go on with it by --resume")
    return Run(place, manifest, orjson.loads((place / "report.json").read_bytes()))


def has_part(folder: Path, step: str, number: int) -> bool:
    """Whether a part of a step is there, and so complete."""
    return _part(folder, step, number).is_dir()


def write_part(
    folder: Path, step: str, number: int, tables: Mapping[str, pa.Table], lines: Mapping[str, bytes]
) -> None:
    """Write the tables and line files of one part; it appears whole or not at all."""
    target = _part(folder, step, number)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        for name, table in tables.items():
            pq.write_table(table, temporary / f"{name}.parquet", compression="zstd")
        for name, content in lines.items():
            (temporary / name).write_bytes(content)
        temporary.rename(target)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise DiagError(
            f"{folder}: part {number} could not be written ({error.strerror}); mend that and add --resume"
        ) from error


def part_tables(folder: Path, step: str, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The table `name` of each part of a step, in order."""
    for part in _part_folders(folder, step):
        yield pq.read_table(part / f"{name}.parquet", columns=list(columns) if columns else None)


def join_tables(folder: Path, step: str, name: str, schema: pa.Schema, more: Iterable[pa.Table] = ()) -> None:
    """Join the parts' tables `name`, and `more` behind them, into the folder's, one row group a part."""

    def write(temporary: Path) -> None:
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for table in part_tables(folder, step, name):
                writer.write_table(table)
            for table in more:
                writer.write_table(table)

    _replace(folder / f"{name}.parquet", write)


def join_lines(folder: Path, step: str, name: str) -> None:
    """Join the line files `name` of a step's parts into the folder's."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as out:
            for part in _part_folders(folder, step):
                with (part / name).open("rb") as stream:
                    shutil.copyfileobj(stream, out, _BLOCK)

    _replace(folder / name, write)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file through a temporary one."""
    _replace(path, lambda temporary: temporary.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2)))


def write_text(path: Path, content: str) -> None:
    """Write a text file through a temporary one."""
    _replace(path, lambda temporary: temporary.write_text(content, encoding="utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file through a temporary one; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, lambda temporary: temporary.write_bytes(content))


def finish_run(folder: Path, additions: Mapping[str, Any]) -> None:
    """Complete the manifest and take the parts away."""
    manifest = read_manifest(folder) or {}
    write_json(folder / "manifest.json", {**manifest, **additions, "finished": True})
    drop_parts(folder)


def drop_parts(folder: Path) -> None:
    """Take the parts of a finished step away."""
    shutil.rmtree(folder / _PARTS, ignore_errors=True)


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, or of the files of a folder with their names."""
    if not path.is_dir():
        return hash_files([path])
    digest = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        digest.update(str(file.relative_to(path)).encode())
        _feed(digest, file)
    return digest.hexdigest()


def hash_files(files: Iterable[Path]) -> str:
    """The SHA-256 of files one behind another."""
    digest = hashlib.sha256()
    for file in files:
        _feed(digest, file)
    return digest.hexdigest()


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


def _feed(digest: _Digest, file: Path) -> None:
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)


def _part(folder: Path, step: str, number: int) -> Path:
    return folder / _PARTS / step / f"{number:06d}"


def _part_folders(folder: Path, step: str) -> list[Path]:
    place = folder / _PARTS / step
    return sorted(part for part in place.iterdir() if not part.name.startswith(".")) if place.is_dir() else []


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    temporary = path.with_name(f".{path.name}.part")
    try:
        write(temporary)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise DiagError(f"{path} could not be written ({error.strerror or error})") from error
