"""`diag sparsity scan`, `gate` and `harden`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from diag.cli.app import app
from diag.cli.options import AsJson, Pickle
from diag.cli.progress import with_count
from diag.errors import GateError

sparsity_app = typer.Typer(help="What of a model is zero, and whether the zeros are real.", no_args_is_help=True)
app.add_typer(sparsity_app, name="sparsity")
Place = Annotated[str, typer.Argument(help="A .safetensors, .gguf or PyTorch file, a model's folder, or smollm2-135m.")]


@sparsity_app.command("scan")
def scan_checkpoint(
    model: Place,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for sparsity.json, .html and .png.")] = None,
    allow_pickle: Pickle = False,
    as_json: AsJson = False,
) -> None:
    """Count zeros, zero rows, columns, heads and blocks by tensor and layer; no model is built."""
    from diag import report, runs
    from diag.pipeline.sparsity import scan_summary
    from diag.sparsity import scan

    place = _place(model)
    summary = scan_summary(with_count("scan", lambda told: scan(place, allow_pickle=allow_pickle, told=told)))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        runs.write_json(out / "sparsity.json", summary)
        runs.write_text(out / "sparsity.html", report.sparsity_html(summary))
        if summary["map"]["rows"]:
            runs.write_bytes(out / "sparsity.png", report.heat_map(summary, "png"))
    _print(summary, report.sparsity_text(summary), as_json)


@sparsity_app.command("gate")
def gate_checkpoint(
    model: Place,
    min_sparsity: Annotated[float, typer.Option(min=0.0, max=1.0, help="The share of true zeros asked for.")] = 0.75,
    scope: Annotated[
        str | None, typer.Option("--scope", help="Tensors whose names fit, such as '*self_attn*'.")
    ] = None,
    allow_pickle: Pickle = False,
    as_json: AsJson = False,
) -> None:
    """Pass a checkpoint that is as sparse as asked with zeros that are real; exit 3 for another."""
    from diag.pipeline.sparsity import scan_summary
    from diag.sparsity import gate

    found = gate(_place(model), min_sparsity=min_sparsity, scope=scope, allow_pickle=allow_pickle)
    summary = {
        "passed": found.passed,
        "sparsity": found.sparsity,
        "min_sparsity": found.min_sparsity,
        "scope": found.scope,
        "tensors_in_scope": found.in_scope,
        "reasons": list(found.reasons),
        "fakes": [fake._asdict() for fake in found.fakes],
        "scan": scan_summary(found.report),
    }
    text = f"{found.in_scope:,} tensors in scope, {found.sparsity:.2%} of their values are zero: " + (
        "passed" if found.passed else "not passed"
    )
    _print(summary, text, as_json)
    if not found.passed:
        raise GateError("; ".join(found.reasons))


@sparsity_app.command("harden")
def harden_checkpoint(
    model: Place,
    out: Annotated[Path, typer.Option("--out", help="The folder for the hardened model.")],
    below: Annotated[float, typer.Option("--below", min=0.0, help="Values smaller than that become zero.")] = 1e-8,
    allow_pickle: Pickle = False,
    as_json: AsJson = False,
) -> None:
    """Write masks and near-zeros as true zeros, and check that the model computes the same."""
    from diag.sparsity import harden

    found = harden(_place(model), out, below=below, allow_pickle=allow_pickle)
    summary = {
        "masked": list(found.masked),
        "zeroed": found.zeroed,
        "largest_change": found.largest_change,
        "probe_difference": found.probe_difference,
        "sparsity_before": found.before.sparsity,
        "sparsity_after": found.after.sparsity,
    }
    probe = "no probe" if found.probe_difference is None else f"logits of a probe differ by {found.probe_difference:g}"
    text = (
        f"{len(found.masked):,} masks applied, {found.zeroed:,} tiny values zeroed; {found.before.sparsity:.2%} zeros before, "
        f"{found.after.sparsity:.2%} after; {probe}\n{out.resolve()}"
    )
    _print(summary, text, as_json)


def _place(name: str) -> Path:
    from diag.models.catalog import CATALOG, fetch

    if name in CATALOG and not Path(name).exists():
        return fetch(name, offline=False, tell=lambda text: typer.echo(f"diag: {text}", err=True))
    return Path(name)


def _print(summary: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        typer.echo(text)
