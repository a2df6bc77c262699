"""`qa`: have the model answer (or take answers that are given), score each time in them, judge it, report."""

from __future__ import annotations

import platform
import random
import resource
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson
import pyarrow as pa

from diag import __version__, models, records, risk, runs
from diag.errors import InputError
from diag.pipeline.check import CheckOptions, check_rows, mapping
from diag.pipeline.predictions import PREDICTIONS, SPANS, prediction_row, span_rows

STEP = "answers"
Step = Literal["check", "generate", "risk", "competition"]
STEPS: tuple[Step, ...] = ("check", "generate", "risk", "competition")
"""`check`: data findings. `generate`: answers with token scores. `risk`: spans, verdicts, context gap. `competition`: rivals."""

_PART_RECORDS = 64
Told = Callable[[int, int | None], None]
"""Told how many records are done, and how many there are where that is known."""


@dataclass(frozen=True, slots=True)
class QaOptions:
    """What `qa` is asked to do; the same options on the same data, model and machine give the same tables."""

    map: Mapping[str, str] | None = None
    format: str | None = None
    strict: bool = False
    given: bool = False
    """Score the records' own answers instead of generating any (`diag score`)."""
    limit: int | None = None
    """The first so many records."""
    sample: int | None = None
    """So many records drawn at random, by the sampling's seed, in their own order."""
    prompt: models.PromptOptions = field(default_factory=models.PromptOptions)
    sampling: models.Sampling = field(default_factory=models.Sampling)
    whole_answers: bool = False
    """Let an answer run on over line breaks, until the model or the limit ends it."""
    batch: int = 16
    steps: tuple[Step, ...] = STEPS
    calibration: Path | None = None
    target_fpr: float = 0.05
    resume: bool = False


class QaResult(NamedTuple):
    """Where the run is, and its report."""

    folder: Path
    report: dict[str, Any]


def qa(
    data: str | Path,
    model: models.Model,
    out: Path,
    options: QaOptions | None = None,
    progress: Told | None = None,
) -> QaResult:
    """Run a model over a data set and write the run folder `out`.

    A record that fails (in its prompt, or inside the model) is a row of `rejects.jsonl`; the rest goes on. Raises InputError
    for input that cannot be read, DiagError where the folder cannot be written.
    """
    options = options or QaOptions()
    _known_steps(options.steps)
    names = mapping(options.map)
    calibration = risk.read_calibration(options.calibration) if options.calibration else risk.default_calibration()
    prompter = models.Prompter(model, options.prompt, options.sampling.max_new_tokens)
    runs.start_run(out, _identity(data, model, prompter, options, calibration), resume=options.resume)
    clock = _Clock(model)
    checked: dict[str, Any] | None = None
    if "check" in options.steps:
        with clock.step("check"):
            rows = islice(records.rows_of(data, options.format), options.limit)
            check_options = CheckOptions(options.map, options.format, options.strict)
            checked = check_rows(rows, names, out, check_options, str(data))
    job = _Job(model, prompter, _sampling(model, options), options, calibration, clock)
    _answer_parts(data, out, names, job, progress)
    from diag.report import qa_html

    with clock.step("report"):
        report = _join(out, job, checked)
        runs.write_json(out / "report.json", report)
    costs = clock.costs()
    runs.write_text(out / "report.html", qa_html({**report, "costs": costs}, out))
    runs.finish_run(out, {"costs": costs})
    return QaResult(out, report)


@dataclass(frozen=True, slots=True)
class _Job:
    model: models.Model
    prompter: models.Prompter
    sampling: models.Sampling
    options: QaOptions
    calibration: risk.Calibration | None
    clock: _Clock


class _Clock:
    """Seconds and peak memory by step, of this process."""

    def __init__(self, model: models.Model) -> None:
        self._is_cuda = model.device.type == "cuda"
        self._seconds: dict[str, float] = {}
        self._peaks: dict[str, int] = {}

    @contextmanager
    def step(self, name: str) -> Generator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - began
            self._peaks[name] = max(self._peaks.get(name, 0), self._peak())

    def _peak(self) -> int:
        """The most memory of this process so far, in bytes: the GPU's where the model is on one."""
        if self._is_cuda:
            import torch

            return int(torch.cuda.max_memory_allocated())
        # Kilobytes on Linux, bytes on macOS.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    def costs(self) -> dict[str, Any]:
        return {
            name: {"seconds": round(seconds, 3), "peak_memory_bytes": self._peaks[name]}
            for name, seconds in self._seconds.items()
        }


def _known_steps(steps: Sequence[str]) -> None:
    for step in steps:
        if step not in STEPS:
            raise InputError(f"--steps: no step is called {step!r}; known: {', '.join(STEPS)}")
    if "generate" not in steps:
        raise InputError("--steps: generate must be among them; for the data alone there is `diag check`")
    if "competition" in steps and "risk" not in steps:
        raise InputError("--steps: competition is a part of risk; name both")


