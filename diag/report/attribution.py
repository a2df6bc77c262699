"""The page of `diag attribute`: the prompt with what spoke for and against the said period, and the pattern over answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from diag.report.charts import layer_chart
from diag.report.check import environment

_BARS = 12
NOT_FAITHFUL = (
    "Deleting these words moves the answer no more than deleting random ones: do not read this as its reason."
)


class Segment(NamedTuple):
    """Consecutive characters of a prompt; `weight` is the score's share of the strongest, above 0 for the said period."""

    text: str
    weight: float
    score: float | None
    is_evidence: bool


def attribution_text(found: Mapping[str, Any]) -> str:
    """The pattern as a short text."""
    faithful = found["beats_random"]
    lines = [
        f"{found['answers']:,} answers explained by {found['method']} over units of {found['unit']}",
        f"faithful beyond random deletions: {faithful['count']:,}, {faithful['rate']:.0%}  "
        f"(95 % interval {faithful['low']:.0%} to {faithful['high']:.0%})",
        "",
    ]
    for kind, part in found["by_kind"].items():
        lines.append(f"What decided, in {part['answers']:,} answers called {kind.replace('_', ' ')}")
        for row in part["properties"].values():
            chance = "" if row["chance"] is None else f"  chance {row['chance']:.0%}"
            lines.append(f"  {row['meaning']:<56}{row['rate']:>5.0%}  ({row['low']:.0%} to {row['high']:.0%}){chance}")
        lines.append(f"  {'nothing that beats random deletions':<56}{part['nothing_decides']['rate']:>5.0%}")
    lines += ["", *found["sentences"]] if found["sentences"] else []
    if found["refused"]:
        lines += ["", f"{len(found['refused']):,} answers could not be explained:"]
        lines += [f"  {row['id']}: {row['reason']}" for row in found["refused"][:5]]
    lines.append("")
    return "\n".join(lines)


def attribution_html(rows: Sequence[Mapping[str, Any]], found: Mapping[str, Any], folder: Path) -> str:
    """One page: styles and charts inline, no script, no request; all text of the data escaped."""
    answers = [
        {
            **row,
            "segments": segments(row["prompt"], row["units"]),
            "bars": bars(row["units"]),
            "layers": Markup(layer_chart(row["lens"], row["attention_by_layer"], row["position_by_layer"]))
            if row["lens"]
            else None,
        }
        for row in rows
    ]
    page = environment().get_template("attribution.html")
    return page.render(found=found, answers=answers, folder=folder.name, warning=NOT_FAITHFUL)


def segments(prompt: str, units: Sequence[Mapping[str, Any]]) -> list[Segment]:
    """The prompt in pieces that make it up exactly, units apart from what lies between them."""
    most = max((abs(unit["score"]) for unit in units), default=0.0) or 1.0
    pieces: list[Segment] = []
    place = 0
    for unit in units:
        if unit["start"] > place:
            pieces.append(Segment(prompt[place : unit["start"]], 0.0, None, False))
        start = max(place, unit["start"])
        text = prompt[start : unit["end"]]
        pieces.append(Segment(text, unit["score"] / most, unit["score"], unit["is_evidence"]))
        place = max(place, unit["end"])
    pieces.append(Segment(prompt[place:], 0.0, None, False))
    return [piece for piece in pieces if piece.text]


def bars(units: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The strongest units with their share of the strongest, those for the said period first."""
    strongest = sorted(units, key=lambda unit: (-abs(unit["score"]), unit["start"]))[:_BARS]
    most = max((abs(unit["score"]) for unit in strongest), default=0.0) or 1.0
    ordered = sorted(strongest, key=lambda unit: (-unit["score"], unit["start"]))
    return [{**unit, "share": abs(unit["score"]) / most} for unit in ordered]
