"""English rules for what has no place of its own: durations, repetitions, times of day, and periods told from others."""

from __future__ import annotations

import re

from diag.timex.calendar import MONTHS
from diag.timex.english_dates import (
    COUNT,
    LARGE_ORDINALS,
    MONTH_NUMBER,
    NUMBERS,
    ORDINALS,
    SUB_DAY,
    TIME_OF_DAY,
    UNITS,
    WEEKDAYS,
    number_of,
    which_year,
)
from diag.timex.grammar import Groups, Meaning, Relative, rule
from diag.timex.numeric import clock, is_plain_number_context


def _duration(groups: Groups) -> Meaning | None:
    unit = (groups["unit"] or "").rstrip("s")
    count = number_of(groups)
    if unit == "decade":
        return Meaning(f"P{count * 10}Y", kind="duration")
    if unit == "fortnight":
        return Meaning(f"P{count * 2}W", kind="duration")
    prefix = "PT" if unit in SUB_DAY else "P"
    return Meaning(f"{prefix}{count}{UNITS[unit]}", kind="duration")


def _ago(groups: Groups) -> Meaning | None:
    unit = (groups["unit"] or "").rstrip("s")
    count, direction = number_of(groups), groups["direction"] or ""
    if unit in SUB_DAY or unit in ("fortnight",):
        return None
    if unit == "decade":
        unit, count = "year", count * 10
    sign = 1 if direction in ("later", "hence", "from now") else -1
    basis = "document" if direction in ("ago", "hence", "from now") else "text"
    if unit == "year" and basis == "text":
        return Meaning(None, relative=Relative("text", None, sign * count))
    return Meaning(None, relative=Relative(basis, unit, sign * count))  # type: ignore[arg-type]


_UNIT = r"(?P<unit>years?|quarters?|months?|weeks?|days?|hours?|minutes?|decades?|fortnights?)"
SPAN_RULES = (
    rule("ago", COUNT + rf" {_UNIT} (?P<direction>ago|earlier|later|hence|from now|(?:before|prior)(?! (?:the|to|a) ))(?![a-z])", _ago),
    rule("duration", COUNT + rf"(?:\s?\(\d{{1,4}}\))?(?:[- ](?:business|calendar|consecutive|full|working|trading|fiscal))?[- ]{_UNIT}(?![a-z])(?!-over|-on-)", _duration,
         lambda text, start, end: is_plain_number_context(text, start, end) and text[start:start + 2].lower() not in ("a ", "an", "a-")),
)  # fmt: skip


def _set(groups: Groups) -> Meaning | None:
    unit = groups["unit"] or ""
    n = {"other": 2}.get(groups["n"] or "") or (
        int(groups["n"]) if (groups["n"] or "").isdigit() else NUMBERS.get(groups["n"] or "", 1)
    )  # type: ignore[arg-type]
    unit = unit.rstrip("s")
    if unit in UNITS and unit not in SUB_DAY:
        return Meaning(f"P{n}{UNITS[unit]}", kind="set")
    if unit == "hour":
        return Meaning(f"PT{n}H", kind="set")
    if unit[:3] in MONTH_NUMBER and unit not in WEEKDAYS and unit not in ("monday",):
        return Meaning(f"XXXX-{MONTH_NUMBER[unit[:3]]:02d}", kind="set")
    if unit in WEEKDAYS:
        return Meaning(f"XXXX-WXX-{WEEKDAYS.index(unit) + 1}", kind="set")
    return None


_ADVERBS = {
    "annually": "P1Y", "yearly": "P1Y", "quarterly": "P1Q", "monthly": "P1M", "weekly": "P1W", "daily": "P1D",
    "biannually": "P6M", "semiannually": "P6M", "semi-annually": "P6M", "hourly": "PT1H", "fortnightly": "P2W",
}  # fmt: skip
SET_RULES = (
    rule("every", rf"(?:every|each) (?:(?P<n>other|\d{{1,2}}|two|three|four|five|six|ten) )?(?P<unit>years?|quarters?|months?|weeks?|days?|hours?|{'|'.join(WEEKDAYS)}|{'|'.join(MONTHS)})(?![a-z])(?! (?:ended|ending|of))", _set),
    rule("adverb", r"(?P<unit>" + "|".join(sorted(_ADVERBS, key=len, reverse=True)) + r")(?![a-z-])", lambda groups: Meaning(_ADVERBS[groups["unit"] or ""], kind="set")),
)  # fmt: skip


