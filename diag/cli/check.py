"""`diag check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from diag.cli.app import app
from diag.cli.options import free_folder, pairs
from diag.cli.progress import with_bytes


@app.command()
def check(
    data: Annotated[
        str, typer.Argument(help="A JSONL, JSON, CSV, TSV or Parquet file, a folder, or a data set's name.")
    ],
    out: Annotated[Path | None, typer.Option(help="The run folder; by default runs/check-NAME.")] = None,
    map: Annotated[
        list[str] | None,
        typer.Option("--map", help="FIELD=COLUMN, where a field goes by another name (context=passage)."),
    ] = None,
    format: Annotated[str | None, typer.Option(help="jsonl, json, csv, tsv, parquet or datasets.")] = None,
    against: Annotated[
        str | None, typer.Option(help="Another data set that must share no record with this one.")
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option("--fail-if", help="A condition such as 'misbound>0' or 'absent_rate>1%': exit 3."),
    ] = None,
    day_first: Annotated[bool, typer.Option("--day-first", help="Read 3/4/2023 as 3 April.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first row that is no record.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")] = False,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 is one a core.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Find the temporal faults of a data set of (context, question, answer), without a model."""
    from diag import gate, pipeline

    conditions = gate.parse_conditions(fail_if or [], pipeline.figure_names())
    folder = out or free_folder(Path("runs") / f"check-{Path(data).stem or 'data'}", resume)
    options = pipeline.CheckOptions(pairs(map or []), format, strict, against, day_first, workers, resume)
    result = with_bytes(data, lambda progress: pipeline.check(data, folder, options, progress))
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(result.report, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        from diag.report import check_text

        typer.echo(check_text(result.report))
        typer.echo(f"Report: {(folder / 'report.html').resolve()}")
    gate.check_gate(conditions, pipeline.figures(result.report))
