"""The command `diag`: thin; each command calls the function of the same name, and imports what it needs by itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diag import __version__
from diag.errors import DiagError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from diag.pipeline import CheckResult, Progress

app = typer.Typer(
    name="diag",
    help="Find out when, where and why a language model gets time wrong.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"chronodiag {__version__}")
        raise typer.Exit


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    pass


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
    folder = out or _free_folder(Path("runs") / f"check-{Path(data).stem or 'data'}", resume)
    options = pipeline.CheckOptions(_pairs(map or []), format, strict, against, day_first, workers, resume)
    result = _with_progress(data, lambda progress: pipeline.check(data, folder, options, progress))
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(result.report, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        from diag.report import check_text

        typer.echo(check_text(result.report))
        typer.echo(f"Report: {(folder / 'report.html').resolve()}")
    gate.check_gate(conditions, pipeline.figures(result.report))


def _free_folder(wanted: Path, resume: bool) -> Path:
    """The wanted run folder, or the first with a number behind it that holds no finished run."""
    from diag import runs

    folder, number = wanted, 1
    while (manifest := runs.read_manifest(folder)) is not None and not (resume and not manifest.get("finished")):
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder


def _pairs(entries: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for entry in entries:
        field, sign, column = entry.partition("=")
        if not sign or not field or not column:
            raise InputError(f"--map {entry!r}: write FIELD=COLUMN, such as context=passage")
        pairs[field.strip()] = column.strip()
    return pairs


def _with_progress(data: str, work: Callable[[Progress | None], CheckResult]) -> CheckResult:
    """Show a bar of the bytes done where a person is looking, and nothing elsewhere."""
    if not sys.stderr.isatty():
        return work(None)
    from rich import progress as rich
    from rich.console import Console

    place = Path(data)
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TransferSpeedColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("checking", total=place.stat().st_size if place.is_file() else None)
        return work(lambda done: bar.advance(task, done))


def main() -> None:
    """Run the command line; an error that a user can mend is one sentence and an exit code."""
    debug = "--debug" in sys.argv
    try:
        app()
    except DiagError as error:
        if debug:
            raise
        typer.echo(f"diag: {error}", err=True)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        typer.echo("diag: interrupted; the run goes on with --resume", err=True)
        raise SystemExit(1) from None
    except Exception as error:
        if debug:
            raise
        typer.echo(f"diag: {type(error).__name__}: {error} (a fault of the program; --debug shows where)", err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
