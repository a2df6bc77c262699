"""Two models side by side: which layers lost or won separation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from diag.collapse.flag import Flag, Interval, resampling
from diag.collapse.measure import CollapseReport, Finding
from diag.errors import InputError

Verdict = Literal["lost", "won", "same"]
LEAST = 0.10
"""The relative change below which nothing is said to have changed, however sure."""


@dataclass(frozen=True, slots=True)
class Change:
    """One vocabulary at one site, before and after."""

    vocabulary: str
    site: str
    before: float
    """Mean relative separation of the pairs."""
    after: float
    ratio: Interval
    """After over before, carriers resampled in pairs; 1 is no change."""
    verdict: Verdict
    flag_before: Flag
    flag_after: Flag


def compare(before: CollapseReport, after: CollapseReport) -> list[Change]:
    """Changes at every site that both reports have, paired by carrier; models may differ in depth.

    `lost` and `won`: the interval of the ratio lies wholly on one side of 1, and the ratio is `LEAST` away from it. Raises
    InputError where the two were measured over other carriers.
    """
    if before.carriers != after.carriers:
        raise InputError("the two models were measured over other carriers: give both the same records and options")
    known = {finding.key: finding for finding in after.findings}
    return [
        _change(finding, known[finding.key], before.options.seed) for finding in before.findings if finding.key in known
    ]


def _change(before: Finding, after: Finding, seed: int) -> Change:
    by_carrier = before.relative.mean(0), after.relative.mean(0)
    weights = resampling(len(by_carrier[0]), seed)
    ratios = (weights @ by_carrier[1]) / np.maximum(weights @ by_carrier[0], 1e-9)
    low, high = np.quantile(ratios, (0.025, 0.975))
    value = float(by_carrier[1].mean() / max(by_carrier[0].mean(), 1e-9))
    ratio = Interval(value, float(low), float(high))
    return Change(
        before.vocabulary.key,
        before.site,
        float(by_carrier[0].mean()),
        float(by_carrier[1].mean()),
        ratio,
        _verdict(ratio),
        before.flag,
        after.flag,
    )


def _verdict(ratio: Interval) -> Verdict:
    if ratio.high < 1 and ratio.value <= 1 - LEAST:
        return "lost"
    return "won" if ratio.low > 1 and ratio.value >= 1 + LEAST else "same"
