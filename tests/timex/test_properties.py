"""Properties that hold for every text and every period."""

from __future__ import annotations

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from diag.timex import Period, find

_YEARS = st.integers(1900, 2099)
_FRAGMENTS = st.sampled_from(
    [
        "Q3 2023", "3Q23", "FY2023", "fiscal 2023", "third quarter of", "2023年", "第三季度", "上半年", "去年同期", "March 5,", "2019",
        "three months ended", "September 30, 2023", "from", "to", "between", "and", "since", "-", "–", "/", ",", "、", "至", "年", "月",
        "30 February 2023", "3/4/2023", "last quarter", "year-on-year", "2023-09-30T14:30:00Z", "ﬁscal", "２０２３", "İ", "\x00",
        "十", "二十一日", "Q", "H1", "'23", "first", "second half", "1990s", "ended", "5 PM", "every", "截至", "止", "个月", " ", "\n",
    ]
)  # fmt: skip


@st.composite
def periods(draw: st.DrawFn) -> Period:
    year = draw(_YEARS)
    fiscal = "FY" if draw(st.booleans()) else ""
    kind = draw(st.sampled_from(["year", "quarter", "half", "month", "day", "week", "range", "decade", "century"]))
    match kind:
        case "year":
            return Period.parse(f"{fiscal}{year}")
        case "quarter":
            return Period.parse(f"{fiscal}{year}-Q{draw(st.integers(1, 4))}")
        case "half":
            return Period.parse(f"{fiscal}{year}-H{draw(st.integers(1, 2))}")
        case "month":
            return Period.parse(f"{year}-{draw(st.integers(1, 12)):02d}")
        case "day":
            return Period.parse(draw(st.dates(date(1900, 1, 1), date(2099, 12, 31))).isoformat())
        case "week":
            return Period.parse(f"{year}-W{draw(st.integers(1, 52)):02d}")
        case "decade":
            return Period.parse(f"{draw(st.integers(160, 209))}")
        case "century":
            return Period.parse(f"{draw(st.integers(15, 20))}")
        case _:
            first = Period.parse(f"{year}-{draw(st.integers(1, 12)):02d}")
            return Period.parse(f"{first.value}/{first.shift(draw(st.integers(1, 30))).value}")


@given(st.one_of(st.text(max_size=300), st.lists(st.one_of(_FRAGMENTS, st.text(max_size=8)), max_size=25).map("".join)))
@settings(max_examples=600, deadline=None)
def test_offsets_slice_back_and_nothing_is_raised(text: str) -> None:
    for day in (None, date(2023, 11, 2)):
        last = 0
        for expression in find(text, document_date=day):
            assert text[expression.start : expression.end] == expression.text
            assert last <= expression.start < expression.end
            last = expression.end


@given(periods(), st.sampled_from(["en", "zh"]))
@settings(max_examples=500, deadline=None)
def test_parse_of_format_is_the_same_period(period: Period, language: str) -> None:
    written = period.format(language)
    (found,) = find(written)
    assert found.period is not None
    assert found.period.value == period.value
    assert (found.start, found.end) == (0, len(written))


@given(periods(), periods())
@settings(max_examples=300, deadline=None)
def test_format_like_always_reads_back(period: Period, example: Period) -> None:
    for language in ("en", "zh"):
        written = period.format_like(example.format(language))
        assert [e.period.value for e in find(written) if e.period] == [period.value]


@given(periods(), st.integers(-40, 40))
@settings(max_examples=500, deadline=None)
def test_shift_is_undone_by_its_opposite(period: Period, k: int) -> None:
    try:
        shifted = period.shift(k)
    except ValueError:
        return
    assert shifted.shift(-k).value == period.value


@given(periods(), periods())
@settings(max_examples=500, deadline=None)
def test_the_algebra_agrees_with_itself(one: Period, other: Period) -> None:
    assert one.equals(one) is True
    assert one.contains(one) is True
    assert one.equals(other) == other.equals(one)
    assert one.overlaps(other) == other.overlaps(one)
    if one.equals(other):
        assert one.contains(other)
        assert other.contains(one)
    if one.contains(other):
        assert one.overlaps(other)
    assert all(rival.equals(one) is not True for rival in one.competing([other]))
