"""Values: the numbers of reports, with their currency, scale, sign and percent, and when two are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SCALES = {
    "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "b": 1e9, "trillion": 1e12,
    "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12, "千": 1e3,
}  # fmt: skip
_VALUE = re.compile(
    r"(?<![A-Za-z0-9_.])(?<!\d[,，])"
    r"(?P<number>\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?![\d]|[-/]\d)"
    r"\)?\s?(?P<scale>thousand|million|billion|trillion|bn|mn|[kmb](?![a-z])|万亿|百万|千万|亿|万|千|%|％|percent|per cent|个百分点)?(?:美元|元)?",
    re.IGNORECASE,
)
_WORD_JOINED = re.compile(r"[A-Za-z_-]")


class Value(NamedTuple):
    """A number as written: its magnitude without sign, the scale word's factor (1 where none), whether a percentage."""

    number: float
    scale: float
    is_percent: bool
    decimals: int
    start: int
    end: int

    @property
    def key(self) -> float:
        """What equal spellings share, whatever their separators, signs, currency and scale."""
        return self.number


def values_in(text: str, taken: list[tuple[int, int]] | None = None) -> list[Value]:
    """The values of a text, left to right, without those inside the spans of `taken` (its time expressions)."""
    return list(_values(text, taken or []))


def _values(text: str, taken: list[tuple[int, int]]) -> Iterator[Value]:
    index = 0
    for match in _VALUE.finditer(text):
        start, end = match.span("number")
        while index < len(taken) and taken[index][1] <= start:
            index += 1
        if index < len(taken) and taken[index][0] < end:
            continue
        after = text[end : end + 1]
        scale = (match["scale"] or "").lower()
        if after and _WORD_JOINED.match(after) and not scale:
            continue
        digits = match["number"].replace(",", "").replace("，", "")
        _, _, fraction = digits.partition(".")
        is_percent = scale in ("%", "％", "percent", "per cent", "个百分点")
        yield Value(float(digits), _SCALES.get(scale, 1.0), is_percent, len(fraction), start, match.end())


def agree_scaled(claim: Value, source: Value, unit: float) -> bool:
    """Whether the claim's value is the source's, `unit` its table's scale, rounded to the claim's decimals."""
    if claim.is_percent != source.is_percent or claim.scale == 1.0:
        return False
    factor = source.scale if source.scale != 1.0 else unit
    return abs(source.number * factor / claim.scale - claim.number) <= 0.5 * 10**-claim.decimals


def table_unit(text: str) -> float:
    """The scale that a table's caption or header gives (`in thousands`, `百万元`); 1 where it gives none."""
    match = re.search(
        r"\bin (thousand|million|billion)s?\b|[(（]?(?:单位[:：])?\s?(?:人民币)?(千|百万|万|亿)元", text.lower()
    )
    return _SCALES[match[1] or match[2]] if match else 1.0
