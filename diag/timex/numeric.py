"""Notations made of digits and Latin letters, read the same in every language: `Q3 2023`, `FY23`, `2023-09-30`."""

from __future__ import annotations

import re
from datetime import date

from diag.timex.calendar import last_day
from diag.timex.grammar import Groups, Language, Meaning, Trigger, rule

YEAR = r"(?P<year>(?:1[0-9]|20|21)\d\d)(?![\d_]|[.,]\d)"
SHORT_YEAR = r"(?:'\s?(?P<yy>\d\d)(?!\d)|(?P<yy>\d\d)(?![\d%]|[.,:/]\d))"
ANY_YEAR = rf"(?:{YEAR}|{SHORT_YEAR})"
FISCAL = r"(?:fy|fiscal(?: year)?|financial year)"

_MONEY_BEFORE = ("$", "€", "£", "¥", "￥", "₹", "#", "§", "№")


def year_of(groups: Groups) -> int | None:
    """The four-digit year of a match; two digits below 70 are of this century, the others of the last."""
    if full := groups["year"]:
        return int(full)
    if short := groups["yy"]:
        return int(short) + (2000 if int(short) < 70 else 1900)
    return None


def year_text(groups: Groups) -> str:
    """The year as in a TIMEX3 value, `XXXX` where the match says none."""
    year = year_of(groups)
    return f"{year:04d}" if year is not None else "XXXX"


def day_meaning(year: int | None, month: int, day: int, *, ambiguous: bool = False, time: str = "") -> Meaning | None:
    """A day that the text names; a day that no calendar has is reported, not dropped."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    value = f"{year:04d}-{month:02d}-{day:02d}" if year is not None else f"XXXX-{month:02d}-{day:02d}"
    if day > last_day(year if year is not None else 2024, month):
        return Meaning(None, issue="invalid_date")
    return Meaning(value + time, kind="time" if time else "date", ambiguous=ambiguous)


_COUNTED = re.compile(
    r"\s?(?:kg|km|mm|cm|rpm|hz|kwh?|mwh?|gb|mb|bps|m(?= )|tons?|tonnes?|pounds?|dollars?|euros?|shares?|people|persons?|"
    r"employees|workers|units|pieces|customers|stores|hotels|pages|users|vehicles|patients|votes|words|barrels|acres|homes|"
    r"students|members|times|met(?:er|re)s|feet|miles|watts|participants|items|copies|licen[cs]es|beds|rooms|seats|points)"
    r"(?![A-Za-z])|\s?(?:[名元吨万亿股家台件个人辆套页米克户条项次倍桶只支座平]|公里|美元|千瓦|兆瓦)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:U\.S\.C\.|C\.F\.R\.|\b(?:no|nos|section|sec|rule|page|room|model|version|form|flight|article|clause|part|code|"
    r"pin|item|topic|asu|usd|eur|rmb|port|suite))\.? $",
    re.IGNORECASE,
)


def is_plain_number_context(text: str, start: int, end: int) -> bool:
    """Whether what stands around a number leaves it free to be a year: no money, count, version, part or phone number."""
    if start:
        before = text[start - 1]
        if before in _MONEY_BEFORE or (before in ".,/:-–—" and _joins_number(text, start)):
            return False
        if before == " " and (
            text[start - 2 : start - 1] in _MONEY_BEFORE or _LABELLED.search(text, max(0, start - 10), start)
        ):
            return False
    after = text[end : end + 2]
    if not after:
        return True
    if after[0] in "%％‰°" or after[0] == "_" or (after[0].isalpha() and after[0].isascii()):
        return False
    if len(after) == 2 and after[0] in ".,:-/" and after[1].isascii() and after[1].isalnum():
        joined = after[0] == "-" and after[1].islower()
        if not joined and not _closes_year_range(text, end):
            return False
    return _COUNTED.match(text, end) is None


def _joins_number(text: str, start: int) -> bool:
    """Whether the mark before `start` ties it to a longer code (`Q3-2019`, `4.2023`), and not to a range of years."""
    before = text[max(0, start - 5) : start - 1]
    mark = text[start - 1]
    if mark == "-" and (not before or before[-1] in " (["):
        return True
    if mark in "-–—/" and len(before) == 4 and before.isdigit() and before[0] in "12":
        longer = text[max(0, start - 6) : start - 5]
        return longer.isalnum() or longer in ("-", ".", "/")
    if mark in "–—":
        return False
    return bool(before) and (before[-1].isdigit() or (mark == "-" and before[-1].isalnum()))


def _closes_year_range(text: str, end: int) -> bool:
    mark, rest = text[end], text[end + 1 : end + 6]
    return (
        mark in "-/"
        and rest[:4].isdigit()
        and len(rest) >= 4
        and not (rest[4:5].isalnum() and rest[4:5].isascii())
        and rest[0] in "12"
    )


def _is_free_of_letters(text: str, start: int, end: int) -> bool:
    """No `-100`, `-B` or further letters behind, and no sign before, that would make the match part of a code."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and before[-1] in "-/.$€£#" and (len(before) == 1 or before[0].isalnum()):
        return before[-1] in "-/" and before[0] in "1234" and text[start].lower() in "qh"
    if after[:1] in ("-", "_") and len(after) == 2 and (after[1].isalnum() and after[1].lower() not in "qh"):
        return False
    return not (after[:1] == "." and after[1:].isdigit())