def _sampling(model: models.Model, options: QaOptions) -> models.Sampling:
    """The prompts ask for a few words: a line break ends the answer, unless whole answers are wanted."""
    if options.whole_answers or options.given:
        return options.sampling
    return replace(options.sampling, stop_ids=models.newline_ids(model))


def _identity(
    data: str | Path,
    model: models.Model,
    prompter: models.Prompter,
    options: QaOptions,
    calibration: risk.Calibration | None,
) -> dict[str, Any]:
    import torch
    import transformers

    place = Path(data)
    template = options.prompt.template
    sampling = asdict(options.sampling)
    sampling.pop("stop_ids")
    return {
        "command": "score" if options.given else "qa",
        "data": str(data),
        "data_sha256": runs.hash_file(place) if place.exists() else None,
        "map": dict(options.map or {}),
        "format": options.format,
        "strict": options.strict,
        "limit": options.limit,
        "sample": options.sample,
        "steps": list(options.steps),
        "model": model.name,
        "model_sha256": model.weights_sha256,
        "model_parameters": model.parameters,
        "dtype": model.dtype,
        "device": model.device.type,
        "prompt_style": prompter.style,
        "prompt_examples": options.prompt.examples,
        "prompt_template_sha256": runs.hash_file(template) if template else None,
        "source_tokens": options.prompt.source_tokens,
        "sampling": sampling,
        "whole_answers": options.whole_answers,
        "batch": options.batch,
        "calibration_sha256": calibration.training_sha256 if calibration else None,
        "calibration_model_sha256": calibration.model_sha256 if calibration else None,
        "target_fpr": options.target_fpr,
        "seed": options.sampling.seed,
        "version": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_threads": torch.get_num_threads(),
        "transformers": transformers.__version__,
    }


# ---- answers, part by part -------------------------------------------------------------------------------------------


def _answer_parts(
    data: str | Path, out: Path, names: Mapping[str, tuple[str, ...]], job: _Job, progress: Told | None
) -> None:
    options = job.options
    reading = records.read(data, map=options.map, format=options.format, strict=options.strict)
    done = rejected = 0
    for number, part in enumerate(_in_parts(_chosen(reading, options))):
        if not runs.has_part(out, STEP, number):
            rejects = records.Rejects()
            rejects.rows.extend(reading.rejects.rows[rejected:])
            _answer_part(out, number, part, job, rejects)
        rejected = len(reading.rejects)
        done += len(part)
        if progress:
            progress(done, options.sample or options.limit)


def _chosen(reading: Iterable[records.Record], options: QaOptions) -> Iterable[records.Record]:
    """The records to answer; a sample is drawn in one pass (Vitter's algorithm R), with no more than it in memory."""
    first = islice(reading, options.limit)
    if options.sample is None:
        return first
    draw = random.Random(options.sampling.seed)
    kept: list[tuple[int, records.Record]] = []
    for number, record in enumerate(first):
        if len(kept) < options.sample:
            kept.append((number, record))
        elif (place := draw.randrange(number + 1)) < options.sample:
            kept[place] = (number, record)
    return [record for _, record in sorted(kept, key=lambda one: one[0])]


def _in_parts(reading: Iterable[records.Record]) -> Iterator[list[records.Record]]:
    """Records in parts; the last may be empty, so that rows rejected after the last record have a part too."""
    part: list[records.Record] = []
    for record in reading:
        part.append(record)
        if len(part) == _PART_RECORDS:
            yield part
            part = []
    yield part


class _Row(NamedTuple):
    place: int
    prediction: dict[str, Any]
    spans: list[dict[str, Any]]


def _answer_part(out: Path, number: int, part: list[records.Record], job: _Job, rejects: records.Rejects) -> None:
    prompts: dict[int, models.Prompt] = {}
    with job.clock.step("prompts"):
        for place, record in enumerate(part):
            try:
                prompts[place] = job.prompter.prompt(record)
            except InputError as error:
                if job.options.prompt.template and "--template" in str(error):
                    raise
                _reject(rejects, record, "context", str(error))
    places = list(prompts)
    rows: list[_Row] = []
    for batch in models.batches([len(prompts[place].ids) for place in places], job.options.batch):
        chosen = [places[index] for index in batch]
        rows.extend(_answer_batch(part, prompts, chosen, job, rejects))
    rows.sort(key=lambda row: row.place)
    tables = {
        "predictions": pa.Table.from_pylist([row.prediction for row in rows], schema=PREDICTIONS),
        "spans": pa.Table.from_pylist([span for row in rows for span in row.spans], schema=SPANS),
        "cut": pa.table({"cut": [prompts[place].cut for place in places]}, schema=pa.schema([("cut", pa.int64())])),
    }
    runs.write_part(out, STEP, number, tables, {"rejects.jsonl": b"".join(one.to_json() for one in rejects)})


