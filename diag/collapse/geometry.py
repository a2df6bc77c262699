"""The geometry of one vocabulary at one site: who stands next to whom, in centred cosine space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import silhouette_score
from sklearn.neighbors import NearestNeighbors

from diag.collapse.states import Points

NEIGHBOURS = 5
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Neighbours are of other carriers: that one carrier's points lie together says nothing of its labels."""

    confusion: Numbers
    """Shape (labels, labels): the share of a label's nearest neighbours that each label has; the diagonal is purity."""
    purity_by_carrier: Numbers
    """Shape (carriers,): the share of same-label neighbours; resampled for intervals."""
    p_value: float
    """Of purity, among labels shuffled within each carrier."""
    silhouette: float
    """By cosine distance, from -1 to 1."""
    centroid_cosine: Numbers
    """Shape (labels, labels)."""
    effective_rank: float
    """Dimensions that the labels' centroids span: exp of the entropy of their squared singular values (Roy & Vetterli 2007)."""
    margin: float
    """Mean cosine distance to the nearest point of another label, less that to the nearest of the same."""

    @property
    def purity(self) -> float:
        """The share of nearest neighbours that have the same label."""
        return float(self.purity_by_carrier.mean())


def centred(points: Points, centre: NDArray[np.float32], whitening: NDArray[np.float32] | None = None) -> Points:
    """Points less the centre, whitened if asked, at unit length; what does not move the points as a whole changes nothing."""
    moved = points - centre
    if whitening is not None:
        moved = moved @ whitening
    return moved / np.maximum(np.linalg.norm(moved, axis=-1, keepdims=True), 1e-12)


def whitening_of(points: Points) -> NDArray[np.float32]:
    """A matrix that gives all directions in which the points differ the same spread; shape (dimensions, dimensions).

    Directions with less than a thousandth of the largest spread are noise and are left out.
    """
    flat = points.reshape(-1, points.shape[-1])
    moved = flat - flat.mean(0)
    _, spread, directions = np.linalg.svd(moved, full_matrices=False)
    kept = spread > 1e-3 * spread[0]
    return (directions[kept].T / spread[kept]).astype(np.float32) * np.float32(np.sqrt(len(flat)))


