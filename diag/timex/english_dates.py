"""English rules for periods in words: months and days, quarters and halves, fiscal years, spans that end on a day."""

from __future__ import annotations

import re

from diag.timex.calendar import MONTHS, month_span_value
from diag.timex.grammar import Groups, Meaning, Relative, rule
from diag.timex.numeric import (
    ANY_YEAR,
    FISCAL,
    YEAR,
    clock,
    day_meaning,
    is_plain_number_context,
    year_of,
    year_text,
)

MONTH_NUMBER = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
NUMBERS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"]
    )
} | {"a": 1, "an": 1, "eighteen": 18, "twenty": 20, "twenty-four": 24, "thirty": 30, "sixty": 60, "ninety": 90}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "final": 4, "last": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
}  # fmt: skip
LARGE_ORDINALS = {
    word: number
    for number, word in enumerate(
        ["sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second"], 16
    )
}
UNITS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "H", "minute": "M", "second": "S"}
SUB_DAY = ("hour", "minute", "second")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_BARE_MON = (
    r"(?P<mon>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])"
)
MON = rf"{_BARE_MON}\.?"
DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d%:]|[.,]\d)"
ORDINAL = r"(?P<ord>first|second|third|fourth|final|last|1st|2nd|3rd|4th)"
COUNT = r"(?P<n>\d{1,4}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + ")"
_WEEKDAY = r"(?P<weekday>" + "|".join(WEEKDAYS) + r"|mon|tues?|wed|thur?s?|fri|sat|sun)\.?(?![a-z])"
_FY = rf"(?P<fy>{FISCAL})"


def _month(groups: Groups) -> int:
    return MONTH_NUMBER[(groups["mon"] or "")[:3]]


def number_of(groups: Groups) -> int:
    """The number that a match says in digits or in words; one where it says none."""
    text = groups["n"] or "1"
    return int(text) if text.isdigit() else NUMBERS[text]


# ---- months and days -------------------------------------------------------------------------------------------------


def _month_day(groups: Groups) -> Meaning | None:
    return day_meaning(year_of(groups), _month(groups), int(groups["day"] or 0))


def _month_day_time(groups: Groups) -> Meaning | None:
    return day_meaning(
        year_of(groups), _month(groups), int(groups["day"] or 0), time=clock(groups, meridiem=groups["ampm"])
    )


def _month_day_range(groups: Groups) -> Meaning | None:
    month, year = _month(groups), year_of(groups)
    first = day_meaning(year, month, int(groups["first"] or 0))
    last = day_meaning(year, month, int(groups["day"] or 0))
    if first is None or last is None:
        return None
    if first.value is None or last.value is None:
        return Meaning(None, kind="range", issue="invalid_date")
    return Meaning(f"{first.value}/{last.value}", kind="range")


def _month_year(groups: Groups) -> Meaning | None:
    return Meaning(f"{year_text(groups)}-{_month(groups):02d}")


_LEAD_WORDS = (
    "in", "by", "since", "until", "till", "from", "to", "of", "during", "before", "after", "last", "next", "early", "late",
    "mid", "this", "through", "between", "and", "end", "beginning", "for", "ended", "ending", "per", "each", "every", "as", "or",
)  # fmt: skip
_LEADS = (
    *(f" {word}{mark}" for word in _LEAD_WORDS for mark in " -"),
    *(f"{mark}{space}" for mark in "-–(/|,;" for space in ("", " ")),
)
_LONGEST_LEAD = 12
_NAMES = ("may", "march", "mar", "april", "apr", "june", "jun", "august", "aug", "jan", "dec", "sep", "sept", "jul")
_COMMON = ("may", "march", "mar", "august", "sep", "dec", "jan")
_listed_month = re.compile(
    rf",? ?(?:and|or|to|through|,|-|–|/|&) ?(?:{'|'.join(name[:3] for name in MONTHS)})", re.IGNORECASE
)
_month_after = re.compile(r"\s(?=[A-Z][a-z])")


_LONGEST_LABEL = 30


def _is_month_word(text: str, start: int, end: int) -> bool:
    """Whether a month's name alone is the month: capital, and for `May`, `March`, … a preposition or a list before."""
    word = text[start:end].rstrip(".").lower()
    if not text[start].isupper():
        return False
    lead = f" {text[max(0, start - _LONGEST_LEAD) : start]}".lower()
    is_listed = _listed_month.match(text, end) is not None
    led = is_listed or lead.endswith(_LEADS)
    rest = text[end : end + 3]
    if rest[:1] == "'" or (rest[:1] == "-" and rest[1:2].isalnum() and not is_listed):
        return False
    if word in _COMMON or len(word) < 4:
        return led or (len(text) <= _LONGEST_LABEL and text.strip(" .,:;") == text[start:end])
    if word in _NAMES and _month_after.match(text, end):
        return led
    return True