# ---- quarters, halves and fiscal years -------------------------------------------------------------------------------


def _part(groups: Groups) -> Meaning:
    fiscal = "FY" if groups["fy"] else ""
    letter = (groups["unit"] or "q").upper()
    return Meaning(f"{fiscal}{year_text(groups)}-{letter}{groups['n']}")


def _fiscal_year(groups: Groups) -> Meaning | None:
    year = year_of(groups)
    if year is None:
        return None
    if last := groups["last"]:
        ends = int(last) if len(last) == 4 else year // 100 * 100 + int(last)
        if ends != year + 1:
            return Meaning(f"FY{year}/FY{ends}", kind="range") if ends > year else None
        year = ends
    return Meaning(f"FY{year:04d}")


_FY = rf"(?P<fy>{FISCAL})"
_UNIT_N = r"(?P<unit>[qh])(?P<n>[1-4])(?<!h[34])"
_N_UNIT = r"(?P<n>[1-4])(?P<unit>[qh])(?<![34]h)"

PARTS = (
    rule(
        "fiscal_part",
        rf"(?:{_FY}[ -]?)(?:{ANY_YEAR}[ -]?(?:{_UNIT_N}|{_N_UNIT})\b|(?:{_UNIT_N}|{_N_UNIT})\b(?:[ ,-]{{1,2}}{ANY_YEAR})?)",
        _part,
        _is_free_of_letters,
    ),
    rule(
        "part",
        rf"(?:{_UNIT_N}|{_N_UNIT})(?:(?: of)?[ ,/-]{{0,2}}{_FY}[ -]?{ANY_YEAR}|(?: of |, |[ /-])?(?:{YEAR})|[ -]?{SHORT_YEAR})(?![a-z])",
        _part,
        _is_free_of_letters,
    ),
    rule(
        "bare_part",
        rf"(?:{_UNIT_N}|{_N_UNIT})(?P<fy>(?!))?(?P<year>(?!))?(?P<yy>(?!))?(?![a-z\d])",
        _part,
        _is_free_of_letters,
    ),
)
FISCAL_YEARS = (
    rule(
        "fiscal_year",
        rf"(?:fy|fiscal(?: years?)?|financial years?)[ -]?{ANY_YEAR}(?:[/-](?P<last>(?:20|21)\d\d|\d\d)(?!\d))?(?![a-z])",
        _fiscal_year,
    ),
)

# ---- dates in digits -------------------------------------------------------------------------------------------------

_CLOCK = r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d+)?)?"
_ZONE = r"(?:\s?(?P<zone>z|utc|gmt|[+-](?:0\d|1[0-4]):?[0-5]\d))?"
_ISO_DAY = (
    r"(?P<year>[12]\d{3})(?P<sep>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=sep)(?P<day>0?[1-9]|[12]\d|3[01])(?!\d|[-/]\d)"
)


