"""Sparsity: what of a model's weights is zero, whether the zeros are real, and what they are worth."""

from diag.sparsity.checkpoint import StoredTensor, tensors
from diag.sparsity.count import TensorSparsity, count
from diag.sparsity.gate import MEANINGS, FakeZero, GateResult, gate
from diag.sparsity.harden import Hardened, harden
from diag.sparsity.scan import ModuleSparsity, SparsityReport, layer_of, scan, sublayer_of

__all__ = [
    "MEANINGS",
    "FakeZero",
    "GateResult",
    "Hardened",
    "ModuleSparsity",
    "SparsityReport",
    "StoredTensor",
    "TensorSparsity",
    "count",
    "gate",
    "harden",
    "layer_of",
    "scan",
    "sublayer_of",
    "tensors",
]
