"""chronodiag: finds out when, where and why a language model gets time wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from diag.models import Model
    from diag.records import Record
    from diag.runs import Run

__version__ = "0.1.0"


def qa(records: Iterable[Record] | str | Path, *, model: Model | str, out: str | Path, **options: Any) -> Run:
    """Run a model over records (or a file of them) and open the run: the Python side of `diag qa`.

    `options` are those of `diag.pipeline.qa.QaOptions`. Records handed over in memory are written to `records.jsonl`
    beside the run folder first, so that the run can be resumed. Raises InputError, DiagError as the command does.
    """
    from pathlib import Path

    from diag import records as room
    from diag.models import load
    from diag.pipeline.qa import QaOptions
    from diag.pipeline.qa import qa as run
    from diag.runs import load_run

    folder = Path(out)
    if isinstance(records, str | Path):
        data = Path(records)
    else:
        folder.parent.mkdir(parents=True, exist_ok=True)
        data = folder.with_name(f"{folder.name}.records.jsonl")
        room.write(records, data)
    loaded = load(model) if isinstance(model, str) else model
    return load_run(run(data, loaded, folder, QaOptions(**options)).folder)


def load_run(folder: str | Path) -> Run:
    """Open a finished run folder: `manifest`, `report`, and the tables `records`, `predictions`, `spans`."""
    from diag.runs import load_run as load

    return load(folder)