def clock(groups: Groups, *, meridiem: str | None = None) -> str:
    """The `T…` part of a value: `T14:30`, with seconds and zone where they are written."""
    hour = int(groups["hour"] or 0)
    if meridiem:
        hour = hour % 12 + (12 if meridiem.startswith("p") else 0)
    minute = f":{groups['minute']}" if groups["minute"] else ":00"
    second = f":{groups['second']}" if groups["second"] else ""
    zone = (groups["zone"] or "").upper()
    if zone in ("UTC", "GMT"):
        zone = "Z"
    elif len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    return f"T{hour:02d}{minute}{second}{zone}"


def _iso_day(groups: Groups) -> Meaning | None:
    return day_meaning(int(groups["year"] or 0), int(groups["month"] or 0), int(groups["day"] or 0))


def _iso_moment(groups: Groups) -> Meaning | None:
    return day_meaning(int(groups["year"] or 0), int(groups["month"] or 0), int(groups["day"] or 0), time=clock(groups))


def _iso_month(groups: Groups) -> Meaning | None:
    year, month = int(groups["year"] or 0), int(groups["month"] or 0)
    reads_as_years = groups["sep"] == "-" and month == (year + 1) % 100
    return Meaning(f"{year:04d}-{month:02d}", ambiguous=reads_as_years)


def _compact_day(groups: Groups) -> Meaning | None:
    return day_meaning(int(groups["year"] or 0), int(groups["month"] or 0), int(groups["day"] or 0))


def _iso_week(groups: Groups) -> Meaning | None:
    year, week = int(groups["year"] or 0), int(groups["week"] or 0)
    try:
        date.fromisocalendar(year, week, int(groups["weekday"] or 1))
    except ValueError:
        return Meaning(None, issue="invalid_date")
    weekday = f"-{groups['weekday']}" if groups["weekday"] else ""
    return Meaning(f"{year:04d}-W{week:02d}{weekday}")


def _short_year_range(groups: Groups) -> Meaning | None:
    first = int(groups["year"] or 0)
    last = first // 100 * 100 + int(groups["last"] or 0)
    return Meaning(f"{first:04d}/{last:04d}", kind="range") if last > first else None


def _year(groups: Groups) -> Meaning:
    return Meaning(groups["year"], is_bare_year=True)


def _is_iso_free(text: str, start: int, end: int) -> bool:
    return not (start and (text[start - 1] in "-/.$" and start > 1 and text[start - 2].isalnum()))


ISO = (
    rule(
        "iso_moment",
        _ISO_DAY.removesuffix(r"(?!\d|[-/]\d)") + rf"(?:t| ){_CLOCK}{_ZONE}(?!\d)",
        _iso_moment,
        _is_iso_free,
    ),
    rule("iso_day", _ISO_DAY, _iso_day, _is_iso_free),
    rule(
        "iso_week",
        r"(?P<year>[12]\d{3})-?w(?P<week>[0-5]\d)(?:-(?P<weekday>[1-7]))?(?![\da-z])",
        _iso_week,
        _is_iso_free,
    ),
    rule("year_part", rf"{YEAR}[ -]?(?P<fy>(?!))?(?P<yy>(?!))?(?:{_UNIT_N}|{_N_UNIT})(?![a-z\d])", _part, _is_iso_free),
    rule(
        "iso_month",
        r"(?P<year>(?:19|20|21)\d\d)(?P<sep>[-/])(?P<month>0[1-9]|1[0-2])(?![\d%]|[-/.,]\d|[a-z])",
        _iso_month,
        _is_iso_free,
    ),
    rule(
        "year_range",
        r"(?P<year>(?:19|20|21)\d\d)[-/](?P<last>\d\d)(?![\d%]|[-/.,]\d|[a-z])",
        _short_year_range,
        _is_iso_free,
    ),
)
COMPACT = (
    rule(
        "compact_day",
        r"(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![\d.,%]\d?)",
        _compact_day,
        is_plain_number_context,
    ),
)


def _numeric_date(groups: Groups) -> Meaning | None:
    first, second, year = int(groups["a"] or 0), int(groups["b"] or 0), year_of(groups)
    month, day = (first, second) if first <= 12 else (second, first)
    return day_meaning(year, month, day, ambiguous=first <= 12 and second <= 12 and first != second)


