"""The few statistics that every room reports alike."""

from __future__ import annotations

import math
from typing import NamedTuple


class Interval(NamedTuple):
    """A rate with its 95 % interval; all zero where nothing was counted."""

    rate: float
    low: float
    high: float


def wilson(count: int, total: int, z: float = 1.959964) -> Interval:
    """The Wilson score interval of `count` out of `total` (Wilson 1927)."""
    if total == 0:
        return Interval(0.0, 0.0, 0.0)
    rate = count / total
    denominator = 1 + z * z / total
    centre = (rate + z * z / (2 * total)) / denominator
    half = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total)) / denominator
    return Interval(rate, max(0.0, centre - half), min(1.0, centre + half))
