"""`diag qa`, `diag score` and `diag calibrate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diag.cli.app import app
from diag.cli.options import (
    AsJson,
    Batch,
    Calibration,
    Data,
    Device,
    Dtype,
    Examples,
    FailIf,
    Format,
    Limit,
    Map,
    ModelName,
    Offline,
    Out,
    Pickle,
    Prompt,
    Resume,
    Sample,
    SourceTokens,
    Steps,
    Strict,
    TargetFpr,
    Template,
    Trust,
    free_folder,
    model_loader,
    one_of,
    pairs,
)
from diag.cli.progress import with_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from diag.models import Model


@app.command()
def qa(
    data: Data,
    model: ModelName = "smollm2-135m",
    out: Out = None,
    map: Map = None,
    format: Format = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    offline: Offline = False,
    trust_remote_code: Trust = False,
    allow_pickle: Pickle = False,
    prompt: Prompt = "auto",
    examples: Examples = True,
    template: Template = None,
    source_tokens: SourceTokens = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="The longest answer.")] = 32,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 is greedy.")] = 0.0,
    whole_answers: Annotated[
        bool, typer.Option("--whole-answers", help="Let answers run on over line breaks.")
    ] = False,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0, help="Nucleus sampling.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of sampling.")] = 20230930,
    batch: Batch = 16,
    limit: Limit = None,
    sample: Sample = None,
    steps: Steps = "check,generate,risk,competition",
    calibration: Calibration = None,
    target_fpr: TargetFpr = 0.05,
    fail_if: FailIf = None,
    strict: Strict = False,
    resume: Resume = False,
    as_json: AsJson = False,
) -> None:
    """Have a model answer a data set's questions, and say which answers have their time wrong."""
    from diag.models import PromptOptions, Sampling
    from diag.pipeline.qa import QaOptions

    sampling = Sampling(max_new_tokens, temperature, top_p, seed=seed)
    options = QaOptions(
        map=pairs(map or []),
        format=format,
        strict=strict,
        limit=limit,
        sample=sample,
        prompt=PromptOptions(
            one_of("--prompt", prompt, ("auto", "chat", "few-shot")), examples, template, source_tokens
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
        model_loader(device, dtype, offline, trust_remote_code, allow_pickle),
    )


@app.command()
def score(
    data: Data,
    model: ModelName = "smollm2-135m",
    out: Out = None,
    map: Map = None,
    format: Format = None,
    device: Device = "auto",
    dtype: Dtype = "auto",
    offline: Offline = False,
    trust_remote_code: Trust = False,
    allow_pickle: Pickle = False,
    prompt: Prompt = "auto",
    examples: Examples = True,
    template: Template = None,
    source_tokens: SourceTokens = None,
    batch: Batch = 16,
    limit: Limit = None,
    sample: Sample = None,
    steps: Steps = "check,generate,risk,competition",
    calibration: Calibration = None,
    target_fpr: TargetFpr = 0.05,
    fail_if: FailIf = None,
    strict: Strict = False,
    resume: Resume = False,
    as_json: AsJson = False,
) -> None:
    """Score the answers that a data set gives, by one pass of the model over each; nothing is generated."""
    from diag.models import PromptOptions
    from diag.pipeline.qa import QaOptions

    options = QaOptions(
        map=pairs(map or []),
        format=format,
        strict=strict,
        given=True,
        limit=limit,
        sample=sample,
        prompt=PromptOptions(
            one_of("--prompt", prompt, ("auto", "chat", "few-shot")), examples, template, source_tokens
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
        model_loader(device, dtype, offline, trust_remote_code, allow_pickle),
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
    folder = out or free_folder(Path("runs") / f"{command}-{Path(data).stem or 'data'}", options.resume)
    model = load(name)
    result = with_count(command, lambda told: run(data, model, folder, options, told))
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(result.report, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        typer.echo(qa_text(result.report))
        typer.echo(f"Report: {(folder / 'report.html').resolve()}")
    gate.check_gate(conditions, figures(result.report))
