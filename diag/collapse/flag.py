"""The flag: whether labels of a vocabulary have become one at a site, held against what matched controls do there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diag.collapse.geometry import Numbers, pairs_of
from diag.collapse.states import Points

Flag = Literal["healthy", "watch", "collapsed"]
FLAGS: tuple[Flag, ...] = ("healthy", "watch", "collapsed")
REFERENCE_QUANTILE = 0.25
"""Of the matched pairs' separation. A lower one would follow the closest control, which shares tokens with the times: what
pulls `Q3` and `Q4` together through their digits pulls `B3` and `B4` together too."""
COLLAPSED_CLOSENESS, COLLAPSED_CONFUSION = 0.10, 0.25
"""Separation as a share of the reference, and neighbours that are the other's, half of the 0.5 of two labels in one place."""
WATCH_CLOSENESS, WATCH_CONFUSION = 0.20, 0.10
RESAMPLED = 400


class Interval(NamedTuple):
    """A mean over carriers with its 95 % interval, carriers resampled."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Null:
    """What matched pairs of words that name no times do at the same site."""

    confusion: Numbers
    """Shape (pairs,); empty where labels have one point each."""
    separation: Numbers
    """Shape (pairs,)."""

    @property
    def reference(self) -> float:
        """The separation that a quarter of the matched pairs fall below; 0 where nothing is matched."""
        return float(np.quantile(self.separation, REFERENCE_QUANTILE)) if len(self.separation) else 0.0


@dataclass(frozen=True, slots=True)
class PairFigures:
    """A pair of labels at a site; `confusion` is None where labels have one point each."""

    one: str
    other: str
    confusion: Interval | None
    separation: Interval
    relative: Interval
    """Separation as a share of the null's reference: 1 is as far apart as close matched words, 0 is one place."""
    confusion_position: float | None
    """The share of matched pairs that are confused less: 1 is the worst."""
    separation_position: float
    """The share of matched pairs that are closer together: 0 is the worst."""
    raw_cosine: float
    """Of the two centroids before anything is centred: the folk rule's figure."""
    flag: Flag


def null_of(points: Mapping[str, Points]) -> Null:
    """The pairs of all matched vocabularies at a site, each within its own vocabulary."""
    parts = [pairs_of(one) for one in points.values()]
    shared = [part.confusion.mean(1) for part in parts if part.confusion is not None]
    apart = [part.separation.mean(1) for part in parts]
    return Null(np.concatenate(shared) if shared else np.zeros(0), np.concatenate(apart) if apart else np.zeros(0))


def judge_pairs(
    labels: Sequence[str], points: Points, raw: Points, null: Null, *, seed: int
) -> tuple[list[PairFigures], Numbers]:
    """Every pair of a vocabulary's labels at a site with its flag, and by pair and carrier the relative separation.

    `points` are centred, `raw` as the model has them. `collapsed`: at least `COLLAPSED_CONFUSION` of the nearest neighbours
    are the other label's (the interval's lower end), and the two stand no further apart than `COLLAPSED_CLOSENESS` of the
    null's reference (the upper end). `watch`: the same with the looser limits, by the means. All else is `healthy`, close as
    it may be. Where labels have one point each, separation alone decides.
    """
    pairs = pairs_of(points)
    reference = max(null.reference, 1e-9)
    by_carrier = pairs.separation / reference
    confusion = _intervals(pairs.confusion, seed) if pairs.confusion is not None else [None] * len(pairs.pairs)
    separation = _intervals(pairs.separation, seed)
    cosines = _cosines(raw)
    found: list[PairFigures] = []
    for (one, other), shared, apart in zip(pairs.pairs, confusion, separation, strict=True):
        relative = Interval(*(part / reference for part in apart))
        found.append(
            PairFigures(
                labels[one],
                labels[other],
                shared,
                apart,
                relative,
                _position(null.confusion, shared.value) if shared else None,
                _position(null.separation, apart.value),
                float(cosines[one, other]),
                _flag(shared, relative) if len(null.separation) else "healthy",
            )
        )
    return found, by_carrier


def _flag(confusion: Interval | None, relative: Interval) -> Flag:
    is_shared = confusion is None or confusion.low >= COLLAPSED_CONFUSION
    if is_shared and relative.high <= COLLAPSED_CLOSENESS:
        return "collapsed"
    is_shared = confusion is None or confusion.value >= WATCH_CONFUSION
    return "watch" if is_shared and relative.value <= WATCH_CLOSENESS else "healthy"


def _cosines(raw: Points) -> Numbers:
    centroids = raw.mean(1).astype(np.float64)
    unit = centroids / np.maximum(np.linalg.norm(centroids, axis=-1, keepdims=True), 1e-12)
    return unit @ unit.T


def _position(null: Numbers, value: float) -> float:
    """The share of the null below a value."""
    return float((null < value).mean()) if len(null) else 0.5


def _intervals(figures: Numbers, seed: int) -> list[Interval]:
    """By row the mean over carriers, and the 2.5 and 97.5 % quantiles of the means of resampled carriers."""
    means = figures @ resampling(figures.shape[1], seed).T
    low, high = np.quantile(means, (0.025, 0.975), axis=1)
    return [Interval(*(float(part) for part in row)) for row in zip(figures.mean(1), low, high, strict=True)]


def interval_of(values: Numbers, *, seed: int) -> Interval:
    """The interval of one figure by carrier."""
    return _intervals(values[None], seed)[0]


def resampling(carriers: int, seed: int) -> Numbers:
    """Weights of carriers in each of `RESAMPLED` draws with replacement; shape (draws, carriers)."""
    draw = np.random.default_rng(seed)
    chosen: NDArray[np.int64] = draw.integers(carriers, size=(RESAMPLED, carriers))
    return np.stack([np.bincount(row, minlength=carriers) for row in chosen]) / carriers


def worst_of(pairs: Sequence[PairFigures]) -> PairFigures:
    """The pair with the gravest flag, and of those the closest."""
    return max(pairs, key=lambda pair: (FLAGS.index(pair.flag), -pair.separation.value))