def neighbours_of(points: Points, most: int = NEIGHBOURS) -> NDArray[np.int64]:
    """For each point (label by label, carrier by carrier) its nearest ones of other carriers, shape (points, neighbours)."""
    labels, carriers, width = points.shape
    flat = points.reshape(-1, width)
    count = min(most, (carriers - 1) * labels)
    nearest = NearestNeighbors(n_neighbors=min(len(flat), count + labels), metric="cosine", algorithm="brute").fit(flat)
    found: Any = nearest.kneighbors(flat, return_distance=False)
    own = np.arange(len(flat)) % carriers
    is_other = (found % carriers) != own[:, None]
    # A stable sort by "is of the same carrier" keeps the others in the order of their distance.
    order = np.argsort(~is_other, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(found, order, axis=1)


def geometry_of(points: Points, *, permutations: int = 200, seed: int) -> Geometry | None:
    """The statistics of centred points, shape (labels, carriers, dimensions); None with fewer than two of either."""
    labels, carriers, width = points.shape
    if labels < 2 or carriers < 2:
        return None
    most = min(NEIGHBOURS, carriers - 1)
    near = neighbours_of(points, most)
    own = _own(labels, carriers)
    theirs = near // carriers
    confusion = np.stack([(theirs == label).mean(1).reshape(labels, carriers).mean(1) for label in range(labels)], 1)
    same = (theirs == own[:, None]).mean(1).reshape(labels, carriers)
    flat = points.reshape(-1, width)
    centroids = points.mean(1)
    return Geometry(
        confusion,
        same.mean(0),
        _p_value(near, labels, carriers, permutations, seed),
        float(silhouette_score(flat, own, metric="cosine")) if len(flat) > labels else 0.0,
        _cosines(centroids),
        _effective_rank(centroids),
        _margin(points),
    )


def neighbour_edges(points: Points) -> tuple[tuple[int, int], ...]:
    """For each label the one that its points stand nearest to on the mean over carriers, itself left out."""
    closeness = np.einsum("acd,bcd->ab", points, points)
    np.fill_diagonal(closeness, -np.inf)
    return tuple((label, int(other)) for label, other in enumerate(closeness.argmax(1)))


def _p_value(near: NDArray[np.int64], labels: int, carriers: int, permutations: int, seed: int) -> float:
    draw = np.random.default_rng(seed)
    grid = np.repeat(np.arange(labels)[:, None], carriers, 1)
    observed = (grid.reshape(-1)[near] == grid.reshape(-1)[:, None]).mean()
    as_pure = 0
    for _ in range(permutations):
        shuffled = draw.permuted(grid, axis=0).reshape(-1)
        as_pure += int((shuffled[near] == shuffled[:, None]).mean() >= observed)
    return (1 + as_pure) / (1 + permutations)


def _own(labels: int, carriers: int) -> NDArray[np.int64]:
    """The label of each point."""
    return np.arange(labels * carriers, dtype=np.int64) // carriers


def _cosines(rows: NDArray[Any]) -> Numbers:
    unit = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return (unit @ unit.T).astype(np.float64)


def _effective_rank(centroids: NDArray[Any]) -> float:
    spread = np.linalg.svd(centroids - centroids.mean(0), compute_uv=False).astype(np.float64) ** 2
    if spread.sum() <= 1e-12:
        return 0.0
    shares = spread[spread > 0] / spread.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _margin(points: Points) -> float:
    labels, carriers, width = points.shape
    flat = points.reshape(-1, width)
    distance = 1 - flat @ flat.T
    own = _own(labels, carriers)
    place: NDArray[np.int64] = np.tile(np.arange(carriers, dtype=np.int64), labels)
    is_same = own[:, None] == own[None]
    distance[place[:, None] == place[None]] = np.inf
    to_same = np.where(is_same, distance, np.inf).min(1)
    to_other = np.where(is_same, np.inf, distance).min(1)
    return float((to_other - to_same).mean())


@dataclass(frozen=True, slots=True)
class Pairs:
    """Figures of each pair of labels, with those of single carriers for intervals."""

    pairs: tuple[tuple[int, int], ...]
    confusion: Numbers | None
    """Shape (pairs, carriers): of the points of both, the share of nearest neighbours that have the other label; 0.5 where
    the two stand in one place. None with one carrier: there are no neighbours of the same label."""
    separation: Numbers
    """Shape (pairs, carriers): cosine distance of the two labels' points in one carrier."""


def pairs_of(points: Points) -> Pairs:
    """Every pair of labels by itself, so that vocabularies of any size are on one scale."""
    labels, carriers, width = points.shape
    flat = points.reshape(-1, width)
    closeness = (flat @ flat.T).reshape(labels, carriers, labels, carriers)
    every = tuple((one, other) for one in range(labels) for other in range(one + 1, labels))
    most = min(NEIGHBOURS, carriers - 1)
    diagonal: NDArray[np.int64] = np.arange(carriers, dtype=np.int64)
    separation = np.stack([1 - closeness[one, diagonal, other, diagonal] for one, other in every])
    confusion = np.stack([_pair_confusion(closeness, one, other, most) for one, other in every]) if most else None
    return Pairs(every, confusion, np.maximum(separation, 0.0))


def _pair_confusion(closeness: NDArray[Any], one: int, other: int, most: int) -> Numbers:
    carriers = closeness.shape[1]
    shares: list[Numbers] = []
    for own, alien in ((one, other), (other, one)):
        both = np.concatenate([closeness[own, :, own], closeness[own, :, alien]], 1)
        both[np.arange(carriers), np.arange(carriers)] = -np.inf
        both[np.arange(carriers), np.arange(carriers) + carriers] = -np.inf
        # Rounded, and what is equal counted half for each: two labels in one place are confused half the time, whichever is first.
        shares.append(_share_of_alien(np.round(both, 6), carriers, most))
    return (shares[0] + shares[1]) / 2


def _share_of_alien(closeness: NDArray[Any], carriers: int, most: int) -> Numbers:
    limit = -np.sort(-closeness, axis=1)[:, most - 1 : most]
    above, at = closeness > limit, closeness == limit
    room = most - above.sum(1)
    alien_at = at[:, carriers:].sum(1) / at.sum(1)
    return (above[:, carriers:].sum(1) + room * alien_at) / most