TIME_OF_DAY = (
    r"(?P<hour>2[0-3]|[01]?\d)(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?\s?(?P<ampm>[ap]\.?m\b\.?)?"
    r"(?:\s?(?P<zone>z|utc|gmt)(?![a-z]))?"
)
_MD_YEAR = rf"(?:,? {YEAR}|,? '(?P<yy>\d\d)(?!\d))"
MONTH_RULES = (
    rule("month_day_range", rf"{MON} (?P<first>[0-3]?\d)(?:st|nd|rd|th)?\s?(?:-|to|through)\s?{DAY}{_MD_YEAR}?", _month_day_range),
    rule("month_day_time", rf"{MON} {DAY}{_MD_YEAR},? (?:at )?(?=\d\d?(?::\d\d|\s?[ap]\.?m)){TIME_OF_DAY}", _month_day_time),
    rule("month_day_year", rf"{MON} (?:the )?{DAY}{_MD_YEAR}", _month_day),
    rule("month_year", rf"{MON}(?:(?:,| of|,? (?:fy))? ?|-)(?:{YEAR}|'(?P<yy>\d\d)(?!\d))", _month_year),
    rule("month_short_year", rf"{MON}-(?P<year>(?!))?(?P<yy>\d\d)(?![\d-])", _month_year),
    rule("month_day", rf"{MON} (?:the )?{DAY}(?P<year>(?!))?(?P<yy>(?!))?(?! (?:percent|per cent|people|years|months|weeks|days|employees|shares|countries|million|billion))", _month_day,
         lambda text, start, end: text[start].isupper() or text[start:end].lower().startswith(("january", "february", "september", "october", "november", "december"))),
    rule("month", rf"{_BARE_MON}(?P<year>(?!))?(?P<yy>(?!))?(?!\.?\d)", _month_year, _is_month_word),
)  # fmt: skip
DAY_MONTH_RULES = (
    rule("day_range_month", rf"(?P<first>[0-3]?\d)(?:st|nd|rd|th)?\s?(?:-|to|through|and)\s?{DAY} (?:of )?{MON}(?:,? {ANY_YEAR})?", _month_day_range),
    rule("day_month_time", rf"{DAY}(?: of)? {MON},? {ANY_YEAR},? (?:at )?(?=\d\d?(?::\d\d|\s?[ap]\.?m)){TIME_OF_DAY}", _month_day_time),
    rule("day_month_year", rf"{DAY}(?:(?: day)?(?: of)? |[ -]){MON}(?:,? |-){ANY_YEAR}", _month_day),
    rule("day_month", rf"{DAY}(?:(?: day)?(?: of)? |-){MON}(?P<year>(?!))?(?P<yy>(?!))?", _month_day,
         lambda text, start, end: is_plain_number_context(text, start, end) and any(c.isupper() for c in text[start:end])),
)  # fmt: skip


def _weekday_number(groups: Groups) -> int:
    word = groups["weekday"] or ""
    return next(number for number, name in enumerate(WEEKDAYS, 1) if name.startswith(word[:3]))


def _weekday_date(groups: Groups) -> Meaning | None:
    meaning = _month_day(groups)
    if meaning and meaning.value and year_of(groups):
        from datetime import date

        if date.fromisoformat(meaning.value).isoweekday() != _weekday_number(groups):
            return meaning._replace(issue="weekday_mismatch")
    return meaning


def _weekday_only(groups: Groups) -> Meaning:
    steps = {"last": -1, "next": 1}.get((groups["which"] or "").strip(), 0)
    return Meaning(None, relative=Relative("document", "week", steps, f"-{_weekday_number(groups)}"))


WEEKDAY_RULES = (
    rule("weekday_month_day", rf"{_WEEKDAY},? (?:the )?(?:{MON} {DAY}{_MD_YEAR}?|{DAY}(?: of)? {MON}(?:,? {YEAR}(?P<yy>(?!))?)?)", _weekday_date),
    rule("weekday", rf"(?P<which>(?!))?(?P<weekday>{'|'.join(WEEKDAYS)})(?![a-z])", _weekday_only, lambda text, start, _: text[start].isupper()),
)  # fmt: skip

