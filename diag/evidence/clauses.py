"""Which period a text gives to each of its values: clause by clause, with coordination and headings that carry on."""

from __future__ import annotations

import re
from typing import NamedTuple

from diag.evidence.agreement import Bound, bound_of
from diag.evidence.values import Value, values_in
from diag.evidence.words import words_of
from diag.timex import TimeExpression

_SENTENCE_END = re.compile(r"[.!?;]\s+(?=[A-Z\"“(•0-9])|[。！？；]|\n+")
_ABBREVIATION = re.compile(r"(?:\b[A-Z]|\bNo|\bvs|\bInc|\bCo|\bapprox)$")
_BREAK = re.compile(
    r"[,;，；]|\b(?:and|but|while|whereas|compared|versus|from|against|up|down|as)\b|而|较|相比|同比", re.IGNORECASE
)
_RESPECTIVELY = re.compile(r"respectively|分别", re.IGNORECASE)
_JOINS = re.compile(
    r"[\s,，、/]*(?:and|or|和|及|与|compared (?:to|with))?[\s,$€£¥(]*(?:in |for |at |the )*", re.IGNORECASE
)


class TextValue(NamedTuple):
    """A value in a text with its period (carried from a sentence before where its own has none)."""

    value: Value
    bounds: tuple[Bound, ...]
    sentence: int
    is_carried: bool


class Dated(NamedTuple):
    """A time expression in a text, and the words just before and after it, nearest first."""

    expression: TimeExpression
    bound: Bound
    sentence: int
    before: tuple[str, ...]
    after: tuple[str, ...]


class Sentence(NamedTuple):
    """A sentence's place and its content words."""

    start: int
    end: int
    words: frozenset[str]


class TextReading(NamedTuple):
    """A text's sentences, its values with their periods, and its dated expressions."""

    sentences: tuple[Sentence, ...]
    values: tuple[TextValue, ...]
    dated: tuple[Dated, ...]


_NEAR = re.compile(r"[a-z]+|\d[\d,.]*\d|\d|[㐀-鿿]")
NEAR_WORDS = 8
_NEAR_CHARACTERS = 90


def read_text(text: str, expressions: list[TimeExpression]) -> TextReading:
    """Bind each value of the text to a period, given the text's time expressions."""
    bounds = [(expression, bound) for expression in expressions if (bound := bound_of(expression))]
    taken = [(expression.start, expression.end) for expression in expressions]
    values = values_in(text, taken)
    lowered = text.lower()
    sentences: list[Sentence] = []
    found: list[TextValue] = []
    dated: list[Dated] = []
    carried: tuple[Bound, ...] = ()
    carries_on = False
    next_value = next_bound = 0
    last_end = 0
    for start, end in sentence_spans(text, taken):
        if carried and not carries_on and "\n\n" in text[last_end - 2 : start + 1]:
            carried = ()
        last_end = end
        own: list[tuple[TimeExpression, Bound]] = []
        while next_bound < len(bounds) and bounds[next_bound][0].start < end:
            own.append(bounds[next_bound])
            next_bound += 1
        inside: list[Value] = []
        while next_value < len(values) and values[next_value].start < end:
            inside.append(values[next_value])
            next_value += 1
        index = len(sentences)
        sentences.append(Sentence(start, end, words_of(lowered[start:end])))
        for expression, bound in own:
            left = _NEAR.findall(lowered[max(start, expression.start - _NEAR_CHARACTERS) : expression.start])
            right = _NEAR.findall(lowered[expression.end : min(end, expression.end + _NEAR_CHARACTERS)])
            dated.append(Dated(expression, bound, index, tuple(left[::-1][:NEAR_WORDS]), tuple(right[:NEAR_WORDS])))
        if not own:
            found.extend(TextValue(value, carried, index, True) for value in inside)
            continue
        for value, its in zip(inside, _bind(text, start, end, inside, own), strict=True):
            found.append(TextValue(value, its, index, False))
        carried = tuple(bound for _, bound in own)
        carries_on = _is_heading(text[start:end])
    return TextReading(tuple(sentences), tuple(found), tuple(dated))


_LONGEST_HEADING = 90


def _is_heading(line: str) -> bool:
    """Whether a line stands over what follows: short, and without the end of a sentence."""
    stripped = line.strip()
    return len(stripped) <= _LONGEST_HEADING and stripped[-1:] not in ".!?;。！？；"


