"""Answers with scores: batched `generate`, its logits reduced step by step to the few figures that are kept."""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from diag.models.alignment import align
from diag.models.continuations import CachedRow
from diag.models.model import Model
from diag.models.shared_prefix import share_prefix
from diag.models.steps import Distribution, StepFigures, TokenScores, plain, read_logits, token_scores

Stop = Literal["end", "limit"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How answers are drawn; greedy where `temperature` is 0."""

    max_new_tokens: int = 48
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 20230930
    stop_ids: frozenset[int] = frozenset()
    """Tokens that end an answer too, once it has begun: line breaks, for prompts in plain text (`newline_ids`)."""
    keep_scores: bool = False
    """Keep transformers' own `scores` and `logits` of every step and reduce them at the end: the same figures, far more memory."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its tokens: `offsets[i]` are the characters of `text` that token i stands for."""

    text: str
    offsets: tuple[tuple[int, int], ...]
    scores: TokenScores
    stop: Stop
    """Whether the model ended it, or the limit of tokens did."""


class Generated(NamedTuple):
    """The answers of one batch, and the KV cache of each prompt with its answer."""

    answers: list[Answer]
    cached: list[CachedRow]


def generate(
    model: Model, prompts: Sequence[Sequence[int]], sampling: Sampling, *, seed: int | None = None
) -> Generated:
    """Answer a batch of prompts (token ids). `seed` is this batch's own; else the sampling's."""
    with torch.inference_mode():
        batch = share_prefix(model, prompts)
    width = batch.ids.shape[1]
    shared = {"cache": batch.cache} if batch.head else {}
    with torch.inference_mode(), _seeded(sampling, seed), _Steps(model, sampling.stop_ids) as steps:
        output: Any = model.network.generate(
            input_ids=batch.ids,
            attention_mask=batch.mask,
            **shared,
            generation_config=_configuration(model, sampling),
            stopping_criteria=[] if sampling.keep_scores else [steps],
        )
    sequences: Tensor = output.sequences[:, width:]
    figures = _of_whole(output.logits, sequences) if sampling.keep_scores else steps.figures(sequences.shape[1])
    answers = [
        _answer(model, sequences[row], type(figures)(*(part[row] for part in figures)), sampling)
        for row in range(len(prompts))
    ]
    cache = getattr(output, "cache", None)
    firsts = [width - len(prompt) + batch.head for prompt in prompts]
    cached = [CachedRow(cache, row, first, batch.head) for row, first in enumerate(firsts)] if cache else []
    return Generated(answers, cached)


def make_answer(model: Model, scores: TokenScores, stop: Stop) -> Answer:
    """An answer of scored tokens, white space around it taken off and its offsets moved along."""
    text, offsets = align(model.tokenizer, scores.ids)
    bare = text.strip()
    shift = len(text) - len(text.lstrip())
    moved = tuple(
        (min(max(start - shift, 0), len(bare)), min(max(end - shift, 0), len(bare))) for start, end in offsets
    )
    return Answer(bare, moved, scores, stop)


def _answer(model: Model, ids: Tensor, figures: StepFigures, sampling: Sampling) -> Answer:
    length = _length(plain(ids), model.end_ids, sampling.stop_ids)
    stop: Stop = "limit" if length is None else "end"
    return make_answer(model, token_scores(ids, figures, 0, len(ids) if length is None else length), stop)


def _length(ids: Sequence[int], ends: frozenset[int], stops: frozenset[int]) -> int | None:
    """The number of tokens before the one that ends the answer; None where the limit does."""
    for place, one in enumerate(ids):
        if one in ends or (one in stops and any(other not in stops for other in ids[:place])):
            return place
    return None


def newline_ids(model: Model) -> frozenset[int]:
    """The tokens whose text has a line break in it."""
    pieces = model.tokenizer.batch_decode([[one] for one in range(len(model.tokenizer))])
    return frozenset(one for one, piece in enumerate(pieces) if "\n" in piece)


def _configuration(model: Model, sampling: Sampling) -> Any:
    """A copy of the model's own configuration, which stays as it is."""
    config: Any = copy.deepcopy(model.generation_config)
    is_greedy = sampling.temperature == 0
    changes: dict[str, Any] = {
        "max_new_tokens": sampling.max_new_tokens,
        "max_length": None,
        "min_length": 0,
        "num_beams": 1,
        "num_return_sequences": 1,
        "do_sample": not is_greedy,
        "temperature": None if is_greedy else sampling.temperature,
        "top_p": None if is_greedy else sampling.top_p,
        "top_k": None if is_greedy else sampling.top_k,
        "return_dict_in_generate": True,
        "output_scores": sampling.keep_scores,
        "output_logits": sampling.keep_scores,
        "pad_token_id": model.pad_id,
        "eos_token_id": sorted(model.end_ids) or None,
    }
    for name, value in changes.items():
        setattr(config, name, value)
    return config


class _Steps:
    """Taps the raw logits of each forward call, and reduces them as soon as the step's tokens are chosen.

    It is a stopping criterion, which transformers calls right after each choice.
    """

    def __init__(self, model: Model, stop_ids: frozenset[int]) -> None:
        self._network = model.network
        self._stops = torch.tensor(sorted(stop_ids), dtype=torch.long)
        self._begun: Tensor | None = None
        self._read: Distribution | None = None
        self._steps: list[StepFigures] = []
        self._hook: Any = None

    def __enter__(self) -> _Steps:
        self._hook = self._network.register_forward_hook(self._tap)
        return self

    def __exit__(self, *_: object) -> None:
        self._hook.remove()

    def _tap(self, _module: Any, _inputs: Any, output: Any) -> None:
        self._read = read_logits(output.logits[:, -1])

    def __call__(self, input_ids: Tensor, scores: Any, **_: Any) -> Tensor:
        assert self._read is not None
        chosen = input_ids[:, -1]
        self._steps.append(self._read.of(chosen.to(self._read.logits.device)))
        self._read = None
        is_stop = torch.isin(chosen, self._stops.to(chosen.device))
        begun = torch.zeros_like(is_stop) if self._begun is None else self._begun
        self._begun = begun | ~is_stop
        return is_stop & begun

    def figures(self, count: int) -> StepFigures:
        """Those of the first `count` steps, shape (rows, steps, …); transformers may run some more and undo them."""
        return StepFigures(*(torch.stack(parts, dim=1).cpu() for parts in zip(*self._steps[:count], strict=True)))


def _of_whole(logits: Sequence[Tensor], sequences: Tensor) -> StepFigures:
    stacked = torch.stack(list(logits), dim=1)
    return StepFigures(*(part.cpu() for part in read_logits(stacked).of(sequences.to(stacked.device))))


@contextmanager
def _seeded(sampling: Sampling, seed: int | None) -> Generator[None]:
    """Random draws from a seed of their own; the program's random state is as before afterwards."""
    if sampling.temperature == 0:
        yield
        return
    random: Any = torch.random
    with random.fork_rng(devices=list(range(torch.cuda.device_count()))):
        random.manual_seed(sampling.seed if seed is None else seed)
        yield
