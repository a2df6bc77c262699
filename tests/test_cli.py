"""The command line as a user meets it: a real process, its output and exit code."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

GOOD = '{"id": "a", "context": "Orders were $4,512 in Q3 2021.", "question": "In which quarter were orders $4,512?", "answer": "Q3 2021"}\n'
WRONG = GOOD.replace('"answer": "Q3 2021"', '"answer": "Q2 2021"').replace('"a"', '"b"')


def diag(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "diag", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text(GOOD + WRONG + '{"broken\n')
    return path


def test_a_run_prints_its_findings_and_ends_with_the_reports_path(data: Path, tmp_path: Path) -> None:
    done = diag("check", data, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "2 records read, 1 rows rejected" in done.stdout
    assert "absent" in done.stdout
    assert done.stdout.rstrip().endswith(str(tmp_path / "run" / "report.html"))
    assert done.stderr == ""


def test_the_run_folder_is_whole(data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    diag("check", data, "--out", run)
    assert {path.name for path in run.iterdir()} == {
        "manifest.json", "records.parquet", "findings.parquet", "rejects.jsonl", "report.json", "report.html",
    }  # fmt: skip
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["finished"] is True
    assert len(manifest["data_sha256"]) == 64
    assert manifest["command"] == "check"
    (reject,) = [json.loads(line) for line in (run / "rejects.jsonl").read_text().splitlines()]
    assert (reject["line"], reject["raw"]) == (3, '{"broken')
    rows = pq.read_table(run / "records.parquet").to_pylist()
    assert [(row["verdict"], row["period_said"], row["correction"]) for row in rows] == [
        ("supported", "2021-Q3", None),
        ("fabricated", "2021-Q2", "Q3 2021"),
    ]


def test_the_report_is_one_file_without_requests_and_escapes_the_data(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        json.dumps(
            {
                "id": "<img src=x onerror=alert(1)>",
                "context": "<script>alert(1)</script> on 30 February 2021",
                "question": "q",
            }
        )
        + "\n"
    )
    diag("check", path, "--out", tmp_path / "run")
    page = (tmp_path / "run" / "report.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "30 February 2021" in page
    assert "http://" not in page
    assert "https://" not in page


def test_json_is_the_report(data: Path, tmp_path: Path) -> None:
    report = json.loads(diag("check", data, "--out", tmp_path / "run", "--json").stdout)
    assert report == json.loads((tmp_path / "run" / "report.json").read_text())
    assert (report["records"], report["rejects"], report["findings"]["absent"]["count"]) == (2, 1, 1)


def test_a_gate_that_is_not_met_exits_3_and_says_by_how_much(data: Path, tmp_path: Path) -> None:
    done = diag("check", data, "--out", tmp_path / "run", "--fail-if", "misbound>0", "--fail-if", "absent_rate>10%")
    assert done.returncode == 3
    assert done.stderr == "diag: absent_rate is 0.5, and the gate fails at absent_rate>0.1 (by 0.4)\n"
    assert diag("check", data, "--out", tmp_path / "other", "--fail-if", "misbound>0").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.jsonl"], "no such file"),
        (["DATA", "--map", "contxt=x"], "a record has no field 'contxt'"),
        (["DATA", "--map", "context"], "write FIELD=COLUMN"),
        (["DATA", "--fail-if", "misbond>0"], "no figure is called 'misbond'"),
        (["DATA", "--fail-if", "misbound"], "write NAME>NUMBER"),
        (["DATA", "--format", "docx"], "unknown format 'docx'"),
        (["DATA", "--strict"], "row 3"),
    ],
)
def test_wrong_usage_and_unreadable_input_exit_2_with_a_sentence(
    data: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    done = diag("check", *[str(data) if a == "DATA" else a for a in arguments], "--out", tmp_path / "run")
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_finished_run_is_never_written_over_and_an_unfinished_one_asks_for_resume(data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    diag("check", data, "--out", run)
    assert "holds a finished run" in diag("check", data, "--out", run).stderr
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "finished": False}))
    assert "add --resume" in diag("check", data, "--out", run).stderr
    data.write_text(GOOD)
    assert "begun with another data_sha256" in diag("check", data, "--out", run, "--resume").stderr


def test_without_out_each_run_has_a_folder_of_its_own(data: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert diag("check", data, cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["check-data", "check-data-2"]


def test_a_folder_that_is_no_run_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("precious")
    done = diag("check", data, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "holds no run" in done.stderr


def test_a_full_disk_is_a_sentence_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    noise = os.urandom(40_000).hex()
    path.write_text(GOOD.replace("Orders", noise + " Orders", 1))

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = diag("check", path, "--out", tmp_path / "run", preexec_fn=small_files)
    assert done.returncode == 1
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert diag("check", path, "--out", tmp_path / "run", "--resume").returncode == 0


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    assert "Traceback" in diag("--debug", "check", tmp_path / "none.jsonl").stderr


def test_the_day_order_is_an_option(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"context": "The lease was signed on 3 April 2021.", "question": "When was the lease signed?", "answer": "3/4/2021"}\n'
    )
    for name, options, verdict in (("a", [], "fabricated"), ("b", ["--day-first"], "supported")):
        diag("check", path, "--out", tmp_path / name, *options)
        assert pq.read_table(tmp_path / name / "records.parquet").column("verdict").to_pylist() == [verdict]


def test_leakage_against_another_file(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "test.jsonl"
    other.write_text(GOOD.replace('"a"', '"z"'))
    report = json.loads(diag("check", data, "--against", other, "--out", tmp_path / "run", "--json").stdout)
    assert [row["record"] for row in report["findings"]["leakage"]["examples"]] == ["a"]


def test_help_loads_neither_torch_nor_arrow() -> None:
    code = "import sys; sys.argv = ['diag', '--version']\ntry:\n import diag.cli; diag.cli.main()\nexcept SystemExit: pass\nprint(sorted({'torch', 'pyarrow', 'transformers', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
