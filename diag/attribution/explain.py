"""`explain`: which words of the prompt made the model say this period and not that one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from diag.attribution.attention import HeadLook, look
from diag.attribution.faithfulness import Faithfulness, check_faithfulness, random_scores
from diag.attribution.forward import TargetForward, Told
from diag.attribution.gradients import TOLERANCE, first_order, integrated_gradients
from diag.attribution.layers import LayerView, layer_view
from diag.attribution.perturbation import Presence, ablate, shapley
from diag.attribution.replace import fillers, swaps
from diag.attribution.rival import Contrast, choose_contrast
from diag.attribution.target import make_target
from diag.attribution.units import UNITS, Region, Unit, UnitKind, inner_units, prompt_offsets, regions_of, units_of
from diag.errors import InputError
from diag.models import Answer, Model, Prompt, TokenScores, answer_ids, make_answer
from diag.records import Record

Method = Literal["ablation", "swap", "gradient", "layer_ig", "attention", "shapley", "random"]
METHODS: tuple[Method, ...] = ("ablation", "swap", "gradient", "layer_ig", "attention", "shapley", "random")
"""`random` is the trivial baseline that every other has to beat."""

UnitChoice = Literal["time", "sentence", "cell", "word", "token", "hierarchy"]
UNIT_CHOICES: tuple[UnitChoice, ...] = (*UNITS, "hierarchy")

_ADDITIVE = ("ablation", "gradient", "layer_ig", "shapley")
_MOST_FOR_ABLATION = 48
"""Units up to which ablation is run as the second opinion on a gradient."""
_LONGEST_FOR_GRADIENT = 256
"""Tokens behind the first unit up to which a gradient is: its backward pass keeps what every layer did, several times the
memory of a plain one."""
_STRONGEST = 3
"""Sentences that the hierarchy looks into."""


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """How much to spend; the same options give the same figures."""

    draws: int = 5
    """Random deletions that the top units are held against."""
    second_opinion: bool = True
    """Compute the rank correlation with a second method."""
    shapley_samples: int = 16
    """Sampled orders, each one run a unit."""
    most_steps: int = 128
    """Of integrated gradients."""
    layers: bool = False
    """Compute the view by layer."""
    positions: bool = True
    """With `layers`: what each layer's position encoding brings, at a whole pass a layer."""
    seed: int = 20230930


@dataclass(frozen=True, slots=True)
class Attribution:
    """The scores of a prompt's units for one target, in nats: above 0 for the said period, below 0 for its rival."""

    method: Method
    unit: UnitChoice
    prompt: str
    said: str
    rival: str | None
    value: float
    """The target: log-probability of the said period less that of the rival."""
    units: tuple[Unit, ...]
    scores: tuple[float, ...]
    faithfulness: Faithfulness
    outer: tuple[tuple[Unit, float], ...] = ()
    """Of a hierarchy: all sentences with their scores; `units` are what the strongest are made of."""
    heads: tuple[HeadLook, ...] = ()
    layers: LayerView | None = None
    notes: tuple[str, ...] = ()
    rows: int = 0
    """Contexts that were run."""
    seconds: float = 0.0
    scored_after: float = 0.0
    """Of the seconds, those until the scores were there; the rest went into their faithfulness."""

    def ranked(self) -> list[tuple[Unit, float]]:
        """Units with their scores, those that speak most for the said period first."""
        return sorted(zip(self.units, self.scores, strict=True), key=lambda one: (-one[1], one[0].start))


def explain(
    model: Model,
    prompt: str | Prompt,
    answer: str | Answer,
    *,
    rival: str | None = None,
    unit: UnitChoice = "time",
    method: Method = "ablation",
    contrast: bool = True,
    span: tuple[int, int] | None = None,
    record: Record | None = None,
    options: ExplainOptions | None = None,
    told: Told | None = None,
) -> Attribution:
    """Explain the period (or value) that `answer` says behind `prompt`.

    What is explained is the characters `span` of the answer; without it, what answers the record's question, else the
    first period. The rival is the given text, else the period that the record's source gives, else the strongest competitor;
    with `contrast` False there is none. `record` tells source and question apart; without it the whole prompt is explained.

    Raises InputError where there is nothing to explain (no time in the answer, a rival equal to what was said, no unit of
    that kind, a context beyond the window), DiagError where the model's figures are not finite.
    """
    began = time.perf_counter()
    options = options or ExplainOptions()
    _known(method, unit)
    asked = prompt if isinstance(prompt, Prompt) else _plain_prompt(model, prompt)
    given = answer if isinstance(answer, Answer) else _plain_answer(model, asked, answer)
    held = record or Record("", context=asked.text)
    chosen = choose_contrast(model, asked, given, held, span, rival, contrast=contrast)
    target = make_target(model, asked, given, chosen.span, chosen.rival)
    regions = regions_of(asked, record)
    forward = TargetForward(model, target, told)
    job = _Job(model, asked, held, forward, chosen, regions, prompt_offsets(model, asked), options, began)
    found = _hierarchy(job, method) if unit == "hierarchy" else _flat(job, method, unit)
    return replace(
        found,
        unit=unit,
        layers=layer_view(forward, positions=options.positions) if options.layers else None,
        rows=forward.rows_run,
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True, slots=True)
class _Job:
    model: Model
    prompt: Prompt
    record: Record
    forward: TargetForward
    contrast: Contrast
    regions: Sequence[Region]
    offsets: Sequence[tuple[int, int]]
    options: ExplainOptions
    began: float


