"""Attribution by gradients with respect to the input embeddings: its first order, and integrated gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from captum.attr import IntegratedGradients, Saliency
from torch import Tensor

from diag.attribution.forward import TargetForward
from diag.attribution.replace import Replacement, changed
from diag.attribution.units import Unit
from diag.errors import DiagError
from diag.models import plain

_FIRST_STEPS = 8
TOLERANCE = 0.05
"""Of the difference that integrated gradients explain: the completeness error that ends the doubling of steps."""


class Integrated(NamedTuple):
    """Scores by unit, and how far their sum is from the difference that they explain, as a share of it."""

    scores: list[float]
    completeness_error: float
    steps: int


def first_order(forward: TargetForward, units: Sequence[Unit], replaced: Sequence[Replacement]) -> list[float]:
    """For each unit the sum over its tokens of (embedding - filler's embedding) · gradient of the target, in nats.

    The first-order estimate of ablation, in one backward pass (attribution patching, Syed et al. 2023). Input × gradient
    without the filler (Shrikumar et al. 2016) is close to nothing behind a normalised layer: there the output does not
    change with the length of an embedding, so that its product with the gradient is 0 (Euler's theorem).
    """
    head, embedded, baseline = _between(forward, units, replaced)
    gradient = Saliency(lambda rows: forward.of_embeddings(head, rows)).attribute(embedded, abs=False)
    return _by_unit(((embedded - baseline).detach() * gradient)[0].sum(-1), units, head)


def integrated_gradients(
    forward: TargetForward, units: Sequence[Unit], replaced: Sequence[Replacement], joint: float, most_steps: int
) -> Integrated:
    """Integrated gradients (Sundararajan et al. 2017) from all units replaced by fillers to the context as it stands.

    `joint` is the difference of the target between the two, to which the scores sum. Steps (Gauss-Legendre) are doubled
    until the completeness error is within `TOLERANCE` of it, or they are more than `most_steps`.
    """
    head, embedded, baseline = _between(forward, units, replaced)
    method = IntegratedGradients(lambda rows: forward.of_embeddings(head, rows), multiply_by_inputs=True)
    steps = min(_FIRST_STEPS, most_steps)
    while True:
        # One row at a time on a CPU: activations for the backward pass are what fills the memory.
        at_once = 1 if forward.model.device.type == "cpu" else 8
        found = method.attribute(
            embedded, baselines=baseline, n_steps=steps, method="gausslegendre", internal_batch_size=at_once
        )
        scores = _by_unit(found[0].sum(-1), units, head)
        error = abs(sum(scores) - joint) / max(abs(joint), 1e-9)
        if error <= TOLERANCE or steps * 2 > most_steps:
            return Integrated(scores, error, steps)
        steps *= 2


def _between(
    forward: TargetForward, units: Sequence[Unit], replaced: Sequence[Replacement]
) -> tuple[int, Tensor, Tensor]:
    """What is run of the context, all behind the last token before the first unit: as it stands, and all units replaced."""
    head = forward.first_shared(min(unit.tokens[0] for unit in units))
    context = forward.target.context
    empty = changed(forward.target, units, replaced, [False] * len(units))
    return head, forward.embeddings(context[head:]).clone().requires_grad_(), forward.embeddings(empty[head:])


def _by_unit(per_token: Tensor, units: Sequence[Unit], head: int) -> list[float]:
    if not bool(torch.isfinite(per_token).all()):
        raise DiagError("the gradient is not finite in this precision: use --dtype float32, or the method ablation")
    values = plain(per_token.double())
    return [sum(values[place - head] for place in unit.tokens) for unit in units]
