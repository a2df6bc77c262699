from __future__ import annotations

import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_models import tiny_model

import diag_data
from diag import records

TABLES = ("predictions.parquet", "spans.parquet", "records.parquet", "findings.parquet", "rejects.jsonl", "report.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model")
    made = tiny_model()
    made.network.save_pretrained(place)
    made.tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "data.jsonl"
    records.write(list(records.read(diag_data.path("golden/train.jsonl")))[:200], path)
    return path


def command(data: Path, model: Path, out: Path, *more: str) -> list[str]:
    base = [sys.executable, "-m", "diag", "qa", str(data), "--model", str(model), "--out", str(out)]
    return [*base, "--source-tokens", "60", "--max-new-tokens", "8", "--offline", *more]


def digests(out: Path) -> dict[str, str]:
    return {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in TABLES}


def reached(out: Path, parts: int) -> bool:
    """Whether the run has begun, and has that many parts of its answers."""
    return (out / "manifest.json").exists() and len(list((out / "parts" / "answers").glob("0*"))) >= parts


@pytest.mark.timeout(600)
def test_killed_and_resumed_tables_are_byte_equal(folder: Path, data: Path, tmp_path: Path) -> None:
    slowly = ["--batch", "4"]
    subprocess.run(command(data, folder, tmp_path / "whole", *slowly), check=True, stdout=subprocess.DEVNULL)
    out = tmp_path / "killed"
    draw = random.Random(5)
    for parts in range(4):
        resume = ["--resume"] if (out / "manifest.json").exists() else []
        process = subprocess.Popen(
            command(data, folder, out, *slowly, *resume),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # By the work done and not by the clock, which a busy machine makes a poor judge: the last part is still to come.
        while process.poll() is None and not reached(out, parts):
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.1))
        assert process.poll() is None, "the run ended before it could be killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    last = subprocess.run(command(data, folder, out, *slowly, "--resume"), capture_output=True, text=True, check=False)
    assert last.returncode == 0, last.stderr
    assert digests(out) == digests(tmp_path / "whole")


def test_ctrl_c_leaves_a_run_that_goes_on(folder: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    slowly = command(data, folder, out, "--batch", "1")
    # A shell's background jobs ignore interrupts, and so would their children.
    process = subprocess.Popen(
        slowly,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(600):
        if (out / "parts" / "answers" / "000000").is_dir():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert error.strip().splitlines()[-1] == "diag: interrupted; the run goes on with --resume"
    refused = subprocess.run(slowly, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    subprocess.run([*slowly, "--resume"], check=True, stdout=subprocess.DEVNULL)
    assert (out / "report.html").exists()


def test_a_full_disk_is_one_sentence_and_the_run_goes_on(folder: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"

    def small_files() -> None:
        # Past this size a write fails with an error of the operating system, as on a full disk.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    full = subprocess.run(
        command(data, folder, out), capture_output=True, text=True, check=False, preexec_fn=small_files
    )
    assert full.returncode == 1
    assert "could not be written" in full.stderr
    assert "Traceback" not in full.stderr
    subprocess.run(command(data, folder, out, "--resume"), check=True, stdout=subprocess.DEVNULL)


def test_the_gate_says_what_failed_and_exits_with_3(folder: Path, data: Path, tmp_path: Path) -> None:
    gate = ["--limit", "8", "--fail-if", "omitted_rate>=0", "--fail-if", "answers>100"]
    done = subprocess.run(command(data, folder, tmp_path / "run", *gate), capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "omitted_rate is" in done.stderr
    assert "answers is" not in done.stderr
    wrong = subprocess.run(
        command(data, folder, tmp_path / "other", "--fail-if", "joy<1"), capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "no figure is called 'joy'" in wrong.stderr


def test_a_model_that_is_not_there_is_wrong_usage(data: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command(data, tmp_path / "none", tmp_path / "run"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
