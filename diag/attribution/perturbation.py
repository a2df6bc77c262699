"""Attribution by taking units out: Captum's FeatureAblation and ShapleyValueSampling over one feature a unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from captum.attr import FeatureAblation, ShapleyValueSampling
from torch import Tensor

from diag.attribution.forward import TargetForward
from diag.attribution.replace import Replacement, changed
from diag.attribution.units import Unit
from diag.models import plain


class Presence:
    """The target as a function of which units are there: rows of 1 (as it stands) and 0 (replaced), shape (rows, units)."""

    def __init__(self, forward: TargetForward, units: Sequence[Unit], replaced: Sequence[Replacement]) -> None:
        self._forward = forward
        self._units = units
        self._replaced = replaced
        self._known: dict[bytes, float] = {bytes([1] * len(units)): forward.value}

    def __call__(self, rows: Tensor) -> Tensor:
        """The target's value in nats for each row; what was asked before is not run again."""
        keys = [bytes(int(one) for one in row) for row in plain(rows)]
        new = list(dict.fromkeys(key for key in keys if key not in self._known))
        contexts = [
            changed(self._forward.target, self._units, self._replaced, [bool(one) for one in key]) for key in new
        ]
        if new:
            for key, value in zip(new, plain(self._forward.of_contexts(contexts)), strict=True):
                self._known[key] = value
        return torch.tensor([self._known[key] for key in keys], dtype=torch.float64)

    def without(self, places: Sequence[int]) -> float:
        """The target with the units at these places replaced."""
        return self._value([float(place not in places) for place in range(len(self._units))])

    def only(self, places: Sequence[int]) -> float:
        """The target with all other units replaced."""
        return self._value([float(place in places) for place in range(len(self._units))])

    def _value(self, row: list[float]) -> float:
        return float(self(torch.tensor([row]))[0])


def ablate(presence: Presence, count: int) -> list[float]:
    """For each of `count` units the target less what it is with the unit replaced, in nats (Zeiler & Fergus 2014)."""
    return _attribute(FeatureAblation(presence), count, perturbations_per_eval=count)


def shapley(presence: Presence, count: int, samples: int, seed: int) -> list[float]:
    """Shapley values over the units by sampled orders (Castro et al. 2009), in nats; they sum to the joint effect."""
    random: Any = torch.random
    with random.fork_rng(devices=[]):
        random.manual_seed(seed)
        return _attribute(ShapleyValueSampling(presence), count, n_samples=samples, perturbations_per_eval=count)


def _attribute(method: FeatureAblation | ShapleyValueSampling, count: int, **options: int) -> list[float]:
    present = torch.ones(1, count, dtype=torch.float64)
    with torch.no_grad():
        found = method.attribute(present, baselines=torch.zeros_like(present), **options)
    return plain(found[0])
