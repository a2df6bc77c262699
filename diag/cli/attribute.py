"""`diag attribute`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from diag.cli.app import app
from diag.cli.options import (
    AsJson,
    Device,
    Dtype,
    Offline,
    Pickle,
    Template,
    Trust,
    model_loader,
    one_of,
)
from diag.cli.progress import with_count
from diag.errors import InputError


@app.command()
def attribute(
    run: Annotated[Path, typer.Argument(help="A finished run of `diag qa` or `diag score`.")],
    worst: Annotated[int, typer.Option("--worst", min=1, help="So many answers, the riskiest first.")] = 20,
    id: Annotated[list[str] | None, typer.Option("--id", help="These records instead.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="COLUMN=VALUE, such as verdict=misbound or language=zh.")
    ] = None,
    unit: Annotated[
        str, typer.Option("--unit", help="time, sentence, cell, word, token, or hierarchy (sentences, then inside).")
    ] = "time",
    method: Annotated[
        str, typer.Option("--method", help="ablation, swap, gradient, layer_ig, attention, shapley or random.")
    ] = "ablation",
    contrast: Annotated[
        bool, typer.Option("--contrast/--plain", help="Against a rival, or the said period's probability alone.")
    ] = True,
    layers: Annotated[bool, typer.Option("--layers", help="The view by layer too; dear.")] = False,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Random deletions to hold the top units against.")] = 5,
    export: Annotated[
        str | None, typer.Option("--export", help="svg or png: a chart an answer, in RUN/charts.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Where the run's model lies, if not where it was.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Where the run's data lie, if not where they were.")
    ] = None,
    template: Template = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    offline: Offline = False,
    trust_remote_code: Trust = False,
    allow_pickle: Pickle = False,
    as_json: AsJson = False,
) -> None:
    """Explain the riskiest answers of a run: which words made the model say this period and not that one."""
    from diag import runs
    from diag.attribution import METHODS, UNIT_CHOICES, ExplainOptions
    from diag.pipeline.attribute import AttributeOptions
    from diag.pipeline.attribute import attribute as explain_run
    from diag.report import CHART_FORMATS, attribution_text

    options = AttributeOptions(
        worst=worst,
        ids=tuple(id or ()),
        where=_filters(where or []),
        unit=one_of("--unit", unit, UNIT_CHOICES),
        method=one_of("--method", method, METHODS),
        contrast=contrast,
        explain=ExplainOptions(draws=draws, layers=layers),
        data=data,
        template=template,
        export=one_of("--export", export, CHART_FORMATS) if export else None,
    )
    name = model or str(runs.load_run(run).manifest["model"])
    loaded = model_loader(device, dtype, offline, trust_remote_code, allow_pickle)(name)
    pattern = with_count("attribute", lambda told: explain_run(run, loaded, options, told))
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(pattern, option=orjson.OPT_INDENT_2) + b"\n")
        return
    typer.echo(attribution_text(pattern))
    typer.echo(f"Page: {(run / 'attributions.html').resolve()}")


def _filters(entries: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries:
        column, sign, value = entry.partition("=")
        if not sign or not column.strip():
            raise InputError(f"--where {entry!r}: write COLUMN=VALUE, such as verdict=misbound")
        found[column.strip()] = value.strip()
    return found
