from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from diag.errors import InputError
from diag.risk import FEATURES, Calibration, fit, read_calibration
from diag.risk.metrics import auroc


def sample(count: int = 300) -> tuple[list[list[float]], list[bool], list[str]]:
    draw = np.random.default_rng(3)
    rows = draw.normal(0, 1, (count, len(FEATURES)))
    wrong = draw.random(count) < 1 / (1 + np.exp(-(2 * rows[:, 0] - rows[:, 4])))
    return rows.tolist(), wrong.tolist(), [str(number // 3) for number in range(count)]


def test_fitting_is_repeatable_and_read_back_whole(tmp_path: Path) -> None:
    fitted = fit(*sample())
    assert fitted == fit(*sample())
    path = tmp_path / "calibration.json"
    path.write_text(fitted.model_dump_json())
    assert read_calibration(path) == fitted


def test_risk_rises_with_what_makes_answers_wrong() -> None:
    rows, wrong, groups = sample()
    fitted = fit(rows, wrong, groups)
    risks = np.array([fitted.risk(row) for row in rows])
    assert auroc(np.array(wrong), risks) > 0.85
    assert abs(risks.mean() - np.mean(wrong)) < 0.02
    assert ((risks > 0) & (risks < 1)).all()


def test_a_threshold_keeps_its_false_positive_rate() -> None:
    rows, wrong, groups = sample(900)
    fitted = fit(rows, wrong, groups)
    risks = np.array([fitted.risk(row) for row in rows])
    right = ~np.array(wrong)
    for target in (0.01, 0.05, 0.2):
        assert (risks[right] >= fitted.threshold(target)).mean() <= target + 0.03
    assert fitted.threshold(0.01) > fitted.threshold(0.2)
    assert fitted.threshold(0.0) == 1.0


def test_too_few_answers_or_one_class_alone() -> None:
    rows, wrong, groups = sample(12)
    with pytest.raises(InputError, match="needs 20 labelled answers"):
        fit(rows, wrong, groups)
    rows, wrong, groups = sample(40)
    with pytest.raises(InputError, match="right ones and wrong ones"):
        fit(rows, [True] * 40, groups)


def test_a_file_that_is_no_calibration(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    with pytest.raises(InputError, match="could not be read"):
        read_calibration(path)
    path.write_text("{}")
    with pytest.raises(InputError, match="is no calibration"):
        read_calibration(path)
    fitted = fit(*sample())
    path.write_text(Calibration.model_validate({**fitted.model_dump(), "features": ("a",)}).model_dump_json())
    with pytest.raises(InputError, match="other features"):
        read_calibration(path)
