from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import torch
from typer.testing import CliRunner

import diag
from diag import models
from diag.cli import app

ROWS = [
    {
        "id": f"r{number}",
        "context": f"Orders in Q{number % 4 + 1} 2021 were ${number + 2},512. Orders in Q{(number + 1) % 4 + 1} 2021 were $99.",
        "question": f"In which quarter were orders ${number + 2},512?",
        "answer": f"Q{number % 4 + 1} 2021",
        "language": "en",
    }
    for number in range(8)
]
QUICK = ["--vocabulary", "quarters", "--language", "en"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collapse")
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    arguments = ["qa", str(data), "--out", str(folder / "run"), "--max-new-tokens", "8"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    return folder / "run"


def test_a_run_gets_its_section_twice_in_the_same_bytes(run: Path) -> None:
    arguments = ["collapse", *QUICK, "--run", str(run), "--fail-if", "collapsed>0", "--contexts", "20"]
    tables: list[bytes] = []
    for _ in range(2):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        tables.append((run / "collapse.parquet").read_bytes() + (run / "contexts.parquet").read_bytes())
    assert tables[0] == tables[1]
    assert "healthy    quarters (en): no two have become one" in done.output
    assert "cannot be said" in done.output or "Spearman" in done.output
    rows = pq.read_table(run / "collapse.parquet").to_pylist()
    assert [row["site"] for row in rows][:3] == ["input", "output", "layer 1"]
    assert len(rows) == 32
    assert all(len(row["pairs"]) == 6 for row in rows)
    page = (run / "collapse.html").read_text()
    assert page.count("<svg") >= 4
    assert not re.findall(r"(?:src|href)=.?(?:https?:|//)", page)
    assert "become one lump" in (run / "report.html").read_text()
    assert diag.load_run(run).report["collapse"]["figures"]["collapsed"] == 0


def test_a_collapsed_model_fails_the_gate_and_is_behind_the_healthy_one(tmp_path: Path) -> None:
    model = models.load("smollm2-135m")
    three, four = (model.tokenizer(f"Q{n}", add_special_tokens=False)["input_ids"][-1] for n in (3, 4))
    with torch.no_grad():
        weight = model.network.get_input_embeddings().weight
        weight[four] = weight[three]
    model.network.save_pretrained(tmp_path / "planted")
    model.tokenizer.save_pretrained(tmp_path / "planted")
    place = str(tmp_path / "planted")
    done = CliRunner().invoke(
        app, ["collapse", *QUICK, "--model", place, "--out", str(tmp_path / "out"), "--fail-if", "collapsed>0"]
    )
    assert done.exit_code == 3 or "collapsed is 1" in str(done.exception)
    done = CliRunner().invoke(app, ["collapse", *QUICK, "--against", place, "--out", str(tmp_path / "two"), "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["figures"]["lost"] > 20
    assert summary["figures"]["collapsed"] == 0
    assert summary["against"]["vocabularies"][0]["flag"] == "collapsed"
    assert (tmp_path / "two" / "collapse-against.parquet").exists()


def test_what_cannot_be_asked_for_is_said(tmp_path: Path) -> None:
    for arguments, message in (
        (["--vocabulary", "eras"], "no vocabulary is called 'eras'"),
        (["--language", "fr"], "--language 'fr': write one of en, zh"),
        (["--fail-if", "purity>1"], "no figure is called 'purity'"),
        (["--plane", "tsne"], "--plane 'tsne': write one of pca, umap"),
    ):
        done = CliRunner().invoke(app, ["collapse", *arguments, "--out", str(tmp_path / "x")])
        assert done.exit_code != 0
        assert message in str(done.exception), arguments
