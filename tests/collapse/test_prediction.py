from __future__ import annotations

import numpy as np
import pytest

from diag import collapse, models
from diag.collapse.prediction import Answered, components, spearman


@pytest.fixture(scope="module")
def report() -> collapse.CollapseReport:
    options = collapse.MeasureOptions(languages=("en",), permutations=5)
    return collapse.measure(models.load("smollm2-135m"), vocabulary=["quarters", "months"], options=options)


def test_components_of_a_period() -> None:
    assert components("2018-Q3") == {"year": "2018", "part": "Q3"}
    assert components("FY2018-H1") == {"year": "2018", "part": "H1"}
    assert components("2018-09-30") == {"year": "2018", "month": "09"}
    assert components("2016/2018") == {}
    assert components("P3M") == {}


def test_spearman_is_that_of_ranks() -> None:
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 400.0, 9000.0])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2.0, 2.0, 4.0]), np.array([3.0, 2.0, 2.0, 1.0])) == pytest.approx(-1)
    assert spearman(np.array([1.0, 1.0, 1.0]), np.array([3.0, 2.0, 1.0])) is None


def answers(report: collapse.CollapseReport, sign: float) -> list[Answered]:
    """Months confused the more the closer they stand (or the less)."""
    months = next(one for one in report.vocabularies if one.name == "months")
    findings = [finding for finding in report.of(months) if finding.depth]
    component = {label.text: label.component for label in months.labels}
    found: list[Answered] = []
    for number, pair in enumerate(findings[0].pairs):
        close = -float(np.mean([finding.pairs[number].relative.value for finding in findings]))
        share = 1 / (1 + np.exp(-sign * 2 * close))
        for document in range(4):
            right, other = f"2018-{component[pair.one]}", f"2018-{component[pair.other]}"
            found.append(Answered(f"d{document}", "en", right, right, {right: 1 - share, other: share}))
    return found


def test_errors_that_follow_closeness_are_found(report: collapse.CollapseReport) -> None:
    found = collapse.predict(report, answers(report, 1.0))
    best = found.correlations[-1]
    assert best.site == "mean of layers"
    assert best.ours is not None
    assert best.ours.value == pytest.approx(1, abs=1e-6)
    assert best.folk is not None
    assert best.folk.value < 0.99
    assert found.sentence.startswith("Pairs that stand closer are confused more")
    assert len(found.pairs) == 66


def test_errors_that_do_not_are_not(report: collapse.CollapseReport) -> None:
    found = collapse.predict(report, answers(report, -1.0))
    assert "Neither" in found.sentence or "does not predict" in found.sentence


def test_too_few_pairs_are_said_to_be_too_few(report: collapse.CollapseReport) -> None:
    found = collapse.predict(report, [Answered("d", "en", "2018-Q3", "2018-Q4", {"2018-Q3": 0.3, "2018-Q4": 0.7})] * 3)
    assert found.correlations == ()
    assert "cannot be said: 1 pairs" in found.sentence
    assert found.pairs[0].confused == 3
    assert found.pairs[0].share == pytest.approx(0.7)
