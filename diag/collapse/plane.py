"""Labels in two dimensions, for the eye; no figure is taken from there."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from diag.collapse.states import Points
from diag.errors import InputError

MapMethod = Literal["pca", "umap"]
MAP_METHODS: tuple[MapMethod, ...] = ("pca", "umap")


def plane(points: Points, method: MapMethod = "pca", seed: int = 0) -> tuple[tuple[float, float], ...]:
    """The labels' centroids on their two principal components, or where UMAP puts them on the mean of their points.

    `points` have the shape (labels, carriers, dimensions). UMAP (McInnes et al. 2018) needs points to be neighbours among: labels of
    one point each are always shown by principal components. Raises InputError where UMAP is not installed.
    """
    carriers = points.shape[1]
    if method == "umap" and carriers > 1:
        return _by_umap(points, seed)
    centroids = points.mean(1) - points.mean((0, 1))
    _, _, directions = np.linalg.svd(centroids, full_matrices=False)
    axes = directions[:2]
    # Signs of principal components are free: the largest weight of each is made positive, so that they never flip.
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(1)])[:, None]
    flat = centroids @ axes.T
    return tuple((float(row[0]), float(row[1]) if len(row) > 1 else 0.0) for row in flat)


def _by_umap(points: Points, seed: int) -> tuple[tuple[float, float], ...]:
    try:
        import umap
    except ImportError as error:
        raise InputError("the map by UMAP needs it installed: pip install 'chronodiag[umap]'") from error
    labels, carriers, width = points.shape
    flat = points.reshape(-1, width)
    reduced: Any = umap.UMAP(n_neighbors=min(15, len(flat) - 1), metric="cosine", random_state=seed, n_jobs=1)
    placed: Any = reduced.fit_transform(flat)
    return tuple((float(x), float(y)) for x, y in placed.reshape(labels, carriers, 2).mean(1))
