"""`diag check` on large synthetic JSONL: peak memory, throughput, cost by size, and SIGKILL with resume.

    python tests/benchmarks/scale.py [--megabytes 125] [--times 1 4 16] [--kills 5] [--work FOLDER]

The largest file is checked once undisturbed; then the smallest is checked again, killed `--kills` times at random moments and
resumed each time, and its tables compared byte by byte with an undisturbed run's.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

import diag_data

SEED = 20230930
TABLES = ("records.parquet", "findings.parquet", "rejects.jsonl", "report.json")


def rows(draw: random.Random) -> Iterator[bytes]:
    """Endless records: paragraphs of the golden set in a new order, with their values changed; one in 500 is broken."""
    golden = [
        json.loads(line) for line in diag_data.path("golden/train.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    number = 0
    while True:
        row = dict(draw.choice(golden))
        paragraphs = row["context"].split("\n\n")
        draw.shuffle(paragraphs)
        paragraphs = paragraphs[: draw.randint(6, 14)]
        paragraphs.append(f"Reference {draw.randrange(10**9)} of plant {draw.randrange(10**6)}.")
        row.update(id=f"r{number}", context="\n\n".join(paragraphs), evidence=[])
        number += 1
        line = json.dumps(row, ensure_ascii=False).encode()
        yield line[:-9] if number % 500 == 0 else line


def make(path: Path, size: int) -> int:
    """A file of at least `size` bytes; returns its number of rows."""
    count = written = 0
    with path.open("wb") as stream:
        for line in rows(random.Random(SEED)):
            stream.write(line + b"\n")
            written += len(line) + 1
            count += 1
            if written >= size:
                return count
    raise AssertionError("rows are endless")


def command(data: Path, out: Path, *, resume: bool = False) -> list[str]:
    """The command line of one check."""
    return [sys.executable, "-m", "diag", "check", str(data), "--out", str(out), *(["--resume"] if resume else [])]


def watch(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process; the largest memory of it and its children together, in bytes.

    The proportional set size (Linux): the resident memory, the pages that they share (libraries) counted once.
    """
    peak = 0
    root = psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            peak = max(peak, sum(_memory(p) for p in (root, *root.children(recursive=True))))
        time.sleep(0.2)
    return peak


def _memory(process: psutil.Process) -> int:
    full = process.memory_full_info()
    return int(getattr(full, "pss", full.uss))


def measure(data: Path, out: Path) -> tuple[float, int]:
    """Seconds and peak memory of one check."""
    shutil.rmtree(out, ignore_errors=True)
    began = time.perf_counter()
    process = subprocess.Popen(command(data, out), stdout=subprocess.DEVNULL)
    peak = watch(process)
    if process.returncode:
        raise SystemExit(f"diag check failed with {process.returncode}")
    return time.perf_counter() - began, peak


def digests(out: Path) -> dict[str, str]:
    """The SHA-256 of each table of a run."""
    return {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in TABLES}


def kill_and_resume(data: Path, out: Path, seconds: float, kills: int) -> int:
    """Kill a check `kills` times at random moments, resuming it each time; then let it end. Returns the kills that hit."""
    shutil.rmtree(out, ignore_errors=True)
    draw = random.Random(SEED)
    hits = 0
    for _ in range(kills):
        resume = (out / "manifest.json").exists()
        process = subprocess.Popen(
            command(data, out, resume=resume),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(draw.uniform(0.5, max(1.0, 1.6 * seconds / (kills + 1))))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            hits += 1
        process.wait()
    if not (json.loads((out / "manifest.json").read_bytes())).get("finished"):
        subprocess.run(command(data, out, resume=True), stdout=subprocess.DEVNULL, check=True)
    return hits


def main() -> None:
    """Run all and print."""
    parser = argparse.ArgumentParser(description="Scale and resume of diag check.")
    parser.add_argument("--megabytes", type=int, default=125, help="size of the smallest file")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        work = Path(folder)
        first = work / f"{options.times[0]}.jsonl"
        for times in options.times:
            data = work / f"{times}.jsonl"
            count = make(data, times * options.megabytes * 10**6)
            seconds, peak = measure(data, work / f"run{times}")
            size = data.stat().st_size
            print(
                f"{times:>3}x  {size / 1e6:8,.0f} MB  {count:>9,} rows  {seconds:8.1f} s  {size / seconds / 1e6:6.2f} MB/s  "
                f"{1e6 * seconds / count:7.0f} µs a row  peak {peak / 1e6:5.0f} MB",
                flush=True,
            )
            if data != first:
                data.unlink()
                shutil.rmtree(work / f"run{times}")
            else:
                base = seconds
        undisturbed = digests(work / f"run{options.times[0]}")
        hits = kill_and_resume(first, work / "killed", base, options.kills)
        same = digests(work / "killed") == undisturbed
        print(f"killed {hits} times and resumed: tables {'byte-equal' if same else 'DIFFER'}")
        if not same or hits < options.kills:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
