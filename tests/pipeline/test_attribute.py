from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import diag
from diag import models
from diag.cli import app
from diag.errors import InputError
from diag.pipeline.attribute import ATTRIBUTIONS, AttributeOptions, attribute
from diag.pipeline.pattern import sentence, summarise
from diag.report.attribution import segments
from diag.runs import Run

HOSTILE = "<script>alert(1)</script> & <img src=x onerror=y>"
ROWS = [
    {
        "id": "misbound",
        "context": f"{HOSTILE} Revenue was $5.1 million in Q1 2021, $6.2 million in Q2 2021 and $7.3 million in Q3 2021.",
        "question": f"In which quarter was revenue $6.2 million? {HOSTILE}",
        "answer": "Q3 2021",
    },
    {
        "id": "right",
        "context": "The lease took effect on 9 February 2015, and the sale closed on 1 March 2016.",
        "question": "When did the lease take effect?",
        "answer": "9 February 2015",
    },
    {
        "id": "chinese",
        "context": "收入于2021年为5亿元,于2022年为6亿元。",
        "question": "收入6亿元是哪一年?",
        "answer": "2021年",
    },
    {"id": "silent", "context": "Sales grew in 2020.", "question": "When did sales grow?", "answer": "not long ago"},
]
TABLES = ("attributions.parquet", "attribution.json", "attributions.html", "report.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a tiny model lies, as a command would load it."""
    from tiny_models import tiny_model

    place = tmp_path_factory.mktemp("model")
    made = tiny_model()
    made.network.save_pretrained(place)
    made.tokenizer.save_pretrained(place)
    return place


@pytest.fixture
def run(tmp_path: Path, folder: Path) -> Iterator[Run]:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")
    yield diag.qa(data, model=str(folder), out=tmp_path / "run", given=True)


def test_answers_with_a_time_are_explained_the_riskiest_first(run: Run, folder: Path) -> None:
    told: list[tuple[int, int | None]] = []
    found = attribute(run.folder, models.load(str(folder)), progress=lambda *count: told.append(count))
    table = pq.read_table(run.folder / "attributions.parquet")
    assert table.schema.equals(ATTRIBUTIONS)
    rows = {row["id"]: row for row in table.to_pylist()}
    assert set(rows) == {"misbound", "right", "chinese"}
    assert found["answers"] == 3
    assert told == [(3, 3)]
    wrong = rows["misbound"]
    assert (wrong["said"], wrong["rival"], wrong["verdict"]) == ("Q3 2021", "Q2 2021", "misbound")
    assert [unit["text"] for unit in wrong["units"]] == ["Q1 2021", "Q2 2021", "Q3 2021"]
    assert [unit["is_evidence"] for unit in wrong["units"]] == [False, True, False]
    assert (rows["chinese"]["said"], rows["chinese"]["rival"]) == ("2021年", "2022年")
    for row in rows.values():
        assert all(row["prompt"][unit["start"] : unit["end"]] == unit["text"] for unit in row["units"])
        assert len(row["random_comprehensiveness"]) == 5
        assert row["agreement_with"] in ("gradient", "swap")
    assert "NaN" not in json.dumps(table.to_pylist())


def test_the_pattern_goes_into_the_runs_own_report(run: Run, folder: Path) -> None:
    found = attribute(run.folder, models.load(str(folder)))
    again = diag.load_run(run.folder)
    assert again.report["attribution"] == json.loads(json.dumps(found))
    assert again.report["answers"] == 4
    assert "Which words decided?" in (run.folder / "report.html").read_text(encoding="utf-8")


def test_pages_are_one_file_without_requests_and_escape_the_data(run: Run, folder: Path) -> None:
    attribute(run.folder, models.load(str(folder)), AttributeOptions(export="svg"))
    for name in ("attributions.html", "report.html"):
        page = (run.folder / name).read_text(encoding="utf-8")
        assert "<script" not in page
        assert "<img src=x" not in page
        links = re.findall(r'<[^>]*(?:src|href)="([^"#][^"]*)"', page)
        assert {link for link in links if not link.startswith("data:")} <= {"attributions.html"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in (run.folder / "attributions.html").read_text(encoding="utf-8")
    charts = sorted((run.folder / "charts").iterdir())
    assert [chart.name for chart in charts] == ["0001.svg", "0002.svg", "0003.svg"]
    assert all(b"<svg" in chart.read_bytes() and b"<script" not in chart.read_bytes() for chart in charts)
    attribute(run.folder, models.load(str(folder)), AttributeOptions(worst=1, export="png"))
    assert (run.folder / "charts" / "0001.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_run_gives_the_same_bytes(run: Run, folder: Path) -> None:
    digests: list[list[str]] = []
    for _ in range(2):
        attribute(run.folder, models.load(str(folder)), AttributeOptions(method="shapley"))
        digests.append([hashlib.sha256((run.folder / name).read_bytes()).hexdigest() for name in TABLES])
    assert digests[0] == digests[1]


def test_an_interrupted_attribution_goes_on_where_it_was(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import diag.pipeline.attribute as room

    model = models.load(str(folder))
    monkeypatch.setattr(room, "_PART", 1)
    explained: list[str] = []
    plain = room._explained

    def counted(one: Any, *rest: Any) -> dict[str, Any]:
        explained.append(one.row["id"])
        return plain(one, *rest)

    def stop(done: int, _: int | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(room, "_explained", counted)
    with pytest.raises(KeyboardInterrupt):
        attribute(run.folder, model, progress=stop)
    attribute(run.folder, model)
    assert sorted(explained) == ["chinese", "misbound", "right"]
    assert pq.read_table(run.folder / "attributions.parquet").num_rows == 3


def test_an_answer_that_cannot_be_explained_is_told_and_the_rest_goes_on(run: Run, folder: Path) -> None:
    found = attribute(run.folder, models.load(str(folder)), AttributeOptions(unit="cell", ids=("misbound", "chinese")))
    assert found["answers"] == 2
    found = attribute(run.folder, models.load(str(folder)), AttributeOptions(contrast=False, ids=("right",)))
    assert found["refused"] == []
    assert pq.read_table(run.folder / "attributions.parquet").to_pylist()[0]["rival"] is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"ids": ("nobody",)}, "has no answer to 'nobody'"),
        ({"ids": ("silent",)}, "no answer with a time to explain"),
        ({"where": {"colour": "red"}}, "answers have no column 'colour'"),
        ({"data": Path("elsewhere.jsonl")}, "are not at elsewhere.jsonl any more: say where with --data"),
    ],
)
def test_what_does_not_fit_is_a_sentence(run: Run, folder: Path, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        attribute(run.folder, models.load(str(folder)), AttributeOptions(**options))


def test_changed_data_and_another_model_are_refused(run: Run, folder: Path, smollm: Any) -> None:
    with pytest.raises(InputError, match="whose weights are others than those of"):
        attribute(run.folder, smollm)
    data = Path(run.manifest["data"])
    data.write_text(data.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="has changed since the run"):
        attribute(run.folder, models.load(str(folder)))


def test_the_command(run: Run) -> None:
    done = CliRunner().invoke(app, ["attribute", str(run.folder), "--where", "verdict=misbound", "--draws", "3"])
    assert done.exit_code == 0, done.output
    assert "2 answers explained by ablation over units of time" in done.output
    assert done.output.strip().endswith("attributions.html")
    row = pq.read_table(run.folder / "attributions.parquet").to_pylist()[0]
    assert len(row["random_comprehensiveness"]) == 3
    done = CliRunner().invoke(app, ["attribute", str(run.folder), "--unit", "sentence", "--json"])
    assert json.loads(done.stdout)["unit"] == "sentence"


def row(kind: str, **has: Any) -> dict[str, Any]:
    plain = dict.fromkeys(("is_evidence", "is_nearest", "is_first", "is_last", "in_question", "names_said"), False)
    return {
        **plain,
        "truth": "",
        "verdict": kind,
        "deciding": 0,
        "chance": 0.2,
        "evidence_chance": 0.2,
        "beats_random": True,
        **has,
    }


def test_the_sentence_a_user_takes_home() -> None:
    rows = [row("misbound", is_first=number < 14) for number in range(20)] + [row("supported", is_evidence=True)] * 2
    found = summarise(rows)
    (told,) = found["sentences"]
    assert told == (
        "In 70% of the 20 answers called misbound (95 % interval 48% to 85%) the model followed the first time expression of "
        "its kind in the source; chance is 20%."
    )
    assert found["by_kind"]["misbound"]["properties"]["is_first"]["count"] == 14
    assert sentence("misbound", summarise([row("misbound", is_first=True)] * 3)["by_kind"]["misbound"]) is None


def test_segments_make_up_the_prompt() -> None:
    units = [
        {"start": 3, "end": 7, "score": -2.0, "is_evidence": False},
        {"start": 9, "end": 10, "score": 1.0, "is_evidence": True},
    ]
    pieces = segments("in 2021, 5 <b>", units)
    assert "".join(piece.text for piece in pieces) == "in 2021, 5 <b>"
    assert [piece.weight for piece in pieces] == [0, -1, 0, 0.5, 0]
