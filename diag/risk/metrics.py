"""How well a score tells wrong answers from right ones: AUROC, AP, calibration error, with intervals by document."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Metric = Callable[[Bools, Floats], float]

RESAMPLES = 1000
SEED = 20230930


class Estimate(NamedTuple):
    """A figure with its 95 % interval; all None where it is undetermined (one class is missing)."""

    value: float | None
    low: float | None
    high: float | None


def auroc(is_wrong: Bools, score: Floats) -> float:
    """The probability that a wrong answer scores above a right one, ties counted half (Mann-Whitney U).

    Not finite where one class is missing.
    """
    wrong = int(is_wrong.sum())
    right = len(is_wrong) - wrong
    if not wrong or not right:
        return float("nan")
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    rank = (last - (counts - 1) / 2)[place]
    return float((rank[is_wrong].sum() - wrong * (wrong + 1) / 2) / (wrong * right))


def average_precision(is_wrong: Bools, score: Floats) -> float:
    """The mean precision over the wrong answers, by falling score; those of equal score are taken together."""
    wrong = int(is_wrong.sum())
    if not wrong:
        return float("nan")
    values, place = np.unique(-score, return_inverse=True)
    hits = np.bincount(place, weights=is_wrong.astype(float), minlength=len(values))
    seen = np.cumsum(np.bincount(place, minlength=len(values)))
    return float((hits * np.cumsum(hits) / seen).sum() / wrong)


class Bin(NamedTuple):
    """One bin of a reliability diagram."""

    answers: int
    risk: float
    """Mean predicted risk."""
    rate: float
    """Share of wrong answers."""


def reliability(is_wrong: Bools, risk: Floats, bins: int = 10) -> list[Bin]:
    """Bins of equal mass, by rising risk; answers of equal risk are never torn apart."""
    order = np.argsort(risk, kind="stable")
    ordered = risk[order]
    edges = [0]
    for cut in range(1, bins):
        edge = round(cut * len(order) / bins)
        while edge < len(order) and edge > 0 and ordered[edge] == ordered[edge - 1]:
            edge += 1
        if edge > edges[-1]:
            edges.append(edge)
    edges.append(len(order))
    found: list[Bin] = []
    for first, last in itertools.pairwise(edges):
        if last > first:
            part = order[first:last]
            found.append(Bin(last - first, float(risk[part].mean()), float(is_wrong[part].mean())))
    return found


def calibration_error(is_wrong: Bools, risk: Floats, bins: int = 10) -> float:
    """The expected calibration error over bins of equal mass (Nguyen & O'Connor 2015)."""
    if not len(is_wrong):
        return float("nan")
    return sum(one.answers * abs(one.risk - one.rate) for one in reliability(is_wrong, risk, bins)) / len(is_wrong)


def calibration_floor(risk: Floats, bins: int = 10, draws: int = 200) -> float:
    """The calibration error that perfectly calibrated risks would show on as few answers, by chance alone."""
    generator = np.random.default_rng(SEED)
    errors = [calibration_error(generator.random(len(risk)) < risk, risk, bins) for _ in range(draws)]
    return float(np.mean(errors)) if len(risk) else 0.0


def estimate(
    metric: Metric, is_wrong: Bools, score: Floats, groups: Sequence[str], resamples: int = RESAMPLES
) -> Estimate:
    """A metric with its percentile interval from a bootstrap that draws whole documents."""
    value = metric(is_wrong, score)
    if not np.isfinite(value):
        return Estimate(None, None, None)
    draws = [metric(is_wrong[rows], score[rows]) for rows in _draws(groups, resamples)]
    return Estimate(value, *_interval(draws))


def difference(
    metric: Metric, is_wrong: Bools, one: Floats, other: Floats, groups: Sequence[str], resamples: int = RESAMPLES
) -> Estimate:
    """`metric` of one score less that of another, both drawn together: paired, by document."""
    value = metric(is_wrong, one) - metric(is_wrong, other)
    if not np.isfinite(value):
        return Estimate(None, None, None)
    draws = [
        metric(is_wrong[rows], one[rows]) - metric(is_wrong[rows], other[rows]) for rows in _draws(groups, resamples)
    ]
    return Estimate(value, *_interval(draws))


def _draws(groups: Sequence[str], resamples: int) -> list[NDArray[np.intp]]:
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        rows.setdefault(group, []).append(row)
    members: list[NDArray[Any]] = [np.array(part, dtype=np.intp) for part in rows.values()]
    generator = np.random.default_rng(SEED)
    chosen: list[list[int]] = generator.integers(0, len(members), (resamples, len(members))).tolist()
    return [np.concatenate([members[index] for index in one]) for one in chosen]


def _interval(draws: Sequence[float]) -> tuple[float, float]:
    finite = np.array([value for value in draws if np.isfinite(value)])
    return float(np.quantile(finite, 0.025)), float(np.quantile(finite, 0.975))