def _numeric_date_day_first(groups: Groups) -> Meaning | None:
    first, second, year = int(groups["a"] or 0), int(groups["b"] or 0), year_of(groups)
    month, day = (second, first) if second <= 12 else (first, second)
    dotted = groups["sep"] == "."
    return day_meaning(year, month, day, ambiguous=not dotted and first <= 12 and second <= 12 and first != second)


def _month_year(groups: Groups) -> Meaning:
    return Meaning(f"{groups['year']}-{int(groups['month'] or 0):02d}")


_DATE = r"(?P<a>0?[1-9]|[12]\d|3[01])(?P<sep>[/{marks}])(?P<b>0?[1-9]|[12]\d|3[01])(?P=sep)(?:(?P<year>(?:1[89]|20|21)\d\d)|(?P<yy>\d\d))(?!\d|[./-]\d|%)"
MONTH_FIRST = rule("month_first", _DATE.format(marks="-"), _numeric_date, _is_iso_free)
DAY_FIRST = rule("day_first", _DATE.format(marks="-"), _numeric_date_day_first, _is_iso_free)
SHORT_YEAR_PART = rule("short_year_part", rf"(?P<yy>\d\d)(?P<fy>(?!))?(?P<year>(?!))?{_UNIT_N}", _part, _is_iso_free)
DOTTED = rule(
    "dotted",
    r"(?P<a>0?[1-9]|[12]\d|3[01])(?P<sep>\.)(?P<b>0?[1-9]|1[0-2])\.(?P<year>(?:19|20|21)\d\d)(?P<yy>(?!))?(?!\d|[./-]\d|%)",
    _numeric_date_day_first,
    _is_iso_free,
)
MONTH_YEAR = rule(
    "month_year", r"(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d\d)(?!\d|[./-]\d|%)", _month_year, _is_iso_free
)

YEAR_DIGITS = r"(?:1[0-9]|20|21)\d\d"

BARE_YEAR = rule("year", r"(?P<year>(?:1[5-9]|20|21)\d\d)(?![\d_]|[.,]\d)", _year, is_plain_number_context)

NUMERIC = Language(
    code="num",
    triggers={
        "compact": Trigger("0-9", r"(?:19|20)\d{6}(?!\d)"),
        "iso_day": Trigger("0-9", YEAR_DIGITS + r"(?=[-/.]\d\d?[-/.]\d)"),
        "iso_week": Trigger("0-9", YEAR_DIGITS + r"(?=-?w\d)"),
        "year_part": Trigger("0-9", YEAR_DIGITS + r"(?=[ -]?(?:[qh][1-4]|[1-4][qh]))"),
        "iso_month": Trigger("0-9", YEAR_DIGITS + r"(?=[-/]\d\d(?!\d))"),
        "slashed": Trigger("0-9", r"\d\d?(?=[-/.]\d\d?[-/.]\d\d|/[12]\d{3})"),
        "n_part": Trigger("0-9", r"[1-4][qh](?![a-z])"),
        "short_year_part": Trigger("0-9", r"\d\d[qh][1-4](?![\da-z])"),
        "part": Trigger("q1 q2 q3 q4 h1 h2", r"[qh][1-4](?![a-z])"),
        "fiscal": Trigger(
            "fy fiscal financial", r"fy ?(?='?\d|[qh1-4])|(?:fiscal|financial)(?= (?:years? )?(?:'?\d|[qh][1-4]))"
        ),
    },
    rules={
        "compact": COMPACT,
        "iso_day": (*ISO[:2], BARE_YEAR),
        "iso_week": (ISO[2], BARE_YEAR),
        "year_part": (ISO[3], BARE_YEAR),
        "iso_month": (*ISO[4:], BARE_YEAR),
        "slashed": (MONTH_FIRST, DOTTED, MONTH_YEAR),
        "n_part": PARTS[1:],
        "short_year_part": (SHORT_YEAR_PART,),
        "part": PARTS[1:],
        "fiscal": (PARTS[0], *FISCAL_YEARS),
    },
    joins_list=r"\s?(?:,|;|/|&)\s?",
    joins_range=r"\s?(?:--?|~)\s?|/",
)
