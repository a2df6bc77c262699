from __future__ import annotations

import pytest

from diag.evidence import Source, judge
from diag.records import Table

QUARTERS = (
    "Revenue was $4.2 bn and $3.9 bn in Q3 and Q2 2023, respectively. Net income was $1.1 bn in Q3 2023, compared to "
    "$0.9 bn in the third quarter of 2022."
)
TABLE = Source(
    "Sales are given in millions.",
    (
        Table(
            (
                ("", "Years Ended September 30,", "", ""),
                ("", "2019", "2018", "2017"),
                ("Fixed price", "$ 1,452.4", "$ 1,146.2", "$ 1,036.9"),
                ("Other", "44.1", "(56.7)", "70.8"),
                ("Total sales", "1,496.5", "1,202.9", "1,107.7"),
            )
        ),
    ),
)


def verdict(question: str, answer: str, source: str | Source, **options: str) -> str:
    return judge(question, answer, source, **options).verdict


@pytest.mark.parametrize(
    "said", ["Q3 2023", "3Q23", "the third quarter of 2023", "three months ended September 30, 2023", "2023年第三季度"]
)
def test_the_right_period_in_any_notation_is_supported(said: str) -> None:
    assert verdict("Which quarter had revenue of $4.2 bn?", said, QUARTERS) == "supported"


def test_a_period_of_the_source_under_another_value_is_misbound_and_corrected_in_its_notation() -> None:
    judgement = judge("Which quarter had revenue of $4.2 bn?", "2Q23", QUARTERS)
    assert judgement.verdict == "misbound"
    assert judgement.is_in_source
    assert judgement.correction == "3Q23"
    (span,) = judgement.evidence
    assert QUARTERS[span.start : span.end] == span.text == "4.2 bn"


def test_a_period_that_the_source_names_nowhere_is_fabricated() -> None:
    judgement = judge("Which quarter had revenue of $4.2 bn?", "Q1 2021", QUARTERS)
    assert (judgement.verdict, judgement.is_in_source, judgement.correction) == ("fabricated", False, "Q3 2023")


def test_a_coarser_period_is_underspecified() -> None:
    assert verdict("When was net income $1.1 bn?", "2023", QUARTERS) == "underspecified"


def test_an_answer_without_the_time_that_was_asked_for_is_omitted() -> None:
    assert verdict("When was net income $1.1 bn?", "in the last report", QUARTERS) == "omitted"


def test_what_has_no_time_is_undetermined() -> None:
    assert verdict("Who signed?", "The chairman", QUARTERS) == "undetermined"


def test_a_value_for_the_period_asked_is_judged_too() -> None:
    assert verdict("What was net income in Q3 2022?", "$0.9 bn", QUARTERS) == "supported"
    assert verdict("What was net income in Q3 2022?", "$1.1 bn", QUARTERS) == "misbound"


def test_table_headers_of_several_rows_are_one_period() -> None:
    judgement = judge("What were total sales in the year ended September 30, 2018?", "$1,202.9", TABLE)
    assert judgement.verdict == "supported"
    assert judgement.period_in_source is not None
    assert judgement.period_in_source.value == "2017-10/2018-09"
    (span,) = judgement.evidence
    assert (span.table, span.row, span.column) == (0, 4, 2)
    assert verdict("What were total sales in 2018?", "$1,202.9 million", TABLE) == "supported"
    assert verdict("What were total sales in 2019?", "$1,202.9 million", TABLE) == "misbound"


def test_negatives_in_parentheses_and_scales_are_the_same_value() -> None:
    assert verdict("What was Other in 2018?", "-56.7", TABLE) == "supported"
    assert verdict("What were total sales in 2019?", "$1.5 billion", TABLE) == "supported"
    assert verdict("What were total sales in 2018?", "$1.5 billion", TABLE) == "misbound"


def test_a_markdown_table_in_the_text_is_a_table() -> None:
    text = (
        "Figures:\n\n| | Q1 2021 | Q2 2021 |\n|---|---|---|\n| Revenue | 4,512 | 3,310 |\n| Costs | 3,310 | 2,000 |\n"
    )
    assert verdict("In which quarter was revenue 3,310?", "Q2 2021", text) == "supported"
    judgement = judge("In which quarter was revenue 3,310?", "Q1 2021", text)
    assert judgement.verdict == "misbound"
    assert [text[span.start : span.end] for span in judgement.evidence] == ["3,310"]


