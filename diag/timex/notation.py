"""A period in words: in a language's plain form, or in the notation of an example."""

from __future__ import annotations

import re
from functools import lru_cache

from diag.timex.calendar import MONTHS
from diag.timex.period import Period

_POINT = re.compile(
    r"(FY)?(\d{4}|XXXX)(?:-(?:Q([1-4])|H([12])|W(\d\d|XX)(?:-([1-7]))?|(\d\d|XX)(?:-(\d\d|XX))?))?(?:T(.+))?"
)
_ORDINALS = ("first", "second", "third", "fourth")
_CJK = re.compile(r"[㐀-鿿]")
_FULL_WIDTH = {48 + digit: 0xFF10 + digit for digit in range(10)}
_ZH_DIGITS = "〇一二三四五六七八九"
_UNIT_WORDS = {"Y": "year", "Q": "quarter", "M": "month", "W": "week", "D": "day"}
_TIME_WORDS = {"H": "hour", "M": "minute", "S": "second"}
_ZH_UNITS = {"Y": "年", "Q": "个季度", "M": "个月", "W": "周", "D": "天"}
_ZH_TIME_UNITS = {"H": "小时", "M": "分钟", "S": "秒"}
_EN_CENTURIES = {16: "17th", 17: "18th", 18: "19th", 19: "20th", 20: "21st"}


def format_period(period: Period, language: str = "en") -> str:
    """The plain form: `third quarter of 2023`, `FY2023`, `September 30, 2023`; `2023年第三季度` for Chinese."""
    chinese = language.lower().startswith("zh")
    point = _chinese if chinese else _english
    if not period.is_range:
        return point(period.value)
    first, _, last = period.value.partition("/")
    if not first:
        return f"直到{point(last)}" if chinese else f"until {point(last)}"
    if not last:
        return f"自{point(first)}以来" if chinese else f"since {point(first)}"
    return f"{point(first)}至{point(last)}" if chinese else f"from {point(first)} to {point(last)}"


def _english(value: str) -> str:
    if duration := _duration(value):
        count, unit, is_time = duration
        word = (_TIME_WORDS if is_time else _UNIT_WORDS)[unit]
        return f"{count} {word}{'' if count == '1' else 's'}"
    if len(value) == 3:
        return f"{value}0s"
    if len(value) == 2:
        return f"{_EN_CENTURIES.get(int(value), f'{int(value) + 1}th')} century"
    fields = _fields(value)
    if fields is None:
        return value
    fiscal, year, quarter, half, month, day = fields
    year_word = "" if year == "XXXX" else year
    if quarter or half:
        name = f"{_ORDINALS[int(quarter or half) - 1]} {'fiscal ' if fiscal and not year_word else ''}{'quarter' if quarter else 'half'}"
        return f"{name} of {'fiscal ' if fiscal else ''}{year_word}" if year_word else name
    if day:
        return f"{MONTHS[int(month) - 1].capitalize()} {int(day)}{f', {year_word}' if year_word else ''}"
    if month:
        return f"{MONTHS[int(month) - 1].capitalize()}{f' {year_word}' if year_word else ''}"
    return f"FY{year}" if fiscal else year


def _chinese(value: str) -> str:
    if duration := _duration(value):
        count, unit, is_time = duration
        return f"{count}{(_ZH_TIME_UNITS if is_time else _ZH_UNITS)[unit]}"
    if len(value) == 3:
        return f"{int(value[:2]) + 1}世纪{value[2]}0年代"
    if len(value) == 2:
        return f"{int(value) + 1}世纪"
    fields = _fields(value)
    if fields is None:
        return value
    fiscal, year, quarter, half, month, day = fields
    year_word = "" if year == "XXXX" else f"{year}{'财年' if fiscal else '年'}"
    if quarter:
        return f"{year_word}第{_ZH_DIGITS[int(quarter)]}{'财季' if fiscal and not year_word else '季度'}"
    if half:
        return f"{year_word}{'上' if half == '1' else '下'}半{'财年' if fiscal and not year_word else '年'}"
    if day:
        return f"{year_word}{int(month)}月{int(day)}日"
    return f"{year_word}{int(month)}月" if month else year_word


def _fields(value: str) -> tuple[str, str, str, str, str, str] | None:
    """`FY`, year, quarter, half, month and day, empty where unsaid; None where the value is best left as it is."""
    match = _POINT.fullmatch(value)
    if match is None:
        return None
    fiscal, year, quarter, half, week, _, month, day, time = match.groups(default="")
    return None if week or time or "XX" in (month, day) else (fiscal, year, quarter, half, month, day)


def _duration(value: str) -> tuple[str, str, bool] | None:
    match = re.fullmatch(r"P(T?)(\d+)([YQMWDHS])", value)
    return (match[2], match[3], bool(match[1])) if match else None


