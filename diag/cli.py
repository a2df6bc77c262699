"""The command `diag`: thin; each command calls the function of the same name, and imports what it needs by itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diag import __version__
from diag.errors import DiagError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from diag.models import Model
    from diag.pipeline import CheckResult, Progress
    from diag.pipeline.qa import QaResult, Told

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


models_app = typer.Typer(help="Models known by a short name.", no_args_is_help=True)
app.add_typer(models_app, name="models")

_Data = Annotated[str, typer.Argument(help="A JSONL, JSON, CSV, TSV or Parquet file, a folder, or a data set's name.")]
_Out = Annotated[Path | None, typer.Option("--out", help="The run folder; by default runs/COMMAND-NAME.")]
_Map = Annotated[list[str] | None, typer.Option("--map", help="FIELD=COLUMN, where a field goes by another name.")]
_Format = Annotated[str | None, typer.Option("--format", help="jsonl, json, csv, tsv, parquet or datasets.")]
_ModelName = Annotated[
    str,
    typer.Option("--model", help="smollm2-135m (comes embedded), a folder, a .gguf file, or a Hugging Face hub id."),
]
_Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:N or mps.")]
_Dtype = Annotated[str, typer.Option("--dtype", help="auto, float32, bfloat16 or float16.")]
_Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing.")]
_Trust = Annotated[bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")]
_Pickle = Annotated[bool, typer.Option("--allow-pickle", help="Read weights that are pickles.")]
_Prompt = Annotated[str, typer.Option("--prompt", help="auto, chat or few-shot (plain text).")]
_Examples = Annotated[bool, typer.Option("--examples/--no-examples", help="Two worked examples in front.")]
_Template = Annotated[Path | None, typer.Option("--template", help="A Jinja template of your own.")]
_SourceTokens = Annotated[
    int | None, typer.Option("--source-tokens", min=16, help="Cut sources to so many tokens, around what is asked.")
]
_Batch = Annotated[int, typer.Option("--batch", min=1, help="Records at a time.")]
_Limit = Annotated[int | None, typer.Option("--limit", min=1, help="The first so many records.")]
_Sample = Annotated[int | None, typer.Option("--sample", min=1, help="So many records, drawn at random by the seed.")]
_Steps = Annotated[str, typer.Option("--steps", help="Which of check,generate,risk,competition.")]
_Calibration = Annotated[Path | None, typer.Option("--calibration", help="An artefact of `diag calibrate`.")]
_TargetFpr = Annotated[
    float, typer.Option("--target-fpr", min=0.0, max=1.0, help="The false positive rate that the threshold aims at.")
]
_FailIf = Annotated[
    list[str] | None, typer.Option("--fail-if", help="A condition such as 'hallucination_rate>0.10': exit 3.")
]
_Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first row that is no record.")]
_Resume = Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


@app.command()
def qa(
    data: _Data,
    model: _ModelName = "smollm2-135m",
    out: _Out = None,
    map: _Map = None,
    format: _Format = None,
    device: _Device = "auto",
    dtype: _Dtype = "auto",
    offline: _Offline = False,
    trust_remote_code: _Trust = False,
    allow_pickle: _Pickle = False,
    prompt: _Prompt = "auto",
    examples: _Examples = True,
    template: _Template = None,
    source_tokens: _SourceTokens = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="The longest answer.")] = 32,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 is greedy.")] = 0.0,
    whole_answers: Annotated[
        bool, typer.Option("--whole-answers", help="Let answers run on over line breaks.")
    ] = False,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Nucleus sampling.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of sampling.")] = 20230930,
    batch: _Batch = 16,
    limit: _Limit = None,
    sample: _Sample = None,
    steps: _Steps = "check,generate,risk,competition",
    calibration: _Calibration = None,
    target_fpr: _TargetFpr = 0.05,
    fail_if: _FailIf = None,
    strict: _Strict = False,
    resume: _Resume = False,
    as_json: _Json = False,
) -> None:
    """Have a model answer a data set's questions, and say which answers have their time wrong."""
    from diag.models import PromptOptions, Sampling
    from diag.pipeline.qa import QaOptions

    sampling = Sampling(max_new_tokens, temperature, top_p, seed=seed)
    options = QaOptions(
        map=_pairs(map or []),
        format=format,
        strict=strict,
        limit=limit,
        sample=sample,
        prompt=PromptOptions(
            _one_of("--prompt", prompt, ("auto", "chat", "few-shot")), examples, template, source_tokens
        ),
        sampling=sampling,
        whole_answers=whole_answers,
        batch=batch,
        steps=tuple(step.strip() for step in steps.split(",")),  # type: ignore[arg-type]
        calibration=calibration,
        target_fpr=target_fpr,
        resume=resume,
    )
    _run_qa(
        "qa",
        data,
        model,
        out,
        options,
        fail_if,
        as_json,
        _load(device, dtype, offline, trust_remote_code, allow_pickle),
    )


