from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest
import torch
from tiny_models import tiny_model

from diag.models import (
    CachedRow,
    Sampling,
    continuation_logprobs,
    generate,
    newline_ids,
    score_tokens,
)

QUESTIONS = (
    "Revenue was $5.1 million in Q1 2021 and $6.2 million in Q2 2021. In which quarter was revenue $6.2 million?",
    "When?",
    "2023年第三季度收入为5亿元。哪个季度的收入为5亿元?",
    "The lease took effect on 9 February 2015.",
)
ARCHITECTURES = ("llama", "gpt2", "qwen2", "mistral")


def prompts(model: Any) -> list[list[int]]:
    return [model.tokenizer(text)["input_ids"] for text in QUESTIONS]


def apart(one: Any, other: Any) -> float:
    names = ("logprobs", "entropies", "margins")
    return max(
        (abs(a - b) for name in names for a, b in zip(getattr(one, name), getattr(other, name), strict=True)),
        default=0.0,
    )


@pytest.fixture(params=[*ARCHITECTURES, "smollm"])
def model(request: pytest.FixtureRequest) -> Any:
    if request.param == "smollm":
        return request.getfixturevalue("smollm")
    return tiny_model(request.param)


def test_figures_kept_step_by_step_are_those_of_the_stock_logits(model: Any) -> None:
    rows = prompts(model)
    streamed = generate(model, rows, Sampling(12)).answers
    stock = generate(model, rows, Sampling(12, keep_scores=True)).answers
    for one, other in zip(streamed, stock, strict=True):
        assert one.scores.ids == other.scores.ids
        assert one.scores.top_ids == other.scores.top_ids
        assert apart(one.scores, other.scores) < 1e-5


def test_the_stock_logits_say_the_same_by_hand(model: Any) -> None:
    rows = prompts(model)[:1]
    answer = generate(model, rows, Sampling(6)).answers[0]
    ids = torch.tensor([[*rows[0], *answer.scores.ids]])
    with torch.inference_mode():
        logits = model.network(input_ids=ids).logits[0, len(rows[0]) - 1 : -1].double()
    logprobs = torch.log_softmax(logits, -1)
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    top = logprobs.topk(2).values
    for place, token in enumerate(answer.scores.ids):
        assert answer.scores.logprobs[place] == pytest.approx(logprobs[place, token].item(), abs=5e-5)
        assert answer.scores.entropies[place] == pytest.approx(entropy[place].item(), abs=5e-5)
        assert answer.scores.margins[place] == pytest.approx((top[place, 0] - top[place, 1]).item(), abs=5e-5)


def test_the_batch_changes_no_score(model: Any) -> None:
    rows = prompts(model)
    together = generate(model, rows, Sampling(8)).answers
    for row, one in zip(rows, together, strict=True):
        alone = generate(model, [row], Sampling(8)).answers[0]
        assert alone.scores.ids == one.scores.ids
        assert apart(alone.scores, one.scores) < 1e-4


def test_a_forced_pass_gives_the_figures_of_generation(model: Any) -> None:
    rows = prompts(model)
    answers = generate(model, rows, Sampling(8)).answers
    forced = score_tokens(model, rows, [one.scores.ids for one in answers]).scores
    for one, other in zip(answers, forced, strict=True):
        assert one.scores.ids == other.ids
        assert apart(one.scores, other) < 1e-4


def test_continuations_score_alike_with_and_without_a_cache(model: Any) -> None:
    rows = prompts(model)
    generated = generate(model, rows, Sampling(6))
    for row, (prompt, answer) in enumerate(zip(rows, generated.answers, strict=True)):
        prefix = [*prompt, *answer.scores.ids[:2]]
        tails = [answer.scores.ids[2:], answer.scores.ids[2:4], (5, 6, 7)]
        plain = continuation_logprobs(model, prefix, tails)
        cached = continuation_logprobs(model, prefix, tails, generated.cached[row] if generated.cached else None)
        assert [len(one) for one in plain] == [len(one) for one in tails]
        assert plain[0] == pytest.approx(answer.scores.logprobs[2:], abs=1e-4)
        for one, other in zip(plain, cached, strict=True):
            assert one == pytest.approx(other, abs=1e-4)