# ---- quarters, halves, fiscal years in words -------------------------------------------------------------------------


def _ordinal_part(groups: Groups) -> Meaning | None:
    number = ORDINALS[groups["ord"] or "first"]
    letter = "H" if (groups["unit"] or "").startswith("half") else "Q"
    if letter == "H":
        number = 2 if groups["ord"] in ("last", "final", "second", "2nd") else number
        if number > 2:
            return None
    fiscal = "FY" if groups["fy"] else ""
    if which := groups["which"]:
        relative = which_year(which, f"-{letter}{number}", fiscal=bool(fiscal))
        return Meaning(None, relative=relative)
    return Meaning(f"{fiscal}{year_text(groups)}-{letter}{number}")


def which_year(word: str, part: str, *, fiscal: bool = False) -> Relative:
    """The year that `last`, `prior`, `following`, … point to, or a part of it."""
    steps = {
        "last": -1,
        "prior": -1,
        "previous": -1,
        "preceding": -1,
        "past": -1,
        "next": 1,
        "following": 1,
        "coming": 1,
    }
    basis = "text" if word in ("prior", "previous", "preceding", "following", "same", "that") else "document"
    return Relative(basis, "year", steps.get(word, 0), part, fiscal=fiscal)


def _first_months(groups: Groups) -> Meaning | None:
    count = number_of(groups)
    year = year_of(groups)
    if not 1 <= count <= 11:
        return None
    if groups["unit"] == "quarter":
        count *= 3
    if year is None:
        return None
    value = month_span_value(year, count, count, None)
    return Meaning(value, kind="range" if "/" in value else "date")


_OF_YEAR = (
    rf"(?:(?:,| of| in|,? for)? (?:the )?(?:calendar year |calendar |year )?(?:(?P<fy>{FISCAL})[ -]?)?{ANY_YEAR}"
    r"| of (?:the )?(?P<which>last|this|next|prior|previous|current|preceding|following|same) (?P<fy>(?:fiscal|financial) )?year)"
)
_ORD_UNIT = rf"{ORDINAL}[ -](?P<fy>fiscal |financial )?(?P<unit>quarter|half)(?:[ -]year)?s?(?![a-z])(?!-)"
ORDINAL_RULES = (
    rule("first_months", r"first " + COUNT + rf" (?P<unit>month|quarter)s (?:of|in) (?:calendar |the year )?{YEAR}(?P<yy>(?!))?", _first_months),
    rule("ordinal_part_year", rf"{_ORD_UNIT}{_OF_YEAR}", _ordinal_part),
    rule("ordinal_part_list", rf"{ORDINAL}(?P<fy>(?!))?(?P<which>(?!))?(?P<year>(?!))?(?P<yy>(?!))?(?=(?:, (?:first|second|third|fourth)){{0,3}},? (?:and|or|to|through) (?:the )?(?:second|third|fourth)(?: (?:fiscal|financial))? (?P<unit>quarter|half))", _ordinal_part),
    rule("ordinal_part", r"(?<!last )(?P<ord>first|second|third|fourth|1st|2nd|3rd|4th)[ -](?P<fy>fiscal |financial )?(?P<unit>quarter|half)(?P<which>(?!))?(?P<year>(?!))?(?P<yy>(?!))?(?![a-z]|-(?:time|life|hand))", _ordinal_part),
)  # fmt: skip
FISCAL_ORDINAL_RULES = (
    rule("fiscal_ordinal_part", rf"(?P<fy>fiscal|financial) {ORDINAL}[ -](?P<unit>quarter|half)(?:(?:,| of)? (?:fiscal )?{ANY_YEAR})?(?P<which>(?!))?(?![a-z])", _ordinal_part),
)  # fmt: skip


def _ended(groups: Groups) -> Meaning | None:
    """`three months ended September 30, 2023` as the span of whole months that it covers.

    An end within six days of a month's end means that month (52- and 53-week years end on a weekday).
    """
    count = _COUNTS_ENDED.get(groups["count"] or "", 0)
    unit = (groups["unit"] or "").rstrip("s")
    months = {"month": count, "quarter": 3, "year": 12, "half": 6, "half-year": 6, "week": round(count / 13 * 3)}[unit]
    month, day, year = _month(groups), int(groups["day"] or 0), year_of(groups)
    if not months:
        return None
    if day and day_meaning(year, month, day) == Meaning(None, issue="invalid_date"):
        return Meaning(None, issue="invalid_date")
    return Meaning(f"{year_text(groups)}-{month:02d}-{day or 28:02d}<{months}")


