"""What a user reads: one sentence of meaning a vocabulary, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diag.collapse.flag import FLAGS, Flag, PairFigures
from diag.collapse.measure import CollapseReport, Finding
from diag.collapse.vocabulary import Vocabulary


class Meaning(NamedTuple):
    """One vocabulary over all sites."""

    vocabulary: Vocabulary
    flag: Flag
    """The gravest of any site."""
    sites: tuple[str, ...]
    """Where that flag is raised; empty where none is."""
    finding: Finding
    """The site of the worst pair."""
    sentence: str
    advice: str | None


def meanings(report: CollapseReport) -> list[Meaning]:
    """Of every vocabulary, in the report's order."""
    return [_meaning(vocabulary, report.of(vocabulary), report.layers) for vocabulary in report.vocabularies]


def _meaning(vocabulary: Vocabulary, findings: Sequence[Finding], layers: int) -> Meaning:
    flag = FLAGS[max(FLAGS.index(finding.flag) for finding in findings)]
    raised = [finding for finding in findings if finding.flag == flag] if flag != "healthy" else []
    # A pair that shares neighbours in context says more than one that merely stands close in a table of embeddings.
    in_context = [finding for finding in raised or findings if finding.depth] or raised or list(findings)
    worst = min(in_context, key=lambda finding: (finding.worst.relative.value, finding.depth))
    where = where_flagged([finding.site for finding in raised], layers)
    sentence = _flagged(worst, where) if raised else _healthy(worst)
    sites = tuple(finding.site for finding in raised)
    return Meaning(vocabulary, flag, sites, worst, sentence, _advice(vocabulary, worst) if raised else None)


def _flagged(finding: Finding, where: str) -> str:
    pair = finding.worst
    apart = f"stand {_share(pair.relative.value)} as far apart as close matched words"
    if pair.confusion is None:
        return f"{where}, {pair.one} and {pair.other} {apart}"
    return (
        f"{where}, {pair.one} and {pair.other} share neighbours: at {finding.site}, {pair.confusion.value:.0%} of their "
        f"nearest are the other's ({_controls(finding)}), and they {apart}"
    )


def _healthy(finding: Finding) -> str:
    pair = finding.worst
    shared = "" if pair.confusion is None else f", {pair.confusion.value:.0%} of their nearest are the other's"
    return (
        f"no two have become one; the closest, {pair.one} and {pair.other} at {finding.site}, stand "
        f"{_share(pair.relative.value)} as far apart as close matched words{shared} ({_controls(finding)}); their raw cosine "
        f"of {pair.raw_cosine:.2f} alone says nothing"
    )


def _controls(finding: Finding) -> str:
    null = finding.null
    if not len(null.confusion):
        return "no matched neighbours"
    return f"matched words {float(null.confusion.mean()):.0%}"


def _share(value: float) -> str:
    return f"{value:.0%}" if value < 2 else f"{value:.1f} times"


def _advice(vocabulary: Vocabulary, finding: Finding) -> str:
    pair: PairFigures = finding.worst
    return (
        f"Samples in which {pair.one} and {pair.other} change places and the answer with them would part the two: "
        f"`diag augment DATA --kinds swapped,shifted`; check them first with `diag qa` on records that name both."
    )


def where_flagged(sites: Sequence[str], layers: int) -> str:
    """`from layer 22 on`, `in layers 3 to 7`, `in every layer`, `in the input embedding and layers 1, 4`."""
    names = {"input": "the input embedding", "output": "the output embedding"}
    static = [names[site] for site in sites if site in names]
    depths = sorted(int(site.removeprefix("layer ")) for site in sites if site not in names)
    parts = static + ([_depths(depths, layers)] if depths else [])
    if not static and depths and depths == list(range(depths[0], layers + 1)) and 1 < depths[0] < layers:
        return f"from layer {depths[0]} on"
    return "in " + " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _depths(depths: Sequence[int], layers: int) -> str:
    if len(depths) == layers:
        return "every layer"
    if len(depths) == 1:
        return f"layer {depths[0]}"
    if len(depths) == depths[-1] - depths[0] + 1:
        return f"layers {depths[0]} to {depths[-1]}"
    return f"layers {', '.join(str(depth) for depth in depths)}"
