"""A source as the evidence tier sees it: its text and tables read once, its values indexed by number."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from diag.evidence.agreement import Bound
from diag.evidence.clauses import Dated, Sentence, read_text
from diag.evidence.tables import read_table
from diag.evidence.values import Value
from diag.evidence.words import words_of
from diag.records import Record, SourceSpan, Table
from diag.timex import FiscalYearEnd, TimeExpression, find


@dataclass(frozen=True, slots=True)
class Source:
    """What a claim is held against: text (Markdown tables in it are read as tables) and tables of cells."""

    text: str = ""
    tables: tuple[Table, ...] = ()

    @classmethod
    def of(cls, record: Record) -> Source:
        """The source of a record."""
        return cls(record.context, record.tables)


class Mention(NamedTuple):
    """A value somewhere in the source, the periods it belongs to, and the words around it."""

    value: Value
    bounds: tuple[Bound, ...]
    words: frozenset[str]
    span: SourceSpan
    unit: float = 1.0
    is_carried: bool = False
    place: tuple[str, int] = ("", 0)
    """The table (`table 0`, `text table 0`) and row, or `sentence` and its number: what stands there belongs together."""


class SourceReading(NamedTuple):
    """All that a judgement asks of a source."""

    mentions: dict[float, list[Mention]]
    sentences: tuple[Sentence, ...]
    dated: tuple[Dated, ...]
    bounds: tuple[Bound, ...]
    expressions: tuple[TimeExpression, ...]
    vocabulary: frozenset[str]
    """All content words of its sentences."""
    terms: Mapping[str, TimeExpression]
    """Names that it defines as times."""


_DEFINES = re.compile(
    r"[\"“”「『](?P<name>[^\"“”「」『』\n]{2,40})[\"“”」』]\s*,?\s*(?:means|shall mean|refers? to|denotes|is defined as|是指|系指|指|定义为)"
    r"[^.;。；\n]{0,40}$",
    re.IGNORECASE,
)
_NAMED_AFTER = re.compile(r"\s*[(（](?:the |hereinafter |以下简称)*[\"“「](?P<name>[^\"“”「」\n]{2,40})[\"”」]\s*[)）]")
_BEFORE_DEFINED = 100


def defined_terms(text: str, expressions: list[TimeExpression]) -> dict[str, TimeExpression]:
    """The names that a text gives to times (`"Base Quarter" means Q3 2021`)."""
    named: dict[str, TimeExpression] = {}
    if not any(mark in text for mark in '"“「『'):
        return named
    for expression in expressions:
        before = _DEFINES.search(text, max(0, expression.start - _BEFORE_DEFINED), expression.start)
        match = before or _NAMED_AFTER.match(text, expression.end)
        if match is not None and expression.kind in ("date", "range"):
            named.setdefault(match["name"], expression)
    return named


def with_terms(
    text: str, expressions: list[TimeExpression], named: Mapping[str, TimeExpression]
) -> list[TimeExpression]:
    """The expressions of a text, and every use of a name that stands for a time."""
    if not named:
        return expressions
    starts = [expression.start for expression in expressions]
    uses: list[TimeExpression] = []
    for match in re.finditer("|".join(re.escape(name) for name in sorted(named, key=len, reverse=True)), text):
        start, end = match.span()
        after = bisect_right(starts, start)
        is_free = (after == 0 or expressions[after - 1].end <= start) and (after == len(starts) or starts[after] >= end)
        if is_free and text[start - 1 : start] not in ('"', "“", "「", "『"):
            uses.append(replace(named[match.group()], start=start, end=end, text=match.group()))
    return sorted([*expressions, *uses], key=lambda expression: expression.start)


_PIPE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_PIPE_RULE = re.compile(r"[\s|:\-]+")
_WIDEST_CAPTION = 160


@lru_cache(maxsize=64)
def read_source(
    source: Source,
    language: str | None,
    document_date: date | str | None,
    fiscal_year_end: str | FiscalYearEnd | None,
    day_first: bool = False,
) -> SourceReading:
    """Read a source; the last ones read are kept, since many questions share one."""

    def find_in(text: str) -> list[TimeExpression]:
        return find(
            text, language=language, document_date=document_date, fiscal_year_end=fiscal_year_end, day_first=day_first
        )

    mentions: list[Mention] = []
    bounds: list[Bound] = []
    text = source.text
    for number, (first, last, rows) in enumerate(_markdown_tables(text)):
        caption = text[max(0, first - _WIDEST_CAPTION) : first]
        reading = read_table([[cell for cell, _ in row] for row in rows], find_in, caption)
        for cell in reading.values:
            content, offset = rows[cell.row][cell.column]
            span = SourceSpan(offset, offset + len(content), content)
            place = (f"text table {number}", cell.row)
            mentions.append(Mention(cell.value, cell.bounds, cell.words, span, reading.unit, place=place))
        bounds.extend(reading.bounds)
        text = text[:first] + re.sub(r"[^\n]", " ", text[first:last]) + text[last:]
    for number, table in enumerate(source.tables):
        reading = read_table(table.rows, find_in, f"{table.title} {source.text[:_WIDEST_CAPTION]}")
        for cell in reading.values:
            content = table.rows[cell.row][cell.column]
            span = SourceSpan(0, len(content), content, number, cell.row, cell.column)
            place = (f"table {number}", cell.row)
            mentions.append(Mention(cell.value, cell.bounds, cell.words, span, reading.unit, place=place))
        bounds.extend(reading.bounds)
    expressions = find_in(text)
    terms = defined_terms(text, expressions)
    prose = read_text(text, with_terms(text, expressions, terms))
    for value in prose.values:
        sentence = prose.sentences[value.sentence]
        span = SourceSpan(value.value.start, value.value.end, text[value.value.start : value.value.end])
        place = ("sentence", value.sentence)
        mentions.append(
            Mention(value.value, value.bounds, sentence.words, span, is_carried=value.is_carried, place=place)
        )
    bounds.extend(dated.bound for dated in prose.dated)
    index: dict[float, list[Mention]] = {}
    for mention in mentions:
        index.setdefault(mention.value.key, []).append(mention)
    vocabulary = frozenset[str]().union(*(sentence.words for sentence in prose.sentences))
    return SourceReading(
        index, prose.sentences, prose.dated, tuple(dict.fromkeys(bounds)), tuple(expressions), vocabulary, terms
    )


def _markdown_tables(text: str) -> Iterator[tuple[int, int, list[list[tuple[str, int]]]]]:
    """Start, end and cells (with their offsets) of each run of `|` rows."""
    if "|" not in text:
        return
    run: list[re.Match[str]] = []
    for match in _PIPE_ROW.finditer(text):
        if run and match.start() != run[-1].end() + 1:
            yield from _one_table(text, run)
            run = []
        run.append(match)
    yield from _one_table(text, run)


def _one_table(text: str, run: list[re.Match[str]]) -> Iterator[tuple[int, int, list[list[tuple[str, int]]]]]:
    if len(run) < 2:
        return
    rows: list[list[tuple[str, int]]] = []
    for line in run:
        if _PIPE_RULE.fullmatch(line.group()):
            continue
        cells: list[tuple[str, int]] = []
        offset = line.start() + line.group().index("|") + 1
        for part in line.group().strip()[1:-1].split("|"):
            content = part.strip()
            cells.append((content, offset + len(part) - len(part.lstrip())))
            offset += len(part) + 1
        rows.append(cells)
    if rows:
        yield run[0].start(), run[-1].end(), rows


def label_words(text: str) -> frozenset[str]:
    """The content words of a question or an answer."""
    return words_of(text.lower())
