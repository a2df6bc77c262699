"""Nearest neighbours among many embeddings: exact as long as that is quick, by an index beyond, with its recall measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from diag.errors import InputError

Points = NDArray[np.float32]
Places = NDArray[np.int64]
EXACT_BELOW = 50_000
"""Points up to which the neighbours are exact; the cost of exactness grows with their square."""
RECALL = 0.98
_SAMPLED = 256
_AT_ONCE = 4_096
_TRAINED_ON = 40
"""Points a cell of the index is trained on."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Of each point its nearest others by cosine, nearest first."""

    places: NDArray[np.int64]
    """Shape (points, most)."""
    closeness: NDArray[np.float32]
    """Cosines, same shape."""
    method: str
    """`exact`, or the index with its settings."""
    recall: float
    """Of the exact neighbours, the share found: measured on a sample, 1 where exact."""


def nearest(
    points: NDArray[np.float32], most: int, *, exact_below: int = EXACT_BELOW, recall: float = RECALL, seed: int = 0
) -> Neighbours:
    """The `most` nearest of each point, itself left out, by cosine; `points` has the shape (points, dimensions).

    Exact by scikit-learn for fewer than `exact_below` points, else by an inverted file of faiss whose number of probed cells
    is doubled until a sample's recall against exact search is `recall`. Raises InputError with no more than `most` points, and
    where faiss is needed and not installed.
    """
    if len(points) <= most:
        raise InputError(f"{len(points)} points have no {most} neighbours each")
    if len(points) < exact_below:
        places, closeness = _exact(_unit(points), most)
        return Neighbours(places, closeness, "exact", 1.0)
    return _by_index(points, most, recall, seed)


def _unit(points: Points) -> Points:
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)


def _exact(unit: Points, most: int) -> tuple[Places, Points]:
    index = NearestNeighbors(n_neighbors=most + 1, metric="cosine", algorithm="brute").fit(unit)
    places = np.empty((len(unit), most), np.int64)
    closeness = np.empty((len(unit), most), np.float32)
    for start in range(0, len(unit), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        found: Any = index.kneighbors(unit[part])
        own = np.arange(start, start + len(found[1]))
        places[part], closeness[part] = _without_self(found[1], 1 - found[0], own, most)
    return places, closeness


def exact_of(points: Points, sample: Places, most: int) -> Places:
    """The exact neighbours of some of the points, shape (sample, most), by one pass over all in blocks."""
    asked = _unit(points[sample])
    places: Places = np.zeros((len(sample), 0), np.int64)
    closeness = np.zeros((len(sample), 0), np.float32)
    for start in range(0, len(points), _AT_ONCE):
        block = asked @ _unit(points[start : start + _AT_ONCE]).T
        numbers = np.tile(np.arange(start, start + block.shape[1], dtype=np.int64), (len(block), 1))
        closeness, places = np.concatenate([closeness, block], 1), np.concatenate([places, numbers], 1)
        kept = np.argsort(-closeness, axis=1, kind="stable")[:, : most + 1]
        closeness, places = np.take_along_axis(closeness, kept, 1), np.take_along_axis(places, kept, 1)
    return _without_self(places, closeness, sample, most)[0]


def _without_self(
    places: NDArray[Any], closeness: NDArray[Any], own: NDArray[np.int64], most: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    # Where many points are equal, a point may not be among its own neighbours: then the last goes instead.
    is_self = places == own[:, None]
    is_self[~is_self.any(1), -1] = True
    kept = ~is_self
    return places[kept].reshape(len(places), most), closeness[kept].reshape(len(places), most)


def _by_index(points: Points, most: int, recall: float, seed: int) -> Neighbours:
    """Points are read block by block, so that they may lie in a file (`numpy.memmap`); the index holds one copy of them."""
    try:
        import faiss
    except ImportError as error:
        raise InputError(
            f"{len(points):,} points need an index: pip install 'chronodiag[index]' (faiss), or take fewer contexts"
        ) from error
    width = points.shape[1]
    cells = int(4 * np.sqrt(len(points)))
    draw = np.random.default_rng(seed)
    trained = np.sort(draw.choice(len(points), min(len(points), _TRAINED_ON * cells), replace=False))
    # The quantiser is kept by a name of its own: faiss does not keep it alive.
    quantiser = faiss.IndexFlatIP(width)
    index = faiss.IndexIVFFlat(quantiser, width, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = seed
    index.train(_unit(points[trained]))
    for start in range(0, len(points), _AT_ONCE):
        index.add(_unit(points[start : start + _AT_ONCE]))
    sample = np.sort(draw.choice(len(points), min(_SAMPLED, len(points)), replace=False))
    exact = exact_of(points, sample, most)
    index.nprobe = max(1, cells // 1024)
    while (reached := _recall(exact, _search(index, points, sample, most)[0])) < recall and index.nprobe < cells:
        index.nprobe = min(cells, 2 * index.nprobe)
    places, closeness = _search(index, points, np.arange(len(points)), most)
    return Neighbours(places, closeness, f"faiss IVF, {index.nprobe} of {cells} cells", reached)


def _search(index: Any, points: Points, own: Places, most: int) -> tuple[Places, Points]:
    places = np.empty((len(own), most), np.int64)
    closeness = np.empty((len(own), most), np.float32)
    for start in range(0, len(own), _AT_ONCE):
        part = own[start : start + _AT_ONCE]
        near, where = index.search(_unit(points[part]), most + 1)
        places[start : start + len(part)], closeness[start : start + len(part)] = _without_self(where, near, part, most)
    return places, closeness


def _recall(exact: NDArray[np.int64], found: NDArray[np.int64]) -> float:
    return float(np.mean([len(np.intersect1d(one, other)) / len(one) for one, other in zip(exact, found, strict=True)]))
