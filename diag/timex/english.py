"""English: the words of reports, contracts and news that name a time."""

from __future__ import annotations

import re

from diag.timex.calendar import MONTHS, month_span_value
from diag.timex.grammar import Groups, Language, Meaning, Relative, Trigger, rule
from diag.timex.numeric import (
    ANY_YEAR,
    BARE_YEAR,
    FISCAL,
    YEAR,
    YEAR_DIGITS,
    clock,
    day_meaning,
    is_plain_number_context,
    year_of,
    year_text,
)

_MONTH_NUMBER = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
_NUMBERS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"]
    )
} | {"a": 1, "an": 1, "eighteen": 18, "twenty": 20, "twenty-four": 24, "thirty": 30, "sixty": 60, "ninety": 90}  # fmt: skip
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "final": 4, "last": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
}  # fmt: skip
_LARGE_ORDINALS = {
    word: number
    for number, word in enumerate(
        ["sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second"], 16
    )
}
_UNITS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "H", "minute": "M", "second": "S"}
_SUB_DAY = ("hour", "minute", "second")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_BARE_MON = (
    r"(?P<mon>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])"
)
MON = rf"{_BARE_MON}\.?"
DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d%:]|[.,]\d)"
ORDINAL = r"(?P<ord>first|second|third|fourth|final|last|1st|2nd|3rd|4th)"
COUNT = r"(?P<n>\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_WEEKDAY = r"(?P<weekday>" + "|".join(_WEEKDAYS) + r"|mon|tues?|wed|thur?s?|fri|sat|sun)\.?(?![a-z])"
_FY = rf"(?P<fy>{FISCAL})"


def _month(groups: Groups) -> int:
    return _MONTH_NUMBER[(groups["mon"] or "")[:3]]


def _count(groups: Groups) -> int:
    text = groups["n"] or "1"
    return int(text) if text.isdigit() else _NUMBERS[text]


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
_listed_month = re.compile(rf",? ?(?:and|or|to|through|,|-|–|/|&) ?(?:{'|'.join(MONTHS)})", re.IGNORECASE)
_month_after = re.compile(r"\s(?=[A-Z][a-z])")


_LONGEST_LABEL = 30


def _is_month_word(text: str, start: int, end: int) -> bool:
    """Whether a month's name alone is the month: capital, and for `May`, `March`, … a preposition or a list before."""
    word = text[start:end].rstrip(".").lower()
    if not text[start].isupper():
        return False
    lead = f" {text[max(0, start - _LONGEST_LEAD) : start]}".lower()
    led = lead.endswith(_LEADS) or _listed_month.match(text, end) is not None
    rest = text[end : end + 3]
    if rest[:1] == "'" or (rest[:1] == "-" and rest[1:2].isalnum()):
        return False
    if word in _COMMON or len(word) < 4:
        return led or (len(text) <= _LONGEST_LABEL and text.strip(" .,:;") == text[start:end])
    if word in _NAMES and _month_after.match(text, end):
        return led
    return True


