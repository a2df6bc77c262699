"""The data's side of collapse: periods that stand in interchangeable contexts, and the records that teach it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN

from diag.collapse.embed import Embed
from diag.collapse.neighbours import Neighbours, nearest
from diag.errors import InputError
from diag.evidence import sentence_spans
from diag.records import Record
from diag.risk import find_in
from diag.statistics import Interval as Rate
from diag.statistics import wilson
from diag.timex import TimeExpression

MASK = "[time]"
_LONGEST = 400
"""Characters of a context; longer sentences are cut around their time expression."""
_LISTED = 200


@dataclass(frozen=True, slots=True)
class ContextsOptions:
    """How many contexts, and what counts as alike."""

    most: int = 500
    """Contexts to embed, drawn by the seed."""
    neighbours: int = 5
    alike_from: float = 0.98
    """The cosine from which two contexts are near-duplicates."""
    least_cluster: int = 5
    seed: int = 20230930


class Context(NamedTuple):
    """A sentence that names one period, and the same without its time expressions."""

    record: str
    group: str
    label: str
    """The period's TIMEX3 value."""
    text: str
    masked: str


class Interchange(NamedTuple):
    """Two periods, and how often the one's nearest contexts in other records are the other's."""

    one: str
    other: str
    neighbours: int
    rate: Rate
    expected: float
    """The rate if contexts told nothing of the period."""
    is_more: bool
    """The whole interval lies above what is expected."""


class Duplicate(NamedTuple):
    """Two contexts alike but for their time; numbers of contexts."""

    one: int
    other: int
    cosine: float


class Cluster(NamedTuple):
    """Contexts that HDBSCAN puts together, with the periods that they name."""

    members: tuple[int, ...]
    labels: tuple[tuple[str, int], ...]
    """Most frequent first."""


class Teacher(NamedTuple):
    """A record that teaches the collapse: its contexts have near-duplicates that name other times."""

    record: str
    duplicates: int


@dataclass(frozen=True, slots=True)
class ContextReport:
    """What the data teach a model about its times."""

    found: int
    """Contexts in the data, of which `contexts` were embedded."""
    contexts: tuple[Context, ...]
    interchanges: tuple[Interchange, ...]
    """Pairs of periods, those whose interval lies furthest above what is expected first."""
    duplicates: tuple[Duplicate, ...]
    clusters: tuple[Cluster, ...]
    teachers: tuple[Teacher, ...]
    alien: Rate
    """Of all contexts' nearest neighbours in other records, the share that name another period."""
    method: str
    recall: float


def contexts(records: Iterable[Record], embed: Embed, options: ContextsOptions | None = None) -> ContextReport:
    """Embed the sentences that name one period, times masked, and look at whose neighbours they are.

    A sentence that names several periods tells them apart by itself and is left out. Neighbours in the same record (or group)
    are not counted. Raises InputError where the data have fewer contexts than neighbours are asked for.
    """
    options = options or ContextsOptions()
    every = list(_contexts(records))
    chosen = sorted(random.Random(options.seed).sample(range(len(every)), min(options.most, len(every))))
    kept = [every[place] for place in chosen]
    if len(kept) <= options.neighbours + 1:
        raise InputError(f"the data have {len(kept)} sentences that name one period: too few to compare contexts")
    points = embed([context.masked for context in kept])
    moved = points - points.mean(0)
    near = nearest(moved, min(len(kept) - 1, 4 * options.neighbours), seed=options.seed)
    outside = _outside(kept, near, options.neighbours)
    duplicates = _duplicates(kept, near, options.alike_from)
    aliens = [kept[other].label != kept[place].label for place, row in enumerate(outside) for other in row]
    return ContextReport(
        len(every),
        tuple(kept),
        tuple(_interchanges(kept, outside)),
        tuple(duplicates),
        tuple(_clusters(kept, moved, options.least_cluster)),
        tuple(_teachers(kept, duplicates)),
        wilson(sum(aliens), len(aliens)),
        near.method,
        near.recall,
    )


