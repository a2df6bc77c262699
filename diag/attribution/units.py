"""The units that a prompt is explained over: characters a person reads, and exactly the tokens that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from diag.errors import DiagError, InputError
from diag.evidence import bound_of, sentence_spans
from diag.models import Model, Prompt, align
from diag.records import Record
from diag.risk import find_in, read_record
from diag.timex import Period, TimeExpression

UnitKind = Literal["time", "sentence", "cell", "word", "token"]
UNITS: tuple[UnitKind, ...] = ("time", "sentence", "cell", "word", "token")
Place = Literal["source", "question"]

_WORD = re.compile(r"[^\W㐀-鿿_]+(?:['’.,/-][^\W㐀-鿿_]+)*|[㐀-鿿]|[^\w\s]+")
_CELL = re.compile(r"[^|\n]*[^|\s][^|\n]*")


class Region(NamedTuple):
    """A part of the prompt that is explained: characters `start` to `end`."""

    place: Place
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unit:
    """Characters `start` to `end` of the prompt, and the tokens (of its ids) that stand for them, in order."""

    kind: UnitKind
    place: Place
    start: int
    end: int
    text: str
    tokens: tuple[int, ...]
    period: Period | None = None
    expression: TimeExpression | None = None


def regions_of(prompt: Prompt, record: Record | None) -> list[Region]:
    """Source and question of a prompt made from a record; else all of the prompt, as source."""
    if record is None or not prompt.pieces:
        return [Region("source", 0, len(prompt.text))]
    found = [Region("source", piece.in_prompt, piece.in_prompt + piece.length) for piece in prompt.pieces]
    asked = prompt.text.find(record.question, found[-1].end) if record.question.strip() else -1
    if asked >= 0:
        found.append(Region("question", asked, asked + len(record.question)))
    return found


def units_of(model: Model, prompt: Prompt, record: Record, regions: Sequence[Region], kind: UnitKind) -> list[Unit]:
    """The units of one kind, in order; no two share a token, as those that would are one.

    Raises InputError for an unknown kind, DiagError where the tokenizer does not tell which characters a token stands for.
    """
    if kind not in UNITS:
        raise InputError(f"no unit is called {kind!r}: write one of {', '.join(UNITS)}")
    offsets = prompt_offsets(model, prompt)
    if kind == "token":
        return list(_tokens(prompt, offsets, regions))
    drafts = [draft for region in regions for draft in _drafts(prompt.text, record, region, kind)]
    return _with_tokens(prompt.text, offsets, drafts)


def _drafts(text: str, record: Record, region: Region, kind: UnitKind) -> Iterator[Unit]:
    part = text[region.start : region.end]
    if kind == "time":
        for one in _times(part, record):
            bound = bound_of(one)
            start, end = region.start + one.start, region.start + one.end
            yield Unit(kind, region.place, start, end, one.text, (), bound.period if bound else None, one)
        return
    for start, end in _spans(part, record, kind):
        yield Unit(kind, region.place, region.start + start, region.start + end, part[start:end], ())


def _times(part: str, record: Record) -> list[TimeExpression]:
    from diag.evidence import with_terms

    return with_terms(part, find_in(record, part), read_record(record).terms)


def _spans(part: str, record: Record, kind: UnitKind) -> Iterator[tuple[int, int]]:
    if kind == "word":
        yield from (match.span() for match in _WORD.finditer(part))
        return
    for start, end in sentence_spans(part, [(one.start, one.end) for one in find_in(record, part)]):
        is_row = part[start:end].lstrip().startswith("|")
        if kind == "cell" and is_row:
            yield from (_bare(part, *match.span()) for match in _CELL.finditer(part, start, end))
        elif kind == "sentence" or not is_row:
            yield _bare(part, start, end)


def _bare(part: str, start: int, end: int) -> tuple[int, int]:
    text = part[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _tokens(prompt: Prompt, offsets: Sequence[tuple[int, int]], regions: Sequence[Region]) -> Iterator[Unit]:
    for index, (start, end) in enumerate(offsets):
        region = next((one for one in regions if start < one.end and end > one.start), None)
        if region is not None and end > start:
            yield Unit("token", region.place, start, end, prompt.text[start:end], (index,))


def _with_tokens(text: str, offsets: Sequence[tuple[int, int]], drafts: Sequence[Unit]) -> list[Unit]:
    """Give each draft its tokens. One that begins in a token that another has already is joined to that other."""
    found: list[Unit] = []
    place = 0
    for draft in sorted(drafts, key=lambda unit: (unit.start, unit.end)):
        while place and offsets[place - 1][1] > draft.start:
            place -= 1
        while place < len(offsets) and offsets[place][1] <= draft.start:
            place += 1
        own: list[int] = []
        while place < len(offsets) and offsets[place][0] < draft.end:
            start, end = offsets[place]
            if text[max(start, draft.start) : min(end, draft.end)].strip():
                own.append(place)
            place += 1
        if not own:
            continue
        if found and own[0] <= found[-1].tokens[-1]:
            before = found[-1]
            joined = tuple(sorted({*before.tokens, *own}))
            end = max(before.end, draft.end)
            found[-1] = replace(before, end=end, text=text[before.start : end], tokens=joined)
        else:
            found.append(replace(draft, tokens=tuple(own)))
    return found


def prompt_offsets(model: Model, prompt: Prompt) -> list[tuple[int, int]]:
    """The characters of the prompt that each of its tokens stands for; special tokens stand for their own text.

    Raises DiagError where the tokenizer cannot tell.
    """
    tokenizer: Any = model.tokenizer
    if tokenizer.is_fast:
        for special in (False, True):
            encoded = tokenizer(prompt.text, add_special_tokens=special, return_offsets_mapping=True, verbose=False)
            if tuple(encoded["input_ids"]) == prompt.ids:
                return [(int(start), int(end)) for start, end in encoded["offset_mapping"]]
    aligned = align(tokenizer, prompt.ids)
    if aligned.text == prompt.text:
        return list(aligned.offsets)
    raise DiagError(f"model {model.name}: its tokenizer does not tell which characters of a prompt a token stands for")


def touching(units: Iterable[Unit], start: int, end: int) -> list[Unit]:
    """The units that touch characters `start` to `end`."""
    return [unit for unit in units if unit.start < end and unit.end > start]


def inner_units(model: Model, prompt: Prompt, record: Record, outer: Sequence[Unit]) -> list[Unit]:
    """The times of larger units, and the words that are no part of a time."""
    drafts: list[Unit] = []
    for unit in outer:
        region = Region(unit.place, unit.start, unit.end)
        times = list(_drafts(prompt.text, record, region, "time"))
        words = [one for one in _drafts(prompt.text, record, region, "word") if not touching(times, one.start, one.end)]
        drafts.extend([*times, *words])
    return _with_tokens(prompt.text, prompt_offsets(model, prompt), drafts)
