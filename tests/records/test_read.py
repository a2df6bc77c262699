"""Readers: every format and encoding, and every kind of bad row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diag.errors import InputError
from diag.records import Record, read, write

ROW = {"id": "a", "context": "Sales were $4 in Q3 2023.", "question": "When were sales $4?", "answer": "Q3 2023"}


def lines(path: Path, *rows: Any, encoding: str = "utf-8", newline: str = "\n") -> Path:
    text = newline.join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_bytes((text + newline).encode(encoding))
    return path


def test_fields_are_found_by_alias_or_by_map_and_others_are_kept(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", {"uid": 7, "Passage": "P", "query": "Q", "answers": ["A", 2], "split": "dev"})
    (record,) = read(path)
    assert (record.id, record.context, record.question, record.answer) == ("7", "P", "Q", "A, 2")
    assert record.extra == {"split": "dev"}
    path = lines(tmp_path / "y.jsonl", {"body": "B", "context": "C", "q": "Q"})
    (record,) = read(path, map={"context": "body", "question": "q"})
    assert (record.context, record.question, record.extra) == ("B", "Q", {"context": "C"})


def test_an_unknown_field_in_the_map_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no field 'contxt'"):
        read(tmp_path / "x.jsonl", map={"contxt": "body"})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, newline: str) -> None:
    row = {**ROW, "context": "二〇二三年第三季度 Q3 2023"}
    path = lines(tmp_path / "x.jsonl", row, {**row, "id": "b"}, encoding=encoding, newline=newline)
    reading = read(path)
    assert [record.context for record in reading] == [row["context"]] * 2
    assert len(reading.rejects) == 0


def test_bad_rows_are_rejected_with_line_field_and_reason_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    good = json.dumps(ROW).encode()
    bad = [
        b'{"id": "b", "context": ',
        b'{"context": "\xff\xfe", "question": "q"}',
        b'{"context": "nul\x00", "question": "q"}',
        rb'{"context": "\ud800", "question": "q"}',
        b"[1, 2]",
        b'{"context": {"a": 1}, "question": "q"}',
        b'{"context": "c", "question": ["q"]}',
        b'{"answer": "x"}',
        b'{"context": "c", "evidence": [{"start": 0, "end": 99}]}',
        b'{"context": "c", "tables": [["a"], "b"]}',
        good,
    ]
    path.write_bytes(b"\n".join([good, *bad, good.replace(b'"a"', b'"z"')]) + b"\n")
    reading = read(path)
    assert [record.id for record in reading] == ["a", "z"]
    assert [reject.line for reject in reading.rejects] == list(range(2, 13))
    expected = [
        ("", "broken JSON"), ("", "not UTF-8"), ("", "NUL byte"), ("", "surrogate"), ("", "an object"), ("context", "expected text"),
        ("question", "expected text"), ("context", "no context"), ("evidence", "beyond the context"), ("tables", "row 2"),
        ("id", "earlier row"),
    ]  # fmt: skip
    for reject, (field, reason) in zip(reading.rejects, expected, strict=True):
        assert reject.field == field
        assert reason in reject.reason
        assert json.loads(reject.to_json())["raw"] == reject.raw


def test_strict_stops_at_the_first_bad_row(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", ROW, '{"answer": "x"}', ROW)
    reading = read(path, strict=True)
    next(reading)
    with pytest.raises(InputError, match=r"row 2, field 'context'"):
        next(reading)


def test_a_field_of_ten_megabytes_and_nested_objects_are_kept(tmp_path: Path) -> None:
    huge = "In Q3 2023 sales rose. " * 450_000
    path = lines(tmp_path / "x.jsonl", {**ROW, "context": huge, "meta": {"deep": [{"er": 1}]}})
    (record,) = read(path)
    assert record.context == huge
    assert record.extra == {"meta": {"deep": [{"er": 1}]}}


def test_a_line_beyond_the_limit_is_rejected_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diag.records.rows.LONGEST_LINE", 1000)
    path = lines(tmp_path / "x.jsonl", ROW, {**ROW, "id": "b", "context": "x" * 5000}, {**ROW, "id": "c"})
    reading = read(path)
    assert [record.id for record in reading] == ["a", "c"]
    assert [(reject.line, "the line has over" in reject.reason) for reject in reading.rejects] == [(2, True)]


def test_empty_files_hold_no_records(tmp_path: Path) -> None:
    for name in ("x.jsonl", "x.csv"):
        (tmp_path / name).write_bytes(b"")
        assert list(read(tmp_path / name)) == []
    lines(tmp_path / "y.jsonl", "", "   ", "")
    assert list(read(tmp_path / "y.jsonl")) == []


def test_files_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('[{"context": "a"},\n{"context"')
    (tmp_path / "x.parquet").write_bytes(b"not parquet")
    (tmp_path / "latin.csv").write_bytes(b"context,question\ncaf\xe9,q\n")
    for name, reason in (
        ("broken.json", "broken JSON at line 2"),
        ("x.parquet", "Parquet"),
        ("latin.csv", "UTF-8"),
        ("none.jsonl", "no such file"),
    ):
        with pytest.raises(InputError, match=reason):
            list(read(tmp_path / name))
    (tmp_path / "x.docx").write_bytes(b"")
    with pytest.raises(InputError, match="says no format"):
        list(read(tmp_path / "x.docx"))


def test_json_csv_tsv_and_parquet_give_the_same_record(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"version": 1, "data": [ROW]}))
    (tmp_path / "x.csv").write_text(
        "id,context,question,answer\na,Sales were $4 in Q3 2023.,When were sales $4?,Q3 2023\n"
    )
    (tmp_path / "x.tsv").write_text(
        "id\tcontext\tquestion\tanswer\na\tSales were $4 in Q3 2023.\tWhen were sales $4?\tQ3 2023\n"
    )
    pq.write_table(pa.table({key: [value] for key, value in ROW.items()}), tmp_path / "x.parquet")
    for name in ("x.json", "x.csv", "x.tsv", "x.parquet"):
        (record,) = read(tmp_path / name)
        assert (record.id, record.context, record.answer) == ("a", ROW["context"], "Q3 2023"), name


def test_csv_rows_of_another_width_are_rejected_and_quoted_newlines_are_not(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('context,question\n"two\nlines",q\nonly one\nc,q\n')
    reading = read(tmp_path / "x.csv")
    assert [record.context for record in reading] == ["two\nlines", "c"]
    assert [(reject.line, reject.reason) for reject in reading.rejects] == [(4, "1 cells where the header names 2")]


def test_a_folder_of_files_and_a_saved_data_set_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    lines(folder / "a.jsonl", ROW)
    lines(folder / "b.jsonl", {**ROW, "id": "b"})
    assert [(record.id, record.line) for record in read(folder)] == [("a", 1), ("b", 2)]
    datasets = pytest.importorskip("datasets")
    datasets.DatasetDict(
        {"train": datasets.Dataset.from_list([ROW]), "test": datasets.Dataset.from_list([{**ROW, "id": "t"}])}
    ).save_to_disk(str(tmp_path / "saved"))
    assert [record.id for record in read(tmp_path / "saved")] == ["a", "t"]
    assert [record.id for record in read(folder, format="datasets")] == ["a", "b"]


def test_what_is_written_is_read_as_the_same_records(tmp_path: Path, shared_data: Path) -> None:
    before = list(read(shared_data / "tatqa" / "tatqa_dataset_dev.json"))[:50]
    write(before, tmp_path / "x.jsonl")
    after = list(read(tmp_path / "x.jsonl"))
    for one, other in zip(before, after, strict=True):
        fields = ("id", "context", "question", "answer", "tables", "group")
        assert [getattr(one, name) for name in fields] == [getattr(other, name) for name in fields]


def test_tatqa_and_timebench_layouts(shared_data: Path) -> None:
    tatqa = list(read(shared_data / "tatqa" / "tatqa_dataset_dev.json"))
    assert len({record.group for record in tatqa}) == 278
    assert all(record.tables and record.question for record in tatqa)
    nli = list(read(shared_data / "timebench" / "timexnli_cs1.jsonl"))
    assert (nli[0].context, nli[0].extra) == (
        "In Sep, he will be sworn in as the Prime Minister.",
        {"Label": "Entailment"},
    )
    assert len(list(read(shared_data / "timebench" / "tempreason_l2.jsonl"))) == 500


def test_sixty_megabytes_stream_in_fifteen(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "x.jsonl"
    with path.open("w") as stream:
        for number in range(60_000):
            stream.write(json.dumps({**ROW, "id": str(number), "context": "x" * 1000}) + "\n")
    tracemalloc.start()
    assert sum(isinstance(record, Record) for record in read(path)) == 60_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15_000_000