_TIME_OF_DAY = (
    r"(?P<hour>2[0-3]|[01]?\d)(?::(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?\s?(?P<ampm>[ap]\.?m\b\.?)?"
    r"(?:\s?(?P<zone>z|utc|gmt)(?![a-z]))?"
)
_MD_YEAR = rf"(?:,? {YEAR}|,? '(?P<yy>\d\d)(?!\d))"
_MONTH_RULES = (
    rule("month_day_range", rf"{MON} (?P<first>[0-3]?\d)(?:st|nd|rd|th)?\s?(?:-|to|through)\s?{DAY}{_MD_YEAR}?", _month_day_range),
    rule("month_day_time", rf"{MON} {DAY}{_MD_YEAR},? (?:at )?(?=\d\d?(?::\d\d|\s?[ap]\.?m)){_TIME_OF_DAY}", _month_day_time),
    rule("month_day_year", rf"{MON} (?:the )?{DAY}{_MD_YEAR}", _month_day),
    rule("month_year", rf"{MON}(?:(?:,| of|,? (?:fy))? ?|-)(?:{YEAR}|'(?P<yy>\d\d)(?!\d))", _month_year),
    rule("month_short_year", rf"{MON}-(?P<year>(?!))?(?P<yy>\d\d)(?![\d-])", _month_year),
    rule("month_day", rf"{MON} (?:the )?{DAY}(?P<year>(?!))?(?P<yy>(?!))?(?! (?:percent|per cent|people|years|months|weeks|days|employees|shares|countries|million|billion))", _month_day,
         lambda text, start, end: text[start].isupper() or text[start:end].lower().startswith(("january", "february", "september", "october", "november", "december"))),
    rule("month", rf"{_BARE_MON}(?P<year>(?!))?(?P<yy>(?!))?(?!\.?\d)", _month_year, _is_month_word),
)  # fmt: skip
_DAY_MONTH_RULES = (
    rule("day_range_month", rf"(?P<first>[0-3]?\d)(?:st|nd|rd|th)?\s?(?:-|to|through|and)\s?{DAY} (?:of )?{MON}(?:,? {ANY_YEAR})?", _month_day_range),
    rule("day_month_time", rf"{DAY}(?: of)? {MON},? {ANY_YEAR},? (?:at )?(?=\d\d?(?::\d\d|\s?[ap]\.?m)){_TIME_OF_DAY}", _month_day_time),
    rule("day_month_year", rf"{DAY}(?:(?: day)?(?: of)? |[ -]){MON}(?:,? |-){ANY_YEAR}", _month_day),
    rule("day_month", rf"{DAY}(?:(?: day)?(?: of)? |-){MON}(?P<year>(?!))?(?P<yy>(?!))?", _month_day,
         lambda text, start, end: is_plain_number_context(text, start, start + 2) and any(c.isupper() for c in text[start:end])),
)  # fmt: skip


def _weekday_number(groups: Groups) -> int:
    word = groups["weekday"] or ""
    return next(number for number, name in enumerate(_WEEKDAYS, 1) if name.startswith(word[:3]))


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


_WEEKDAY_RULES = (
    rule("weekday_month_day", rf"{_WEEKDAY},? (?:the )?(?:{MON} {DAY}{_MD_YEAR}?|{DAY}(?: of)? {MON}(?:,? {YEAR}(?P<yy>(?!))?)?)", _weekday_date),
    rule("weekday", rf"(?P<which>(?!))?(?P<weekday>{'|'.join(_WEEKDAYS)})(?![a-z])", _weekday_only, lambda text, start, _: text[start].isupper()),
)  # fmt: skip

# ---- quarters, halves, fiscal years in words -------------------------------------------------------------------------


def _ordinal_part(groups: Groups) -> Meaning | None:
    number = _ORDINALS[groups["ord"] or "first"]
    letter = "H" if (groups["unit"] or "").startswith("half") else "Q"
    if letter == "H":
        number = 2 if groups["ord"] in ("last", "final", "second", "2nd") else number
        if number > 2:
            return None
    fiscal = "FY" if groups["fy"] else ""
    if which := groups["which"]:
        relative = _which_year(which, f"-{letter}{number}", fiscal=bool(fiscal))
        return Meaning(None, relative=relative)
    return Meaning(f"{fiscal}{year_text(groups)}-{letter}{number}")


