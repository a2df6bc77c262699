"""Scans as tables of plain figures: what is printed, written as JSON, and drawn."""

from __future__ import annotations

from typing import Any

from diag.sparsity import SparsityReport, layer_of

_FIELDS = ("name", "dtype", "stored_bytes", "size", "nonzero", "tiny", "not_finite", "l2", "sparsity", "zero_rows", "zero_columns", "blocks", "zero_blocks")  # fmt: skip


def scan_summary(report: SparsityReport) -> dict[str, Any]:
    """A scan as JSON."""
    return {
        "place": report.place,
        "size": report.size,
        "sparsity": report.sparsity,
        "blocks": sum(one.blocks for one in report.tensors),
        "zero_blocks": sum(one.zero_blocks for one in report.tensors),
        "stored_bytes": sum(one.stored_bytes for one in report.tensors),
        "zero_sublayers": [one.name for one in report.zero_sublayers],
        "not_finite": [one.name for one in report.not_finite],
        "zero_heads": {name: list(heads) for name, heads in report.zero_heads.items()},
        "sublayers": [{**one._asdict(), "density": one.density} for one in report.sublayers],
        "modules": [{**one._asdict(), "density": one.density} for one in report.modules],
        "tensors": [
            {**{name: getattr(one, name) for name in _FIELDS}, "shape": list(one.shape)} for one in report.tensors
        ],
        "skipped": list(report.skipped),
        "map": _map(report),
    }


def _map(report: SparsityReport) -> dict[str, Any]:
    """Layers by modules, the share of zeros of each module's values."""
    cells: dict[tuple[int, str], float] = {}
    columns: dict[str, None] = {}
    for module in report.modules:
        layer = layer_of(f"{module.name}.")
        if layer is not None:
            name = module.name.split(f".{layer}.", 1)[-1]
            columns[name] = None
            cells[layer, name] = 1 - module.density
    layers = sorted({layer for layer, _ in cells})
    return {
        "rows": [str(layer) for layer in layers],
        "columns": list(columns),
        "shares": [[cells.get((layer, name)) for name in columns] for layer in layers],
    }