def _known(method: str, unit: str) -> None:
    if method not in METHODS:
        raise InputError(f"no method is called {method!r}: write one of {', '.join(METHODS)}")
    if unit not in UNIT_CHOICES:
        raise InputError(f"no unit is called {unit!r}: write one of {', '.join(UNIT_CHOICES)}")


def _flat(job: _Job, method: Method, kind: UnitKind) -> Attribution:
    units = units_of(job.model, job.prompt, job.record, job.regions, kind)
    if not units:
        raise InputError(f"the prompt has no {kind} to be explained over: take another unit, such as sentence or word")
    return _scored(job, method, kind, units)


def _hierarchy(job: _Job, method: Method) -> Attribution:
    """Sentences by ablation first, then the times and words of the strongest by the method asked for."""
    sentences = units_of(job.model, job.prompt, job.record, job.regions, "sentence")
    if not sentences:
        raise InputError("the prompt has no sentence to be explained over")
    presence = Presence(job.forward, sentences, fillers(job.model, sentences))
    scores = ablate(presence, len(sentences))
    order = sorted(range(len(sentences)), key=lambda place: (-abs(scores[place]), place))
    strongest = [sentences[place] for place in sorted(order[:_STRONGEST])]
    units = inner_units(job.model, job.prompt, job.record, strongest)
    found = _scored(job, method, "hierarchy", units)
    return replace(found, outer=tuple(zip(sentences, scores, strict=True)))


class _Scores:
    """The methods over one set of units; each is run once at most."""

    def __init__(self, job: _Job, units: Sequence[Unit]) -> None:
        self._job = job
        self._units = units
        self._fillers = fillers(job.model, units)
        self.presence = Presence(job.forward, units, self._fillers)
        self.notes: list[str] = []
        self.heads: tuple[HeadLook, ...] = ()

    def by(self, method: Method) -> list[float]:
        job, units = self._job, self._units
        if method == "ablation":
            return ablate(self.presence, len(units))
        if method == "swap":
            swapped = swaps(job.model, job.prompt, units, job.contrast.said_period, job.contrast.rival_period)
            if swapped == self._fillers:
                self.notes.append("no unit could be swapped for the rival period: fillers were used")
            return ablate(Presence(job.forward, units, swapped), len(units))
        if method == "shapley":
            return shapley(self.presence, len(units), job.options.shapley_samples, job.options.seed)
        if method == "gradient":
            return first_order(job.forward, units, self._fillers)
        if method == "layer_ig":
            return self._integrated()
        if method == "attention":
            looks = look(job.model, job.forward.target, units)
            self.heads = tuple(looks.heads)
            return looks.scores
        return random_scores(job.forward.target, len(units), job.options.seed)

    def _integrated(self) -> list[float]:
        joint = self._job.forward.value - self.presence.without(range(len(self._units)))
        most = self._job.options.most_steps
        found = integrated_gradients(self._job.forward, self._units, self._fillers, joint, most)
        if found.completeness_error > TOLERANCE:
            self.notes.append(
                f"integrated gradients stopped at {found.steps} steps with a completeness error of "
                f"{found.completeness_error:.0%}, above {TOLERANCE:.0%}"
            )
        return found.scores


def _scored(job: _Job, method: Method, unit: UnitChoice, units: Sequence[Unit]) -> Attribution:
    by = _Scores(job, units)
    scores = by.by(method)
    scored_after = time.perf_counter() - job.began
    behind = len(job.forward.target.context) - min(unit.tokens[0] for unit in units)
    second = _second(method, len(units), behind) if job.options.second_opinion else None
    other = (second, by.by(second)) if second else None
    faithfulness = check_faithfulness(
        job.forward,
        by.presence,
        units,
        scores,
        job.regions,
        job.offsets,
        draws=job.options.draws,
        seed=job.options.seed,
        is_additive=method in _ADDITIVE,
        other=other,
    )
    target = job.forward.target
    return Attribution(
        method,
        unit,
        job.prompt.text,
        target.said_text,
        target.rival_text,
        job.forward.value,
        tuple(units),
        tuple(scores),
        faithfulness,
        heads=by.heads,
        notes=tuple(by.notes),
        scored_after=scored_after,
    )


def _second(method: Method, count: int, behind: int) -> Method | None:
    """A method of another kind, if it is not too dear."""
    if method in ("ablation", "swap", "shapley"):
        if behind <= _LONGEST_FOR_GRADIENT:
            return "gradient"
        return ("ablation" if method == "swap" else "swap") if count <= _MOST_FOR_ABLATION else None
    return "ablation" if count <= _MOST_FOR_ABLATION else None


def _plain_prompt(model: Model, text: str) -> Prompt:
    if not text:
        raise InputError("the prompt is empty: there is nothing to explain the answer by")
    ids = tuple(model.tokenizer(text)["input_ids"])  # type: ignore[arg-type]
    return Prompt(text, ids, (), text, (), 0)


def _plain_answer(model: Model, prompt: Prompt, text: str) -> Answer:
    ids = answer_ids(model, prompt, text)
    return make_answer(model, TokenScores(ids, (), (), (), (), ()), "end")