@app.command()
def score(
    data: _Data,
    model: _ModelName = "smollm2-135m",
    out: _Out = None,
    map: _Map = None,
    format: _Format = None,
    device: _Device = "auto",
    dtype: _Dtype = "auto",
    offline: _Offline = False,
    trust_remote_code: _Trust = False,
    allow_pickle: _Pickle = False,
    prompt: _Prompt = "auto",
    examples: _Examples = True,
    template: _Template = None,
    source_tokens: _SourceTokens = None,
    batch: _Batch = 16,
    limit: _Limit = None,
    sample: _Sample = None,
    steps: _Steps = "check,generate,risk,competition",
    calibration: _Calibration = None,
    target_fpr: _TargetFpr = 0.05,
    fail_if: _FailIf = None,
    strict: _Strict = False,
    resume: _Resume = False,
    as_json: _Json = False,
) -> None:
    """Score the answers that a data set gives, by one pass of the model over each; nothing is generated."""
    from diag.models import PromptOptions
    from diag.pipeline.qa import QaOptions

    options = QaOptions(
        map=_pairs(map or []),
        format=format,
        strict=strict,
        given=True,
        limit=limit,
        sample=sample,
        prompt=PromptOptions(
            _one_of("--prompt", prompt, ("auto", "chat", "few-shot")), examples, template, source_tokens
        ),
        batch=batch,
        steps=tuple(step.strip() for step in steps.split(",")),  # type: ignore[arg-type]
        calibration=calibration,
        target_fpr=target_fpr,
        resume=resume,
    )
    _run_qa(
        "score",
        data,
        model,
        out,
        options,
        fail_if,
        as_json,
        _load(device, dtype, offline, trust_remote_code, allow_pickle),
    )


@app.command()
def calibrate(
    run: Annotated[
        list[Path], typer.Argument(help="Runs of `diag qa` over labelled data; several are taken together.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The artefact to write.")] = Path("calibration.json"),
    seed: Annotated[int, typer.Option(help="Of the fit.")] = 20230930,
) -> None:
    """Fit the calibrated risk to a model's own answers; use it with `diag qa --calibration FILE`."""
    from diag.pipeline.calibrate import calibrate_runs

    fitted = calibrate_runs(run, out, seed=seed)
    typer.echo(f"{fitted.answers:,} answers of {fitted.documents:,} documents, {fitted.wrong:,} with a wrong period")
    typer.echo(f"Calibration: {out.resolve()}")


@models_app.command("list")
def list_models() -> None:
    """The models of the catalogue, and whether each is here already."""
    from diag.models.catalog import CATALOG, is_fetched, model_folder

    for entry in CATALOG.values():
        place = str(model_folder(entry)) if is_fetched(entry) else "not fetched yet"
        typer.echo(f"{entry.name}  {entry.title}, {entry.megabytes} MB, {entry.licence}: {place}")


@models_app.command("fetch")
def fetch_model(
    name: Annotated[str, typer.Argument(help="A name of `diag models list`.")] = "smollm2-135m",
    offline: _Offline = False,
) -> None:
    """Fetch a model of the catalogue and convert it, once."""
    from diag.models.catalog import fetch

    typer.echo(fetch(name, offline=offline, tell=_tell))


def _tell(what: str) -> None:
    typer.echo(f"diag: {what}", err=True)


def _one_of(option: str, value: str, known: tuple[str, ...]) -> Any:
    if value not in known:
        raise InputError(f"{option} {value!r}: write one of {', '.join(known)}")
    return value


def _load(
    device: str, dtype: str, offline: bool, trust_remote_code: bool, allow_pickle: bool
) -> Callable[[str], Model]:
    kind = _one_of("--dtype", dtype, ("auto", "float32", "bfloat16", "float16"))

    def load_named(name: str) -> Model:
        from diag.models import load

        return load(
            name,
            device=device,
            dtype=kind,
            offline=offline,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            tell=_tell,
        )

    return load_named


def _run_qa(
    command: str,
    data: str,
    name: str,
    out: Path | None,
    options: Any,
    fail_if: list[str] | None,
    as_json: bool,
    load: Callable[[str], Model],
) -> None:
    from diag import gate
    from diag.pipeline.qa import qa as run
    from diag.pipeline.summary import figure_names, figures
    from diag.report import qa_text

    conditions = gate.parse_conditions(fail_if or [], figure_names())
    folder = out or _free_folder(Path("runs") / f"{command}-{Path(data).stem or 'data'}", options.resume)
    model = load(name)
    result = _with_count(command, lambda told: run(data, model, folder, options, told))
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(result.report, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        typer.echo(qa_text(result.report))
        typer.echo(f"Report: {(folder / 'report.html').resolve()}")
    gate.check_gate(conditions, figures(result.report))


def _with_count(what: str, work: Callable[[Told | None], QaResult]) -> QaResult:
    """Show a bar of the records done where a person is looking, and nothing elsewhere."""
    if not sys.stderr.isatty():
        return work(None)
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        return work(lambda done, total: bar.update(task, completed=done, total=total))


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


_INTERRUPTED = 130
_MODEL_LIBRARIES = frozenset(
    {
        "torch",
        "transformers",
        "captum",
        "sklearn",
        "datasets",
        "safetensors",
        "gguf",
        "accelerate",
        "numpy",
        "matplotlib",
    }
)


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
    except ModuleNotFoundError as error:
        if debug or (error.name or "").split(".")[0] not in _MODEL_LIBRARIES:
            raise
        typer.echo(f"diag: this command needs {error.name}: pip install 'chronodiag[model]'", err=True)
        raise SystemExit(2) from None
    except SystemExit as stop:
        # Typer turns an interrupt into this code before it can be seen here.
        if stop.code != _INTERRUPTED:
            raise
        typer.echo("diag: interrupted; the run goes on with --resume", err=True)
        raise SystemExit(1) from None
    except Exception as error:
        if debug:
            raise
        typer.echo(f"diag: {type(error).__name__}: {error} (a fault of the program; --debug shows where)", err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
