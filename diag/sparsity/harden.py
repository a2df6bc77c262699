"""`harden`: masks and near-zeros become zeros in the file, and the model answers as before."""

from __future__ import annotations

import importlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from diag.errors import DiagError, InputError
from diag.sparsity.checkpoint import StoredTensor, tensors
from diag.sparsity.count import TINY
from diag.sparsity.scan import SparsityReport, scan

_MASKED = "_orig"
_COPIED = ("*.json", "*.txt", "*.model", "*.jinja", "*.md")


@dataclass(frozen=True, slots=True)
class Hardened:
    """What was made zero."""

    masked: tuple[str, ...]
    """Weights whose mask was put into them."""
    zeroed: int
    """Tiny values that became zero."""
    largest_change: float
    """Of any value that the masks leave: at most the limit for tiny values."""
    probe_difference: float | None
    """Of the logits on a probe, before and after; None where no model could be built."""
    before: SparsityReport
    after: SparsityReport


def harden(
    place: str | Path, out: str | Path, *, below: float = TINY, allow_pickle: bool = False, tolerance: float = 1e-4
) -> Hardened:
    """Write the checkpoint with true zeros into the folder `out`, as one safetensors file beside its configuration.

    `weight_orig` and `weight_mask` become `weight`; values smaller than `below` become zero. Where the folder holds a model that
    transformers can build, its logits on a probe must agree within `tolerance` with those of the checkpoint as it was meant, masks applied.
    Raises InputError for GGUF (its values are quantised) and where `out` is not empty, DiagError where the probe disagrees.
    """
    save_file: Any = importlib.import_module("safetensors.torch").save_file

    source, target = Path(place), Path(out)
    if target.exists() and any(target.iterdir()):
        raise InputError(f"{target} is not empty: give another --out")
    stored = tensors(source, allow_pickle=allow_pickle)
    if any(tensor.file.suffix == ".gguf" for tensor in stored):
        raise InputError(f"{source} is GGUF, whose values are quantised: harden the model that it was made from")
    meant = _meant(stored)
    hard: dict[str, Tensor] = {}
    zeroed, largest = 0, 0.0
    for name, value in meant.items():
        is_tiny = (
            (value.abs() < below) & (value != 0)
            if value.is_floating_point()
            else torch.zeros_like(value, dtype=torch.bool)
        )
        if bool(is_tiny.any()):
            zeroed += int(is_tiny.sum())
            largest = max(largest, float(value[is_tiny].abs().max()))
        hard[name] = torch.where(is_tiny, torch.zeros_like(value), value).contiguous()
    target.mkdir(parents=True, exist_ok=True)
    folder = source if source.is_dir() else source.parent
    for pattern in _COPIED:
        for file in folder.glob(pattern):
            if not file.name.endswith(".index.json"):
                shutil.copy(file, target / file.name)
    save_file(hard, target / "model.safetensors", metadata={"format": "pt"})
    difference = _probe(folder, meant, hard)
    if difference is not None and difference > tolerance:
        raise DiagError(
            f"the hardened model's logits differ by {difference:g} on a probe, more than {tolerance:g}: {target} is not to be used"
        )
    masked = tuple(name for name in meant if f"{name}{_MASKED}" in {tensor.name for tensor in stored})
    return Hardened(masked, zeroed, largest, difference, scan(source, allow_pickle=allow_pickle), scan(target))


def _meant(stored: list[StoredTensor]) -> dict[str, Tensor]:
    """The tensors with their masks applied, as the model that had them computed."""
    every = {tensor.name: _tensor(tensor) for tensor in stored}
    found: dict[str, Tensor] = {}
    for name, value in every.items():
        if name.endswith(_MASKED) and f"{name.removesuffix(_MASKED)}_mask" in every:
            mask = every[f"{name.removesuffix(_MASKED)}_mask"]
            found[name.removesuffix(_MASKED)] = torch.where(mask != 0, value, torch.zeros_like(value))
        elif not (name.endswith("_mask") and f"{name.removesuffix('_mask')}{_MASKED}" in every):
            found[name] = value
    return found


def _tensor(tensor: StoredTensor) -> Tensor:
    values = torch.tensor(tensor.read(0, tensor.row_count))
    whole = values.view(torch.bfloat16) if tensor.dtype == "BF16" else values
    return whole.reshape(tensor.shape)


def _probe(folder: Path, meant: dict[str, Tensor], hard: dict[str, Tensor]) -> float | None:
    from transformers import AutoConfig, AutoModelForCausalLM

    try:
        config: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
        network: Any = AutoModelForCausalLM.from_config(config).eval()
    except (OSError, ValueError, KeyError, json.JSONDecodeError):
        return None
    ids = torch.arange(1, 17)[None] % int(config.get_text_config().vocab_size)
    logits: list[Tensor] = []
    for state in (meant, hard):
        missing = network.load_state_dict(state, strict=False).unexpected_keys
        if missing:
            return None
        network.tie_weights()
        with torch.inference_mode():
            logits.append(network(input_ids=ids).logits.float())
    return float((logits[0] - logits[1]).abs().max())
