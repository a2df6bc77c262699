"""What decided, over many answers: evidence, or merely what stood near, first or last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from diag import attribution
from diag.statistics import wilson

_MEANINGS = {
    "is_evidence": "the place where the source gives the answer",
    "is_nearest": "the time expression nearest to the value asked about",
    "is_first": "the first time expression of its kind in the source",
    "is_last": "the last time expression of its kind in the source",
    "in_question": "the question's own time expression",
    "names_said": "a place that names the period that was said",
}


_FEWEST = 5
"""Answers of a kind below which no sentence is said of it."""


def summarise(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """How often the deciding unit was evidence, or merely near, first or last: over all, and by kind of answer."""
    kinds: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    every = list(rows)
    for row in every:
        kinds[_kind(row)].append(row)
    by_kind = {kind: _pattern(part) for kind, part in sorted(kinds.items())}
    return {
        "answers": len(every),
        "beats_random": _interval(sum(row["beats_random"] for row in every), len(every)),
        "by_kind": by_kind,
        "sentences": [text for kind, part in by_kind.items() if (text := sentence(kind, part))],
    }


def _kind(row: Mapping[str, Any]) -> str:
    if row["truth"] in ("right", "wrong_period"):
        return (
            "right"
            if row["truth"] == "right"
            else ("wrong_period" if row["verdict"] == "undetermined" else row["verdict"])
        )
    return row["verdict"]


def _pattern(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    count = len(rows)
    nothing = sum(row["deciding"] is None for row in rows)
    chance = sum(row["chance"] for row in rows) / count
    evidence = sum(row["evidence_chance"] for row in rows) / count
    chances = {"is_evidence": evidence, "is_nearest": chance, "is_first": chance, "is_last": chance}
    return {
        "answers": count,
        "nothing_decides": _interval(nothing, count),
        "properties": {
            name: {
                "meaning": _MEANINGS[name],
                **_interval(sum(row[name] for row in rows), count),
                "chance": chances.get(name),
            }
            for name in attribution.PROPERTIES
        },
    }


def sentence(kind: str, pattern: Mapping[str, Any]) -> str | None:
    """What a user takes home: the property most above chance, if the interval excludes chance and the answers are enough."""
    if pattern["answers"] < _FEWEST:
        return None
    told = [
        (row["rate"] - row["chance"], name, row)
        for name, row in pattern["properties"].items()
        if row["chance"] is not None and row["low"] > row["chance"]
    ]
    if not told:
        return None
    _, name, row = max(told, key=lambda one: (one[0], one[1]))
    return (
        f"In {row['rate']:.0%} of the {pattern['answers']} answers called {kind.replace('_', ' ')} (95 % interval "
        f"{row['low']:.0%} to {row['high']:.0%}) the model followed {_MEANINGS[name]}; chance is {row['chance']:.0%}."
    )


def _interval(count: int, total: int) -> dict[str, float]:
    rate = wilson(count, total)
    return {"count": count, "rate": rate.rate, "low": rate.low, "high": rate.high}
