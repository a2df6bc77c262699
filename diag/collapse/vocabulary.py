"""The vocabularies: labels that name times, and for each the matched ones that do not, written alike."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from diag.models import Model

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Label:
    """One member of a vocabulary, as it is written; `component` is its part of a TIMEX3 value (`Q3`, `09`), if it has one."""

    text: str
    component: str | None = None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Labels that could stand in each other's place."""

    name: str
    language: Language
    labels: tuple[Label, ...]
    controls: tuple[str, ...] = ()
    """Names of the vocabularies that it is held against; a control has none itself."""

    @property
    def is_time(self) -> bool:
        """Whether the labels name times."""
        return bool(self.controls)

    @property
    def key(self) -> str:
        """Name and language together: `quarters en`."""
        return f"{self.name} {self.language}"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "sigma", "omega")
_COLOURS = ("red", "blue", "green", "yellow", "black", "white", "brown", "pink", "purple", "orange")
_COUNTRIES = ("France", "Germany", "Spain", "Italy", "Japan", "China", "India", "Brazil", "Canada", "Mexico")
_HAN = "一二三四五六七八九十"
_YEARS = range(2012, 2025)
_LIKE_YEARS = 7312
"""The first of the numbers that look like years and are none, apart by one each as years are."""
_DAYS = range(10, 29)
"""Two digits each: behind the first layers `22` is little else than `2` said twice."""
_LIKE_DAYS = 41
_RANDOM = 12
"""Labels of the random control."""

_CODES = {f"codes {letter}": letter for letter in "BKLTVW"}
_THINGS = {f"{noun}s": noun for noun in ("chapter", "floor", "row", "drawer")}
_HALVED = {f"half {noun}s": noun for noun in ("page", "chapter", "wall")}
_COUNTED = {f"counted {noun}": noun for noun in "章卷页排"}
_PARTED = {f"parted {noun}": noun for noun in ("部", "场", "层", "段")}
_MEASURED = {f"measured {noun}": noun for noun in ("米", "吨")}
_GRADED = {f"graded {noun}": noun for noun in ("编号", "等级")}
_ORDERED = ("cardinals", "Greek letters")
"""Closed sets in a fixed order, one word each: as like one another as months are, and no times."""
_WORDS = ("colours", "countries", "random")


def vocabularies(language: Language, model: Model | None = None, *, seed: int = 0) -> list[Vocabulary]:
    """Those of one language: times first, then the controls.

    With `model`, words drawn by the seed from its tokenizer are among the controls: each one token, of about the frequency of
    the months' names (tokenizers number their tokens by frequency).
    """
    every = list(_english() if language == "en" else _chinese())
    drawn = _random_words(model, language, seed) if model else ()
    if len(drawn) > 2:
        every.append(Vocabulary("random", language, tuple(Label(word) for word in drawn)))
    return every


def _english() -> Iterator[Vocabulary]:
    def add(name: str, labels: Sequence[Label], *controls: str) -> Vocabulary:
        return Vocabulary(name, "en", tuple(labels), controls)

    months = [Label(month, f"{number:02}") for number, month in enumerate(_MONTHS, 1)]
    yield add("quarters", _numbered("Q{n}", count=4, component="Q{n}"), *_CODES)
    yield add("quarters in words", _numbered("{word} quarter", count=4, component="Q{n}"), *_THINGS)
    yield add("halves", _numbered("H{n}", count=2, component="H{n}"), *_CODES)
    yield add("halves in words", _numbered("{word} half", count=2, component="H{n}"), *_HALVED, *_THINGS)
    yield add("months", months, "weekdays", "ordinals", *_ORDERED, *_WORDS)
    yield add("years", _numbered("{n}", count=len(_YEARS), first=_YEARS[0], component="{n}"), "numbers")
    yield add("weekdays", _words(_WEEKDAYS), "months", "ordinals", *_ORDERED, *_WORDS)
    yield add("days", _numbered("{n}", count=len(_DAYS), first=_DAYS[0]), "two digits")
    yield add("ordinals", _words(_ORDINALS), "months", "weekdays", *_ORDERED, *_WORDS)
    for name, letter in _CODES.items():
        yield add(name, _numbered(f"{letter}{{n}}", count=4))
    for name, noun in _THINGS.items():
        yield add(name, _numbered(f"{{word}} {noun}", count=4))
    for name, noun in _HALVED.items():
        yield add(name, _numbered(f"{{word}} half {noun}", count=2))
    yield add("colours", _words(_COLOURS))
    yield add("countries", _words(_COUNTRIES))
    yield add("cardinals", _words(_CARDINALS))
    yield add("Greek letters", _words(_GREEK))
    yield add("numbers", _numbered("{n}", count=len(_YEARS), first=_LIKE_YEARS))
    yield add("two digits", _numbered("{n}", count=len(_DAYS), first=_LIKE_DAYS))