def test_row_labels_and_sections_carry_periods() -> None:
    quarterly = Source(
        "",
        (
            Table(
                (
                    ("", "Sales"),
                    ("2019", ""),
                    ("First quarter", "811"),
                    ("Second quarter", "822"),
                    ("2018", ""),
                    ("First quarter", "711"),
                )
            ),
        ),
    )
    assert verdict("In which quarter were sales 711?", "Q1 2018", quarterly) == "supported"
    assert verdict("In which quarter were sales 711?", "Q1 2019", quarterly) == "misbound"


def test_a_heading_carries_its_period_on() -> None:
    text = "Third quarter 2022\n\nSales came to $812 million. Costs were stable.\n\nSecond quarter 2022\n\nSales came to $640 million."
    assert verdict("In which quarter were sales $640 million?", "Q2 2022", text) == "supported"
    assert verdict("In which quarter were sales $640 million?", "Q3 2022", text) == "misbound"


def test_a_comparative_in_parentheses_belongs_to_its_value_alone() -> None:
    text = "At 31 March 2019 deposits were held of £3.5 million (2018: £4.1 million)."
    assert verdict("", "Deposits held were £3.5 million in 2018.", text) == "misbound"
    assert verdict("", "Deposits held were £4.1 million in 2018.", text) == "supported"


def test_a_defined_term_stands_for_its_period() -> None:
    text = '"Base Quarter" means the third quarter of 2021.\n\nIn 2019 the plant was closed.\n\nOrders in the Base Quarter were $4,512.'
    assert verdict("In which quarter were orders $4,512?", "Q3 2021", text) == "supported"
    assert verdict("In which quarter were orders $4,512?", "Q2 2021", text) == "fabricated"


def test_a_sentence_with_its_period_exchanged_is_found_word_for_word() -> None:
    text = "The plan was closed to new members on 1 April 2006. It was amended on 5 May 2010."
    assert verdict("", "The plan was closed to new members on 5 May 2010.", text) == "misbound"
    assert verdict("", "The plan was closed to new members on 1 April 2006.", text) == "supported"


def test_fiscal_against_civil_is_decided_by_the_fiscal_year_end_or_not_at_all() -> None:
    text = "Revenue in fiscal 2022 was $4,512."
    assert verdict("", "Revenue in calendar year 2022 was $4,512.", text) == "undetermined"
    assert verdict("", "Revenue in calendar year 2022 was $4,512.", text, fiscal_year_end="12-31") == "supported"
    assert verdict("", "Revenue in calendar year 2022 was $4,512.", text, fiscal_year_end="06-30") == "fabricated"
    assert verdict("", "Revenue in 2022 was $4,512.", text) == "supported"


def test_chinese_coordination() -> None:
    text = "2021年第一季度和2021年第二季度的营业收入分别为3,040.8百万元和6,468.2百万元。"
    assert verdict("哪个季度的营业收入为3,040.8百万元?", "2021年第一季度", text) == "supported"
    judgement = judge("哪个季度的营业收入为3,040.8百万元?", "2021年第二季度", text)
    assert (judgement.verdict, judgement.correction) == ("misbound", "2021年第一季度")


def test_a_year_is_fabricated_where_the_source_gives_a_day_of_another_year() -> None:
    text = "Apple launched the first iPhone on June 29, 2007. It was announced on January 9, 2007."
    assert verdict("", "Apple launched the first iPhone in 2005.", text) == "fabricated"
    assert verdict("", "Apple launched the first iPhone in 2007.", text) == "underspecified"


def test_a_state_at_a_time_between_those_of_the_source_is_undetermined() -> None:
    text = "He joined Crystal Palace in 1973. He was born in August 1956."
    assert verdict("Which team did he play for in July 1979?", "Crystal Palace", text) == "undetermined"


def test_a_source_may_be_empty_or_long() -> None:
    assert verdict("When?", "2019", "") == "undetermined"
    assert (
        verdict("When were sales $4?", "Q3 2023", "Sales rose. " * 20_000 + "Sales were $4 in Q3 2023.") == "supported"
    )
