"""Claims with known truth from TAT-QA's reports: real sentences and answers, and the same with a period swapped.

Three kinds, by a fixed seed. `binding`: a question with its gold answer (a value), true as it stands and false with its
year swapped for another year of the same table. `sentence`: a sentence of a paragraph, false with its year swapped for
one elsewhere in the source. `quarter`: a sentence with a quarter in words, false with another quarter's ordinal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from diag.records import Record, read

TATQA = Path(__file__).parents[3] / "shared/data/tatqa/tatqa_dataset_dev.json"
_YEAR = re.compile(r"(?<![\d,.$-])(?:19|20)\d\d(?![\d,%]|\.\d)")
_QUARTER = re.compile(r"\b(first|second|third|fourth)(?= (?:fiscal )?quarters?\b)", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


class Claim(NamedTuple):
    """A claim, its source, and whether its period was swapped (`is_error`). An empty question: a sentence by itself."""

    kind: str
    record: Record
    question: str
    answer: str
    is_error: bool


def claims(path: Path = TATQA, *, seed: int = 20230930) -> Iterator[Claim]:
    """All claims, in the order of the records."""
    draw = random.Random(seed)
    seen: set[str] = set()
    for record in read(path):
        yield from _binding(record, draw)
        if record.group not in seen:
            seen.add(record.group or "")
            yield from _sentences(record, draw)


def table_years(record: Record) -> list[str]:
    """The years in the header rows and row labels of a record's table, in order."""
    found: dict[str, None] = {}
    for table in record.tables:
        for row in table.rows:
            has_value = any(re.search(r"\d", cell) and not _YEAR.fullmatch(cell.strip()) for cell in row[1:])
            for cell in row[:1] if has_value else row:
                found.update(dict.fromkeys(_YEAR.findall(cell)))
    return list(found)


def _binding(record: Record, draw: random.Random) -> Iterator[Claim]:
    if record.extra.get("answer_type") != "span" or not re.search(r"\d", record.answer) or _YEAR.search(record.answer):
        return
    years = _YEAR.findall(record.question)
    if len(years) != 1:
        return
    known = table_years(record)
    others = [year for year in known if year != years[0]]
    if years[0] not in known or not others:
        return
    yield Claim("binding", record, record.question, record.answer, False)
    yield Claim("binding", record, record.question.replace(years[0], draw.choice(others)), record.answer, True)


def _sentences(record: Record, draw: random.Random) -> Iterator[Claim]:
    everything = record.context + " ".join(" ".join(row) for table in record.tables for row in table.rows)
    pool = sorted(set(_YEAR.findall(everything)))
    for sentence in (s for paragraph in record.context.split("\n\n") for s in _SENTENCE.split(paragraph)):
        if not 40 <= len(sentence) <= 600:
            continue
        years = sorted(set(_YEAR.findall(sentence)))
        others = [year for year in pool if year not in years]
        if years and others:
            yield Claim("sentence", record, "", sentence, False)
            yield Claim("sentence", record, "", sentence.replace(draw.choice(years), draw.choice(others)), True)
        quarter = _QUARTER.search(sentence)
        if quarter:
            mentioned = {word.lower() for word in _QUARTER.findall(record.context)}
            choices = [word for word in _ORDINALS if word not in mentioned] or [
                word for word in _ORDINALS if word != quarter.group().lower()
            ]
            word = draw.choice(choices)
            word = word.capitalize() if quarter.group()[0].isupper() else word
            yield Claim("quarter", record, "", sentence, False)
            yield Claim("quarter", record, "", sentence[: quarter.start()] + word + sentence[quarter.end() :], True)
