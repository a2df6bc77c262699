"""A network whose output depends on two units alone, by its weights: every method has to find those and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tiny_models import wrapped

from diag.attribution import Attribution, ExplainOptions, explain
from diag.models import Model

SOURCE = "Sales were 5 in June 2021, 6 in August 2021, 7 in October 2021 and 8 in December 2021."
PROMPT = f"{SOURCE}\nWhen were sales 6? In"
SAID, RIVAL = "August 2021", "October 2021"
TIMES = ("June 2021", "August 2021", "October 2021", "December 2021")
QUICK = ExplainOptions(draws=1, second_opinion=False)


def constructed(charges: dict[str, float], *, looks: bool = False) -> Model:
    """Said and rival are told apart by the mean charge of the context's tokens, and by nothing else.

    Dimension 0 of every embedding is large, which keeps the norms constant; dimension 1 is the token's charge. Attention
    is even over the context (or, with `looks`, goes to what is charged), and carries the charge to dimension 2, which the
    output embedding reads for the first token of the said period, and with the other sign for that of its rival.
    """
    from transformers import AutoModelForCausalLM, LlamaConfig

    tokenizer = wrapped("byte_level")
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        rope_parameters={"rope_type": "default", "rope_theta": 1e12},
        max_position_embeddings=512,
        tie_word_embeddings=False,
    )
    network: Any = AutoModelForCausalLM.from_config(config)
    layer, base = network.model.layers[0], network.model
    with torch.no_grad():
        for name, weight in network.named_parameters():
            weight.fill_(1.0 if "norm" in name else 0.0)
        base.embed_tokens.weight[:, 0] = 100.0
        for text, charge in charges.items():
            for token in own_tokens(tokenizer, text):
                base.embed_tokens.weight[token, 1] = charge
        layer.self_attn.v_proj.weight[1, 1] = 1.0
        layer.self_attn.o_proj.weight[2, 1] = 400.0
        if looks:
            # The slowest pair of dimensions, which positions hardly turn.
            layer.self_attn.q_proj.weight[7, 0] = 10.0
            layer.self_attn.k_proj.weight[7, 1] = 100.0
        said, rival = (tokenizer(f" {text}", add_special_tokens=False)["input_ids"][0] for text in (SAID, RIVAL))
        network.lm_head.weight[said, 2] = 40.0
        network.lm_head.weight[rival, 2] = -40.0
    return Model("constructed", network.eval(), tokenizer)


def own_tokens(tokenizer: Any, text: str) -> set[int]:
    """The tokens that stand in this text alone, of all that the prompt has."""
    encoded = tokenizer(PROMPT, add_special_tokens=False, return_offsets_mapping=True)
    start = PROMPT.index(text)
    inside: set[int] = set()
    outside: set[int] = set()
    for token, (first, last) in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True):
        (inside if first < start + len(text) and last > start else outside).add(token)
    assert inside - outside
    return inside - outside


def ask(model: Model, **options: Any) -> Attribution:
    return explain(model, PROMPT, SAID, rival=RIVAL, **{"options": QUICK, **options})


@pytest.fixture(scope="module")
def model() -> Model:
    return constructed({"August 2021": 1.0, "December 2021": -0.5})


@pytest.mark.parametrize("method", ["ablation", "swap", "gradient", "layer_ig", "shapley"])
def test_each_method_finds_the_two_units_and_nothing_else(model: Model, method: Any) -> None:
    found = ask(model, method=method)
    assert tuple(unit.text for unit in found.units) == TIMES
    june, august, october, december = found.scores
    assert august > 0.1
    assert december < -0.01
    assert abs(june) < 1e-5
    # A swap writes the said period where the rival stands, which adds a charge: that unit spoke against it.
    assert (october < -0.1) if method == "swap" else (abs(october) < 1e-5)
    assert found.ranked()[0][0].text == "August 2021"
    assert found.faithfulness.top == (1,)


@pytest.mark.parametrize("method", ["ablation", "gradient", "layer_ig", "shapley"])
def test_the_scores_make_up_the_joint_effect(model: Model, method: Any) -> None:
    """The network is nearly linear in the charges: what is taken apart adds up again."""
    faithful = ask(model, method=method).faithfulness
    assert faithful.completeness_error is not None
    assert faithful.completeness_error < 0.05
    assert abs(faithful.joint) > 0.1


def test_taking_out_what_counts_beats_random_and_keeping_it_suffices(model: Model) -> None:
    found = ask(model, options=ExplainOptions(draws=9))
    faithful = found.faithfulness
    assert faithful.beats_random
    assert faithful.p_value == pytest.approx(0.1)
    assert faithful.comprehensiveness == pytest.approx(found.scores[1])
    assert faithful.sufficiency == pytest.approx(found.scores[3], abs=1e-4)
    assert faithful.other == "gradient"
    assert faithful.agreement is not None
    assert faithful.agreement > 0.9


def test_an_attribution_that_is_not_faithful_says_so(model: Model) -> None:
    scores = [ask(model, method="random", options=ExplainOptions(draws=9, seed=seed)) for seed in range(12)]
    for found in scores:
        assert found.faithfulness.beats_random == (found.faithfulness.top == (1,))
    assert len({found.faithfulness.beats_random for found in scores}) == 2


def test_words_tokens_sentences_and_the_hierarchy_find_the_same_place(model: Model) -> None:
    assert ask(model, unit="word").ranked()[0][0].text in "August 2021"
    token = ask(model, unit="token").ranked()[0][0]
    assert PROMPT.index("August") <= token.end <= PROMPT.index(", 7")
    assert ask(model, unit="sentence").ranked()[0][0].text == SOURCE
    found = ask(model, unit="hierarchy")
    assert [unit.text for unit, _ in found.outer] == [SOURCE, "When were sales 6?", "In"]
    assert found.ranked()[0][0].text == "August 2021"
    assert {"Sales", "June 2021", "December 2021"} <= {unit.text for unit in found.units}


def test_attention_finds_what_is_looked_at() -> None:
    found = ask(constructed({"August 2021": 1.0}, looks=True), method="attention")
    assert found.scores[1] > 0.9
    assert sum(found.scores) == pytest.approx(1)
    assert (found.heads[0].layer, found.heads[0].head, found.heads[0].unit) == (0, 0, 1)
    assert found.heads[0].share > 0.9


def test_without_a_rival_the_period_alone_is_explained(model: Model) -> None:
    found = ask(model, contrast=False)
    assert found.rival is None
    assert found.value < 0
    assert found.ranked()[0][0].text == "August 2021"


def test_the_layer_view_says_where_the_period_is_decided(model: Model) -> None:
    layers = ask(model, options=ExplainOptions(draws=1, layers=True)).layers
    assert layers is not None
    assert layers.lens[0] == pytest.approx(0, abs=1e-6)
    assert layers.lens[1] > 0.1
    assert layers.turning_layer == 1
    # Without its one attention layer the network knows nothing of the context.
    found = ask(model)
    assert layers.attention == pytest.approx((found.value,), abs=1e-4)
    assert layers.position == pytest.approx((0.0,), abs=1e-4)
