"""What is zero in a tensor: values, rows, columns and blocks, in one pass of blocks that stay in the cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diag.sparsity.checkpoint import StoredTensor, Values

BLOCK = 64
TINY = 1e-8
"""Below that a value that is not zero is suspected of having been meant to be."""
_BYTES_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True)
class TensorSparsity:
    """The zeros of one tensor, as a matrix (a vector is one row)."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    stored_bytes: int
    size: int
    nonzero: int
    """The L0 norm."""
    tiny: int
    """Values below `TINY` that are not zero."""
    not_finite: int
    l2: float
    zero_rows: int
    zero_columns: int
    blocks: int
    """Blocks of 64 × 64, those at the edges smaller."""
    zero_blocks: int
    row_is_zero: NDArray[np.bool_]
    column_is_zero: NDArray[np.bool_]

    @property
    def density(self) -> float:
        """The share of values that are not zero; 0 for an empty tensor."""
        return self.nonzero / self.size if self.size else 0.0

    @property
    def sparsity(self) -> float:
        """The share of zeros."""
        return 1 - self.density


def count(tensor: StoredTensor) -> TensorSparsity:
    """Read a tensor once, and count."""
    rows, columns = tensor.row_count, tensor.column_count
    column_any = np.zeros(columns, np.bool_)
    row_any = np.zeros(rows, np.bool_)
    nonzero = tiny = not_finite = zero_blocks = blocks = 0
    squares = 0.0
    starts = np.arange(0, columns, BLOCK)
    for first in range(0, rows, BLOCK):
        last = min(rows, first + BLOCK)
        block_any = np.zeros(len(starts), np.bool_)
        step = max(1, min(last - first, _BYTES_AT_ONCE // max(1, 4 * columns)))
        for start in range(first, last, step):
            values = tensor.read(start, min(last, start + step))
            present = _present(tensor, values)
            nonzero += int(np.count_nonzero(present))
            some = present.any(0)
            column_any |= some
            row_any[start : start + len(values)] = present.any(1)
            if columns:
                block_any |= np.logical_or.reduceat(some, starts)
            floats = _floats(tensor, values)
            broken, small, square = _sizes(floats)
            not_finite, tiny, squares = not_finite + broken, tiny + small, squares + square
        blocks += len(starts)
        zero_blocks += int((~block_any).sum())
    tensor.release()
    return TensorSparsity(
        tensor.name,
        tensor.dtype,
        tensor.shape,
        tensor.stored_bytes,
        tensor.size,
        nonzero,
        tiny,
        not_finite,
        float(np.sqrt(squares)),
        int((~row_any).sum()),
        int((~column_any).sum()),
        blocks,
        zero_blocks,
        ~row_any,
        ~column_any,
    )


def _present(tensor: StoredTensor, values: Values) -> NDArray[np.bool_]:
    # The sign of zero is no weight.
    return (values & 0x7FFF) != 0 if tensor.dtype == "BF16" else values != 0


def _floats(tensor: StoredTensor, values: Values) -> NDArray[np.floating]:
    if tensor.dtype == "BF16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values if values.dtype.kind == "f" else values.astype(np.float32)


def _sizes(values: NDArray[np.floating]) -> tuple[int, int, float]:
    """Values that are not finite, those that are tiny and not zero, and the sum of squares of the finite ones."""
    flat = values.reshape(-1)
    wide = flat if flat.dtype == np.float64 else flat.astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(np.dot(wide, wide))
    size = np.abs(wide)
    tiny = int(np.count_nonzero((size < TINY) & (size > 0)))
    if np.isfinite(square):
        return 0, tiny, square
    is_finite = np.isfinite(wide)
    kept = wide[is_finite].astype(np.float64)
    return int((~is_finite).sum()), tiny, float(np.dot(kept, kept))
