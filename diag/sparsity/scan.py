"""`scan`: which tensors, modules and layers of a checkpoint are zero; no model is built."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from diag.sparsity.checkpoint import is_float, tensors
from diag.sparsity.count import TensorSparsity, count

ZERO_DENSITY = 1e-4
"""The two-stage rule: a layer with fewer than 0.01 % of its values left is a zero layer."""
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|blk|layer)\.(\d+)\.")
_PARAMETER = re.compile(r"\.?(?:weight|bias)(?:_orig|_mask)?$")
_HEADS = {"q_proj": ("num_attention_heads", 0), "o_proj": ("num_attention_heads", 1)}
Told = Callable[[int, int | None], None]


class ModuleSparsity(NamedTuple):
    """The tensors of one module, or of one sublayer: `model.layers.3.mlp.up_proj`, `model.layers.3.mlp`."""

    name: str
    size: int
    nonzero: int
    stored_bytes: int
    is_zero: bool
    """By the two-stage rule."""

    @property
    def density(self) -> float:
        """The share of values that are not zero."""
        return self.nonzero / self.size if self.size else 0.0


@dataclass(frozen=True, slots=True)
class SparsityReport:
    """What a scan found, in the order of the files."""

    place: str
    tensors: tuple[TensorSparsity, ...]
    modules: tuple[ModuleSparsity, ...]
    """Every module with tensors of its own."""
    sublayers: tuple[ModuleSparsity, ...]
    """By layer, what stands directly under it: attention, feed-forward, norms."""
    zero_heads: Mapping[str, tuple[int, ...]]
    """By query or output projection, the heads whose weights are all zero, where the configuration gives their number."""
    skipped: tuple[str, ...]
    """Tensors that hold no weights: integers, masks."""

    @property
    def size(self) -> int:
        """Values in all."""
        return sum(tensor.size for tensor in self.tensors)

    @property
    def sparsity(self) -> float:
        """The share of zeros among all values."""
        return 1 - sum(tensor.nonzero for tensor in self.tensors) / max(1, self.size)

    @property
    def not_finite(self) -> list[TensorSparsity]:
        """Tensors that hold NaN or infinite values."""
        return [tensor for tensor in self.tensors if tensor.not_finite]

    @property
    def zero_sublayers(self) -> list[ModuleSparsity]:
        """Those that the two-stage rule calls zero."""
        return [one for one in self.sublayers if one.is_zero]

    def scoped(self, scope: str | None) -> list[TensorSparsity]:
        """Tensors whose name fits a pattern such as `*self_attn*`; all without one."""
        return [
            one for one in self.tensors if scope is None or fnmatch(one.name, scope) or fnmatch(one.name, f"*{scope}")
        ]


def scan(place: str | Path, *, allow_pickle: bool = False, told: Told | None = None) -> SparsityReport:
    """Count what is zero in a checkpoint: a file, or a model's folder. Raises InputError where it cannot be read."""
    stored = tensors(place, allow_pickle=allow_pickle)
    weights = [tensor for tensor in stored if is_float(tensor)]
    counted: list[TensorSparsity] = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, one in enumerate(pool.map(count, weights), 1):
            counted.append(one)
            if told:
                told(number, len(weights))
    folder = Path(place) if Path(place).is_dir() else Path(place).parent
    return SparsityReport(
        str(place),
        tuple(counted),
        tuple(_grouped(counted, module_of)),
        tuple(_grouped([one for one in counted if _LAYER.search(one.name)], sublayer_of)),
        _zero_heads(counted, folder),
        tuple(tensor.name for tensor in stored if not is_float(tensor)),
    )


def module_of(name: str) -> str:
    """The module that a tensor belongs to."""
    return _PARAMETER.sub("", name)


def sublayer_of(name: str) -> str:
    """`model.layers.3.mlp` of `model.layers.3.mlp.up_proj.weight`."""
    match = _LAYER.search(name)
    if match is None:
        return module_of(name)
    return name[: match.end()] + module_of(name[match.end() :]).split(".")[0]


def layer_of(name: str) -> int | None:
    """The number of the layer that a tensor belongs to; None outside the layers."""
    match = _LAYER.search(name)
    return int(match[1]) if match else None


def _grouped(counted: Sequence[TensorSparsity], key: Callable[[str], str]) -> list[ModuleSparsity]:
    groups: dict[str, list[TensorSparsity]] = defaultdict(list)
    for tensor in counted:
        groups[key(tensor.name)].append(tensor)
    found: list[ModuleSparsity] = []
    for name, parts in groups.items():
        size, nonzero = sum(part.size for part in parts), sum(part.nonzero for part in parts)
        is_zero = size > 0 and nonzero < ZERO_DENSITY * size
        found.append(ModuleSparsity(name, size, nonzero, sum(part.stored_bytes for part in parts), is_zero))
    return found


def _zero_heads(counted: Sequence[TensorSparsity], folder: Path) -> dict[str, tuple[int, ...]]:
    config = _config(folder)
    found: dict[str, tuple[int, ...]] = {}
    for tensor in counted:
        kind = _HEADS.get(module_of(tensor.name).rpartition(".")[2])
        heads = config.get(kind[0]) if kind else None
        if kind is None or not isinstance(heads, int) or len(tensor.shape) != 2:
            continue
        zero = tensor.row_is_zero if kind[1] == 0 else tensor.column_is_zero
        if len(zero) % heads:
            continue
        each = np.split(zero, heads)
        if gone := tuple(head for head, part in enumerate(each) if part.all()):
            found[module_of(tensor.name)] = gone
    return found


def _config(folder: Path) -> dict[str, Any]:
    try:
        content: Any = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}
