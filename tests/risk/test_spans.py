from __future__ import annotations

import math
from typing import Any

import pytest

from diag.models import Prompter, PromptOptions, Sampling, generate, score_tokens
from diag.records import Record, Table
from diag.risk import Options, score, score_answers

RECORD = Record(
    "r",
    "Revenue was $5.1 million in Q1 2021, $6.2 million in Q2 2021 and $7.3 million in Q3 2021.",
    "In which quarter was revenue $6.2 million?",
    "Q2 2021",
)


def test_spans_of_a_given_answer(smollm: Any) -> None:
    prompt = Prompter(smollm, PromptOptions(), 8).prompt(RECORD)
    (span,) = score(smollm, prompt.text, "Q3 2021", source=RECORD)
    assert (span.text, span.period, span.verdict, span.correction) == ("Q3 2021", "2021-Q3", "misbound", "Q2 2021")
    assert span.is_decisive
    assert span.context_gap is None
    assert span.logprob == pytest.approx(sum_of(smollm, prompt, "Q3 2021"), abs=1e-4)
    assert {rival.period for rival in span.rivals} >= {"2021-Q1", "2021-Q2", "2021-Q4"}
    assert span.competition is not None
    assert span.competition + sum(rival.share for rival in span.rivals) == pytest.approx(1.0)


def sum_of(model: Any, prompt: Any, text: str) -> float:
    ids = model.tokenizer(text)["input_ids"]
    return sum(score_tokens(model, [prompt.ids], [ids]).scores[0].logprobs)


def test_a_rival_has_the_probability_that_it_has_when_said(smollm: Any) -> None:
    prompt = Prompter(smollm, PromptOptions(), 8).prompt(RECORD)
    (span,) = score(smollm, prompt.text, "Q3 2021", source=RECORD)
    rival = next(one for one in span.rivals if one.text == "Q2 2021")
    (other,) = score(smollm, prompt.text, "Q2 2021", source=RECORD)
    assert rival.logprob == pytest.approx(other.logprob, abs=1e-4)


def test_the_best_of_several_notations_counts(smollm: Any) -> None:
    text = RECORD.context.replace("Q2 2021", "the second quarter of 2021")
    record = Record("r", text, RECORD.question)
    prompt = Prompter(smollm, PromptOptions(), 8).prompt(record)
    (span,) = score(smollm, prompt.text, "third quarter of 2021", source=record)
    rival = next(one for one in span.rivals if one.period == "2021-Q2")
    assert rival.text == "second quarter of 2021"


def test_a_values_rivals_are_its_rows_other_columns(smollm: Any) -> None:
    table = Table((("", "2017", "2018", "2019"), ("Wages", "101.5", "112.7", "123.9"), ("Rent", "7.7", "8.8", "9.9")))
    record = Record("r", "", "What were wages in 2018?", "112.7", (table,))
    prompt = Prompter(smollm, PromptOptions(), 8).prompt(record)
    (span,) = score(smollm, prompt.text, "123.9", source=record)
    assert (span.kind, span.verdict) == ("value", "misbound")
    assert {rival.text for rival in span.rivals} == {"101.5", "112.7"}


def test_generated_answers_score_as_given_ones(smollm: Any) -> None:
    prompt = Prompter(smollm, PromptOptions(), 12).prompt(RECORD)
    generated = generate(smollm, [prompt.ids], Sampling(12))
    ((_, spans),) = score_answers(smollm, [RECORD], [prompt], generated.answers, generated.cached, Options())
    given = score(smollm, prompt.text, generated.answers[0].text, source=RECORD)
    assert [span.text for span in spans] == [span.text for span in given]
    for one, other in zip(spans, given, strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=1e-3)
        assert one.competition == pytest.approx(other.competition, abs=1e-3)
        assert one.logprob_without_source is not None
        assert one.context_gap is not None
        assert all(map(math.isfinite, (one.mean_logprob, one.max_entropy, one.min_margin, one.context_gap)))


def test_a_source_makes_what_it_says_likelier(smollm: Any) -> None:
    prompt = Prompter(smollm, PromptOptions(), 12).prompt(RECORD)
    generated = generate(smollm, [prompt.ids], Sampling(12))
    ((_, spans),) = score_answers(smollm, [RECORD], [prompt], generated.answers, generated.cached, Options())
    assert spans
    assert all(span.context_gap is not None and span.context_gap > 0 for span in spans)


def test_a_span_may_begin_inside_a_token(tiny: Any) -> None:
    """`,Q3` is no one token everywhere: whatever the split, the span's tokens cover it, and rivals keep what stands before."""
    record = Record("r", RECORD.context, RECORD.question)
    for answer in ("Revenue:Q3 2021", "in FY2021-Q3", "(2021年第三季度)"):
        spans = score(tiny, "Question?\n", answer, source=record)
        assert spans
        assert all(span.tokens[0] < span.tokens[1] for span in spans)
