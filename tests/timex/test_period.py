from __future__ import annotations

from datetime import date

import pytest

from diag.timex import Period, find, parse_fiscal_year_end


def test_days_of_the_usual_values() -> None:
    cases = {
        "2023": ("2023-01-01", "2023-12-31"),
        "2023-Q3": ("2023-07-01", "2023-09-30"),
        "2023-H1": ("2023-01-01", "2023-06-30"),
        "2024-02": ("2024-02-01", "2024-02-29"),
        "2023-W36": ("2023-09-04", "2023-09-10"),
        "199": ("1990-01-01", "1999-12-31"),
        "2022-03/2022-05": ("2022-03-01", "2022-05-31"),
    }
    for value, (start, end) in cases.items():
        period = Period.parse(value)
        assert (str(period.start), str(period.end)) == (start, end), value


def test_open_ranges_are_open() -> None:
    assert Period.parse("2016/").end is None
    assert Period.parse("/2016").start is None
    assert Period.parse("2016/").contains(Period.parse("2020")) is True


def test_notation_is_never_a_difference() -> None:
    assert Period.parse("2023-Q1/2023-Q3").equals(Period.parse("2023-01/2023-09")) is True
    assert Period.parse("P12M").equals(Period.parse("P1Y")) is True
    assert Period.parse("P1Q").equals(Period.parse("P3M")) is True


def test_a_partial_period_is_undetermined_unless_a_known_field_differs() -> None:
    third = Period.parse("XXXX-Q3")
    assert third.equals(Period.parse("2023-Q3")) is None
    assert third.equals(Period.parse("2023-Q2")) is False


def test_two_fiscal_years_differ_even_where_their_end_is_unknown() -> None:
    assert Period.parse("FY2023").equals(Period.parse("FY2022")) is False
    assert Period.parse("FY2023").contains(Period.parse("FY2023-Q3")) is True
    assert Period.parse("FY2023").equals(Period.parse("2023")) is None
    assert Period.parse("FY2023", fiscal_year_end="12-31").equals(Period.parse("2023")) is True


def test_fiscal_year_of_september_and_of_february() -> None:
    september = Period.parse("FY2023", fiscal_year_end="09-30")
    assert (september.start, september.end) == (date(2022, 10, 1), date(2023, 9, 30))
    february = Period.parse("FY2024", fiscal_year_end="02-28")
    assert february.end == date(2024, 2, 29)


def test_competing_periods_of_the_source_come_first() -> None:
    rivals = Period.parse("2023-Q3").competing([Period.parse("2019-Q1"), Period.parse("2023"), Period.parse("2023-Q3")])
    assert [rival.value for rival in rivals] == ["2019-Q1", "2023-Q1", "2023-Q2", "2023-Q4", "2022-Q3", "2024-Q3"]


def test_month_ends_stay_month_ends() -> None:
    assert Period.parse("2023-09-30").shift(1, "quarter").value == "2023-12-31"
    assert Period.parse("2023-12-31").shift(-1, "quarter").value == "2023-09-30"


@pytest.mark.parametrize(
    ("value", "example", "written"),
    [
        ("2023-Q3", "1Q22", "3Q23"),
        ("2023-Q3", "Q1'22", "Q3'23"),
        ("2023-Q3", "First Quarter of 2022", "Third Quarter of 2023"),
        ("2023-Q3", "2022年第一季度", "2023年第三季度"),
        ("2023-Q3", "２０２２年第１季度", "２０２３年第３季度"),
        ("2023-Q3", "二〇二二年第一季度", "二〇二三年第三季度"),
        ("2021-03-05", "September 30, 2019", "March 5, 2021"),
        ("2021-03-25", "30/09/2019", "25/03/2021"),
        ("2021-03-05", "30/09/2019", "March 5, 2021"),
        ("2021-03", "Sept. 2019", "Mar. 2021"),
        ("FY2021", "FY19", "FY21"),
        ("FY2021", "fiscal 2019", "fiscal 2021"),
        ("2021", "year ended December 31, 2019", "year ended December 31, 2021"),
        ("2023-Q3", "2022", "third quarter of 2023"),
        ("2023-Q3", "2022年", "2023年第三季度"),
    ],
)
def test_format_like_takes_the_examples_notation(value: str, example: str, written: str) -> None:
    period = Period.parse(value)
    assert period.format_like(example) == written
    (again,) = find(written)
    assert again.period is not None
    assert again.period.value == value


def test_a_period_that_no_calendar_has_is_an_error() -> None:
    for value in ("2023-13", "2023-02-30", "2023-W54", "2023-Q5", "soon", "2023/2022", ""):
        with pytest.raises(ValueError, match=r".+"):
            Period.parse(value)


def test_fiscal_year_ends_in_the_usual_spellings() -> None:
    for text in ("09-30", "--09-30", "9/30", "September 30", "Sep 30", "september", "9月30日"):
        assert parse_fiscal_year_end(text) == (9, 30), text
    for text in ("soon", "13-01", "02-30"):
        with pytest.raises(ValueError, match="MM-DD"):
            parse_fiscal_year_end(text)
