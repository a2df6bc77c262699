"""Does closeness predict error? How often a model confuses two periods, held against how close the two stand in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from diag.collapse.flag import Interval
from diag.collapse.geometry import Numbers
from diag.collapse.measure import CollapseReport

FEWEST_ANSWERS = 3
"""Answers in which a pair could have been confused, below which it has no rate."""
FEWEST_PAIRS = 6
MEAN_OF_LAYERS = "mean of layers"
_DRAWS = 1000
_COMPONENT = re.compile(r"(?P<year>\d{4})(?:-(?:(?P<part>[QH]\d)|(?P<month>\d\d)))?")
_SOFT = 1e-12


class Answered(NamedTuple):
    """One answer of a run: the period that is right, the one that was said, and the probability of each that competed."""

    document: str
    language: str
    right: str
    said: str | None
    shares: Mapping[str, float]
    """By TIMEX3 value of a period of the source: its share among all that could have been said."""


class PairRate(NamedTuple):
    """Two labels, and how often one was said where the other was right."""

    vocabulary: str
    one: str
    other: str
    answers: int
    """In which one was right and the other stood in the source."""
    confused: int
    share: float
    """The mean probability of the wrong one of the two."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's, over pairs, of closeness with confusion, at one site; None where rates or closeness do not vary."""

    site: str
    ours: Interval | None
    """Closeness is separation relative to matched controls, its sign turned."""
    folk: Interval | None
    """Closeness is the raw cosine."""
    ahead: Interval | None
    """Ours less the folk rule's, documents resampled in common."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a run says of the collapse figures' worth."""

    answers: int
    pairs: tuple[PairRate, ...]
    correlations: tuple[Correlation, ...]
    """By site; the last is the mean of the layers, the one figure to quote."""
    sentence: str


class _Case(NamedTuple):
    document: int
    pair: int
    confused: bool
    share: float


def predict(report: CollapseReport, answers: Iterable[Answered], *, seed: int = 20230930) -> Prediction:
    """Rates of confusion by pair of labels, and their rank correlation with closeness at every site.

    A pair is two labels of one vocabulary that differ as parts of two periods (`Q3` and `Q4`, `2018` and `2019`): an answer is
    a case of it where one is part of the right period and the other of a period that the source has too. The rate that is
    correlated is the mean probability of the wrong one, which is finer than counts. Intervals resample documents.
    """
    every = list(answers)
    labels = _labels(report)
    cases, pairs = _cases(every, labels)
    rates = _rates(cases, pairs)
    sites = _closeness(report, [pairs[number] for number in rates])
    used = {number: place for place, number in enumerate(rates)}
    kept = [case._replace(pair=used[case.pair]) for case in cases if case.pair in used]
    correlations = tuple(_correlations(kept, len(used), sites, seed)) if len(used) >= FEWEST_PAIRS else ()
    return Prediction(len(every), tuple(rates.values()), correlations, _sentence(rates.values(), correlations))


_Pair = tuple[str, str, str]


