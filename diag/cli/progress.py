"""Bars of what is done, where a person is looking; nothing elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


def with_count(what: str, work: Callable[[Callable[[int, int | None], None] | None], Result]) -> Result:
    """Do the work under a bar of how many are done, and of how many where that is known."""
    if not sys.stderr.isatty():
        return work(None)
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        return work(lambda done, total: bar.update(task, completed=done, total=total))


def with_bytes(data: str, work: Callable[[Callable[[int], None] | None], Result]) -> Result:
    """Do the work under a bar of the bytes of a file that are done."""
    if not sys.stderr.isatty():
        return work(None)
    from rich import progress as rich
    from rich.console import Console

    place = Path(data)
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TransferSpeedColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("checking", total=place.stat().st_size if place.is_file() else None)
        return work(lambda done: bar.advance(task, done))
