"""Data that ships with chronodiag: the golden set and the temporal battery, with their cards."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """The file or folder `name` inside this package (`golden/test.jsonl`). Raises FileNotFoundError where there is none."""
    found = Path(str(files(__name__) / name))
    if not found.exists():
        raise FileNotFoundError(f"diag_data holds no {name!r}")
    return found
