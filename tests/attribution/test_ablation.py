"""Ablation held against plain runs of the whole context, one at a time."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from tiny_models import TOKENIZERS, tiny_model

import diag.attribution.forward as forward_module
from diag.attribution import ExplainOptions, explain
from diag.attribution.forward import TargetForward
from diag.attribution.perturbation import Presence
from diag.attribution.replace import changed, filler_id, fillers, swaps
from diag.attribution.target import Target, make_target
from diag.attribution.units import UNITS, prompt_offsets, regions_of, units_of
from diag.models import Answer, Model, Prompt, TokenScores, answer_ids, make_answer
from diag.records import Record
from diag.timex import Period

TEXT = (
    "Revenue was $5.1 million in Q1 2021 and $6.2 million in the second quarter of 2021. In 2020 it was $20 million; "
    "2023年第三季度收入为5亿元。\nIn which quarter was revenue $6.2 million? It was in"
)
QUICK = ExplainOptions(draws=1, second_opinion=False)


def plain_logprob(model: Model, context: Sequence[int], tokens: Sequence[int]) -> float:
    with torch.no_grad():
        logits = model.network(input_ids=torch.tensor([[*context, *tokens]])).logits[0].double()
    logprobs = torch.log_softmax(logits, -1)
    return float(sum(logprobs[len(context) - 1 + place, token] for place, token in enumerate(tokens)))


def plain_value(model: Model, target: Target, context: Sequence[int]) -> float:
    return plain_logprob(model, context, target.said) - plain_logprob(model, context, target.rival)


@pytest.fixture(params=("llama", "gpt2", "qwen2", "mistral"), scope="module")
def model(request: Any) -> Any:
    return tiny_model(request.param)


@pytest.fixture(params=(True, False), ids=("cache", "no cache"))
def cache(request: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setattr(forward_module, "plain_layers", lambda _: None)
    return request.param


def asked(model: Model) -> tuple[Prompt, Answer]:
    ids = tuple(model.tokenizer(TEXT)["input_ids"])
    prompt = Prompt(TEXT, ids, (), TEXT, (), 0)
    return prompt, make_answer(model, TokenScores(answer_ids(model, prompt, "Q2 2021"), (), (), (), (), ()), "end")


def test_scores_are_the_plain_differences(model: Model, cache: bool) -> None:
    prompt, answer = asked(model)
    target = make_target(model, prompt, answer, (0, 7), "Q1 2021")
    found = explain(model, TEXT, "Q2 2021", rival="Q1 2021", options=QUICK)
    assert found.value == pytest.approx(plain_value(model, target, target.context), abs=1e-5)
    assert [unit.text for unit in found.units][:2] == ["Q1 2021", "second quarter of 2021"]
    filler = filler_id(model)
    for unit, score in zip(found.units, found.scores, strict=True):
        context = [filler if place in unit.tokens else token for place, token in enumerate(target.context)]
        assert score == pytest.approx(found.value - plain_value(model, target, context), abs=1e-5)
    assert any(abs(score) > 1e-5 for score in found.scores)


def test_contexts_of_unequal_length_go_together(model: Model, cache: bool) -> None:
    """Swaps lengthen and shorten the context: rows of one batch are padded on the left."""
    prompt, answer = asked(model)
    target = make_target(model, prompt, answer, (0, 7), "Q1 2021")
    record = Record("", context=TEXT)
    units = units_of(model, prompt, record, regions_of(prompt, None), "time")
    swapped = swaps(model, prompt, units, Period.parse("2021-Q2"), Period.parse("2021-Q1"))
    lengths = {len(other) - len(unit.tokens) for unit, other in zip(units, swapped, strict=True)}
    assert len(lengths) > 1
    found = explain(model, TEXT, "Q2 2021", rival="Q1 2021", method="swap", options=QUICK)
    for number, score in enumerate(found.scores):
        kept = [place != number for place in range(len(units))]
        context = changed(target, units, swapped, kept)
        assert score == pytest.approx(found.value - plain_value(model, target, context), abs=1e-5)
        text = model.tokenizer.decode(context)
        assert text != TEXT
    written = model.tokenizer.decode(changed(target, units, swapped, [True, False, *[True] * (len(units) - 2)]))
    assert "first quarter of 2021" in str(written)


def test_many_units_at_once_are_as_one_by_one(model: Model, cache: bool) -> None:
    prompt, answer = asked(model)
    target = make_target(model, prompt, answer, (0, 7), "Q1 2021")
    units = units_of(model, prompt, Record("", context=TEXT), regions_of(prompt, None), "word")
    presence = Presence(TargetForward(model, target), units, fillers(model, units))
    rows = torch.ones(3, len(units))
    rows[0, ::2], rows[1, 5:], rows[2, :] = 0, 0, 0
    filler = filler_id(model)
    for row, value in zip(rows, presence(rows), strict=True):
        gone = {token for unit, stays in zip(units, row, strict=True) if not stays for token in unit.tokens}
        context = [filler if place in gone else token for place, token in enumerate(target.context)]
        assert float(value) == pytest.approx(plain_value(model, target, context), abs=1e-5)


def test_integrated_gradients_are_complete(model: Model) -> None:
    found = explain(model, TEXT, "Q2 2021", rival="Q1 2021", method="layer_ig", options=QUICK)
    assert found.faithfulness.completeness_error is not None
    assert found.faithfulness.completeness_error <= 0.05
    assert not found.notes


def test_shapley_values_sum_to_the_joint_effect(model: Model) -> None:
    found = explain(model, TEXT, "Q2 2021", rival="Q1 2021", method="shapley", options=QUICK)
    assert sum(found.scores) == pytest.approx(found.faithfulness.joint, abs=1e-5)


def test_the_same_options_give_the_same_figures(model: Model) -> None:
    one, other = (explain(model, TEXT, "Q2 2021", rival="Q1 2021", method="shapley") for _ in range(2))
    assert one.scores == other.scores
    assert one.faithfulness == other.faithfulness


def test_nothing_of_the_users_model_changes(model: Model) -> None:
    config = copy.deepcopy(model.network.config.to_dict())
    weights = {name: part.clone() for name, part in model.network.state_dict().items()}
    options = ExplainOptions(draws=1, layers="mistral" not in str(type(model.network)).lower())
    for method in ("ablation", "gradient", "attention"):
        explain(model, TEXT, "Q2 2021", rival="Q1 2021", method=method, options=options)
    assert model.network.config.to_dict() == config
    assert all(torch.equal(weights[name], part) for name, part in model.network.state_dict().items())
    assert all(part.grad is None for part in model.network.parameters())
    for module in model.network.modules():
        # transformers leaves one of its own wherever hidden states were asked for; it does nothing until they are again.
        hooks = [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
        assert all(hook.__module__.startswith("transformers.") for hook in hooks)


@pytest.mark.parametrize("tokenizer", sorted(TOKENIZERS))
@pytest.mark.parametrize("kind", UNITS)
def test_units_and_their_tokens_are_exact(tokenizer: str, kind: Any) -> None:
    model = tiny_model("llama", tokenizer)
    for text in (
        TEXT,
        "| year | 2019 | 2020 |\n|---|---|---|\n| sales | 1,200 | 1,300 |\nIn which year?",
        "Café 😀😀 opened on 3 March 2021—“Base Quarter” means Q3 2021; 它于2021年3月开业。",
        "don't 3/4/2023,Q3 2021-Q4 2021",
    ):
        prompt = Prompt(text, tuple(model.tokenizer(text)["input_ids"]), (), text, (), 0)
        units = units_of(model, prompt, Record("", context=text), regions_of(prompt, None), kind)
        offsets = prompt_offsets(model, prompt)
        assert units
        taken = [token for unit in units for token in unit.tokens]
        assert len(taken) == len(set(taken))
        assert taken == sorted(taken)
        for unit in units:
            assert unit.text == text[unit.start : unit.end]
            covered = {at for token in unit.tokens for at in range(*offsets[token])}
            assert all(at in covered for at in range(unit.start, unit.end) if not text[at].isspace())
        if kind in ("word", "token"):
            bare = {at for at, char in enumerate(text) if not char.isspace() and char != "_"}
            assert bare <= {at for unit in units for at in range(unit.start, unit.end)}
