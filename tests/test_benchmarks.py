"""The margins over the peers that the README claims; slow, since the peers are installed and run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent / "benchmarks"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("bench") / "tables.json"
    subprocess.run([sys.executable, BENCHMARKS / "run.py", "--out", out], check=True)
    return json.loads(out.read_text())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_spans_and_values_lead_the_best_peer_by_a_quarter(tables: dict[str, Any]) -> None:
    battery = tables["battery"]
    for language in ("en", "zh", "all"):
        ours = battery[f"chronodiag {language}"]
        peers = [row for name, row in battery.items() if name.endswith(language) and not name.startswith("chronodiag")]
        assert ours["span_f1"] > max(0.97, max(row["span_f1"] for row in peers) + 0.25), language
        assert ours["value_accuracy"] > max(0.95, max(row["value_accuracy"] for row in peers) + 0.25), language


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_speed_on_report_text(tables: dict[str, Any]) -> None:
    speed = tables["speed"]
    for language in ("en", "zh"):
        assert speed[f"chronodiag {language}, all"]["mb_per_s"] >= 2.0, language
    assert speed["recognizers-text both"]["chronodiag_is_faster_by"] >= 500
    assert speed["dateparser both"]["chronodiag_is_faster_by"] >= 100


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_claims_and_notations(tables: dict[str, Any]) -> None:
    claims = tables["claims"]
    assert claims["binding chronodiag"]["f1"] >= 0.85
    assert claims["binding chronodiag"]["false_positive_rate"][0] <= 0.10
    assert claims["sentence chronodiag"]["f1"] >= 0.90
    assert claims["quarter chronodiag"]["f1"] >= 0.95
    for name in ("hallucinotype", "corroborate", "presence only"):
        assert claims[f"sentence {name}"]["f1"] < claims["sentence chronodiag"]["f1"] - 0.25
    rates = [claims[f"{kind} chronodiag"] for kind in ("binding", "sentence", "quarter")]
    assert sum(row["claims"] for row in rates) / sum(row["claims"] / row["claims_per_s"] for row in rates) >= 1000
    assert tables["notation"]["pairs"] >= 150
    assert tables["notation"]["flagged"] == 0