def test_a_forked_cache_leaves_the_first_as_it_was(tiny: Any) -> None:
    row = prompts(tiny)[0]
    forced = score_tokens(tiny, [row], [(1, 2, 3)], keep_cache=True)
    (cached,) = forced.cached
    before = cached.cache.layers[0].keys.clone()
    continuation_logprobs(tiny, [*row, 1], [(2, 3), (4,)], CachedRow(cached.cache, 0, 0))
    assert torch.equal(before, cached.cache.layers[0].keys)


def test_a_prefix_that_prompts_share_is_run_once_and_changes_no_score(model: Any) -> None:
    head = model.tokenizer("A report on revenue by quarter, in millions of dollars, for the years 2019 to 2023.\n" * 2)
    rows = [[*head["input_ids"], *row] for row in prompts(model)]
    lengths: list[int] = []
    handle = model.network.register_forward_pre_hook(
        lambda _, args, kwargs: lengths.append(kwargs["input_ids"].shape[1]), with_kwargs=True
    )
    together = generate(model, rows, Sampling(8))
    handle.remove()
    if "mistral" not in model.name:
        assert lengths[0] >= len(head["input_ids"])
        assert lengths[1] <= max(map(len, rows)) - len(head["input_ids"])
    forced = score_tokens(model, rows, [one.scores.ids for one in together.answers], keep_cache=True)
    for number, (row, one) in enumerate(zip(rows, together.answers, strict=True)):
        alone = generate(model, [row], Sampling(8)).answers[0]
        assert alone.scores.ids == one.scores.ids
        assert apart(alone.scores, one.scores) < 1e-4
        assert apart(alone.scores, forced.scores[number]) < 1e-4
        prefix, tails = [*row, *one.scores.ids[:2]], [one.scores.ids[2:], (5, 6)]
        for cached in (together.cached, forced.cached):
            scored = continuation_logprobs(model, prefix, tails, cached[number] if cached else None)
            assert scored[0] == pytest.approx(one.scores.logprobs[2:], abs=1e-4)


def test_nothing_of_the_users_model_changes(tiny: Any) -> None:
    tiny.network.generation_config.temperature = 0.3
    tiny.network.generation_config.do_sample = True
    config = copy.deepcopy(tiny.network.generation_config.to_dict())
    hooks = dict(tiny.network._forward_hooks)
    padding = tiny.tokenizer.padding_side
    weights = {name: part.clone() for name, part in tiny.network.state_dict().items()}
    generate(tiny, prompts(tiny), Sampling(4))
    assert tiny.network.generation_config.to_dict() == config
    assert dict(tiny.network._forward_hooks) == hooks
    assert tiny.tokenizer.padding_side == padding
    assert all(torch.equal(weights[name], part) for name, part in tiny.network.state_dict().items())


def test_sampling_has_a_seed_of_its_own(tiny: Any) -> None:
    hot = Sampling(10, temperature=2.0)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = generate(tiny, prompts(tiny), hot).answers
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    again = generate(tiny, prompts(tiny), hot).answers
    other = generate(tiny, prompts(tiny), hot, seed=99).answers
    assert [one.scores.ids for one in first] == [one.scores.ids for one in again]
    assert [one.scores.ids for one in first] != [one.scores.ids for one in other]


def test_a_line_ends_an_answer_where_that_is_asked_for(smollm: Any) -> None:
    prompt = smollm.tokenizer("A list of months, one a line:\nJanuary\nFebruary\n")["input_ids"]
    whole = generate(smollm, [prompt], Sampling(12)).answers[0]
    line = generate(smollm, [prompt], Sampling(12, stop_ids=newline_ids(smollm))).answers[0]
    assert "\n" in whole.text
    assert whole.stop == "limit"
    assert line.text == "March"
    assert line.stop == "end"
    assert len(line.scores) < len(whole.scores)


def test_memory_does_not_grow_with_the_steps(tiny: Any) -> None:
    """What is kept of a step is a few numbers a row, not the vocabulary."""
    answer = generate(tiny, prompts(tiny), Sampling(16)).answers[0]
    kept = sum(
        len(value) if not value or not isinstance(value[0], tuple) else sum(map(len, value))
        for value in dataclasses.astuple(answer.scores)
    )
    assert kept <= 16 * (4 + 2 * 5)