def sentence_spans(text: str, taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The sentences; a time expression (`Sept. 2011`) is never cut."""
    spans: list[tuple[int, int]] = []
    start = index = 0
    for match in _SENTENCE_END.finditer(text):
        cut = match.end()
        while index < len(taken) and taken[index][1] <= cut:
            index += 1
        if index < len(taken) and taken[index][0] < cut:
            continue
        if text[match.start()] == "." and _ABBREVIATION.search(text, max(0, match.start() - 8), match.start()):
            continue
        if text[start:cut].strip():
            spans.append((start, cut))
        start = cut
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def _bind(
    text: str, start: int, end: int, values: list[Value], own: list[tuple[TimeExpression, Bound]]
) -> list[tuple[Bound, ...]]:
    if not values:
        return []
    if len(own) == 1 and not _heads_parenthesis(text, own[0][0]):
        return [(own[0][1],)] * len(values)
    if _RESPECTIVELY.search(text, start, end):
        zipped = _respectively(text, values, own)
        if zipped is not None:
            return zipped
    return [_nearest(text, index, values, own) for index in range(len(values))]


def _respectively(
    text: str, values: list[Value], own: list[tuple[TimeExpression, Bound]]
) -> list[tuple[Bound, ...]] | None:
    """`$4.2 bn and $3.9 bn in Q3 and Q2, respectively`: lists of as many values as periods, paired in order."""
    periods = _runs(text, [(expression.start, expression.end) for expression, _ in own])
    lists = _runs(text, [(value.start, value.end) for value in values])
    paired: list[tuple[Bound, ...]] = [()] * len(values)
    matched = False
    for run in lists:
        partners = [other for other in periods if len(other) == len(run)]
        if not partners or len(run) < 2:
            continue
        here = values[run[0]].start
        nearest = min(partners, key=lambda other: abs(own[other[0]][0].start - here))
        for value, period in zip(run, nearest, strict=True):
            paired[value] = (own[period][1],)
        matched = True
    if not matched:
        return None
    return [its or _nearest(text, index, values, own) for index, its in enumerate(paired)]


def _runs(text: str, spans: list[tuple[int, int]]) -> list[list[int]]:
    """Neighbours joined by nothing but commas and conjunctions."""
    runs: list[list[int]] = []
    for index, (start, _) in enumerate(spans):
        if runs and index and _JOINS.fullmatch(text, spans[index - 1][1], start):
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


_OPENED = re.compile(r"[(（]\s*(?:in |at |as at |as of |FY )?$", re.IGNORECASE)
_COLON = re.compile(r"\s*[:：–-]")


def _heads_parenthesis(text: str, expression: TimeExpression) -> bool:
    """`£13.0 million (2018: £12.0 million)`: the period in the parenthesis is that of the value behind it alone."""
    return (
        _COLON.match(text, expression.end) is not None
        and _OPENED.search(text, max(0, expression.start - 12), expression.start) is not None
    )


def _year_after(bound: Bound) -> tuple[Bound, ...]:
    """The reporting period beside a comparative one, which is that of the year before."""
    try:
        period = bound.period.shift(1, "year")
    except ValueError:
        return ()
    return (Bound(period, period.format_like(bound.text), bound.is_bare),)


def _nearest(text: str, index: int, values: list[Value], own: list[tuple[TimeExpression, Bound]]) -> tuple[Bound, ...]:
    """The period after the value in its clause, else the one before it, else the next one of the sentence."""
    value = values[index]
    led = [pair for pair in own if _heads_parenthesis(text, pair[0])]
    for pair in led:
        close = text.find(")", pair[0].end)
        if pair[0].end <= value.start and (close < 0 or value.end <= close + 1):
            return (pair[1],)
    if led:
        outside = [pair for pair in own if pair not in led]
        return _nearest(text, index, values, outside) if outside else _year_after(led[0][1])
    following = next((pair for pair in own if pair[0].start >= value.end), None)
    preceding = next((pair for pair in reversed(own) if pair[0].end <= value.start), None)
    next_value = values[index + 1].start if index + 1 < len(values) else len(text)
    if following is not None and following[0].start < next_value:
        gap = text[value.end : following[0].start]
        if not _BREAK.search(gap) or preceding is None:
            return (following[1],)
    if preceding is not None:
        return (preceding[1],)
    return (following[1],) if following is not None else ()