def _which_year(word: str, part: str, *, fiscal: bool = False) -> Relative:
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
    count = _count(groups)
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
_ORDINAL_RULES = (
    rule("first_months", r"first " + COUNT + rf" (?P<unit>month|quarter)s (?:of|in) (?:calendar |the year )?{YEAR}(?P<yy>(?!))?", _first_months),
    rule("ordinal_part_year", rf"{_ORD_UNIT}{_OF_YEAR}", _ordinal_part),
    rule("ordinal_part_list", rf"{ORDINAL}(?P<fy>(?!))?(?P<which>(?!))?(?P<year>(?!))?(?P<yy>(?!))?(?=(?:, (?:first|second|third|fourth)){{0,3}},? (?:and|or|to|through) (?:the )?(?:second|third|fourth)(?: (?:fiscal|financial))? (?P<unit>quarter|half))", _ordinal_part),
    rule("ordinal_part", r"(?<!last )(?P<ord>first|second|third|fourth|1st|2nd|3rd|4th)[ -](?P<fy>fiscal |financial )?(?P<unit>quarter|half)(?P<which>(?!))?(?P<year>(?!))?(?P<yy>(?!))?(?![a-z]|-(?:time|life|hand))", _ordinal_part),
)  # fmt: skip
_FISCAL_ORDINAL = (
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
_ENDED_RULE = (rule("ended", _ENDED, _ended, lambda text, start, end: " to " not in text[start:end] or any(c.isdigit() for c in text[start:end])),)  # fmt: skip


def _whole_year(groups: Groups) -> Meaning:
    return Meaning(year_text(groups))


def _year_end(groups: Groups) -> Meaning | None:
    year = year_of(groups)
    if year is None:
        return Meaning(None, relative=Relative("document", "year", 0, "-12-31"))
    return Meaning(f"{year:04d}-12-31")


def _week_of_year(groups: Groups) -> Meaning | None:
    return Meaning(f"{year_text(groups)}-W{int(groups['week'] or 0):02d}")


_YEAR_WORDS = (
    rule("year_on_year", r"(?:year|yr)-(?:on|over)-(?:year|yr)|year (?:on|over) year|yoy\b|y/y\b|y-o-y\b", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("year_to_date", r"(?:year[- ]to[- ]date|ytd)\b", lambda _: Meaning(None, kind="range", relative=Relative("document", "year", 0, to_date=True))),
    rule("prior_year_period", r"year-(?:ago|earlier) (?:quarter|period|month|half)", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("year_end", rf"year[- ]end {YEAR}(?P<yy>(?!))?", _year_end),
    rule("year_number", rf"years? {YEAR}(?P<yy>(?!))?(?![a-z])", _whole_year),
    rule("calendar_year", rf"calendar (?:year )?{YEAR}(?P<yy>(?!))?(?![a-z])", _whole_year),
    rule("week_number", rf"(?:calendar )?week (?P<week>[1-5]?\d)(?:,? of|,)? {YEAR}(?P<yy>(?!))?", _week_of_year),
    rule("quarter_on_quarter", r"quarter-(?:on|over)-quarter|quarter (?:on|over) quarter|qoq\b|q/q\b", lambda _: Meaning(None, relative=Relative("text", "own", -1))),
)  # fmt: skip
_YEAR_FIRST = (
    rule("year_ordinal_part", rf"{YEAR}(?P<yy>(?!))?(?:'s)?(?P<which>(?!))? {ORDINAL}[ -](?P<fy>fiscal )?(?P<unit>quarter|half)(?![a-z])", _ordinal_part),
    rule("year_fiscal", rf"{YEAR}(?P<yy>(?!))? (?:fiscal|financial) year(?![a-z])", lambda groups: Meaning(f"FY{groups['year']}")),
    rule("decade", r"(?P<decade>1[5-9]\d|20\d)0'?s\b", lambda groups: Meaning(groups["decade"])),
    rule("year_month", rf"{YEAR}(?P<yy>(?!))?,? {MON}(?: {DAY})?(?! \d)", lambda groups: _month_day(groups) if groups["day"] else _month_year(groups)),
)  # fmt: skip

# ---- durations, sets, clock times ------------------------------------------------------------------------------------


def _duration(groups: Groups) -> Meaning | None:
    unit = (groups["unit"] or "").rstrip("s")
    count = _count(groups)
    if unit == "decade":
        return Meaning(f"P{count * 10}Y", kind="duration")
    if unit == "fortnight":
        return Meaning(f"P{count * 2}W", kind="duration")
    prefix = "PT" if unit in _SUB_DAY else "P"
    return Meaning(f"{prefix}{count}{_UNITS[unit]}", kind="duration")


def _ago(groups: Groups) -> Meaning | None:
    unit = (groups["unit"] or "").rstrip("s")
    count, direction = _count(groups), groups["direction"] or ""
    if unit in _SUB_DAY or unit in ("fortnight",):
        return None
    if unit == "decade":
        unit, count = "year", count * 10
    sign = 1 if direction in ("later", "hence", "from now") else -1
    basis = "document" if direction in ("ago", "hence", "from now") else "text"
    if unit == "year" and basis == "text":
        return Meaning(None, relative=Relative("text", None, sign * count))
    return Meaning(None, relative=Relative(basis, unit, sign * count))  # type: ignore[arg-type]


_UNIT = r"(?P<unit>years?|quarters?|months?|weeks?|days?|hours?|minutes?|decades?|fortnights?)"
_SPAN_RULES = (
    rule("ago", COUNT + rf" {_UNIT} (?P<direction>ago|earlier|later|hence|from now|(?:before|prior)(?! (?:the|to|a) ))(?![a-z])", _ago),
    rule("duration", COUNT + rf"(?:\s?\(\d{{1,4}}\))?(?:[- ](?:business|calendar|consecutive|full|working|trading|fiscal))?[- ]{_UNIT}(?![a-z])(?!-over|-on-)", _duration,
         lambda text, start, end: is_plain_number_context(text, start, end) and text[start:start + 2].lower() not in ("a ", "an", "a-")),
)  # fmt: skip


def _set(groups: Groups) -> Meaning | None:
    unit = groups["unit"] or ""
    n = {"other": 2}.get(groups["n"] or "") or (
        int(groups["n"]) if (groups["n"] or "").isdigit() else _NUMBERS.get(groups["n"] or "", 1)
    )  # type: ignore[arg-type]
    unit = unit.rstrip("s")
    if unit in _UNITS and unit not in _SUB_DAY:
        return Meaning(f"P{n}{_UNITS[unit]}", kind="set")
    if unit == "hour":
        return Meaning(f"PT{n}H", kind="set")
    if unit[:3] in _MONTH_NUMBER and unit not in _WEEKDAYS and unit not in ("monday",):
        return Meaning(f"XXXX-{_MONTH_NUMBER[unit[:3]]:02d}", kind="set")
    if unit in _WEEKDAYS:
        return Meaning(f"XXXX-WXX-{_WEEKDAYS.index(unit) + 1}", kind="set")
    return None


_ADVERBS = {
    "annually": "P1Y", "yearly": "P1Y", "quarterly": "P1Q", "monthly": "P1M", "weekly": "P1W", "daily": "P1D",
    "biannually": "P6M", "semiannually": "P6M", "semi-annually": "P6M", "hourly": "PT1H", "fortnightly": "P2W",
}  # fmt: skip
_SET_RULES = (
    rule("every", rf"(?:every|each) (?:(?P<n>other|\d{{1,2}}|two|three|four|five|six|ten) )?(?P<unit>years?|quarters?|months?|weeks?|days?|hours?|{'|'.join(_WEEKDAYS)}|{'|'.join(MONTHS)})(?![a-z])(?! (?:ended|ending|of))", _set),
    rule("adverb", r"(?P<unit>" + "|".join(sorted(_ADVERBS, key=len, reverse=True)) + r")(?![a-z-])", lambda groups: Meaning(_ADVERBS[groups["unit"] or ""], kind="set")),
)  # fmt: skip


def _time_of_day(groups: Groups) -> Meaning | None:
    return Meaning("XXXX-XX-XX" + clock(groups, meridiem=groups["ampm"]), kind="time")


_at = re.compile(r"\b(?:at|by|until|till|before|after|from|to|between|and|around|about)\s$", re.IGNORECASE)
_CLOCK_RULES = (
    rule("clock", _TIME_OF_DAY + r"(?![\d:%])", _time_of_day,
         lambda text, start, end: any(c in "apAPzZuUgG" for c in text[start:end])
         or (":" in text[start:end] and _at.search(text, max(0, start - 9), start) is not None)),
)  # fmt: skip
_CENTURY_RULES = (
    rule("century", r"(?:(?P<n>1[5-9]th|20th|21st)|(?P<word>" + "|".join(_LARGE_ORDINALS) + r"))[ -]century",
         lambda groups: Meaning(f"{(int(groups['n'][:2]) if groups['n'] else _LARGE_ORDINALS[groups['word'] or '']) - 1:02d}")),
)  # fmt: skip

# ---- told from another period ----------------------------------------------------------------------------------------


def _deictic(groups: Groups) -> Meaning | None:
    word, unit = groups["which"] or "", groups["unit"] or ""
    fiscal = bool(groups["fy"])
    part = ""
    if unit in _WEEKDAYS:
        return Meaning(
            None,
            relative=Relative(
                "document", "week", {"last": -1, "next": 1}.get(word, 0), f"-{_WEEKDAYS.index(unit) + 1}"
            ),
        )
    if unit[:3] in _MONTH_NUMBER and unit not in ("month", "months"):
        return Meaning(
            None,
            relative=Relative(
                "document",
                "month",
                {"last": -12, "past": -12, "next": 12}.get(word, 0),
                f"-{_MONTH_NUMBER[unit[:3]]:02d}",
            ),
        )
    if groups["ord"]:
        part = f"-{'H' if groups['sub'] == 'half' else 'Q'}{_ORDINALS[groups['ord']]}"
    base = _which_year(word, part, fiscal=fiscal)
    return Meaning(None, relative=base._replace(unit=unit.replace("half-year", "half")))  # type: ignore[arg-type]


def _named_day(groups: Groups) -> Meaning:
    steps = {"yesterday": -1, "today": 0, "tomorrow": 1}[groups.group()]
    return Meaning(None, relative=Relative("document", "day", steps))


_WHICH = r"(?P<which>last|past|this|current|next|prior|previous|preceding|following|coming)"
_EARLIER = (
    r"(?:of|in|from|for) (?:the )?(?:prior|previous|last|preceding)(?: fiscal| financial)? year"
    r"|last year|(?:a|one) year (?:earlier|ago|before)|the year before|the (?:prior|previous) year"
)
_RELATIVE_RULES = (
    rule("same_period", rf"(?:same|corresponding|comparable|comparative|equivalent|like) (?:period|quarter|month|half|time|three-month period|six-month period|nine-month period) (?:{_EARLIER})(?![a-z])", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("prior_year_part", r"(?:prior|previous|last)[- ]year(?:'s)?[- ](?:quarter|period)(?![a-z])", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("same_quarter", r"same (?:quarter|period|month|half|year)(?![a-z])(?! (?:of|in) )", lambda groups: Meaning(None, relative=Relative("text", None, 0))),
    rule("deictic_part", rf"{_WHICH} (?P<fy>fiscal |financial )?(?P<unit>year)'s (?P<ord>first|second|third|fourth) (?P<sub>quarter|half)(?![a-z])", _deictic),
    rule("deictic", rf"{_WHICH} (?P<fy>fiscal |financial )?(?P<unit>year|quarter|month|week|half-year|half|decade|century|{'|'.join(_WEEKDAYS)}|{'|'.join(m for m in MONTHS)})(?P<ord>(?!))?(?P<sub>(?!))?(?![a-z]|-[a-z])(?! (?:of|in|ended|ending) (?:the )?(?:calendar |fiscal |fy ?)?\d)", _deictic,
         lambda text, start, end: not text[start:end].lower().endswith((" march", " may")) or text[end - 3].isupper() or text[end - 5].isupper()),
    rule("named_day", r"(?:yesterday|today|tomorrow)(?![a-z'])", _named_day),
)  # fmt: skip

# ---- the table -------------------------------------------------------------------------------------------------------

_UNIT_COUNT = r"(?=(?:\s?\(\d{1,4}\))?[- ](?:(?:business|calendar|consecutive|full|working|trading|fiscal)[- ])?(?:year|quarter|month|week|day|hour|minute|decade|fortnight)s?(?![a-z]))"
_number_words = "|".join(sorted((w for w in _NUMBERS if w not in ("a", "an")), key=len, reverse=True))

ENGLISH = Language(
    code="en",
    triggers={
        "year_word": Trigger(
            "0-9",
            YEAR_DIGITS
            + r"(?=0?'?s? ?(?:first|second|third|fourth|fiscal|financial|final)|'?s(?![a-z])|,? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
        ),
        "year": Trigger("0-9", YEAR_DIGITS + r"(?!\d)"),
        "date": Trigger(
            "0-9",
            r"[0-3]?\d(?=(?:st|nd|rd|th)?(?:(?: day)?(?: of)? ?|-)(?:[-] ?[0-3]?\d(?:st|nd|rd|th)? |(?:to|through|and) [0-3]?\d(?:st|nd|rd|th)? )?(?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
        ),
        "nth": Trigger("0-9", r"(?:1st|2nd|3rd|4th)(?= (?:fiscal |financial )?(?:quarter|half))"),
        "nth_century": Trigger(
            "0-9 sixteenth seventeenth eighteenth nineteenth twentieth twenty-first",
            r"(?:1[5-9]th|20th|21st|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty-first)(?=[ -]century)",
        ),
        "clock": Trigger("0-9", r"[012]?\d(?=:[0-5]\d|\s?[ap]\.?m\b)"),
        "count": Trigger(
            "0-9 one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen eighteen twenty thirty sixty ninety a_year a_quarter a_month a_week a_day a_decade",
            rf"(?:\d{{1,4}}|{_number_words}|an?(?= (?:year|quarter|month|week|day|decade) (?:ago|earlier|before|later|prior))){_UNIT_COUNT}",
        ),
        "month_date": Trigger(
            "jan feb mar apr may jun jul aug sep oct nov dec",
            r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?=[a-z]{0,6}\.?(?:,| of|,? fy)? ?-?(?:the )?['\d])",
        ),
        "month": Trigger(
            "jan feb mar apr may jun jul aug sep oct nov dec",
            r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?=[a-z.]{0,7}(?:\W|$))",
        ),
        "ordinal": Trigger(
            "first second third fourth final",
            r"(?:first|second|third|fourth|final)(?= (?:fiscal |financial )?(?:quarter|half)|-half|-quarter|, |[ ,]+(?:and|or|to|through) |(?: \w+)? (?:month|quarter)s)",
        ),
        "last": Trigger(
            "last",
            r"last(?=[ -](?:fiscal |financial )?(?:quarter|half|year|month|week|decade|century|[a-z]{3,9}day|[jfmasond][a-z]{2}))",
        ),
        "fiscal": Trigger(
            "fiscal financial", r"(?:fiscal|financial)(?= (?:first|second|third|fourth|quarter|year|half))"
        ),
        "unit": Trigger(
            "quarter half year yr calendar week yoy y/y y-o-y ytd qoq q/q",
            r"(?:quarter|half|year|yr|calendar|week|yoy|y/y|y-o-y|ytd|qoq|q/q)(?=[ -]|s |ly period|\W|$)",
        ),
        "weekday": Trigger(
            "mon tue wed thu fri sat sun",
            r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)(?=\.?,? \d|\.?,? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))",
        ),
        "relative": Trigger(
            "past this current next prior previous preceding following coming same corresponding comparable comparative equivalent like yesterday today tomorrow",
            r"(?:past|this|current|next|prior|previous|preceding|following|coming|same|corresponding|comparable|comparative|equivalent|yesterday|today|tomorrow)(?=[ -.,;:!?')]|$)",
        ),
        "set": Trigger(
            "every each annually yearly quarterly monthly weekly daily biannually semi hourly fortnightly",
            r"(?:every|each|annually|yearly|quarterly|monthly|weekly|daily|biannually|semi-?annually|hourly|fortnightly)(?![a-z])",
        ),
    },
    rules={
        "year_word": (*_YEAR_FIRST, BARE_YEAR),
        "year": (BARE_YEAR,),
        "date": (*_DAY_MONTH_RULES,),
        "nth": _ORDINAL_RULES,
        "nth_century": _CENTURY_RULES,
        "clock": _CLOCK_RULES,
        "count": (*_ENDED_RULE, *_SPAN_RULES),
        "month_date": _MONTH_RULES,
        "month": _MONTH_RULES[-1:],
        "ordinal": (*_ENDED_RULE, *_ORDINAL_RULES),
        "last": (*_ORDINAL_RULES[1:2], *_RELATIVE_RULES),
        "fiscal": (*_ENDED_RULE, *_FISCAL_ORDINAL),
        "unit": (*_ENDED_RULE, *_YEAR_WORDS),
        "weekday": _WEEKDAY_RULES,
        "relative": _RELATIVE_RULES,
        "set": _SET_RULES,
    },
    joins_list=r"(?:\s?[,;/&]\s?(?:and |or )?|,? (?:and|or|versus|vs\.?|compared (?:to|with)) )(?:the |in |fiscal |years? )?",
    joins_range=r"\s?--?\s?|,? (?:to|through|thru|until|till) (?:the )?(?:end of )?",
    joins_between=r" and (?:the )?",
    leads_since=r"(?:since|starting(?: in| from)?)(?: the)? ",
    leads_until=r"(?:until|till|up to|through)(?: the end of)? ",
    leads_range=r"from (?:the )?",
    leads_between=r"between (?:the )?",
    follows_onward=r",? (?:onwards?|and (?:later|after|beyond)|forward)\b",
    leads_comparison=r"(?:compared (?:to|with)|versus|vs\.?|against|from|than|relative to)(?: the)? ",
)