_COUNTS_ENDED = {
    "three": 3, "six": 6, "nine": 9, "twelve": 12, "3": 3, "6": 6, "9": 9, "12": 12, "two": 2, "four": 4, "five": 5,
    "eight": 8, "ten": 10, "eleven": 11, "seven": 7, "thirteen": 13, "13": 13, "26": 26, "twenty-six": 26, "39": 39,
    "thirty-nine": 39, "52": 52, "53": 52, "fifty-two": 52, "fifty-three": 52, "14": 13, "fourteen": 13, "eighteen": 18,
}  # fmt: skip
_COUNT_ENDED = r"(?P<count>" + "|".join(sorted(_COUNTS_ENDED, key=len, reverse=True)) + ")"
_ENDED = (
    rf"(?:{_COUNT_ENDED}[ -](?P<unit>months?|weeks?)(?: periods?)?"
    rf"|(?:(?:fiscal|financial) )?(?:(?:first|second|third|fourth) )?(?:(?:fiscal|financial) )?(?P<unit>quarter)(?:ly periods?|s)?"
    rf"|(?:(?:fiscal|financial) )?(?P<unit>half-year|year|half)s?)(?:,? (?:that )?(?:ended|ending)| to)(?: on)?"
    rf" (?:{MON}(?:\s{DAY})?(?:,? ?{YEAR})?|{DAY}(?: of)? {MON},?(?: {YEAR})?)(?P<yy>(?!))?"
)
ENDED_RULE = (rule("ended", _ENDED, _ended, lambda text, start, end: " to " not in text[start:end] or any(c.isdigit() for c in text[start:end])),)  # fmt: skip


def _whole_year(groups: Groups) -> Meaning:
    return Meaning(year_text(groups))


def _year_end(groups: Groups) -> Meaning | None:
    year = year_of(groups)
    if year is None:
        return Meaning(None, relative=Relative("document", "year", 0, "-12-31"))
    return Meaning(f"{year:04d}-12-31")


def _week_of_year(groups: Groups) -> Meaning | None:
    return Meaning(f"{year_text(groups)}-W{int(groups['week'] or 0):02d}")


YEAR_WORDS_RULES = (
    rule("year_on_year", r"(?:year|yr)-(?:on|over)-(?:year|yr)|year (?:on|over) year|yoy\b|y/y\b|y-o-y\b", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("year_to_date", r"(?:year[- ]to[- ]date|ytd)\b", lambda _: Meaning(None, kind="range", relative=Relative("document", "year", 0, to_date=True))),
    rule("prior_year_period", r"year-(?:ago|earlier) (?:quarter|period|month|half)", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("year_end", rf"year[- ]end {YEAR}(?P<yy>(?!))?", _year_end),
    rule("year_number", rf"years? {YEAR}(?P<yy>(?!))?(?![a-z])", _whole_year),
    rule("calendar_year", rf"calendar (?:year )?{YEAR}(?P<yy>(?!))?(?![a-z])", _whole_year),
    rule("cy", rf"cy ?{ANY_YEAR}(?![a-z])", _whole_year),
    rule("week_number", rf"(?:calendar )?week (?P<week>[1-5]?\d)(?:,? of|,)? {YEAR}(?P<yy>(?!))?", _week_of_year),
    rule("quarter_on_quarter", r"quarter-(?:on|over)-quarter|quarter (?:on|over) quarter|qoq\b|q/q\b", lambda _: Meaning(None, relative=Relative("text", "own", -1))),
)  # fmt: skip
YEAR_FIRST_RULES = (
    rule("year_ordinal_part", rf"{YEAR}(?P<yy>(?!))?(?:'s)?(?P<which>(?!))? {ORDINAL}[ -](?P<fy>fiscal )?(?P<unit>quarter|half)(?![a-z])", _ordinal_part),
    rule("year_fiscal", rf"{YEAR}(?P<yy>(?!))? (?:fiscal|financial) year(?![a-z])", lambda groups: Meaning(f"FY{groups['year']}")),
    rule("decade", r"(?P<decade>1[5-9]\d|20\d)0'?s\b", lambda groups: Meaning(groups["decade"])),
    rule("year_month", rf"{YEAR}(?P<yy>(?!))?,? {MON}(?: {DAY})?(?! \d)", lambda groups: _month_day(groups) if groups["day"] else _month_year(groups)),
)  # fmt: skip
