"""What cannot be explained is a plain sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from tiny_models import tiny_model

from diag.attribution import ExplainOptions, explain
from diag.errors import DiagError, InputError
from diag.models import Model

PROMPT = "Revenue was $5.1 million in Q1 2021 and $6.2 million in Q2 2021. The better quarter was"
QUICK = ExplainOptions(draws=1, second_opinion=False)


@pytest.mark.parametrize(
    ("answer", "options", "reason"),
    [
        ("a good one", {}, "says no time: there is nothing to explain"),
        ("", {}, "says no time: there is nothing to explain"),
        ("Q2 2021", {"rival": "Q2 2021"}, "the rival is what the answer says already"),
        ("Q2 2021", {"method": "magic"}, "no method is called 'magic'"),
        ("Q2 2021", {"unit": "page"}, "no unit is called 'page'"),
    ],
)
def test_each_is_one_sentence(tiny: Model, answer: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        explain(tiny, PROMPT, answer, **options)


def test_a_prompt_without_a_time_asks_for_another_unit(tiny: Model) -> None:
    with pytest.raises(InputError, match="the prompt has no time to be explained over: take another unit"):
        explain(tiny, "When was it?", "Q2 2021", rival="Q1 2021")
    assert explain(tiny, "When was it?", "Q2 2021", rival="Q1 2021", unit="word", options=QUICK).units


def test_an_empty_prompt(tiny: Model) -> None:
    with pytest.raises(InputError, match="the prompt is empty"):
        explain(tiny, "", "Q2 2021")


def test_a_context_beyond_the_window(tiny: Model) -> None:
    with pytest.raises(InputError, match=r"the context has [\d,]+ tokens, the model's window 4,096: cut the source"):
        explain(tiny, PROMPT * 200, "Q2 2021", rival="Q1 2021")


def test_figures_that_are_not_finite() -> None:
    model = tiny_model()
    with torch.no_grad():
        model.network.model.layers[1].mlp.down_proj.weight[:] = float("nan")
    with pytest.raises(DiagError, match="figures are not finite in float32"):
        explain(model, PROMPT, "Q2 2021", rival="Q1 2021")


@pytest.mark.parametrize("method", ["gradient", "layer_ig"])
def test_a_gradient_that_is_not_finite_in_half_precision(method: Any) -> None:
    """A gradient can overflow where the figures themselves do not."""
    whole = tiny_model()
    model = Model("half", copy.deepcopy(whole.network).half(), whole.tokenizer)
    first = model.network.model.layers[0].input_layernorm
    handle = first.register_forward_hook(lambda _module, _inputs, output: _Overflowing.apply(output))
    with pytest.raises(DiagError, match="the gradient is not finite in this precision: use --dtype float32"):
        explain(model, PROMPT, "Q2 2021", rival="Q1 2021", method=method, options=QUICK)
    handle.remove()


class _Overflowing(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 1e9