def _labels(report: CollapseReport) -> dict[tuple[str, str], tuple[str, str]]:
    """By language and component, the vocabulary and label; of two vocabularies with the same components, the first."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for vocabulary in report.vocabularies:
        for label in vocabulary.labels:
            if label.component:
                found.setdefault((vocabulary.language, label.component), (vocabulary.key, label.text))
    return found


def components(value: str) -> dict[str, str]:
    """The parts of a TIMEX3 value that a vocabulary has labels for: `FY2018-Q3` is `{"year": "2018", "part": "Q3"}`."""
    match = _COMPONENT.match(value.removeprefix("FY"))
    return {name: part for name, part in match.groupdict().items() if part} if match and "/" not in value else {}


def _cases(
    answers: Sequence[Answered], labels: Mapping[tuple[str, str], tuple[str, str]]
) -> tuple[list[_Case], list[_Pair]]:
    documents: dict[str, int] = {}
    numbers: dict[_Pair, int] = {}
    cases: list[_Case] = []
    for answer in answers:
        right = components(answer.right)
        said = components(answer.said) if answer.said else {}
        shares: dict[tuple[str, str], float] = defaultdict(float)
        for value, share in answer.shares.items():
            for name, part in components(value).items():
                if name in right and part != right[name]:
                    shares[name, part] += share
        document = documents.setdefault(answer.document, len(documents))
        for (name, part), share in sorted(shares.items()):
            known = labels.get((answer.language, right[name])), labels.get((answer.language, part))
            if known[0] and known[1] and known[0][0] == known[1][0]:
                one, other = sorted((known[0][1], known[1][1]))
                pair = numbers.setdefault((known[0][0], one, other), len(numbers))
                cases.append(_Case(document, pair, said.get(name) == part, share))
    return cases, list(numbers)


def _rates(cases: Sequence[_Case], pairs: Sequence[_Pair]) -> dict[int, PairRate]:
    by_pair: dict[int, list[_Case]] = defaultdict(list)
    for case in cases:
        by_pair[case.pair].append(case)
    return {
        number: PairRate(
            *pairs[number],
            len(by_pair[number]),
            sum(case.confused for case in by_pair[number]),
            sum(case.share for case in by_pair[number]) / len(by_pair[number]),
        )
        for number in sorted(by_pair, key=lambda number: pairs[number])
        if len(by_pair[number]) >= FEWEST_ANSWERS
    }


def _closeness(report: CollapseReport, pairs: Sequence[_Pair]) -> dict[str, tuple[Numbers, Numbers]]:
    """By site, ours and the folk rule's for each pair; layers' means last."""
    found: dict[str, dict[_Pair, tuple[float, float]]] = defaultdict(dict)
    for finding in report.findings:
        for pair in finding.pairs:
            one, other = sorted((pair.one, pair.other))
            found[finding.site][finding.vocabulary.key, one, other] = -pair.relative.value, pair.raw_cosine
    sites = {
        site: (np.array([figures[pair][0] for pair in pairs]), np.array([figures[pair][1] for pair in pairs]))
        for site, figures in found.items()
        if all(pair in figures for pair in pairs)
    }
    layers = [figures for site, figures in sites.items() if site.startswith("layer ")]
    if layers:
        sites[MEAN_OF_LAYERS] = np.mean([one[0] for one in layers], 0), np.mean([one[1] for one in layers], 0)
    return sites


def _correlations(
    cases: Sequence[_Case], pairs: int, sites: Mapping[str, tuple[Numbers, Numbers]], seed: int
) -> Iterable[Correlation]:
    documents = max(case.document for case in cases) + 1
    counts, shares = np.zeros((documents, pairs)), np.zeros((documents, pairs))
    for case in cases:
        counts[case.document, case.pair] += 1
        shares[case.document, case.pair] += case.share
    draw = np.random.default_rng(seed)
    drawn = draw.integers(documents, size=(_DRAWS, documents))
    weights = np.stack([np.bincount(row, minlength=documents) for row in drawn]).astype(np.float64)
    totals, sums = weights @ counts, weights @ shares
    whole = shares.sum(0) / counts.sum(0)
    for site, (ours, folk) in sites.items():
        mine = _with_interval(ours, whole, totals, sums)
        theirs = _with_interval(folk, whole, totals, sums)
        ahead = None
        if mine and theirs:
            spread = mine[1] - theirs[1]
            spread = spread[np.isfinite(spread)]
            low, high = np.quantile(spread, (0.025, 0.975))
            ahead = Interval(mine[0].value - theirs[0].value, float(low), float(high))
        yield Correlation(site, mine[0] if mine else None, theirs[0] if theirs else None, ahead)


def _with_interval(
    closeness: Numbers, whole: Numbers, totals: Numbers, sums: Numbers
) -> tuple[Interval, Numbers] | None:
    value = spearman(closeness, whole)
    if value is None:
        return None
    drawn = np.full(len(totals), np.nan)
    seen = totals > 0
    patterns, which = np.unique(seen, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.sum() > 2:
            rows = which.reshape(-1) == number
            drawn[rows] = _row_correlations(closeness[pattern], (sums[rows][:, pattern] / totals[rows][:, pattern]))
    known = drawn[np.isfinite(drawn)]
    if not len(known):
        return None
    low, high = np.quantile(known, (0.025, 0.975))
    return Interval(value, float(low), float(high)), drawn


def spearman(one: Numbers, other: Numbers) -> float | None:
    """Spearman's rank correlation; None where either does not vary."""
    left, right = rankdata(one), rankdata(other)
    left, right = left - left.mean(), right - right.mean()
    size = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return float((left * right).sum() / size) if size > _SOFT else None


def _row_correlations(closeness: Numbers, rates: Numbers) -> Numbers:
    """Spearman's of the closeness with each row of rates; NaN where either does not vary."""
    left: Numbers = rankdata(closeness)
    right: Numbers = rankdata(rates, axis=1)
    left, right = left - left.mean(), right - right.mean(1, keepdims=True)
    sizes = np.sqrt((left**2).sum() * (right**2).sum(1))
    return np.where(sizes > _SOFT, right @ left / np.maximum(sizes, _SOFT), np.nan)


def _sentence(rates: Iterable[PairRate], correlations: Sequence[Correlation]) -> str:
    count = len(list(rates))
    if not correlations:
        return (
            f"Whether closeness predicts confusion cannot be said: {count} pairs of labels competed in {FEWEST_ANSWERS} "
            f"answers or more, and {FEWEST_PAIRS} are needed."
        )
    best = correlations[-1]
    ours, folk = _text(best.ours), _text(best.folk)
    figures = f"Spearman {ours} over {count} pairs, {folk} for the raw cosine"
    mine, theirs = _predicts(best.ours), _predicts(best.folk)
    if mine and best.ahead and best.ahead.low > 0:
        return (
            f"Pairs that stand closer are confused more, and separation says so better than the raw cosine: {figures}."
        )
    if mine:
        return f"Pairs that stand closer are confused more: {figures}; that one is better than the other is not shown."
    if theirs:
        return f"Separation does not predict which pairs are confused, the raw cosine does: {figures}."
    return f"Neither separation nor the raw cosine predicts which pairs this model confuses: {figures}."


def _predicts(one: Interval | None) -> bool:
    return one is not None and one.low > 0


def _text(one: Interval | None) -> str:
    return "undetermined" if one is None else f"{one.value:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"