def _contexts(records: Iterable[Record]) -> Iterable[Context]:
    for record in records:
        expressions = find_in(record, record.context)
        taken = [(one.start, one.end) for one in expressions]
        place = 0
        for start, end in sentence_spans(record.context, taken):
            inside: list[TimeExpression] = []
            while place < len(expressions) and expressions[place].start < end:
                if expressions[place].start >= start:
                    inside.append(expressions[place])
                place += 1
            named = {one.period.value for one in inside if one.period and not one.period.is_duration}
            if len(named) == 1:
                first = max(start, inside[0].start - _LONGEST // 2)
                last = min(end, first + _LONGEST)
                text = record.context[first:last].strip()
                yield Context(
                    record.id,
                    record.group or record.id,
                    named.pop(),
                    text,
                    _masked(record.context, inside, first, last),
                )


def _masked(text: str, expressions: Sequence[TimeExpression], first: int, last: int) -> str:
    pieces: list[str] = []
    place = first
    for one in expressions:
        if one.start >= place and one.end <= last:
            pieces += [text[place : one.start], MASK]
            place = one.end
    return "".join([*pieces, text[place:last]]).strip()


def _outside(kept: Sequence[Context], near: Neighbours, most: int) -> list[list[int]]:
    """For each context its nearest of other groups."""
    rows: list[list[int]] = near.places.tolist()
    return [[other for other in row if kept[other].group != kept[place].group][:most] for place, row in enumerate(rows)]


def _interchanges(kept: Sequence[Context], outside: Sequence[Sequence[int]]) -> list[Interchange]:
    counts = Counter(context.label for context in kept)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    totals: dict[str, int] = defaultdict(int)
    for place, row in enumerate(outside):
        totals[kept[place].label] += len(row)
        for other in row:
            if kept[other].label != kept[place].label:
                seen[kept[place].label, kept[other].label] += 1
    found: list[Interchange] = []
    for one, other in sorted({(min(pair), max(pair)) for pair in seen}):
        total = totals[one] + totals[other]
        rate = wilson(seen.get((one, other), 0) + seen.get((other, one), 0), total)
        expected = (totals[one] * counts[other] + totals[other] * counts[one]) / (total * (len(kept) - 1))
        if total >= 2 * len(outside[0]):
            found.append(Interchange(one, other, total, rate, expected, rate.low > expected))
    found.sort(key=lambda pair: (-pair.is_more, pair.expected - pair.rate.low, pair.one, pair.other))
    return found[:_LISTED]


def _duplicates(kept: Sequence[Context], near: Neighbours, alike_from: float) -> list[Duplicate]:
    found: dict[tuple[int, int], float] = {}
    rows: list[list[int]] = near.places.tolist()
    cosines: list[list[float]] = near.closeness.tolist()
    for place, (row, closeness) in enumerate(zip(rows, cosines, strict=True)):
        for other, cosine in zip(row, closeness, strict=True):
            is_other = kept[other].label != kept[place].label
            if is_other and (cosine >= alike_from or kept[other].masked == kept[place].masked):
                found[min(place, other), max(place, other)] = cosine
    return [Duplicate(*pair, cosine) for pair, cosine in sorted(found.items(), key=lambda one: (-one[1], one[0]))]


def _clusters(kept: Sequence[Context], moved: NDArray[np.float32], least: int) -> list[Cluster]:
    if len(kept) <= least:
        return []
    unit = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-12)
    # On unit vectors, Euclidean distance orders as cosine does.
    numbers: Any = HDBSCAN(min_cluster_size=least, copy=True).fit_predict(unit)
    members: dict[int, list[int]] = defaultdict(list)
    for place, number in enumerate(numbers):
        if number >= 0:
            members[int(number)].append(place)
    found = [
        Cluster(tuple(places), tuple(Counter(kept[place].label for place in places).most_common()))
        for places in members.values()
    ]
    return sorted(found, key=lambda cluster: (-len(cluster.members), cluster.members))


def _teachers(kept: Sequence[Context], duplicates: Sequence[Duplicate]) -> list[Teacher]:
    counts = Counter(kept[place].record for pair in duplicates for place in (pair.one, pair.other))
    return [Teacher(record, count) for record, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]