def format_like(period: Period, example: str) -> str:
    """The period in the notation of `example`, by putting its fields where the example has its own.

    Where the example says another kind of time, or its notation cannot carry the period, the plain form of the
    example's language.
    """
    fallback = format_period(period, "zh" if _CJK.search(example) else "en")
    written = _substituted(period.value, example)
    if written is None:
        return fallback
    from diag.timex.find import find

    found = find(written, fiscal_year_end=period.fiscal_year_end)
    is_whole = len(found) == 1 and found[0].start == 0 and found[0].end == len(written)
    return written if is_whole and found[0].period is not None and found[0].period.value == period.value else fallback


@lru_cache(maxsize=4096)
def _substituted(value: str, example: str) -> str | None:
    from diag.timex.find import find

    found = find(example)
    if len(found) != 1 or found[0].period is None:
        return None
    new, old = _POINT.fullmatch(value), _POINT.fullmatch(found[0].period.value)
    if new is None or old is None or [bool(g) for g in new.groups()[1:]] != [bool(g) for g in old.groups()[1:]]:
        return None
    text = example
    for index, replace in (
        (2, _replace_year),
        (3, _replace_part),
        (4, _replace_part),
        (7, _replace_month),
        (8, _replace_day),
    ):
        if new[index] != old[index]:
            replaced = replace(text, old[index], new[index])
            if replaced is None:
                return None
            text = replaced
    return text


def _replace_year(text: str, old: str, new: str) -> str | None:
    if not (old.isdigit() and new.isdigit()):
        return None
    if old in text:
        return text.replace(old, new, 1)
    full_width = old.translate(_FULL_WIDTH)
    if full_width in text:
        return text.replace(full_width, new.translate(_FULL_WIDTH), 1)
    chinese = "".join(_ZH_DIGITS[int(digit)] for digit in old)
    if chinese in text:
        return text.replace(chinese, "".join(_ZH_DIGITS[int(digit)] for digit in new), 1)
    short = re.compile(rf"(?<!\d){old[2:]}(?!\d)")
    matches = list(short.finditer(text))
    if not matches or not 1970 <= int(new) < 2070:
        return None
    last = matches[-1]
    return text[: last.start()] + new[2:] + text[last.end() :]


def _replace_part(text: str, old: str, new: str) -> str | None:
    number, other = int(old), int(new)
    pairs = [
        (rf"(?<=[qh]){old}(?!\d)", new),
        (rf"(?<!\d){old}(?=[qh](?![a-z]))", new),
        (rf"\b{_ORDINALS[number - 1]}\b", _ORDINALS[other - 1]),
        (rf"\b{('1st', '2nd', '3rd', '4th')[number - 1]}\b", ("1st", "2nd", "3rd", "4th")[other - 1]),
        (rf"{_ZH_DIGITS[number]}(?=个?季|财季)", _ZH_DIGITS[other]),
        (rf"(?<!\d){old}(?=\s?个?季|财季)", new),
        (rf"{old.translate(_FULL_WIDTH)}(?=\s?个?季|财季)", new.translate(_FULL_WIDTH)),
        ("上半" if number == 1 else "下半", "上半" if other == 1 else "下半"),
    ]
    for pattern, replacement in pairs:
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            return text[: match.start()] + _in_case_of(match.group(), replacement) + text[match.end() :]
    return None


def _replace_month(text: str, old: str, new: str) -> str | None:
    name, other = MONTHS[int(old) - 1], MONTHS[int(new) - 1]
    match = re.search(rf"\b{name}\b", text, re.IGNORECASE)
    if match is None:
        match, other = re.search(rf"\b(?:{name[:3]}|sept)(?=\b|\d)", text, re.IGNORECASE), other[:3]
    if match is not None:
        return text[: match.start()] + _in_case_of(match.group(), other) + text[match.end() :]
    return _replace_number(text, old, new, (r"(?=\s?月)", r"(?=[-/.])"))


def _replace_day(text: str, old: str, new: str) -> str | None:
    return _replace_number(text, old, new, (r"(?=\s?[日号])", r"(?=(?:st|nd|rd|th)?(?:,|\s|-|$))", ""))


def _replace_number(text: str, old: str, new: str, contexts: tuple[str, ...]) -> str | None:
    plain = (str(int(old)), str(int(new)))
    in_words = re.search(r"[^\W\d_]", text) is not None
    for context in contexts:
        for written, other in ((old, plain[1] if in_words else new), plain):
            matches = list(re.finditer(rf"(?<!\d){written}(?!\d){context}", text))
            if matches:
                match = matches[-1]
                return text[: match.start()] + other + text[match.end() :]
    return None


def _in_case_of(example: str, word: str) -> str:
    if example.isupper() and len(example) > 1:
        return word.upper()
    return word.capitalize() if example[:1].isupper() else word
