"""Options that several commands share, and what their values mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diag.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from diag.models import Model

Data = Annotated[str, typer.Argument(help="A JSONL, JSON, CSV, TSV or Parquet file, a folder, or a data set's name.")]
Out = Annotated[Path | None, typer.Option("--out", help="The run folder; by default runs/COMMAND-NAME.")]
Map = Annotated[list[str] | None, typer.Option("--map", help="FIELD=COLUMN, where a field goes by another name.")]
Format = Annotated[str | None, typer.Option("--format", help="jsonl, json, csv, tsv, parquet or datasets.")]
ModelName = Annotated[
    str,
    typer.Option("--model", help="smollm2-135m (comes embedded), a folder, a .gguf file, or a Hugging Face hub id."),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:N or mps.")]
Dtype = Annotated[str, typer.Option("--dtype", help="auto, float32, bfloat16 or float16.")]
Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing.")]
Trust = Annotated[bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")]
Pickle = Annotated[bool, typer.Option("--allow-pickle", help="Read weights that are pickles.")]
Prompt = Annotated[str, typer.Option("--prompt", help="auto, chat or few-shot (plain text).")]
Examples = Annotated[bool, typer.Option("--examples/--no-examples", help="Two worked examples in front.")]
Template = Annotated[Path | None, typer.Option("--template", help="A Jinja template of your own.")]
SourceTokens = Annotated[
    int | None, typer.Option("--source-tokens", min=16, help="Cut sources to so many tokens, around what is asked.")
]
Batch = Annotated[int, typer.Option("--batch", min=1, help="Records at a time.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="The first so many records.")]
Sample = Annotated[int | None, typer.Option("--sample", min=1, help="So many records, drawn at random by the seed.")]
Steps = Annotated[str, typer.Option("--steps", help="Which of check,generate,risk,competition.")]
Calibration = Annotated[Path | None, typer.Option("--calibration", help="An artefact of `diag calibrate`.")]
TargetFpr = Annotated[
    float, typer.Option("--target-fpr", min=0.0, max=1.0, help="The false positive rate that the threshold aims at.")
]
FailIf = Annotated[
    list[str] | None, typer.Option("--fail-if", help="A condition such as 'hallucination_rate>0.10': exit 3.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first row that is no record.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def tell(what: str) -> None:
    """Say on standard error what is about to happen."""
    typer.echo(f"diag: {what}", err=True)


def one_of(option: str, value: str, known: tuple[str, ...]) -> Any:
    """The value, if it is a known one. Raises InputError."""
    if value not in known:
        raise InputError(f"{option} {value!r}: write one of {', '.join(known)}")
    return value


def model_loader(
    device: str, dtype: str, offline: bool, trust_remote_code: bool, allow_pickle: bool
) -> Callable[[str], Model]:
    """What loads a model by its name under these options."""
    kind = one_of("--dtype", dtype, ("auto", "float32", "bfloat16", "float16"))

    def load_named(name: str) -> Model:
        from diag.models import load

        return load(
            name,
            device=device,
            dtype=kind,
            offline=offline,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            tell=tell,
        )

    return load_named


def free_folder(wanted: Path, resume: bool) -> Path:
    """The wanted run folder, or the first with a number behind it that holds no finished run."""
    from diag import runs

    folder, number = wanted, 1
    while (manifest := runs.read_manifest(folder)) is not None and not (resume and not manifest.get("finished")):
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder


def pairs(entries: list[str]) -> dict[str, str]:
    """FIELD=COLUMN entries as a mapping. Raises InputError."""
    found: dict[str, str] = {}
    for entry in entries:
        field, sign, column = entry.partition("=")
        if not sign or not field or not column:
            raise InputError(f"--map {entry!r}: write FIELD=COLUMN, such as context=passage")
        found[field.strip()] = column.strip()
    return found
