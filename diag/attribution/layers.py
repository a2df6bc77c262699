"""Layer by layer: where the said period overtakes its rival, and what each layer's attention and positions bring to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from diag.attribution.forward import TargetForward
from diag.errors import InputError
from diag.models import plain

_NORMS = ("norm", "ln_f", "final_layernorm", "final_layer_norm", "norm_f")
_BLOCKS = ("layers", "h", "blocks")
_ATTENTION = ("self_attn", "attn", "attention")


@dataclass(frozen=True, slots=True)
class LayerView:
    """Figures by layer, in nats; `lens` has one more in front, of the input embedding."""

    lens: tuple[float, ...]
    """Logit lens: the logit of the said period's first differing token less its rival's, read off behind each layer."""
    attention: tuple[float, ...]
    """The target less what it is when the layer's attention brings nothing to the place that says the period."""
    position: tuple[float, ...] | None
    """The target less what it is when the layer's rotary position encoding is off; None where it has none."""

    @property
    def turning_layer(self) -> int | None:
        """The layer from which on the sign of the lens is that of its end; None where it never changes. 0 is the embedding."""
        is_ahead = [value > 0 for value in self.lens]
        changes = [place for place in range(1, len(is_ahead)) if is_ahead[place] != is_ahead[place - 1]]
        return changes[-1] if changes else None


def layer_view(forward: TargetForward, *, positions: bool = True) -> LayerView:
    """The view for a target. `positions` costs a whole pass a layer; the rest costs one pass over one token.

    Raises InputError for an architecture whose layers are not found.
    """
    blocks = _blocks(forward)
    return LayerView(
        tuple(_lens(forward)),
        tuple(forward.value - value for value in _ablated(forward, blocks, _attention_off, whole=False)),
        tuple(forward.value - value for value in _ablated(forward, blocks, _position_off, whole=True))
        if positions and _has_rotary(forward)
        else None,
    )


def _lens(forward: TargetForward) -> list[float]:
    """Nostalgebraist 2020: each layer's state through the final norm and the output embedding."""
    network: Any = forward.model.network
    base = network.base_model
    norm = next((getattr(base, name) for name in _NORMS if hasattr(base, name)), None)
    if norm is None:
        raise InputError(f"model {forward.model.name}: its final norm was not found; the layer view is not for it")
    target = forward.target
    head = network.get_output_embeddings()
    states = forward.last_states()
    found: list[float] = []
    with torch.inference_mode():
        for number, state in enumerate(states):
            # The last of transformers' states has been through the norm already.
            normed = state if number == len(states) - 1 else norm(state)
            logits = head(normed).float()
            less = logits[target.rival[0]] if target.rival else torch.logsumexp(logits, -1)
            found.append(float(logits[target.said[0]] - less))
    return found


def _blocks(forward: TargetForward) -> Sequence[Any]:
    base: Any = forward.model.network.base_model
    blocks = next((getattr(base, name) for name in _BLOCKS if hasattr(base, name)), None)
    if blocks is None or _attention_of(blocks[0]) is None:
        raise InputError(f"model {forward.model.name}: its layers were not found; the layer view is not for it")
    return blocks


def _attention_of(block: Any) -> Any:
    return next((getattr(block, name) for name in _ATTENTION if hasattr(block, name)), None)


def _has_rotary(forward: TargetForward) -> bool:
    return hasattr(forward.model.network.base_model, "rotary_emb")


Off = Callable[[Any, int], Any]


def _ablated(forward: TargetForward, blocks: Sequence[Any], off: Off, *, whole: bool) -> list[float]:
    """The target with one layer changed at a time: so many copies at once, each with its own layer changed."""
    count = len(blocks)
    width = len(forward.target.context) if whole else 1
    at_once = max(1, min(count, forward.copies_at_once(width)))
    found: list[float] = []
    for start in range(0, count, at_once):
        part = range(start, min(start + at_once, count))
        with ExitStack() as hooks:
            for row, layer in enumerate(part):
                hooks.enter_context(_hooked(off(_attention_of(blocks[layer]), row)))
            values: Tensor = forward.of_copies(len(part), whole=whole)
        found.extend(plain(values))
    return found


class _hooked(AbstractContextManager["_hooked"]):  # noqa: N801 - reads as the context that it is
    def __init__(self, hook: Any) -> None:
        self._hook = hook

    def __exit__(self, *_: object) -> None:
        self._hook.remove()


def _attention_off(attention: Any, row: int) -> Any:
    def silence(_module: Any, _inputs: Any, output: Any) -> Any:
        whole: Any = output
        first: Any = (whole[0] if isinstance(output, tuple) else whole).clone()
        first[row] = 0
        return (first, *whole[1:]) if isinstance(output, tuple) else first

    return attention.register_forward_hook(silence)


def _position_off(attention: Any, row: int) -> Any:
    """Identity rotation: cosine 1 and sine 0 at every position."""

    def straighten(_module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        rows = kwargs["hidden_states"].shape[0] if "hidden_states" in kwargs else args[0].shape[0]
        cosine, sine = (part.expand(rows, -1, -1).clone() for part in kwargs["position_embeddings"])
        cosine[row], sine[row] = 1, 0
        return args, {**kwargs, "position_embeddings": (cosine, sine)}

    return attention.register_forward_pre_hook(straighten, with_kwargs=True)
