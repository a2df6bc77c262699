"""`attribute`: explain the riskiest answers of a run, and say what decided over many of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa

from diag import attribution, models, records, report, runs
from diag.errors import DiagError, InputError
from diag.pipeline.pattern import summarise

_PART = 8
Told = Callable[[int, int | None], None]
_TEXT, _WHOLE, _REAL, _FLAG = pa.string(), pa.int64(), pa.float64(), pa.bool_()

ATTRIBUTIONS = pa.schema(
    [
        ("id", _TEXT),
        ("line", _WHOLE),
        *(
            (name, _TEXT)
            for name in ("method", "unit", "said", "rival", "question", "answer", "verdict", "truth", "prompt")
        ),
        ("value", _REAL),
        (
            "units",
            pa.list_(
                pa.struct(
                    [
                        *((name, _TEXT) for name in ("kind", "place", "text", "period")),
                        *((name, _WHOLE) for name in ("start", "end")),
                        ("tokens", pa.list_(_WHOLE)),
                        ("score", _REAL),
                        ("is_evidence", _FLAG),
                    ]
                )
            ),
        ),
        ("top", pa.list_(_WHOLE)),
        ("comprehensiveness", _REAL),
        ("random_comprehensiveness", pa.list_(_REAL)),
        ("sufficiency", _REAL),
        ("random_sufficiency", pa.list_(_REAL)),
        *((name, _REAL) for name in ("p_value", "joint", "completeness_error", "agreement")),
        ("agreement_with", _TEXT),
        ("beats_random", _FLAG),
        ("deciding", _WHOLE),
        *((name, _FLAG) for name in attribution.PROPERTIES),
        *((name, _REAL) for name in ("chance", "evidence_chance")),
        *((name, pa.list_(_REAL)) for name in ("lens", "attention_by_layer", "position_by_layer")),
        ("notes", pa.list_(_TEXT)),
    ]
)
"""One row an answer; `units` carry their characters of `prompt`, and scores in nats."""


@dataclass(frozen=True, slots=True)
class AttributeOptions:
    """Which answers to explain, and how."""

    worst: int = 20
    """So many answers, the riskiest first."""
    ids: tuple[str, ...] = ()
    """These records instead."""
    where: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    """Only answers whose columns (`verdict`, `truth`, `language`, …) have these values."""
    unit: attribution.UnitChoice = "time"
    method: attribution.Method = "ablation"
    contrast: bool = True
    explain: attribution.ExplainOptions = field(default_factory=attribution.ExplainOptions)
    data: Path | None = None
    """Where the run's data lies now, if elsewhere."""
    template: Path | None = None
    export: report.ChartFormat | None = None
    """A chart an answer, in the run folder's `charts`."""


class _Asked(NamedTuple):
    row: Mapping[str, Any]
    span: Mapping[str, Any]
    record: records.Record


def attribute(
    folder: Path,
    model: models.Model,
    options: AttributeOptions | None = None,
    progress: Told | None = None,
) -> dict[str, Any]:
    """Explain answers of a finished run; writes `attributions.parquet` into it and returns the pattern over them.

    An answer that cannot be explained is counted with its reason; the rest goes on. Taken up again where it was cut off.
    Raises InputError where the run, its data or the model do not fit together.
    """
    options = options or AttributeOptions()
    run = runs.load_run(folder)
    _same_model(run, model)
    asked = _chosen(run, options)
    prompter = _prompter(run, model, options)
    step = f"attribution-{_digest(run, asked, options)}"
    for number, start in enumerate(range(0, len(asked), _PART)):
        part = asked[start : start + _PART]
        if not runs.has_part(folder, step, number):
            _explain_part(folder, step, number, part, model, prompter, options)
        if progress:
            progress(start + len(part), len(asked))
    runs.join_tables(folder, step, "attributions", ATTRIBUTIONS)
    refused = [row for table in runs.part_tables(folder, step, "refused") for row in table.to_pylist()]
    pattern = {**summarise(run.table("attributions").to_pylist()), "refused": refused}
    settings = {"method": options.method, "unit": options.unit, "contrast": options.contrast, **asdict(options.explain)}
    found = {**settings, **pattern}
    runs.write_json(folder / "attribution.json", found)
    _report(run, found, options)
    runs.drop_parts(folder)
    return found


