"""`diag collapse`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from diag.cli.app import app
from diag.cli.options import (
    AsJson,
    Device,
    Dtype,
    FailIf,
    Format,
    Map,
    ModelName,
    Offline,
    Pickle,
    Trust,
    model_loader,
    one_of,
    pairs,
)
from diag.cli.progress import with_count


@app.command()
def collapse(
    model: ModelName = "smollm2-135m",
    data: Annotated[
        str | None, typer.Option("--data", help="Records: their sentences serve beside the templates.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="A run of `diag qa`: does closeness predict what it confuses?")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="Another model: which layers lost or won separation in it.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A folder; the run's, or runs/collapse-MODEL.")] = None,
    vocabulary: Annotated[
        list[str] | None, typer.Option("--vocabulary", help="quarters, months, years, …; all without it.")
    ] = None,
    language: Annotated[list[str] | None, typer.Option("--language", help="en, zh; both without it.")] = None,
    whiten: Annotated[bool, typer.Option("--whiten", help="Give every direction the same weight.")] = False,
    map: Map = None,
    format: Format = None,
    contexts: Annotated[int, typer.Option("--contexts", min=8, help="Sentences of the data to compare.")] = 500,
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="A sentence encoder for them, instead of the model's middle layer.")
    ] = None,
    plane: Annotated[str, typer.Option("--plane", help="The 2-D map: pca, or umap (slow).")] = "pca",
    seed: Annotated[int, typer.Option(help="Of random words, intervals and samples.")] = 20230930,
    fail_if: FailIf = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    offline: Offline = False,
    trust_remote_code: Trust = False,
    allow_pickle: Pickle = False,
    as_json: AsJson = False,
) -> None:
    """Say whether a model's quarters, months, years and days have become one lump, in which layers, and what that does."""
    from diag import gate
    from diag.collapse import LANGUAGES, MAP_METHODS, ContextsOptions, Language, MeasureOptions
    from diag.pipeline.collapse import FIGURES, CollapseOptions, collapse_model, figures
    from diag.report import collapse_text

    conditions = gate.parse_conditions(fail_if or [], FIGURES)
    languages = cast(
        "tuple[Language, ...]", tuple(one_of("--language", one, LANGUAGES) for one in language or LANGUAGES)
    )
    load = model_loader(device, dtype, offline, trust_remote_code, allow_pickle)
    options = CollapseOptions(
        tuple(vocabulary) if vocabulary else None,
        data,
        pairs(map or []),
        format,
        run,
        MeasureOptions(languages, whiten, map=one_of("--plane", plane, MAP_METHODS), seed=seed),
        ContextsOptions(most=contexts, seed=seed),
        encoder,
        offline=offline,
    )
    place = out or run or Path("runs") / f"collapse-{Path(model).name}"
    loaded = load(model)
    other = load(against) if against else None
    summary: dict[str, Any] = with_count("collapse", lambda told: collapse_model(loaded, place, options, other, told))
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        typer.echo(collapse_text(summary))
        typer.echo(f"Page: {(place / 'collapse.html').resolve()}")
    gate.check_gate(conditions, figures(summary))
