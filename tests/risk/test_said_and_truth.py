from __future__ import annotations

import pytest

from diag.records import Record, Table
from diag.risk import label, read_said

TEXT = "Revenue was $5.1 million in Q1 2021 and $6.2 million in Q2 2021. The lease took effect on 9 February 2015."
TABLE = Table((("", "2017", "2018", "2019"), ("Wages", "101.5", "112.7", "123.9"), ("Rent", "7.7", "8.8", "9.9")))


def record(question: str, answer: str) -> Record:
    return Record("r", TEXT, question, answer, (TABLE,))


@pytest.mark.parametrize(
    ("question", "gold", "answer", "truth"),
    [
        ("In which quarter was revenue $6.2 million?", "Q2 2021", "Q2 2021", "right"),
        ("In which quarter was revenue $6.2 million?", "Q2 2021", "It was the second quarter of 2021.", "right"),
        ("In which quarter was revenue $6.2 million?", "Q2 2021", "Q1 2021", "wrong_period"),
        ("In which quarter was revenue $6.2 million?", "Q2 2021", "2Q20", "wrong_period"),
        ("In which quarter was revenue $6.2 million?", "Q2 2021", "2021", "underspecified"),
        ("In which quarter was revenue $6.2 million?", "Q2 2021", "I do not know.", "omitted"),
        ("In which year was the amount of Wages 112.7?", "2018", "2018", "right"),
        ("In which year was the amount of Wages 112.7?", "2018", "2019", "wrong_period"),
        ("In which year was the amount of Wages 112.7?", "2018", "Q1 2018", "wrong_period"),
        ("What were wages in 2018?", "112.7", "$112.7 million", "right"),
        ("What were wages in 2018?", "112.7", "Wages in 2018 were 123.9.", "wrong_period"),
        ("What were wages in 2018?", "112.7", "8.8", "wrong_other"),
        ("What were wages in 2018?", "112.7", "not stated", "omitted"),
        ("When did the lease take effect?", "9 February 2015", "February 9, 2015", "right"),
        ("When did the lease take effect?", "9 February 2015", "In 2015.", "underspecified"),
        ("When did the lease take effect?", "", "In 2015.", "undetermined"),
        ("Who took the lease?", "the tenant", "The Tenant.", "right"),
        ("Who took the lease?", "the tenant", "the landlord", "wrong_other"),
    ],
)
def test_answers_against_their_label(question: str, gold: str, answer: str, truth: str) -> None:
    asked = record(question, gold)
    assert label(asked, answer, read_said(asked, answer)).truth == truth


def test_a_period_that_the_question_says_decides_nothing() -> None:
    asked = record("What were wages in 2018?", "112.7")
    said = read_said(asked, "In 2018 wages were 123.9")
    assert [(span.text, span.kind, span.is_restated) for span in said.spans] == [
        ("2018", "time", True),
        ("123.9", "value", False),
    ]
    assert said.decisive == 1


def test_the_granularity_asked_for_decides() -> None:
    asked = record("In which quarter was revenue $6.2 million?", "Q2 2021")
    said = read_said(asked, "In 2021, in the second quarter of 2021.")
    assert said.decisive_span is not None
    assert said.decisive_span.text == "second quarter of 2021"


def test_a_name_that_the_source_defines_is_a_time() -> None:
    text = '"Audit Quarter" means the third quarter of 2019. Fees for the Audit Quarter were $4.4 million.'
    asked = Record("r", text, "In which quarter were fees $4.4 million?", "Q3 2019")
    said = read_said(asked, "In the Audit Quarter.")
    assert label(asked, "In the Audit Quarter.", said).truth == "right"


def test_chinese() -> None:
    asked = Record(
        "r", "2014财年第二季度营业额为2,033.3百万元。", "哪个季度的营业额为2,033.3百万元?", "2014财年第二季度"
    )
    for answer, truth in (("2014财年第二季度", "right"), ("2014财年第三季度。", "wrong_period"), ("不详", "omitted")):
        assert label(asked, answer, read_said(asked, answer)).truth == truth
