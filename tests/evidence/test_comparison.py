from __future__ import annotations

import pytest

from diag.evidence import judge
from diag.records import Record, Table

TABLE = Table(
    (
        ("(in thousands)", "2017", "2018", "2019"),
        ("Wages", "101,500", "112,700", "99,900"),
        ("Wages of drivers", "7", "8", "9"),
        ("Net result", "(12)", "30", "(40)"),
        ("Losses", "(1)", "(2)", "(3)"),
        ("Margin", "10%", "12%", "9%"),
    )
)


@pytest.mark.parametrize(
    ("question", "answer", "verdict", "correction"),
    [
        ("In which year were wages the largest?", "2018", "supported", None),
        ("In which year were wages the largest?", "2019", "misbound", "2018"),
        ("In which year were wages the lowest?", "It was 2017.", "misbound", "2019"),
        ("In which year were wages less than 100,000 thousands?", "2019", "supported", None),
        ("In which year were wages less than 100,000 thousands?", "2018", "misbound", "2019"),
        ("In which year were wages more than 105 million?", "2017", "misbound", "2018"),
        ("In which year was the net result highest?", "2019", "misbound", "2018"),
        ("In which year was the margin above 11%?", "2018", "supported", None),
        # Which end of a row of losses is the largest is a matter of taste; a change stands in no row.
        ("In which year were losses the largest?", "2017", "undetermined", None),
        ("In which year was the change in wages the largest?", "2019", "undetermined", None),
        # No row is surely meant.
        ("In which year were taxes the largest?", "2019", "undetermined", None),
        # "Larger" with a value in the answer: the question decides, not the value.
        ("In which year were wages larger?", "In 2019 wages were 99,900, which is larger.", "misbound", "2018"),
    ],
)
def test_comparisons_are_answered_from_their_row(
    question: str, answer: str, verdict: str, correction: str | None
) -> None:
    judgement = judge(question, answer, Record("r", tables=(TABLE,)))
    assert (judgement.verdict, judgement.correction) == (verdict, correction)
