"""What Chinese matches mean: numerals, years written or told from others, and the parts of a year."""

from __future__ import annotations

from diag.timex.calendar import last_day, month_span_value
from diag.timex.grammar import Groups, Meaning, Relative
from diag.timex.numeric import clock, day_meaning

_DIGITS = {
    "〇": 0,
    "零": 0,
    "○": 0,
    "一": 1,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "两": 2,
}
_ERAS = {"民国": 1911, "中华民国": 1911, "明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}


def numeral(text: str) -> int:
    """A number in digits, in positional Chinese (`二〇二三`) or with tens (`二十一`)."""
    if text.isascii():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_positional(tens) if tens else 1) * 10 + _positional(ones)
    return _positional(text)


def _positional(text: str) -> int:
    number = 0
    for char in text:
        number = number * 10 + (_DIGITS[char] if char in _DIGITS else int(char) if char.isdigit() else 0)
    return number


_WHICH_STEPS = {
    "前年": -2, "去年": -1, "上年": -1, "上年度": -1, "上一年": -1, "上一年度": -1, "今年": 0, "本年": 0, "本年度": 0,
    "当年": 0, "明年": 1, "次年": 1, "下年": 1, "下一年": 1, "后年": 2,
}  # fmt: skip
_TEXT_BASED = ("上年", "上年度", "上一年", "上一年度", "当年", "次年")


def _group(groups: Groups, name: str) -> str | None:
    try:
        return groups[name]
    except IndexError:
        return None


def _year(groups: Groups) -> str | None:
    """The four-digit year, `XXXX` where none is written, None where the digits are no year."""
    text = _group(groups, "year")
    if not text:
        return "XXXX"
    year = 1 if text == "元" else numeral(text)
    era = _group(groups, "era") or ("民国" if _group(groups, "roc") else None)
    if era:
        return f"{year + _ERAS[era]:04d}"
    if _group(groups, "short"):
        year += 2000 if year < 70 else 1900
    return f"{year:04d}" if 1000 <= year <= 2199 else None


def _placed(groups: Groups, part: str, *, kind: str = "date") -> Meaning | None:
    """A part of a year that is written, told from another, or not said."""
    if fiscal := _group(groups, "fyear"):
        year = numeral(fiscal)
        return Meaning(f"FY{year + 2000 if year < 100 else year}{part}")
    if which := _group(groups, "fwhich"):
        steps = -1 if which.startswith("上") else 1 if which.startswith("下") else 0
        return Meaning(None, relative=Relative("document", "year", steps, part, fiscal=True))
    if which := _group(groups, "which"):
        basis = "text" if which in _TEXT_BASED else "document"
        return Meaning(None, relative=Relative(basis, "year", _WHICH_STEPS[which], part))
    year = _year(groups)
    return Meaning(f"{year}{part}") if year else None


def quarter(groups: Groups) -> Meaning | None:
    """A quarter of a year, civil or fiscal."""
    meaning = _placed(groups, f"-Q{numeral(groups['q'] or '1')}")
    return _as_fiscal(meaning) if groups["qf"] else meaning


def _as_fiscal(meaning: Meaning | None) -> Meaning | None:
    if meaning is None:
        return None
    if meaning.relative:
        return meaning._replace(relative=meaning.relative._replace(fiscal=True))
    value = meaning.value or ""
    return meaning._replace(value=value if value.startswith("FY") else f"FY{value}")


def half(groups: Groups) -> Meaning | None:
    """A half of a year."""
    word = groups["half"] or ""
    meaning = _placed(groups, "-H1" if "上" in word or "1" in word else "-H2")
    return _as_fiscal(meaning) if "财" in word else meaning


def first_quarters(groups: Groups) -> Meaning | None:
    """`前三季度`: the year's first two or three quarters."""
    count = numeral(groups["count"] or "1")
    if not 2 <= count <= 3:
        return None
    year = _year(groups)
    if which := groups["which"]:
        return Meaning(None, kind="range", relative=Relative("document", "year", _WHICH_STEPS[which], f"-Q1/-Q{count}"))
    if not year:
        return None
    return Meaning(f"{year}-Q1/{year}-Q{count}", kind="range")


