from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from tiny_models import tiny_model

import diag
import diag_data
from diag import models, records, risk, runs
from diag.errors import InputError
from diag.pipeline.calibrate import calibrate_runs
from diag.pipeline.qa import QaOptions, qa
from diag.pipeline.summary import figure_names, figures

SHORT = QaOptions(prompt=models.PromptOptions(source_tokens=80), sampling=models.Sampling(8), batch=4)


def golden(count: int) -> list[records.Record]:
    rows = list(records.read(diag_data.path("golden/dev.jsonl")))
    return rows[:: len(rows) // count][:count]


def nan_free(table: Any) -> bool:
    text = json.dumps(table.to_pylist(), allow_nan=True)
    return "NaN" not in text and "Infinity" not in text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, smollm: Any) -> runs.Run:
    """Twelve golden records of the dev split, both languages, answered by the embedded model."""
    folder = tmp_path_factory.mktemp("runs") / "qa"
    return diag.qa(golden(12), model=smollm, out=folder, prompt=models.PromptOptions(source_tokens=256))


def test_a_run_folder_holds_what_it_should(run: runs.Run) -> None:
    names = {path.name for path in run.folder.iterdir()}
    tables = {f"{name}.parquet" for name in ("records", "findings", "predictions", "spans")}
    assert names == {"manifest.json", "report.json", "report.html", "rejects.jsonl", *tables}
    assert run.predictions.num_rows == 12
    assert run.manifest["model_sha256"]
    assert run.manifest["costs"]["generate"]["seconds"] > 0
    assert run.manifest["costs"]["generate"]["peak_memory_bytes"] > 100_000_000
    assert diag.load_run(run.folder).report == run.report


def test_no_score_is_ever_nan(run: runs.Run) -> None:
    assert nan_free(run.predictions)
    assert nan_free(run.spans)


def test_spans_slice_the_answers_and_their_tokens(run: runs.Run) -> None:
    answers = {row["id"]: row for row in run.predictions.to_pylist()}
    assert run.spans.num_rows
    for span in run.spans.to_pylist():
        row = answers[span["id"]]
        assert row["answer"][span["start"] : span["end"]] == span["text"]
        assert row["token_starts"][span["token_start"]] <= span["start"]
        assert row["token_ends"][span["token_end"] - 1] >= span["end"]
        assert span["logprob"] == pytest.approx(sum(row["logprobs"][span["token_start"] : span["token_end"]]), abs=1e-4)


def test_the_report_counts_its_answers(run: runs.Run) -> None:
    report = run.report
    assert report["answers"] == 12
    assert sum(row["count"] for row in report["verdicts"].values()) == 12
    assert sum(row["count"] for row in report["truths"].values()) == 12
    rate = report["hallucination_rate"]
    assert rate["low"] <= rate["rate"] <= rate["high"]
    assert set(figures(report)) == set(figure_names())
    assert report["prompts_cut"] == 12
    wrong = {row["id"] for row in run.predictions.to_pylist() if row["truth"] == "wrong_period"}
    assert {one["id"] for one in report["worst"] if one["truth"] == "wrong_period"} <= wrong


def test_the_html_is_one_file_that_asks_for_nothing(run: runs.Run) -> None:
    html = (run.folder / "report.html").read_text(encoding="utf-8")
    # A reference within the page, or an image that is written into it.
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?!#|data:image/png;base64)[a-z]""", html)
    assert not re.search(r"@import|url\((?!['\"]?#)|<script", html)
    assert "<svg" in html
    assert "What it took" in html


def test_text_of_the_data_is_escaped(tmp_path: Path, tiny: Any) -> None:
    bad = "<img src=http://example.org/x.png onerror=alert(1)>"
    rows = [replace(one, question=f"{bad} {one.question}") for one in golden(3)]
    made = diag.qa(rows, model=tiny, out=tmp_path / "run", **_short())
    assert "<img" not in (made.folder / "report.html").read_text(encoding="utf-8")


def _short() -> dict[str, Any]:
    return {"prompt": SHORT.prompt, "sampling": SHORT.sampling, "batch": SHORT.batch}


def test_the_same_input_gives_the_same_bytes(tmp_path: Path, tiny: Any) -> None:
    data = tmp_path / "data.jsonl"
    records.write(golden(6), data)
    for name in ("one", "two"):
        qa(data, tiny, tmp_path / name, SHORT)
    for table in ("predictions.parquet", "spans.parquet", "report.json", "rejects.jsonl"):
        assert (tmp_path / "one" / table).read_bytes() == (tmp_path / "two" / table).read_bytes()


def test_given_answers_are_scored_not_generated(tmp_path: Path, smollm: Any) -> None:
    rows = golden(4)
    made = diag.qa(rows, model=smollm, out=tmp_path / "run", given=True, prompt=models.PromptOptions(source_tokens=128))
    assert [row["answer"] for row in made.predictions.to_pylist()] == [one.answer for one in rows]
    assert made.manifest["command"] == "score"
    # The source decides alone: an answer is not held against itself.
    assert set(made.report["truths"]) == {"undetermined"}


