"""From a text to its matches: fold the text one-for-one, fire the triggers, try the rules."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from diag.timex.chinese import CHINESE, ROC_YEARS
from diag.timex.english import ENGLISH
from diag.timex.grammar import Language, Meaning, Opening, Rule, Scanner, compile_scanner
from diag.timex.numeric import DAY_FIRST, MONTH_FIRST, NUMERIC

LANGUAGES: dict[str, Language] = {"en": ENGLISH, "zh": CHINESE}

_CJK = re.compile(r"[㐀-鿿豈-﫿]")
_FOLDED = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000‐‑‒–—−―﹣－’‘ʼ′´`／：～〜０-９Ａ-Ｚａ-ｚ\u2008]")
_COMPATIBLE = re.compile(r"[ﬀ-ﬆ①-⑳Ⅰ-ⅿ㋀-㋋㏠-㏾㍘-㍰⁰-₉⼀-⿕²³¹]")
_FOLDS = {
    **{
        ord(c): " "
        for c in "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
    },
    **{ord(c): "-" for c in "‐‑‒–—−―﹣－"},
    **{ord(c): "'" for c in "’‘ʼ′´`"},
    ord("／"): "/",
    ord("："): ":",
    ord("～"): "~",
    ord("〜"): "~",
    **{0xFF10 + n: str(n) for n in range(10)},
    **{0xFF21 + n: chr(ord("a") + n) for n in range(26)},
    **{0xFF41 + n: chr(ord("a") + n) for n in range(26)},
}


class Match(NamedTuple):
    """A rule's match in the folded text; `start` and `end` are offsets of that text."""

    start: int
    end: int
    meaning: Meaning
    rule: Rule


def known_language(language: str | None) -> str | None:
    """The code of a language that has a table (`zh` for `zh-CN`), else None."""
    code = (language or "").lower().replace("_", "-").split("-")[0]
    return code if code in LANGUAGES else None


def languages_of(text: str, language: str | None) -> tuple[str, ...]:
    """The languages to look for: the one asked for, else Chinese where there is a Chinese character, and English.

    Raises ValueError for a language that has no table.
    """
    if language is not None:
        code = known_language(language)
        if code is None:
            raise ValueError(f"no time expressions are known for language {language!r}; known: {', '.join(LANGUAGES)}")
        if code == "en":
            return ("en",)
        return (code, "en")
    if not text.isascii() and _CJK.search(text):
        return ("zh", "en")
    return ("en",)


def fold(text: str) -> tuple[str, list[int] | None]:
    """The text as the patterns see it, and for each of its offsets the original's (None where they are the same).

    Lower case, plain spaces, hyphens and apostrophes, ASCII digits and letters for full-width ones: one character for
    one. Ligatures and other compatibility characters that NFKC makes longer need the list of offsets.
    """
    if text.isascii():
        return text.lower(), None
    if _COMPATIBLE.search(text):
        return _fold_by_character(text)
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    if _FOLDED.search(text):
        lowered = _FOLDED.sub(_fold_one, lowered)
    return lowered, None


def _fold_one(match: re.Match[str]) -> str:
    char = match.group()
    return _FOLDS.get(ord(char), char)


def _fold_by_character(text: str) -> tuple[str, list[int]]:
    pieces: list[str] = []
    offsets: list[int] = []
    for index, char in enumerate(text):
        piece = unicodedata.normalize("NFKC", char).lower() if _COMPATIBLE.match(char) else char.lower()
        piece = piece if len(piece) == 1 or _COMPATIBLE.match(char) else char
        piece = "".join(_FOLDS.get(ord(c), c) for c in piece)
        pieces.append(piece)
        offsets.extend([index] * len(piece))
    offsets.append(len(text))
    return "".join(pieces), offsets


@lru_cache(maxsize=8)
def _scanner(codes: tuple[str, ...], day_first: bool, roc_years: bool) -> Scanner:
    first = (ROC_YEARS,) if roc_years and "zh" in codes else ()
    scanner = compile_scanner((*first, *(LANGUAGES[code] for code in codes if code != "en"), NUMERIC, ENGLISH))
    if not day_first:
        return scanner
    openings = {
        start: Opening(
            opening.pattern,
            {key: tuple(DAY_FIRST if r is MONTH_FIRST else r for r in rules) for key, rules in opening.rules.items()},
        )
        for start, opening in scanner.openings.items()
    }
    return Scanner(scanner.starts, openings)


_meanings: dict[tuple[str, str], Meaning | None] = {}
_MEANINGS_KEPT = 20_000
_LONGEST_EXPRESSION = 200


def scan(
    folded: str, original: str, codes: tuple[str, ...], *, day_first: bool = False, roc_years: bool = False
) -> list[Match]:
    """All matches, left to right, none overlapping another; `original` is the text whose capitals the rules ask for."""
    scanner = _scanner(codes, day_first, roc_years)
    openings = scanner.openings
    found: list[Match] = []
    position = 0
    for first in scanner.starts.finditer(folded):
        start = first.start()
        if start < position:
            continue
        opening = openings[first.group()]
        hit = opening.pattern.match(folded, start)
        if hit is None:
            continue
        match = _first_match(opening.rules[hit.lastgroup or ""], folded, original, start)
        if match is not None:
            found.append(match)
            position = match.end
    return found


def _first_match(rules: tuple[Rule, ...], folded: str, original: str, start: int) -> Match | None:
    for rule in rules:
        # The window's end matters: to the end of the text, `regex` would look for a pattern's required letters each time.
        match = rule.match(folded, start, start + _LONGEST_EXPRESSION)
        if match is None:
            continue
        end = match.end()
        if rule.accept is not None and not rule.accept(original, start, end):
            continue
        key = (rule.name, match.group())
        if key in _meanings:
            meaning = _meanings[key]
        else:
            meaning = rule.build(match)
            if len(_meanings) < _MEANINGS_KEPT:
                _meanings[key] = meaning
        if meaning is not None:
            return Match(start, end, meaning, rule)
    return None