def first_months(groups: Groups) -> Meaning | None:
    """`前九个月`: the year's first months."""
    count = numeral(groups["count"] or "1")
    year = _year(groups)
    if not 1 <= count <= 12 or not year:
        return None
    if which := groups["which"]:
        part = {3: "-Q1", 6: "-H1", 12: ""}.get(count, f"-01/-{count:02d}")
        return Meaning(None, kind="range", relative=Relative("document", "year", _WHICH_STEPS[which], part))
    if year == "XXXX":
        return Meaning(f"XXXX-01/XXXX-{count:02d}", kind="range")
    value = month_span_value(int(year), count, count, None)
    return Meaning(value, kind="range" if "/" in value else "date")


def month_span(groups: Groups) -> Meaning | None:
    """`1-6月`: the months from the first to the last."""
    year, first, last = _year(groups), numeral(groups["first"] or "1"), numeral(groups["month"] or "1")
    if year is None or not 1 <= first < last <= 12:
        return None
    if which := groups["which"]:
        return Meaning(
            None, kind="range", relative=Relative("document", "year", _WHICH_STEPS[which], f"-{first:02d}/-{last:02d}")
        )
    return Meaning(f"{year}-{first:02d}/{year}-{last:02d}", kind="range")


def month(groups: Groups) -> Meaning | None:
    """A month of a year."""
    return _placed(groups, f"-{numeral(groups['month'] or '1'):02d}")


def month_end(groups: Groups) -> Meaning | None:
    """`9月末`: the last day of a month."""
    year, month = _year(groups), numeral(groups["month"] or "1")
    if year is None or year == "XXXX":
        return Meaning(f"XXXX-{month:02d}")
    return Meaning(f"{year}-{month:02d}-{last_day(int(year), month):02d}")


def day(groups: Groups, *, time: str = "") -> Meaning | None:
    """A day of a month."""
    month, day = numeral(groups["month"] or "1"), numeral(groups["day"] or "1")
    if _group(groups, "which"):
        return _placed(groups, f"-{month:02d}-{day:02d}")
    year = _year(groups)
    if year is None:
        return None
    return day_meaning(None if year == "XXXX" else int(year), month, day, time=time)


def day_time(groups: Groups) -> Meaning | None:
    """A day with a time of day in words."""
    return day(groups, time=_clock(groups))


def _clock(groups: Groups) -> str:
    hour = numeral(groups["hour"] or "0")
    minute = 30 if groups["halfhour"] else numeral(groups["minute"] or "0")
    if (groups["ampm"] or "") in ("下午", "晚上", "傍晚") and hour < 12:
        hour += 12
    return f"T{hour:02d}:{minute:02d}"


def day_span(groups: Groups) -> Meaning | None:
    """`3月1日至5日`: days of one month."""
    year, month = _year(groups), numeral(groups["month"] or "1")
    if year is None:
        return None
    first, last = numeral(groups["first"] or "1"), numeral(groups["day"] or "1")
    if first >= last:
        return None
    ends = [day_meaning(None if year == "XXXX" else int(year), month, day) for day in (first, last)]
    if any(end is None or end.value is None for end in ends):
        return Meaning(None, kind="range", issue="invalid_date")
    return Meaning("/".join(str(end.value) for end in ends if end), kind="range")


def months_ended(groups: Groups) -> Meaning | None:
    """`截至…止九个月`: the months that end on a day."""
    last = day(groups)
    if last is None or last.value is None:
        return last
    unit = groups["unit"] or ""
    months = numeral(groups["count"]) if groups["count"] else 3 if unit == "季度" else 6 if unit[0] == "半" else 12
    return Meaning(f"{last.value}<{months}")


def plain_year(groups: Groups) -> Meaning | None:
    """A year by itself."""
    return _placed(groups, "")


def year_edge(groups: Groups) -> Meaning | None:
    """`2020年末`: the last day of a year."""
    return _placed(groups, "-12-31")


def fiscal_year(groups: Groups) -> Meaning | None:
    """A fiscal year, or `2022/23财年`."""
    if groups["flast"]:
        first, last = numeral(groups["fyear"] or "1"), int(groups["flast"])
        last = last if last > 99 else first // 100 * 100 + last
        return Meaning(f"FY{last}" if last == first + 1 else f"FY{first}/FY{last}")
    return _placed(groups, "")


def decade(groups: Groups) -> Meaning | None:
    """`20世纪90年代`: a decade."""
    decade = numeral(groups["decade"] or "0")
    century = numeral(groups["century"]) - 1 if groups["century"] else (20 if decade < 40 else 19)
    return Meaning(f"{century:02d}{decade // 10}")


def century(groups: Groups) -> Meaning | None:
    """A century."""
    return Meaning(f"{numeral(groups['century'] or '1') - 1:02d}")