def _time_of_day(groups: Groups) -> Meaning | None:
    return Meaning("XXXX-XX-XX" + clock(groups, meridiem=groups["ampm"]), kind="time")


_at = re.compile(r"\b(?:at|by|until|till|before|after|from|to|between|and|around|about)\s$", re.IGNORECASE)
CLOCK_RULES = (
    rule("clock", TIME_OF_DAY + r"(?![\d:%])", _time_of_day,
         lambda text, start, end: any(c in "apAPzZuUgG" for c in text[start:end])
         or (":" in text[start:end] and _at.search(text, max(0, start - 9), start) is not None)),
)  # fmt: skip
CENTURY_RULES = (
    rule("century", r"(?:(?P<n>1[5-9]th|20th|21st)|(?P<word>" + "|".join(LARGE_ORDINALS) + r"))[ -]century",
         lambda groups: Meaning(f"{(int(groups['n'][:2]) if groups['n'] else LARGE_ORDINALS[groups['word'] or '']) - 1:02d}")),
)  # fmt: skip

# ---- told from another period ----------------------------------------------------------------------------------------


def _deictic(groups: Groups) -> Meaning | None:
    word, unit = groups["which"] or "", groups["unit"] or ""
    fiscal = bool(groups["fy"])
    part = ""
    if unit in WEEKDAYS:
        return Meaning(
            None,
            relative=Relative("document", "week", {"last": -1, "next": 1}.get(word, 0), f"-{WEEKDAYS.index(unit) + 1}"),
        )
    if unit[:3] in MONTH_NUMBER and unit not in ("month", "months"):
        return Meaning(
            None,
            relative=Relative(
                "document",
                "month",
                {"last": -12, "past": -12, "next": 12}.get(word, 0),
                f"-{MONTH_NUMBER[unit[:3]]:02d}",
            ),
        )
    if groups["ord"]:
        part = f"-{'H' if groups['sub'] == 'half' else 'Q'}{ORDINALS[groups['ord']]}"
    base = which_year(word, part, fiscal=fiscal)
    return Meaning(None, relative=base._replace(unit=unit.replace("half-year", "half")))  # type: ignore[arg-type]


def _named_day(groups: Groups) -> Meaning:
    steps = {"yesterday": -1, "today": 0, "tomorrow": 1}[groups.group()]
    return Meaning(None, relative=Relative("document", "day", steps))


_WHICH = r"(?P<which>last|past|this|current|next|prior|previous|preceding|following|coming)"
_EARLIER = (
    r"(?:of|in|from|for) (?:the )?(?:prior|previous|last|preceding)(?: fiscal| financial)? year"
    r"|last year|(?:a|one) year (?:earlier|ago|before)|the year before|the (?:prior|previous) year"
)
RELATIVE_RULES = (
    rule("same_period", rf"(?:same|corresponding|comparable|comparative|equivalent|like) (?:period|quarter|month|half|time|three-month period|six-month period|nine-month period) (?:{_EARLIER})(?![a-z])", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("prior_year_part", r"(?:prior|previous|last)[- ]year(?:'s)?[- ](?:quarter|period)(?![a-z])", lambda _: Meaning(None, relative=Relative("text", None, -1))),
    rule("same_quarter", r"same (?:quarter|period|month|half|year)(?![a-z])(?! (?:of|in) )", lambda groups: Meaning(None, relative=Relative("text", None, 0))),
    rule("deictic_part", rf"{_WHICH} (?P<fy>fiscal |financial )?(?P<unit>year)'s (?P<ord>first|second|third|fourth) (?P<sub>quarter|half)(?![a-z])", _deictic),
    rule("deictic", rf"{_WHICH} (?P<fy>fiscal |financial )?(?P<unit>year|quarter|month|week|half-year|half|decade|century|{'|'.join(WEEKDAYS)}|{'|'.join(m for m in MONTHS)})(?P<ord>(?!))?(?P<sub>(?!))?(?![a-z]|-[a-z])(?! (?:of|in|ended|ending) (?:the )?(?:calendar |fiscal |fy ?)?\d)", _deictic,
         lambda text, start, end: not text[start:end].lower().endswith((" march", " may")) or text[end - 3].isupper() or text[end - 5].isupper()),
    rule("named_day", r"(?:yesterday|today|tomorrow)(?![a-z'])", _named_day),
)  # fmt: skip
