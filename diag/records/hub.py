"""Rows of a Hugging Face data set: a folder saved by `datasets`, a folder of data files, or a name on the hub."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from diag.errors import InputError
from diag.records.rows import RawRow

_log = logging.getLogger(__name__)


def dataset_rows(name: str) -> Iterator[RawRow]:
    """The rows of all splits of `name`, or of one where it is written `name:split`.

    A name that is no folder is looked up on the hub, streamed, and that is said first. Raises InputError where
    `datasets` is not installed or finds nothing.
    """
    try:
        datasets: Any = import_module("datasets")
    except ImportError as error:
        raise InputError(
            f"{name} is no file, and reading it as a data set needs: pip install 'chronodiag[model]'"
        ) from error

    place, _, split = name.partition(":") if not Path(name).exists() else (name, "", "")
    try:
        if (Path(place) / "dataset_info.json").exists() or (Path(place) / "dataset_dict.json").exists():
            loaded: Any = datasets.load_from_disk(place)
        else:
            if not Path(place).exists():
                _log.warning("%s is no local file or folder: looking for a data set of that name on the hub", place)
            loaded = datasets.load_dataset(place, streaming=True)
    except Exception as error:
        raise InputError(f"{name}: datasets could not load it ({type(error).__name__}: {error})") from error
    splits: list[Iterable[Mapping[str, Any]]]
    if isinstance(loaded, dict):
        by_name = cast(dict[str, Iterable[Mapping[str, Any]]], loaded)
        if split and split not in by_name:
            raise InputError(f"{place} has no split {split!r}; it has: {', '.join(by_name)}")
        splits = [by_name[split]] if split else list(by_name.values())
    else:
        splits = [cast(Iterable[Mapping[str, Any]], loaded)]
    return _rows(splits)


def _rows(splits: list[Iterable[Mapping[str, Any]]]) -> Iterator[RawRow]:
    number = 0
    for split in splits:
        for row in split:
            number += 1
            yield RawRow(number, dict(row))