def relative_unit(groups: Groups) -> Meaning | None:
    """`上季度`: a unit told from the document date or the text."""
    which, unit = groups["which"] or "", groups["unit"] or ""
    steps = -2 if which.startswith("上上") else -1 if which[0] in "上" else 1 if which[0] in "下次" else 0
    name = {
        "季度": "quarter",
        "季": "quarter",
        "月": "month",
        "周": "week",
        "星期": "week",
        "半年": "half",
        "财季": "quarter",
    }[unit]
    basis = "text" if which[0] in "当次" else "document"
    if groups["edge"]:
        return Meaning(None, relative=Relative(basis, "month", steps, "end")) if name == "month" else None
    return Meaning(None, relative=Relative(basis, name, steps, fiscal=unit == "财季"))  # type: ignore[arg-type]


def weekday(groups: Groups) -> Meaning:
    """`上周三`: a day of a week told from the document date."""
    which = groups["which"] or ""
    day = {"日": 7, "天": 7}.get(groups["n"] or "") or numeral(groups["n"] or "1")
    return Meaning(
        None,
        relative=Relative(
            "document", "week", -1 if which.startswith("上") else 1 if which.startswith("下") else 0, f"-{day}"
        ),
    )


def named_day(groups: Groups) -> Meaning:
    """Yesterday, today, tomorrow and the days next to them."""
    steps = {"前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2}[groups.group()]
    return Meaning(None, relative=Relative("document", "day", steps))


def same_period(groups: Groups) -> Meaning:
    """`去年同期`: the period at hand, a year or two earlier."""
    steps = -2 if groups.group().startswith("前年") else -1
    return Meaning(None, relative=Relative("text", None, steps))


UNITS = {"年": "Y", "个季度": "Q", "季度": "Q", "个月": "M", "周": "W", "个星期": "W", "星期": "W", "天": "D", "日": "D", "个工作日": "D", "个交易日": "D", "个自然日": "D", "工作日": "D", "交易日": "D", "个小时": "H", "小时": "H", "分钟": "M", "财季": "Q", "个财季": "Q", "个日历日": "D", "个日历天": "D"}  # fmt: skip


def duration(groups: Groups) -> Meaning | None:
    """A length of time."""
    unit = groups["unit"] or ""
    number = numeral(groups["n"] or "1")
    if number == 0 or (unit == "年" and number >= 1000):
        return None
    prefix = "PT" if unit in ("个小时", "小时", "分钟") else "P"
    return Meaning(f"{prefix}{number}{UNITS[unit]}", kind="duration")


def half_year(_: Groups) -> Meaning:
    """Half a year, as a length of time."""
    return Meaning("P6M", kind="duration")


def ago(groups: Groups) -> Meaning | None:
    """`三年前`: a unit told from the document date."""
    unit = {
        "年": "year",
        "个季度": "quarter",
        "个月": "month",
        "周": "week",
        "个星期": "week",
        "天": "day",
        "日": "day",
    }.get(groups["unit"] or "")
    if unit is None:
        return None
    sign = -1 if (groups["direction"] or "") in ("前", "以前", "之前") else 1
    return Meaning(None, relative=Relative("document", unit, sign * numeral(groups["n"] or "1")))  # type: ignore[arg-type]


def repetition(groups: Groups) -> Meaning | None:
    """`每季度`: a set of times."""
    letter = {
        "年": "Y",
        "季度": "Q",
        "季": "Q",
        "月": "M",
        "周": "W",
        "星期": "W",
        "日": "D",
        "天": "D",
        "小时": "H",
        "半年": "M",
    }
    unit, count = groups["unit"] or "年", numeral(groups["n"] or "1")
    prefix = "PT" if unit == "小时" else "P"
    return Meaning(f"{prefix}{6 if unit == '半年' else count}{letter[unit]}", kind="set")


def to_date(groups: Groups) -> Meaning:
    """`今年以来`: from the year's first day to the document date."""
    return Meaning(None, kind="range", relative=Relative("document", "year", 0, to_date=True))


def time(groups: Groups) -> Meaning:
    """A time of day."""
    return Meaning("XXXX-XX-XX" + _clock(groups), kind="time")


def digital_time(groups: Groups) -> Meaning | None:
    """A day with a time of day in digits."""
    month, day, year = numeral(groups["month"] or "1"), numeral(groups["day"] or "1"), _year(groups)
    return None if year is None else day_meaning(None if year == "XXXX" else int(year), month, day, time=clock(groups))
