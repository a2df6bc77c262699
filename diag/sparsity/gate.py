"""`gate`: whether a checkpoint is as sparse as it is said to be, and whether its zeros are real."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from diag.sparsity.scan import SparsityReport, module_of, scan

FakeKind = Literal["mask", "tiny", "bias", "not_finite"]
_MASKS = ("_mask", ".mask", "_orig", ".sparsity_mask", "_metadata", ".meta")
_TINY_SHARE = 0.01
MEANINGS: dict[FakeKind, str] = {
    "mask": "zeros are a mask beside the weights: the file holds, and a plain loader computes with, all of them",
    "tiny": "values too small to matter that are not zero: nothing can be skipped",
    "bias": "the weight is zero and the bias is not: the module still adds something",
    "not_finite": "NaN or infinite values: the model cannot be trusted",
}


class FakeZero(NamedTuple):
    """Zeros that are none, or that save nothing."""

    tensor: str
    kind: FakeKind
    values: int


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a checkpoint passes, and why not."""

    passed: bool
    sparsity: float
    """Of the tensors in scope, true zeros alone."""
    min_sparsity: float
    scope: str | None
    in_scope: int
    fakes: tuple[FakeZero, ...]
    reasons: tuple[str, ...]
    report: SparsityReport


def gate(
    place: str | Path, *, min_sparsity: float = 0.75, scope: str | None = None, allow_pickle: bool = False
) -> GateResult:
    """Scan, and hold against `min_sparsity`; any fake zero in scope fails it. Raises InputError as `scan` does."""
    report = scan(place, allow_pickle=allow_pickle)
    chosen = report.scoped(scope)
    size = sum(one.size for one in chosen)
    sparsity = 1 - sum(one.nonzero for one in chosen) / size if size else 0.0
    fakes = tuple(one for one in _fakes(report) if scope is None or one.tensor in {tensor.name for tensor in chosen})
    reasons: list[str] = []
    if not chosen:
        reasons.append(f"no tensor fits {scope!r}")
    elif sparsity < min_sparsity:
        reasons.append(f"{sparsity:.2%} of the values are zero, and {min_sparsity:.2%} are asked for")
    reasons += [f"{fake.tensor}: {MEANINGS[fake.kind]} ({fake.values:,} values)" for fake in fakes]
    return GateResult(not reasons, sparsity, min_sparsity, scope, len(chosen), fakes, tuple(reasons), report)


def _fakes(report: SparsityReport) -> list[FakeZero]:
    found: list[FakeZero] = []
    names = {one.name for one in report.tensors} | set(report.skipped)
    by_name = {one.name: one for one in report.tensors}
    for one in report.tensors:
        masks = [f"{module_of(one.name)}.weight{suffix}" for suffix in _MASKS]
        if one.name.endswith("_orig") or any(
            mask in names and mask != one.name for mask in masks if "orig" not in mask
        ):
            if not one.name.endswith(("_mask", ".bias")):
                found.append(FakeZero(one.name, "mask", one.nonzero))
        elif one.tiny > _TINY_SHARE * max(1, one.size):
            found.append(FakeZero(one.name, "tiny", one.tiny))
        if one.not_finite:
            found.append(FakeZero(one.name, "not_finite", one.not_finite))
        bias = by_name.get(f"{module_of(one.name)}.bias")
        if one.name.endswith(".weight") and one.nonzero == 0 and bias is not None and bias.nonzero:
            found.append(FakeZero(bias.name, "bias", bias.nonzero))
    return found