def _answer_batch(
    part: list[records.Record],
    prompts: Mapping[int, models.Prompt],
    places: list[int],
    job: _Job,
    rejects: records.Rejects,
) -> list[_Row]:
    """A batch's rows; where the model fails on it, its halves are tried, down to the record that cannot be answered."""
    chosen = [_Asked(place, part[place], prompts[place]) for place in places]
    try:
        with job.clock.step("generate"):
            answers, cached = _given(chosen, job) if job.options.given else _generated(chosen, job)
    except Exception as error:
        if len(places) == 1:
            _reject(rejects, part[places[0]], "", f"the model could not answer it ({_said_by(error)})")
            return []
        middle = len(places) // 2
        halves = (places[:middle], places[middle:])
        return [row for half in halves for row in _answer_batch(part, prompts, half, job, rejects)]
    with job.clock.step("risk"):
        return _score_batch(chosen, answers, cached, job, rejects)


class _Asked(NamedTuple):
    place: int
    record: records.Record
    prompt: models.Prompt


def _score_batch(
    chosen: list[_Asked],
    answers: list[models.Answer],
    cached: list[models.CachedRow],
    job: _Job,
    rejects: records.Rejects,
) -> list[_Row]:
    try:
        return _scored(chosen, answers, cached, job)
    except Exception as error:
        if len(chosen) == 1:
            _reject(rejects, chosen[0].record, "", f"its answer could not be scored ({_said_by(error)})")
            return []
    middle = len(chosen) // 2
    halves = (slice(0, middle), slice(middle, None))
    return [row for half in halves for row in _score_batch(chosen[half], answers[half], cached[half], job, rejects)]


def _said_by(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def _scored(
    chosen: list[_Asked], answers: list[models.Answer], cached: list[models.CachedRow], job: _Job
) -> list[_Row]:
    model, options = job.model, job.options
    asked = [one.record for one in chosen]
    if "risk" in options.steps:
        wanted = risk.Options(context_gap=True, competition="competition" in options.steps)
        scored = risk.score_answers(model, asked, [one.prompt for one in chosen], answers, cached, wanted)
    else:
        none: list[risk.SpanScore] = []
        scored = [(risk.read_said(record, answer.text), none) for record, answer in zip(asked, answers, strict=True)]
    rows: list[_Row] = []
    for (place, record, prompt), answer, (said, spans) in zip(chosen, answers, scored, strict=True):
        labelled = risk.Labelled("undetermined") if options.given else risk.label(record, answer.text, said)
        prediction = prediction_row(model, record, prompt, answer, said, spans, labelled, job.calibration)
        rows.append(_Row(place, prediction, span_rows(record, answer, spans, job.calibration)))
    return rows


def _generated(chosen: list[_Asked], job: _Job) -> tuple[list[models.Answer], list[models.CachedRow]]:
    seed = (job.sampling.seed + records.id_hash("\x1f".join(one.record.id for one in chosen))) % (1 << 63)
    generated = models.generate(job.model, [one.prompt.ids for one in chosen], job.sampling, seed=seed)
    return generated.answers, generated.cached


def _given(chosen: list[_Asked], job: _Job) -> tuple[list[models.Answer], list[models.CachedRow]]:
    model = job.model
    ids = [models.answer_ids(model, one.prompt, one.record.answer) for one in chosen]
    forced = models.score_tokens(model, [one.prompt.ids for one in chosen], ids, keep_cache=True)
    return [models.make_answer(model, scores, "end") for scores in forced.scores], forced.cached


def _reject(rejects: records.Rejects, record: records.Record, name: str, reason: str) -> None:
    rejects.add(record.line, records.RowError(name, reason), orjson.dumps(records.row_of(record), default=str).decode())


# ---- the whole -------------------------------------------------------------------------------------------------------


def _join(out: Path, job: _Job, checked: dict[str, Any] | None) -> dict[str, Any]:
    from diag.pipeline.summary import summarise

    runs.join_tables(out, STEP, "predictions", PREDICTIONS)
    runs.join_tables(out, STEP, "spans", SPANS)
    runs.join_lines(out, STEP, "rejects.jsonl")
    cuts = [cut for table in runs.part_tables(out, STEP, "cut") for cut in table.column("cut").to_pylist()]
    manifest = runs.read_manifest(out) or {}
    with (out / "rejects.jsonl").open("rb") as stream:
        rejected = sum(1 for _ in stream)
    return {
        **{name: manifest.get(name) for name in ("command", "data", "data_sha256", "model", "model_sha256", "version")},
        "prompts_cut": sum(1 for cut in cuts if cut),
        "characters_cut": sum(cuts),
        "rejects": rejected,
        **summarise(out, job.calibration, job.options.target_fpr, job.model.weights_sha256),
        "check": checked,
    }
