"""The values that a source gives the same thing under other periods: what a value's answer competes with."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from diag.evidence.agreement import agreement
from diag.evidence.source import Mention, SourceReading
from diag.evidence.words import words_of
from diag.timex import find

_ALIKE = 0.5
_MOST = 12
_EVERYWHERE = math.log(1.9)
"""What is taken off every weight, so that a word of all places has next to none."""


def rival_values(question: str, number: float, reading: SourceReading) -> list[Mention]:
    """Mentions that share row, sentence or label with `number`, or with what the question asks about, under other periods.

    Where the source does not have `number`, the place that shares most words with the question stands for it. Each
    number comes once, `number` itself not, at most a dozen; the nearest first.
    """
    words = words_of(_without_times(question).lower())
    every = [mention for group in reading.mentions.values() for mention in group if mention.bounds]
    anchors = reading.mentions.get(number, [])
    weight = _weights(every, words_of(" ".join(_NAME.findall(question)).lower()))
    anchor = _best(words, weight, anchors) or _best(words, weight, every)
    if anchor is None or not (anchors or words & anchor.words):
        return []
    core = words & anchor.words or anchor.words
    found: dict[float, Mention] = {}
    for mention in [*_beside(anchor, every), *_labelled_alike(anchor, core, weight, every)]:
        if mention.value.number != number and mention.value.is_percent == anchor.value.is_percent:
            found.setdefault(mention.value.number, mention)
    if not anchors:
        found.setdefault(anchor.value.number, anchor)
    return list(found.values())[:_MOST]


def _without_times(text: str) -> str:
    for expression in reversed(find(text)):
        text = f"{text[: expression.start]} {text[expression.end :]}"
    return text


Weights = Mapping[str, float]
_NAME = re.compile(r"(?<=[a-z0-9,] )[A-Z][\w-]*(?: [A-Z][\w-]*)*")
_NAME_SHARE = 0.3


def _weights(mentions: Sequence[Mention], names: frozenset[str]) -> Weights:
    """How telling each word is: a name, or a word that labels every value of a source, hardly says which one is meant."""
    places = {mention.place: mention.words for mention in mentions}
    counts = Counter(word for words in places.values() for word in words)
    return {
        word: (math.log(1 + len(places) / count) - _EVERYWHERE) * (_NAME_SHARE if word in names else 1.0)
        for word, count in counts.items()
    }


def _sum(weight: Weights, words: Iterable[str]) -> float:
    return sum(weight.get(word, 0.0) for word in words)


def _best(words: frozenset[str], weight: Weights, mentions: Iterable[Mention]) -> Mention | None:
    return max(mentions, key=lambda mention: (_sum(weight, words & mention.words), bool(mention.bounds)), default=None)


def _beside(anchor: Mention, every: Iterable[Mention]) -> Iterable[Mention]:
    return (one for one in every if one.place == anchor.place and _is_of_another_period(anchor, one))


def _labelled_alike(
    anchor: Mention, core: frozenset[str], weight: Weights, every: Iterable[Mention]
) -> Iterable[Mention]:
    whole = _sum(weight, core)
    for one in every:
        if whole > 0 and _sum(weight, core & one.words) >= _ALIKE * whole and _is_of_another_period(anchor, one):
            yield one


def _is_of_another_period(anchor: Mention, other: Mention) -> bool:
    """Whether no period of the one is one of the other's; where the anchor has none, another period will do."""
    return all(agreement(one, two) != "same" for one in anchor.bounds for two in other.bounds)
