"""Each check finds its fault, where it is, and keeps quiet where there is none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from diag.checks import (
    CHECKS,
    balance,
    check_record,
    duplicate_ids,
    fingerprint,
    fingerprint_table,
    leaks,
    near_duplicates,
)
from diag.records import Record, SourceSpan

TEXT = (
    "Orders of the Orion unit were $4,512 million in Q3 2021. Orders of the Orion unit were $3,310 million in Q2 2021."
)


def record(**fields: Any) -> Record:
    return Record(
        **{
            "id": "r",
            "context": TEXT,
            "question": "In which quarter were orders $4,512 million?",
            "answer": "Q3 2021",
            "line": 7,
            **fields,
        }
    )


def found(**fields: Any) -> list[str]:
    return [finding.check for finding in check_record(record(**fields)).findings]


def test_a_sound_record_has_no_finding() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("check", "fields"),
    [
        ("absent", {"answer": "Q1 2019"}),
        ("misbound", {"answer": "Q2 2021"}),
        ("underspecified", {"answer": "2021"}),
        ("no_period", {"answer": "recently"}),
        ("answer_leak", {"question": "In which quarter, if not in 3Q21, were orders $4,512 million?"}),
        ("future", {"document_date": "2021-03-31"}),
        ("impossible_date", {"context": TEXT + " It was signed on 30 February 2021."}),
        ("impossible_date", {"document_date": "soon"}),
        ("impossible_date", {"fiscal_year_end": "13-45"}),
        ("inverted_range", {"context": TEXT + " The works ran from May 2021 to March 2021."}),
        ("weekday_mismatch", {"context": TEXT + " It was signed on Monday, March 6, 2021."}),
        ("ambiguous_day_order", {"context": TEXT + " It was signed on 3/4/2021."}),
        ("fiscal_civil_mix", {"context": TEXT + " Fiscal 2020 was weak, and so was calendar year 2020."}),
        ("unknown_language", {"language": "fr"}),
        ("evidence_mismatch", {"evidence": (SourceSpan(0, 6, "Orders"),)}),
        (
            "contradiction",
            {"context": TEXT + " The northern smelter produced 812 tonnes of copper concentrate in 2018.\n\nThe northern smelter produced 812 tonnes of copper concentrate in 2017."},
        ),
    ],
)  # fmt: skip
def test_each_fault_is_found_alone(check: str, fields: dict[str, Any]) -> None:
    assert found(**fields) == [check]


def test_a_finding_says_where_it_is_and_what_to_do() -> None:
    context = TEXT + " It was signed on 30 February 2021."
    (finding,) = check_record(record(context=context)).findings
    assert (finding.record, finding.line, finding.field) == ("r", 7, "context")
    assert context[finding.start : finding.end] == finding.text == "30 February 2021"
    assert all(advice.endswith(".") for _, advice in CHECKS.values())


def test_without_a_fiscal_mix_once_the_year_end_is_known() -> None:
    assert found(context=TEXT + " Fiscal 2020 was weak, and so was calendar year 2020.", fiscal_year_end="06-30") == []


def prints(*records: Record) -> Any:
    return fingerprint_table((r.id, r.line, fingerprint(r, check_record(r).expressions)) for r in records)


def near(table: Any) -> list[Any]:
    signatures = table.column("signature").to_pylist()
    return list(near_duplicates(table, signatures.__getitem__))


def test_duplicate_ids_are_found_on_their_later_line() -> None:
    table = prints(record(id="a", line=1), record(id="b", line=2), record(id="a", line=3))
    assert [(f.record, f.line) for f in duplicate_ids(table)] == [("a", 3)]


def test_near_duplicates_differ_in_a_period_alone_and_share_the_label() -> None:
    other = TEXT.replace("Q3 2021", "Q3 2020").replace("Q2 2021", "Q2 2020")
    same_label = prints(record(id="a", line=1), record(id="b", line=2, context=other))
    own_label = prints(record(id="a", line=1), record(id="b", line=2, context=other, answer="Q3 2020"))
    copies = prints(record(id="a", line=1), record(id="b", line=2))
    assert [(f.record, f.check) for f in near(same_label)] == [("b", "near_duplicate")]
    assert near(own_label) == []
    assert near(copies) == []


def test_near_duplicates_may_differ_in_a_few_words_too() -> None:
    words = " ".join(f"word{n}" for n in range(300))
    one = record(id="a", line=1, context=f"{TEXT} {words}")
    other = record(id="b", line=2, context=f"{TEXT} {words} more".replace("2021", "2020"))
    assert [f.record for f in near(prints(one, other))] == ["b"]


def test_leakage_is_the_same_record_in_another_file() -> None:
    here = prints(
        record(id="a", line=1), record(id="b", line=2, question="What were orders in Q2 2021?", answer="$3,310 million")
    )
    there = prints(record(id="z", line=9))
    assert [
        (f.record, "'z' (line 9) of test.jsonl" in f.message)
        for f in leaks(here, there, "test.jsonl", lambda rows: dict.fromkeys(rows, b""))
    ] == [("a", True)]


def test_balance_needs_more_than_chance() -> None:
    assert [f.text for f in balance({"quarter": Counter(Q4=60, Q1=20, Q2=20)})] == ["Q4"]
    assert list(balance({"quarter": Counter(Q4=40, Q1=30, Q2=30)})) == []
    assert list(balance({"quarter": Counter(Q4=6, Q1=2)})) == []
