"""What decided: the unit that speaks most for the said period, and what that unit is in its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diag.attribution.explain import Attribution
from diag.attribution.units import Unit, touching
from diag.evidence import values_in
from diag.models import Prompt, in_prompt
from diag.records import Record, SourceSpan
from diag.risk import read_record

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Deciding:
    """The deciding unit (by place), or None where no unit speaks for the said period more than random deletions do.

    Each property comes with the chance that a time expression of the source picked blindly has it.
    """

    unit: int | None
    in_question: bool = False
    names_said: bool = False
    is_evidence: bool = False
    is_first: bool = False
    is_last: bool = False
    is_nearest: bool = False
    chance: float = 0.0
    """One divided by the time expressions of the source."""
    evidence_chance: float = 0.0
    """The share of them that are evidence."""


PROPERTIES = ("is_evidence", "is_nearest", "is_first", "is_last", "in_question", "names_said")


def deciding_unit(
    found: Attribution, record: Record, prompt: Prompt, evidence: Sequence[SourceSpan], said_period: str | None
) -> Deciding:
    """What decided, of an attribution over a prompt made from a record; `evidence` is where the source gives the answer."""
    times = [place for place, unit in enumerate(found.units) if unit.place == "source" and unit.kind == "time"]
    proof = evidence_units(found.units, record, prompt, evidence)
    chance = 1 / len(times) if times else 0.0
    evidence_chance = len([place for place in proof if place in times]) / len(times) if times else 0.0
    best = max(range(len(found.units)), key=lambda place: (found.scores[place], -place), default=None)
    if best is None or found.scores[best] <= 0 or not found.faithfulness.beats_random:
        return Deciding(None, chance=chance, evidence_chance=evidence_chance)
    unit = found.units[best]
    alike = _of_same_granularity(found.units, times, unit)
    return Deciding(
        best,
        in_question=unit.place == "question",
        names_said=unit.period is not None and unit.period.value == said_period,
        is_evidence=best in proof,
        is_first=bool(alike) and best == alike[0],
        is_last=bool(alike) and best == alike[-1],
        is_nearest=best == _nearest(found.units, times, record, prompt),
        chance=chance,
        evidence_chance=evidence_chance,
    )


def evidence_units(
    units: Sequence[Unit], record: Record, prompt: Prompt, evidence: Sequence[SourceSpan]
) -> frozenset[int]:
    """The places of the units that are evidence, where the prompt shows it.

    Those that touch it, and for a value the time that the source gives it (in its table's header, by a name for a period).
    """
    found: set[int] = set()
    for span in evidence:
        place = in_prompt(record, prompt, span)
        if place is None:
            continue
        found.update(_places_of(units, touching(units, *place)))
        found.update(_time_of_value(units, record, span, place))
    return frozenset(found)


def _places_of(units: Sequence[Unit], some: Sequence[Unit]) -> Iterator[int]:
    chosen = {id(unit) for unit in some}
    return (place for place, unit in enumerate(units) if id(unit) in chosen)


def _time_of_value(units: Sequence[Unit], record: Record, span: SourceSpan, shown: Span) -> list[int]:
    """The nearest unit that names the period which the source binds to the value at `span`."""
    bounds = [
        bound
        for mentions in read_record(record).mentions.values()
        for mention in mentions
        if _is_at(mention.span, span)
        for bound in mention.bounds
    ]
    naming = [
        place
        for place, unit in enumerate(units)
        if unit.place == "source" and unit.period is not None and any(unit.period.equals(one.period) for one in bounds)
    ]
    return sorted(naming, key=lambda place: _distance(units[place], shown[0]))[:1]


def _is_at(one: SourceSpan, other: SourceSpan) -> bool:
    cell = (one.table, one.row, one.column)
    return cell == (other.table, other.row, other.column) and one.start < other.end and other.start < one.end


def _distance(unit: Unit, place: int) -> int:
    return min(abs(unit.start - place), abs(unit.end - place))


def _of_same_granularity(units: Sequence[Unit], times: Sequence[int], unit: Unit) -> list[int]:
    if unit.period is None:
        return list(times)
    wanted = unit.period.granularity
    return [place for place in times if (own := units[place].period) is not None and own.granularity == wanted]


def _nearest(units: Sequence[Unit], times: Sequence[int], record: Record, prompt: Prompt) -> int | None:
    """The time expression nearest to the first value of the question in the source; None without one."""
    for value in values_in(record.question):
        text = record.question[value.start : value.end].strip(" ,.;?")
        for piece in prompt.pieces:
            place = prompt.text.find(text, piece.in_prompt, piece.in_prompt + piece.length)
            if place >= 0 and times:
                return min(times, key=lambda one: _distance(units[one], place))
    return None
