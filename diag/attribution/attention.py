"""Where the place that says the period looks: attention rollout, and the single heads that look at a unit most."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from diag.attribution.target import Target
from diag.attribution.units import Unit
from diag.errors import DiagError, InputError
from diag.models import Model, plain

_MOST_HEADS = 12


class HeadLook(NamedTuple):
    """A head that looks at a unit from where the period is said: the share of its attention that the unit gets."""

    layer: int
    head: int
    unit: int
    share: float


class Looks(NamedTuple):
    """Rollout by unit, as a share of what the units get together, and the heads that look hardest, the hardest first."""

    scores: list[float]
    heads: list[HeadLook]


def look(model: Model, target: Target, units: Sequence[Unit]) -> Looks:
    """Attention rollout (Abnar & Zuidema 2020) from the last token of the context to each unit, and the heads that look there.

    Attention says where a model looks, not what it makes of it: it knows no rival. Raises InputError for an architecture
    that gives no attention weights.
    """
    twin = eager_twin(model)
    rollout: Tensor | None = None
    looks: list[HeadLook] = []

    def take(layer: int, weights: Tensor) -> None:
        nonlocal rollout
        mixed = weights[0].float().mean(0)
        mixed = (mixed + torch.eye(len(mixed), device=mixed.device)) / 2
        rollout = mixed if rollout is None else mixed @ rollout
        last = weights[0, :, -1].float()
        for number, unit in enumerate(units):
            shares = plain(last[:, list(unit.tokens)].sum(-1))
            looks.extend(HeadLook(layer, head, number, share) for head, share in enumerate(shares))

    with _attention_taps(twin, take):
        ids = torch.tensor([list(target.context)], device=model.device)
        with torch.inference_mode():
            twin(input_ids=ids, use_cache=False)
    if rollout is None:
        raise InputError(f"model {model.name} gives no attention weights: use another method")
    if not bool(torch.isfinite(rollout).all()):
        raise DiagError("the attention is not finite in this precision: use --dtype float32, or the method ablation")
    last = plain(rollout[-1])
    # The first token, which every head looks at for want of better, would leave the units hardly any.
    seen = [sum(last[place] for place in unit.tokens) for unit in units]
    scores = [share / max(sum(seen), 1e-30) for share in seen]
    looks.sort(key=lambda one: (-one.share, one.layer, one.head, one.unit))
    return Looks(scores, looks[:_MOST_HEADS])


def eager_twin(model: Model) -> Any:
    """A network over the very same weights whose attention is computed openly; the model itself stays as it is."""
    from transformers import AutoModelForCausalLM

    config = copy.deepcopy(model.network.config)
    with torch.device("meta"):
        twin: Any = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=model.network.dtype)
    weights: dict[str, Any] = dict(model.network.named_parameters(remove_duplicate=False))
    weights.update(model.network.named_buffers(remove_duplicate=False))
    for name, value in weights.items():
        place, _, last = name.rpartition(".")
        holder = twin.get_submodule(place)
        kind = holder._parameters if last in holder._parameters else holder._buffers
        kind[last] = value
    return twin.eval()


class _attention_taps:  # noqa: N801 - reads as the context that it is
    """Takes each layer's attention weights as they are made, and lets go of them."""

    def __init__(self, network: Any, take: Any) -> None:
        self._network = network
        self._take = take
        self._hooks: list[Any] = []

    def __enter__(self) -> None:
        layer = 0
        for name, module in self._network.named_modules():
            if name.endswith((".self_attn", ".attn", ".attention")):
                self._hooks.append(module.register_forward_hook(self._tap(layer)))
                layer += 1

    def _tap(self, layer: int) -> Any:
        def tap(_module: Any, _inputs: Any, output: tuple[Any, ...]) -> None:
            for weights in output[1:2]:
                if isinstance(weights, Tensor) and weights.dim() == 4:
                    self._take(layer, weights)

        return tap

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()