def _chinese() -> Iterator[Vocabulary]:
    def add(name: str, labels: Sequence[Label], *controls: str) -> Vocabulary:
        return Vocabulary(name, "zh", tuple(labels), controls)

    yield add("quarters", _numbered("第{han}季度", count=4, component="Q{n}"), *_COUNTED)
    yield add("halves", _parted("年", "H{n}"), *_PARTED)
    yield add("months", _numbered("{n}月", count=12, component="{n:02}"), *_MEASURED)
    yield add("years", _numbered("{n}年", count=len(_YEARS), first=_YEARS[0], component="{n}"), "numbers")
    yield add("weekdays", [Label(f"星期{one}") for one in "一二三四五六日"], *_GRADED)
    yield add("days", _numbered("{n}日", count=len(_DAYS), first=_DAYS[0]), "two digits")
    yield add("ordinals", _numbered("第{han}", count=10), *_GRADED)
    for name, noun in _COUNTED.items():
        yield add(name, _numbered(f"第{{han}}{noun}", count=4))
    for name, noun in _PARTED.items():
        yield add(name, _parted(noun))
    for name, noun in _MEASURED.items():
        yield add(name, _numbered(f"{{n}}{noun}", count=12))
    for name, noun in _GRADED.items():
        yield add(name, _numbered(f"{noun}{{han}}", count=10))
    yield add("numbers", _numbered("{n}个", count=len(_YEARS), first=_LIKE_YEARS))
    yield add("two digits", _numbered("{n}个", count=len(_DAYS), first=_LIKE_DAYS))


def _words(words: Sequence[str]) -> list[Label]:
    return [Label(word) for word in words]


def _parted(noun: str, component: str | None = None) -> list[Label]:
    return [
        Label(f"{part}半{noun}", component.format(n=number) if component else None)
        for number, part in enumerate("上下", 1)
    ]


def _numbered(pattern: str, *, count: int, first: int = 1, component: str | None = None) -> list[Label]:
    """`{n}` is the number, `{word}` the ordinal, `{han}` the Chinese numeral."""
    found: list[Label] = []
    for number in range(first, first + count):
        is_small = number <= len(_ORDINALS)
        word, han = (_ORDINALS[number - 1], _HAN[number - 1]) if is_small else ("", "")
        text = pattern.format(n=number, word=word, han=han)
        found.append(Label(text, component.format(n=number) if component else None))
    return found


def _random_words(model: Model, language: Language, seed: int) -> list[str]:
    if language != "en":
        return []
    taken = {word.lower() for word in (*_MONTHS, *_WEEKDAYS, *_ORDINALS, *_CARDINALS, *_GREEK, *_COLOURS, *_COUNTRIES)}
    single = [ids[0] for ids in (_ids(model, f" {month}") for month in _MONTHS) if len(ids) == 1]
    if not single:
        return []
    found: list[str] = []
    for number in range(min(single), max(single) + 1):
        text = str(model.tokenizer.decode([number]))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        word = text.strip()
        is_word = text == f" {word}" and word.isascii() and word.isalpha() and len(word) > 2
        if is_word and word.lower() not in taken and _ids(model, text) == [number]:
            found.append(word)
    return sorted(random.Random(seed).sample(found, min(_RANDOM, len(found))))


def _ids(model: Model, text: str) -> list[int]:
    return list(model.tokenizer(text, add_special_tokens=False)["input_ids"])  # type: ignore[arg-type]
