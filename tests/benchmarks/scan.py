"""`diag sparsity scan` of a large sharded checkpoint, beside the disk and NumPy's best single pass.

python tests/benchmarks/scan.py [--gigabytes 4] [--out FILE]
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

SHARD = 1 << 29
SIDE = 4096


def written(folder: Path, gigabytes: float) -> int:
    """Shards of half a GB, each of 8 square float32 matrices, a third of them zero; their bytes."""
    draw = np.random.default_rng(0)
    tensors = 8
    shards = max(1, round(gigabytes * (1 << 30) / SHARD))
    where: dict[str, str] = {}
    total = 0
    for shard in range(shards):
        name = f"model-{shard + 1:05d}-of-{shards:05d}.safetensors"
        header: dict[str, Any] = {}
        size = SIDE * SIDE * 4
        for number in range(tensors):
            tensor = f"model.layers.{shard}.mlp.part{number}.weight"
            header[tensor] = {
                "dtype": "F32",
                "shape": [SIDE, SIDE],
                "data_offsets": [number * size, (number + 1) * size],
            }
            where[tensor] = name
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with (folder / name).open("wb") as out:
            out.write(len(text).to_bytes(8, "little") + text)
            for number in range(tensors):
                values = (
                    np.zeros((SIDE, SIDE), np.float32) if number % 3 == 0 else draw.random((SIDE, SIDE), np.float32)
                )
                out.write(values.tobytes())
                total += size
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    return total


def warm_up(folder: Path) -> float:
    """Seconds to read all bytes once more, when they lie in memory."""
    for _ in range(2):
        began = time.perf_counter()
        for file in sorted(folder.glob("*.safetensors")):
            with file.open("rb", buffering=0) as stream:
                while stream.read(1 << 22):
                    pass
    return time.perf_counter() - began


def best_pass(folder: Path) -> float:
    """Seconds of NumPy's count of what is not zero, mapped, one thread: less than any scan must do."""
    began = time.perf_counter()
    for file in sorted(folder.glob("*.safetensors")):
        values = np.memmap(file, np.float32, "r", offset=(file.stat().st_size % 4))
        for start in range(0, len(values), 1 << 20):
            np.count_nonzero(values[start : start + (1 << 20)])
    return time.perf_counter() - began


def scanned(folder: str) -> None:
    from diag import sparsity

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    report = sparsity.scan(folder)
    seconds = time.perf_counter() - began
    anonymous = next(
        int(line.split()[1])
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("RssAnon")
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        json.dumps(
            {"seconds": seconds, "peak_mb": peak / 1024, "own_mb": anonymous / 1024, "sparsity": report.sparsity}
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--scan", help="scan one folder in this process")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.scan:
        scanned(options.scan)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        total = written(folder, options.gigabytes)
        reading, counting = warm_up(folder), best_pass(folder)
        done = subprocess.run([sys.executable, __file__, "--scan", name], capture_output=True, text=True, check=True)
    ours = json.loads(done.stdout)
    table = {
        "gigabytes": total / 1e9,
        "read_gb_s": total / 1e9 / reading,
        "numpy_count_gb_s": total / 1e9 / counting,
        "scan_gb_s": total / 1e9 / ours["seconds"],
        "share_of_numpy": counting / ours["seconds"],
        **ours,
    }
    print(json.dumps(table, indent=2))
    if options.out:
        options.out.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
