"""Calibrated risk: the probability that an answer's period is wrong, from all scores together; a small JSON artefact."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from diag.errors import InputError
from diag.risk.features import FEATURES

_FEWEST = 20


class Calibration(BaseModel):
    """A logistic regression on standardised features, with what it was fitted on. Pure Python applies it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["chronodiag.calibration"] = "chronodiag.calibration"
    version: Literal[1] = 1
    meaning: str = "risk: the probability that the period which answers the question is wrong; higher is worse"
    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    answers: int
    wrong: int
    documents: int
    training_sha256: str
    """Of the features and labels it was fitted on."""
    model_name: str | None = None
    model_sha256: str | None = None
    seed: int
    false_positive_rates: dict[str, float]
    """For each false positive rate on the training answers (out of fold), the threshold of risk that has it."""

    def risk(self, row: Sequence[float]) -> float:
        """The risk of an answer with these features, between 0 and 1."""
        total = self.intercept
        for value, mean, scale, weight in zip(row, self.means, self.scales, self.coefficients, strict=True):
            total += weight * (value - mean) / scale
        return 1 / (1 + math.exp(-max(-35.0, min(35.0, total))))

    def threshold(self, target_fpr: float) -> float:
        """The lowest threshold whose false positive rate on the training answers is at most `target_fpr`."""
        fitting = [float(rate) for rate in self.false_positive_rates if float(rate) <= target_fpr + 1e-12]
        return self.false_positive_rates[f"{max(fitting):g}"] if fitting else 1.0


def fit(
    rows: Sequence[Sequence[float]],
    is_wrong: Sequence[bool],
    groups: Sequence[str],
    *,
    model_name: str | None = None,
    model_sha256: str | None = None,
    seed: int = 20230930,
) -> Calibration:
    """Fit by scikit-learn's logistic regression, its penalty chosen by cross-validation over documents.

    Raises InputError with fewer than 20 answers, or where all are right or all are wrong.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict

    if len(rows) < _FEWEST or len(set(is_wrong)) < 2:
        raise InputError(
            f"a calibration needs {_FEWEST} labelled answers, right ones and wrong ones; there are {len(rows)}, "
            f"{sum(is_wrong)} of them wrong"
        )
    inputs = np.array(rows, dtype=float)
    labels = np.array(is_wrong, dtype=int)
    means = inputs.mean(axis=0)
    scales = np.where(inputs.std(axis=0) > 1e-9, inputs.std(axis=0), 1.0)
    standard = (inputs - means) / scales
    folds = GroupKFold(n_splits=min(5, len(set(groups))))
    best: tuple[float, Any, Any] | None = None
    for penalty in (0.03, 0.1, 0.3, 1.0, 3.0):
        machine: Any = LogisticRegression(C=penalty, max_iter=2000, random_state=seed)
        out: Any = cross_val_predict(machine, standard, labels, groups=groups, cv=folds, method="predict_proba")[:, 1]
        kept = np.clip(out, 1e-6, 1 - 1e-6)
        loss = float(-(labels * np.log(kept) + (1 - labels) * np.log(1 - kept)).mean())
        if best is None or loss < best[0] - 1e-9:
            best = (loss, machine, out)
    assert best is not None
    machine = best[1].fit(standard, labels)
    return Calibration(
        features=FEATURES,
        means=tuple(map(float, means)),
        scales=tuple(map(float, scales)),
        coefficients=tuple(map(float, machine.coef_[0])),
        intercept=float(machine.intercept_[0]),
        answers=len(rows),
        wrong=int(labels.sum()),
        documents=len(set(groups)),
        training_sha256=_digest(rows, is_wrong, groups),
        model_name=model_name,
        model_sha256=model_sha256,
        seed=seed,
        false_positive_rates=_thresholds([float(value) for value in best[2]], is_wrong),
    )


_RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)


def _thresholds(risks: Sequence[float], is_wrong: Sequence[bool]) -> dict[str, float]:
    right = sorted((risk for risk, wrong in zip(risks, is_wrong, strict=True) if not wrong), reverse=True)
    found: dict[str, float] = {}
    for rate in _RATES:
        allowed = int(rate * len(right))
        found[f"{rate:g}"] = min(1.0, math.nextafter(right[allowed], 2.0)) if allowed < len(right) else 0.0
    return found


def _digest(rows: Iterable[Sequence[float]], is_wrong: Sequence[bool], groups: Sequence[str]) -> str:
    content = orjson.dumps([[list(row) for row in rows], [bool(one) for one in is_wrong], list(groups)])
    return hashlib.sha256(content).hexdigest()


def read_calibration(path: Path) -> Calibration:
    """Read an artefact. Raises InputError where it cannot be read, or was fitted on other features."""
    try:
        found = Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"calibration {path} could not be read ({error.strerror})") from error
    except ValidationError as error:
        raise InputError(
            f"{path} is no calibration: {error.errors()[0]['msg']}; make one with `diag calibrate RUN`"
        ) from error
    if found.features != FEATURES:
        raise InputError(
            f"calibration {path} was fitted on other features by another version: run `diag calibrate` again"
        )
    return found


def default_calibration() -> Calibration | None:
    """The artefact that comes with the package, fitted on the embedded model's answers."""
    path = Path(__file__).with_name("default_calibration.json")
    return read_calibration(path) if path.exists() else None
