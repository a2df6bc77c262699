"""What tests share: where the real data lies, and the golden files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import diag_data

# Workers that each take every core wait for one another: several times slower than one core each.
_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // _workers)))

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED.is_dir():
        pytest.skip(f"the real data sets are not at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def battery() -> list[dict[str, Any]]:
    return _lines(diag_data.path("temporal_battery.jsonl"))


@pytest.fixture(scope="session")
def golden() -> dict[str, list[dict[str, Any]]]:
    return {split: _lines(diag_data.path(f"golden/{split}.jsonl")) for split in ("train", "dev", "test")}


@pytest.fixture(scope="session")
def smollm() -> Any:
    """The embedded model itself."""
    from diag.models import DEFAULT_MODEL, load

    return load(DEFAULT_MODEL)


@pytest.fixture(scope="session")
def tiny() -> Any:
    from tiny_models import tiny_model

    return tiny_model()
