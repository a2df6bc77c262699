"""What a record leaves behind for the checks over the whole data set: a few numbers, small enough to keep for each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import rensa

from diag.records import Record, id_hash
from diag.timex import Period, TimeExpression, find, known_language

PERMUTATIONS = 64
BANDS = 8
SIGNATURE_BYTES = 4 * PERMUTATIONS
_SHINGLE = 3
_SEED = 20230930
_LONGEST_SHINGLED = 20_000


class Fingerprint(NamedTuple):
    """64-bit hashes, as signed integers.

    `masked` is of the whole record with its times taken out, `question` of its question likewise, `times` of the times
    in order, `answer` of the label; `signature` is the MinHash of the masked words, `bands` its bands.
    """

    id: int
    masked: int
    question: int
    times: int
    answer: int
    bands: tuple[int, ...]
    signature: bytes


def fingerprint(record: Record, expressions: Sequence[TimeExpression]) -> Fingerprint:
    """The fingerprint of a record, given the time expressions of its context."""
    question = find(record.question, language=known_language(record.language))
    asked = _masked(record.question, question)
    masked = f"{_masked(record.context, expressions)}\x1f{asked}"
    tables = "\x1e".join("\x1d".join(row) for table in record.tables for row in table.rows)
    times = "\x1f".join(
        expression.period.value if expression.period else expression.text for expression in (*expressions, *question)
    )
    words = masked[:_LONGEST_SHINGLED].split()
    shingles = [" ".join(words[i : i + _SHINGLE]) for i in range(max(1, len(words) - _SHINGLE + 1))]
    sketch = rensa.RMinHash(num_perm=PERMUTATIONS, seed=_SEED)
    sketch.update(shingles)
    digest = sketch.digest()
    rows = PERMUTATIONS // BANDS
    packed = [value.to_bytes(4, "little") for value in digest]
    return Fingerprint(
        signed(id_hash(record.id)),
        _hash(f"{masked}\x1f{tables}"),
        _hash(asked),
        _hash(times),
        _hash(record.answer.strip().lower()),
        tuple(_hash_bytes(b"".join(packed[band * rows : (band + 1) * rows])) for band in range(BANDS)),
        b"".join(packed),
    )


def likeness(one: bytes, other: bytes) -> float:
    """The estimated Jaccard similarity of two signatures."""
    equal = sum(one[i : i + 4] == other[i : i + 4] for i in range(0, len(one), 4))
    return equal / (len(one) // 4)


def label_class(label: Period | None) -> str | None:
    """The part of a year that a label names (`Q4`, `month 03`), or its year: what class balance counts."""
    if label is None or label.is_duration or label.is_range:
        return None
    value = label.value
    if label.granularity in ("quarter", "half"):
        return value[-2:]
    if label.granularity == "month":
        return f"month {value[-2:]}"
    return f"year {value.removeprefix('FY')[:4]}" if label.granularity in ("year", "day") else None


def _masked(text: str, expressions: Iterable[TimeExpression]) -> str:
    pieces: list[str] = []
    last = 0
    for expression in expressions:
        pieces.append(text[last : expression.start])
        last = expression.end
    pieces.append(text[last:])
    return "\x00".join(pieces).lower()


def _hash(text: str) -> int:
    return _hash_bytes(text.encode("utf-8", "surrogatepass"))


def _hash_bytes(content: bytes) -> int:
    return signed(int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little"))


def signed(number: int) -> int:
    """An unsigned 64-bit number as the signed one of the same bits: what an Arrow int64 column holds."""
    return number - (1 << 64) if number >= 1 << 63 else number
