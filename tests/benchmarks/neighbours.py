"""Neighbours among many embeddings of 576 dimensions: seconds, memory and recall of exact search and of the index.

    python tests/benchmarks/neighbours.py [--sizes 10000 100000 1000000] [--out FILE]

Embeddings are drawn around centres, as contexts that share a wording are, and lie in a file. Exact search is timed for
1,024 of them and given for all by proportion.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from diag.collapse.neighbours import exact_of, nearest

WIDTH, MOST, SAMPLE, TIMED = 576, 5, 256, 1024


def written(path: Path, count: int) -> np.ndarray:
    """Points in a file, written block by block."""
    draw = np.random.default_rng(0)
    centres = draw.normal(size=(count // 100, WIDTH)).astype(np.float32)
    points = np.memmap(path, np.float32, "w+", shape=(count, WIDTH))
    for start in range(0, count, 10_000):
        rows = min(10_000, count - start)
        noise = draw.normal(size=(rows, WIDTH)).astype(np.float32)
        points[start : start + rows] = centres[draw.integers(len(centres), size=rows)] + 0.7 * noise
    points.flush()
    return points


def exact_seconds(points: np.ndarray) -> float:
    """Of scikit-learn's brute search, which is what `nearest` does below 50,000 points."""
    asked = points[: min(len(points), TIMED)]
    index = NearestNeighbors(n_neighbors=MOST + 1, metric="cosine", algorithm="brute").fit(points)
    began = time.perf_counter()
    index.kneighbors(asked)
    return (time.perf_counter() - began) * len(points) / len(asked)


def measured(count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        points = written(Path(folder) / "points", count)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        found = nearest(points, MOST, exact_below=0)
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sample = np.sort(np.random.default_rng(1).choice(count, SAMPLE, replace=False))
        exact = exact_of(points, sample, MOST)
        exactly = exact_seconds(points)
        recall = np.mean([len(np.intersect1d(*pair)) / MOST for pair in zip(exact, found.places[sample], strict=True)])
    return {
        "points": count,
        "method": found.method,
        "index_seconds": seconds,
        "exact_seconds": exactly,
        "recall": float(recall),
        "data_mb": count * WIDTH * 4 / 1e6,
        "peak_mb": (peak - before) * 1024 / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--one", type=int, help="measure one size in this process")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one)))
        return
    rows: list[dict[str, Any]] = []
    for size in options.sizes:
        done = subprocess.run(
            [sys.executable, __file__, "--one", str(size)], capture_output=True, text=True, check=True
        )
        rows.append(json.loads(done.stdout))
        print(rows[-1], flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
