from __future__ import annotations

import time

import pytest

from diag.timex import find


def values(text: str, **options: object) -> list[str | None]:
    return [e.period.value if e.period else None for e in find(text, **options)]  # type: ignore[arg-type]


def test_an_empty_text_holds_nothing() -> None:
    assert find("") == []


def test_offsets_are_those_of_the_original_with_full_width_digits_and_ligatures() -> None:
    text = "前言:２０２３年第３季度。The ﬁscal 2019 report, Ｑ３ ２０２２."
    found = find(text)
    assert [text[e.start : e.end] for e in found] == ["２０２３年第３季度", "ﬁscal 2019", "Ｑ３ ２０２２"]
    assert [e.period.value for e in found if e.period] == ["2023-Q3", "FY2019", "2022-Q3"]


def test_a_fiscal_quarter_is_placed_by_the_fiscal_year_end() -> None:
    (apple,) = find("Q1 FY2023", fiscal_year_end="09-30")
    assert apple.period is not None
    assert (str(apple.period.start), str(apple.period.end)) == ("2022-10-01", "2022-12-31")


def test_without_a_fiscal_year_end_fiscal_and_civil_are_undetermined() -> None:
    fiscal, civil = (e.period for e in find("fiscal 2023 and the year ended December 31, 2023"))
    assert fiscal is not None
    assert civil is not None
    assert fiscal.equals(civil) is None


def test_day_order_is_a_rule_with_an_option_and_a_flag() -> None:
    (month_first,) = find("due 3/4/2023")
    (day_first,) = find("due 3/4/2023", day_first=True)
    (certain,) = find("due 13/4/2023")
    assert month_first.period is not None
    assert day_first.period is not None
    assert (month_first.period.value, day_first.period.value) == ("2023-03-04", "2023-04-03")
    assert month_first.ambiguous
    assert day_first.ambiguous
    assert not certain.ambiguous


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("on 30 February 2023", "invalid_date"),
        ("on 2023-02-30", "invalid_date"),
        ("2023年2月30日", "invalid_date"),
        ("from March 2022 to March 2021", "inverted_range"),
        ("2021-2019", "inverted_range"),
        ("Monday, March 7, 2023", "weekday_mismatch"),
    ],
)
def test_what_is_wrong_as_written_is_reported(text: str, issue: str) -> None:
    assert [e.issue for e in find(text)] == [issue]


def test_relative_expressions_take_the_document_date_then_the_text() -> None:
    assert values("up from last quarter", document_date="2024-02-15") == ["2023-Q4"]
    assert values("Revenue in Q2 2021 was up from the same quarter a year earlier.") == ["2021-Q2", "2020-Q2"]
    assert values("up from last quarter") == [None]


def test_a_list_shares_its_year_in_both_directions() -> None:
    assert values("Q1, Q2 and Q4 2023") == ["2023-Q1", "2023-Q2", "2023-Q4"]
    assert values("for the three months ended June 30, 2019 and 2018") == ["2019-Q2", "2018-Q2"]


def test_a_time_is_open_ended_only_where_nothing_else_is_meant_by_later() -> None:
    assert values("in 2019 and later, and in fiscal 2020 and later years") == ["2019/", "FY2020/"]
    assert values("It ended on October 18, 2020, and later claims were refused.") == ["2020-10-18"]


def test_a_range_may_cross_a_new_year() -> None:
    assert values("from November to February 2023") == ["2022-11/2023-02"]


def test_years_of_the_republic_of_china_are_read_by_name_or_by_option() -> None:
    assert values("民国112年第三季度") == ["2023-Q3"]
    assert values("112年第三季度营收,111年为低点", roc_years=True) == ["2023-Q3", "2022"]
    assert "2023-Q3" not in values("112年第三季度营收")


def test_the_language_can_be_forced_and_an_unknown_one_is_named() -> None:
    assert values("2023年第三季度", language="en") == ["2023"]
    assert values("2023年第三季度", language="zh") == ["2023-Q3"]
    with pytest.raises(ValueError, match="no time expressions are known for language 'tlh'"):
        find("x", language="tlh")


def test_an_unreadable_document_date_says_what_to_write() -> None:
    with pytest.raises(ValueError, match="YYYY-MM-DD"):
        find("last quarter", document_date="soon")


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "2023-",
        "2023/",
        "Q1, ",
        "first, ",
        "three months ended ",
        "一",
        "2023年",
        "1月1日",
        "March ",
        "and ",
        "   ",
        "((",
        "1:1:",
        "0.1.",
    ],
)
def test_a_megabyte_of_repetition_takes_under_two_seconds(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    began = time.process_time()
    found = find(text)
    assert time.process_time() - began < 2.0 + 60e-6 * len(found)