def test_a_record_that_fails_inside_the_model_is_a_row_and_the_rest_goes_on(tmp_path: Path) -> None:
    model = tiny_model()
    poison = model.tokenizer("囍")["input_ids"]

    def refuse(_: Any, args: Any, kwargs: Any) -> None:
        ids = kwargs.get("input_ids")
        if ids is not None and ids.shape[1] > 8 and (ids == poison[-1]).any() and (ids == poison[0]).any():
            text = model.tokenizer.batch_decode(ids.tolist())
            if any("囍" in one for one in text):
                raise RuntimeError("CUDA error: an illegal memory access\nmore lines")

    handle = model.network.register_forward_pre_hook(refuse, with_kwargs=True)
    rows = golden(5)
    rows[2] = replace(rows[2], question=f"囍 {rows[2].question}")
    made = diag.qa(rows, model=model, out=tmp_path / "run", **_short())
    handle.remove()
    assert [row["id"] for row in made.predictions.to_pylist()] == [one.id for one in rows if one is not rows[2]]
    (reject,) = [json.loads(line) for line in (made.folder / "rejects.jsonl").read_text().splitlines()]
    assert reject["reason"] == "the model could not answer it (RuntimeError: CUDA error: an illegal memory access)"
    assert json.loads(reject["raw"])["id"] == rows[2].id
    clean = diag.qa(rows[:2], model=model, out=tmp_path / "clean", **_short())
    assert [row["answer"] for row in clean.predictions.to_pylist()] == [
        row["answer"] for row in made.predictions.to_pylist()[:2]
    ]


def test_bad_rows_and_too_long_questions_are_rejected_and_the_rest_goes_on(tmp_path: Path) -> None:
    model = tiny_model("gpt2")
    model.network.config.n_positions = 900
    rows = golden(3)
    long = replace(rows[0], id="long", question="Which year? " * 2000)
    data = tmp_path / "data.jsonl"
    records.write([rows[0], long, rows[1]], data)
    with data.open("a") as stream:
        stream.write('{"id": "broken"\n')
        stream.write(json.dumps({"id": "mistyped", "context": {"a": 1}, "question": "Which year?"}) + "\n")
    made = qa(data, model, tmp_path / "run", SHORT)
    table = pq.read_table(made.folder / "predictions.parquet")
    assert table.column("id").to_pylist() == [rows[0].id, rows[1].id]
    reasons = [json.loads(line)["reason"] for line in (made.folder / "rejects.jsonl").read_text().splitlines()]
    assert len(reasons) == 3
    assert any("its question alone has" in reason for reason in reasons)
    assert made.report["rejects"] == 3


def test_empty_answers_are_omissions(tmp_path: Path) -> None:
    model = tiny_model()
    end = model.tokenizer.eos_token_id
    with torch.no_grad():
        model.network.lm_head.weight.zero_()
        model.network.model.norm.weight.zero_()
    model.network.lm_head.bias = torch.nn.Parameter(torch.zeros(model.network.config.vocab_size))
    with torch.no_grad():
        model.network.lm_head.bias[end] = 9.0
    made = diag.qa(golden(3), model=model, out=tmp_path / "run", **_short())
    assert made.report["empty"] == 3
    assert {row["answer"] for row in made.predictions.to_pylist()} == {""}
    assert set(made.report["truths"]) == {"omitted"}
    assert made.spans.num_rows == 0
    assert nan_free(made.predictions)


def test_answers_that_run_to_the_limit_are_counted(tmp_path: Path, tiny: Any) -> None:
    options = {**_short(), "whole_answers": True}
    made = diag.qa(golden(3), model=tiny, out=tmp_path / "run", **options)
    assert made.report["cut_off"] == sum(row["stop"] == "limit" for row in made.predictions.to_pylist())


def test_a_sample_is_drawn_by_the_seed(tmp_path: Path, tiny: Any) -> None:
    rows = golden(20)
    drawn = [
        diag.qa(rows, model=tiny, out=tmp_path / str(number), sample=5, steps=("generate",), **_short())
        for number in range(2)
    ]
    ids = [row["id"] for row in drawn[0].predictions.to_pylist()]
    assert len(ids) == 5
    assert ids == sorted(ids, key=[one.id for one in rows].index)
    assert ids != [one.id for one in rows[:5]]
    assert [row["id"] for row in drawn[1].predictions.to_pylist()] == ids


def test_steps_can_be_left_out(tmp_path: Path, tiny: Any) -> None:
    made = diag.qa(golden(3), model=tiny, out=tmp_path / "run", steps=("generate",), **_short())
    assert made.spans.num_rows == 0
    assert not (made.folder / "records.parquet").exists()
    with pytest.raises(InputError, match="no step is called 'sing'"):
        diag.qa(golden(3), model=tiny, out=tmp_path / "other", steps=("sing",))


def test_calibrating_on_a_runs_own_answers(tmp_path: Path, run: runs.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="needs 20 labelled answers"):
        calibrate_runs([run.folder], tmp_path / "c.json")
    monkeypatch.setattr("diag.risk.calibration._FEWEST", 8)
    fitted = calibrate_runs([run.folder], tmp_path / "c.json")
    assert fitted == risk.read_calibration(tmp_path / "c.json")
    assert fitted.model_sha256 == run.manifest["model_sha256"]
    with pytest.raises(InputError, match="holds no run"):
        calibrate_runs([tmp_path], tmp_path / "c.json")