def _report(run: runs.Run, found: Mapping[str, Any], options: AttributeOptions) -> None:
    """The page of the attributions, their charts, and the pattern in the run's own report."""
    rows: list[dict[str, Any]] = run.attributions.to_pylist()
    whole = {**run.report, "attribution": found}
    costs = run.manifest["costs"]
    runs.write_text(run.folder / "attributions.html", report.attribution_html(rows, found, run.folder))
    runs.write_json(run.folder / "report.json", whole)
    runs.write_text(run.folder / "report.html", report.qa_html({**whole, "costs": costs}, run.folder))
    if options.export:
        for number, row in enumerate(rows, 1):
            chart = report.attribution_chart(row["units"], row["said"], row["rival"], options.export)
            runs.write_bytes(run.folder / "charts" / f"{number:04d}.{options.export}", chart)


def _same_model(run: runs.Run, model: models.Model) -> None:
    was = run.manifest.get("model_sha256")
    if was and model.weights_sha256 and was != model.weights_sha256:
        raise InputError(
            f"{run.folder} was answered by {run.manifest.get('model')}, whose weights are others than those of "
            f"{model.name}: give the same --model"
        )


def _digest(run: runs.Run, asked: Sequence[_Asked], options: AttributeOptions) -> str:
    identity = [run.manifest.get("data_sha256"), [one.row["id"] for one in asked], asdict(options)]
    return hashlib.sha256(orjson.dumps(identity, default=str)).hexdigest()[:12]


def _prompter(run: runs.Run, model: models.Model, options: AttributeOptions) -> models.Prompter:
    manifest = run.manifest
    wanted = manifest.get("prompt_template_sha256")
    if wanted and (options.template is None or runs.hash_file(options.template) != wanted):
        raise InputError(f"{run.folder} was made with a template of its own: give the same --template")
    asked = models.PromptOptions(
        manifest["prompt_style"], manifest["prompt_examples"], options.template, manifest["source_tokens"]
    )
    return models.Prompter(model, asked, manifest["sampling"]["max_new_tokens"])


def _chosen(run: runs.Run, options: AttributeOptions) -> list[_Asked]:
    rows: list[dict[str, Any]] = run.predictions.to_pylist()
    columns = set(rows[0]) if rows else set[str]()
    unknown = [name for name in options.where if name not in columns]
    if unknown:
        raise InputError(f"--where: answers have no column {unknown[0]!r}; they have: {', '.join(sorted(columns))}")
    known = {row["id"] for row in rows}
    missing = [one for one in options.ids if one not in known]
    if missing:
        raise InputError(f"{run.folder} has no answer to {missing[0]!r}")
    fitting = [
        row
        for row in rows
        if (not options.ids or row["id"] in options.ids)
        and all(str(row[name]) == value for name, value in options.where.items())
        and row["span"] is not None
    ]
    if not options.ids:
        fitting.sort(key=lambda row: (-(row["risk"] or 0.0), row["line"]))
        fitting = fitting[: options.worst]
    if not fitting:
        raise InputError(f"{run.folder} has no answer with a time to explain among those asked for")
    spans = {(row["id"], row["line"], row["index"]): row for row in run.spans.to_pylist()}
    sources = _records(run, options, {(row["id"], row["line"]) for row in fitting})
    return [_Asked(row, spans[row["id"], row["line"], row["span"]], sources[row["id"], row["line"]]) for row in fitting]


