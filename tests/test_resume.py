"""A check killed at random moments and resumed ends in the same bytes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import scale


def test_killed_and_resumed_tables_are_byte_equal(tmp_path: Path) -> None:
    data = tmp_path / "x.jsonl"
    scale.make(data, 9_000_000)
    seconds, _ = scale.measure(data, tmp_path / "undisturbed")
    hits = scale.kill_and_resume(data, tmp_path / "killed", seconds, kills=3)
    assert hits >= 2
    assert scale.digests(tmp_path / "killed") == scale.digests(tmp_path / "undisturbed")


def test_the_number_of_workers_changes_no_byte(tmp_path: Path) -> None:
    import subprocess

    data = tmp_path / "x.jsonl"
    scale.make(data, 5_000_000)
    for workers in ("1", "2"):
        subprocess.run(
            [*scale.command(data, tmp_path / workers), "--workers", workers], check=True, capture_output=True
        )
    assert scale.digests(tmp_path / "1") == scale.digests(tmp_path / "2")


@pytest.mark.slow
def test_cost_is_linear_and_memory_bounded(tmp_path: Path) -> None:
    costs: list[float] = []
    for times in (1, 4):
        data = tmp_path / f"{times}.jsonl"
        rows = scale.make(data, times * 30_000_000)
        seconds, peak = scale.measure(data, tmp_path / f"run{times}")
        costs.append(seconds / rows)
        assert peak < 600_000_000
    assert costs[1] < 1.3 * costs[0]
