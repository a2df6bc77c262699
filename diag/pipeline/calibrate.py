"""`calibrate`: fit the calibrated risk to the labelled answers of finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diag import risk, runs
from diag.errors import InputError
from diag.pipeline.summary import labelled


def calibrate_runs(folders: Sequence[Path], out: Path, *, seed: int = 20230930) -> risk.Calibration:
    """Fit to the answers of one model in one or more runs, and write the artefact `out`.

    Raises InputError for a folder without answers, runs of different models, or too few labelled answers.
    """
    rows = [row for folder in folders for row in runs.load_run(folder).predictions.to_pylist()]
    manifests = [runs.load_run(folder).manifest for folder in folders]
    if len({manifest.get("model_sha256") for manifest in manifests}) > 1:
        raise InputError("these runs are of different models: a calibration is of one model's answers")
    fitted = fit_rows(labelled(rows), manifests[0], seed=seed)
    runs.write_text(out, fitted.model_dump_json(indent=1) + "\n")
    return fitted


def fit_rows(
    rows: Sequence[Mapping[str, Any]], manifest: Mapping[str, Any], *, seed: int = 20230930
) -> risk.Calibration:
    """Fit to labelled answers, rows of `predictions`; `manifest` names their model. Raises InputError where they are too few."""
    chosen = [row for row in rows if row["features"] is not None]
    return risk.fit(
        [row["features"] for row in chosen],
        [row["truth"] == "wrong_period" for row in chosen],
        [row["group"] for row in chosen],
        model_name=manifest.get("model"),
        model_sha256=manifest.get("model_sha256"),
        seed=seed,
    )
