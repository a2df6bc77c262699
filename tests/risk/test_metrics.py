from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from diag.risk.metrics import (
    auroc,
    average_precision,
    calibration_error,
    calibration_floor,
    difference,
    estimate,
    reliability,
)

SCORED = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=60)


@settings(max_examples=200, deadline=None)
@given(SCORED)
def test_auroc_and_precision_are_scikit_learns(rows: list[tuple[bool, int]]) -> None:
    wrong = np.array([one for one, _ in rows])
    score = np.array([float(one) for _, one in rows])
    if wrong.any() and not wrong.all():
        assert auroc(wrong, score) == pytest.approx(roc_auc_score(wrong, score))
        assert average_precision(wrong, score) == pytest.approx(average_precision_score(wrong, score))
    else:
        assert estimate(auroc, wrong, score, [str(i) for i in range(len(rows))]).value is None


def test_an_interval_by_document_is_wider_than_one_by_answer() -> None:
    draw = np.random.default_rng(0)
    groups = [str(number // 20) for number in range(400)]
    shift = np.repeat(draw.normal(0, 1.5, 20), 20)
    wrong = draw.random(400) < 1 / (1 + np.exp(-shift))
    score = shift + draw.normal(0, 1, 400)
    by_document = estimate(auroc, wrong, score, groups)
    by_answer = estimate(auroc, wrong, score, [str(number) for number in range(400)])
    assert by_document.low is not None
    assert by_document.high is not None
    assert by_answer.low is not None
    assert by_answer.high is not None
    assert by_document.high - by_document.low > 1.3 * (by_answer.high - by_answer.low)
    assert by_document == estimate(auroc, wrong, score, groups)


def test_a_paired_difference_is_nought_of_a_score_with_itself() -> None:
    wrong = np.array([True, False] * 20)
    score = np.arange(40.0)
    assert difference(auroc, wrong, score, score, [str(i) for i in range(40)]) == (0.0, 0.0, 0.0)


def test_calibration_error_of_known_bins() -> None:
    risk = np.array([0.2] * 50 + [0.8] * 50)
    wrong = np.array([True] * 10 + [False] * 40 + [True] * 30 + [False] * 20)
    bins = reliability(wrong, risk)
    assert [(one.answers, round(one.risk, 3), round(one.rate, 3)) for one in bins] == [(50, 0.2, 0.2), (50, 0.8, 0.6)]
    assert calibration_error(wrong, risk) == pytest.approx(0.5 * 0.2)


def test_the_floor_falls_with_the_number_of_answers() -> None:
    draw = np.random.default_rng(1)
    few, many = draw.random(100), draw.random(10_000)
    assert calibration_floor(few) > 0.06
    assert calibration_floor(many) < 0.015