def _records(
    run: runs.Run, options: AttributeOptions, wanted: set[tuple[str, int]]
) -> dict[tuple[str, int], records.Record]:
    place = options.data or Path(run.manifest["data"])
    if not place.exists():
        raise InputError(f"the run's data are not at {place} any more: say where with --data")
    digest = run.manifest.get("data_sha256")
    if digest and runs.hash_file(place) != digest:
        raise InputError(f"{place} has changed since the run: its answers cannot be explained by it")
    reading = records.read(place, map=run.manifest["map"] or None, format=run.manifest["format"])
    return {(one.id, one.line): one for one in reading if (one.id, one.line) in wanted}


def _explain_part(
    folder: Path,
    step: str,
    number: int,
    part: Sequence[_Asked],
    model: models.Model,
    prompter: models.Prompter,
    options: AttributeOptions,
) -> None:
    rows: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for one in part:
        try:
            rows.append(_explained(one, model, prompter, options))
        except DiagError as error:
            refused.append({"id": one.row["id"], "reason": str(error)})
    schema = pa.schema([("id", _TEXT), ("reason", _TEXT)])
    tables = {
        "attributions": pa.Table.from_pylist(rows, schema=ATTRIBUTIONS),
        "refused": pa.Table.from_pylist(refused, schema=schema),
    }
    runs.write_part(folder, step, number, tables, {})


def _explained(
    one: _Asked, model: models.Model, prompter: models.Prompter, options: AttributeOptions
) -> dict[str, Any]:
    row, span, record = one
    prompt = prompter.prompt(record)
    found = attribution.explain(
        model,
        prompt,
        answer_of(row),
        rival=rival_of(span),
        unit=options.unit,
        method=options.method,
        contrast=options.contrast,
        span=(span["start"], span["end"]),
        record=record,
        options=options.explain,
    )
    evidence = [records.SourceSpan(**place) for place in span["evidence"]]
    decided = attribution.deciding_unit(found, record, prompt, evidence, span["period"])
    proof = attribution.evidence_units(found.units, record, prompt, evidence)
    faithful = asdict(found.faithfulness)
    faithful["agreement_with"] = faithful.pop("other")
    return {
        **{name: row[name] for name in ("id", "line", "answer", "verdict", "truth")},
        "question": record.question,
        **{name: getattr(found, name) for name in ("method", "unit", "said", "rival", "value", "prompt", "notes")},
        "units": [
            {
                **{name: getattr(unit, name) for name in ("kind", "place", "text", "start", "end", "tokens")},
                "period": unit.period.value if unit.period else None,
                "score": score,
                "is_evidence": place in proof,
            }
            for place, (unit, score) in enumerate(zip(found.units, found.scores, strict=True))
        ],
        **faithful,
        "deciding": decided.unit,
        **{name: getattr(decided, name) for name in (*attribution.PROPERTIES, "chance", "evidence_chance")},
        "lens": found.layers.lens if found.layers else None,
        "attention_by_layer": found.layers.attention if found.layers else None,
        "position_by_layer": found.layers.position if found.layers else None,
    }


def answer_of(row: Mapping[str, Any]) -> models.Answer:
    """An answer as the run's `predictions` hold it."""
    ids = tuple(row["token_ids"])
    scores = models.TokenScores(ids, tuple(row["logprobs"]), tuple(row["entropies"]), tuple(row["margins"]), (), ())
    offsets = tuple(zip(row["token_starts"], row["token_ends"], strict=True))
    return models.Answer(row["answer"], offsets, scores, row["stop"])


def rival_of(span: Mapping[str, Any]) -> str | None:
    """What a said span is held against: the period (or value) that the source gives, else the strongest competitor."""
    if span["verdict"] in ("misbound", "fabricated") and span["correction"] and span["kind"] == "time":
        return span["correction"]
    rivals = [one["text"] for one in span["rivals"] or ()]
    return next((text for text in rivals if text.strip() != span["text"].strip()), None)
