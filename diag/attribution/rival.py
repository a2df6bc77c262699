"""What of an answer is explained, and against which rival."""

from __future__ import annotations

from typing import NamedTuple

from diag.errors import InputError
from diag.evidence import bound_of
from diag.models import Answer, Model, Prompt, token_range
from diag.records import Record
from diag.risk import Asked, Said, SaidSpan, candidates, compete, find_in, judge_span, read_said
from diag.timex import Period

_WRONG = ("misbound", "fabricated")


class Contrast(NamedTuple):
    """Characters of the answer, the text that could stand there instead, and the periods of the two where they have one."""

    span: tuple[int, int]
    rival: str | None
    said_period: Period | None
    rival_period: Period | None


def choose_contrast(
    model: Model,
    prompt: Prompt,
    answer: Answer,
    record: Record,
    span: tuple[int, int] | None,
    rival: str | None,
    *,
    contrast: bool,
) -> Contrast:
    """The span asked for, else what answers the question, else the first period; and its rival.

    Raises InputError where the answer says no time and no value, or nothing competes with it.
    """
    said = read_said(record, answer.text)
    number = _number_of(said, span)
    if number is None:
        if span is not None:
            return Contrast(span, rival, _period(record, answer.text[slice(*span)]), _period(record, rival))
        raise InputError(f"the answer {answer.text[:60]!r} says no time: there is nothing to explain")
    one = said.spans[number]
    place = (one.start, one.end)
    if not contrast:
        return Contrast(place, None, one.period, None)
    if rival is None:
        rival, period = _strongest(model, prompt, answer, record, said, number)
    else:
        period = _period(record, rival)
    return Contrast(place, rival, one.period, period)


def _number_of(said: Said, span: tuple[int, int] | None) -> int | None:
    if span is not None:
        return next((index for index, one in enumerate(said.spans) if (one.start, one.end) == span), None)
    if said.decisive is not None:
        return said.decisive
    return next((index for index, one in enumerate(said.spans) if one.period is not None), None)


def _strongest(
    model: Model, prompt: Prompt, answer: Answer, record: Record, said: Said, number: int
) -> tuple[str, Period | None]:
    """The period that the source gives where the answer is wrong, else the likeliest competitor."""
    one = said.spans[number]
    judgement = judge_span(record, answer.text, said, number)
    if judgement.verdict in _WRONG and one.expression is not None and judgement.period_in_source is not None:
        text = judgement.correction or judgement.period_in_source.format_like(one.expression)
        if text.strip() != one.text.strip():
            return text, judgement.period_in_source
    return _likeliest(model, prompt, answer, record, one)


def _likeliest(
    model: Model, prompt: Prompt, answer: Answer, record: Record, one: SaidSpan
) -> tuple[str, Period | None]:
    tokens = token_range(answer.offsets, one.start, one.end)
    if tokens[0] == tokens[1]:
        raise InputError("the answer has no tokens to explain: it is empty, or says no time and no value")
    rivals = candidates(record, one)
    found = compete(model, prompt, answer, [Asked(one, tokens, 0.0, rivals)])[0].rivals
    if not found:
        raise InputError(f"nothing competes with {one.text!r} here: name a rival, or explain it without one")
    best = found[0]
    period = next((rival.period for rival in rivals if best.text in rival.forms), None)
    return best.text, period


def _period(record: Record, text: str | None) -> Period | None:
    """The period that a text names."""
    bounds = [bound_of(one) for one in find_in(record, text)] if text else []
    return next((bound.period for bound in bounds if bound is not None), None)
