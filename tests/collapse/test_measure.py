"""Planted collapse is found where it was planted, and a healthy model is left alone."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from diag import collapse, models
from diag.collapse.flag import judge_pairs, null_of
from diag.collapse.geometry import centred
from diag.collapse.states import Points, context_sites
from diag.errors import DiagError, InputError

OPTIONS = collapse.MeasureOptions(languages=("en",), permutations=20)


@pytest.fixture(scope="module")
def model() -> models.Model:
    return models.load("smollm2-135m")


@pytest.fixture(scope="module")
def healthy(model: models.Model) -> collapse.CollapseReport:
    return collapse.measure(model, vocabulary=["quarters", "months"], options=OPTIONS)


def planted(model: models.Model, share: float) -> models.Model:
    """A model whose row of `4` is mixed with that of `3`."""
    network = copy.deepcopy(model.network)
    three, four = (model.tokenizer(f"Q{n}", add_special_tokens=False)["input_ids"][-1] for n in (3, 4))
    with torch.no_grad():
        weight = network.get_input_embeddings().weight
        weight[four] = (1 - share) * weight[four] + share * weight[three]
    return replace(model, network=network)


def of(report: collapse.CollapseReport, name: str) -> collapse.Meaning:
    return next(one for one in collapse.meanings(report) if one.vocabulary.name == name)


def test_the_embedded_model_is_healthy(healthy: collapse.CollapseReport) -> None:
    assert {one.vocabulary.name: one.flag for one in collapse.meanings(healthy)} == {
        "quarters": "healthy",
        "months": "healthy",
    }
    cosines = [finding.raw_cosine for finding in healthy.findings if finding.depth]
    assert max(cosines) > 0.9  # which the folk rule would call danger
    sites = [finding.site for finding in healthy.of(healthy.vocabularies[0])]
    assert sites == ["input", "output", *(f"layer {layer}" for layer in range(1, 31))]


def test_equal_rows_are_flagged_at_the_right_pair_and_vocabulary(
    model: models.Model, healthy: collapse.CollapseReport
) -> None:
    found = collapse.measure(planted(model, 1.0), vocabulary=["quarters", "months"], options=OPTIONS)
    quarters = of(found, "quarters")
    assert quarters.flag == "collapsed"
    assert len(quarters.sites) == 32
    assert {quarters.finding.worst.one, quarters.finding.worst.other} == {"Q3", "Q4"}
    assert "Q3 and Q4 share neighbours" in quarters.sentence
    assert "50% of their nearest are the other's" in quarters.sentence
    assert quarters.advice
    flagged = {
        (pair.one, pair.other) for one in found.of(quarters.vocabulary) for pair in one.pairs if pair.flag != "healthy"
    }
    assert flagged == {("Q3", "Q4")}
    assert of(found, "months").flag == "healthy"
    changes = collapse.compare(healthy, found)
    verdicts = {change.vocabulary: set[str]() for change in changes}
    for change in changes:
        verdicts[change.vocabulary].add(change.verdict)
    assert "lost" in verdicts["quarters en"]
    assert "lost" not in verdicts["months en"]


def test_dose_and_response(model: models.Model) -> None:
    def relative(share: float) -> tuple[float, str]:
        report = collapse.measure(planted(model, share), vocabulary=["quarters"], options=OPTIONS)
        pairs = [
            pair for finding in report.findings for pair in finding.pairs if (pair.one, pair.other) == ("Q3", "Q4")
        ]
        return float(np.mean([pair.relative.value for pair in pairs])), of(report, "quarters").flag

    doses = [relative(share) for share in (0.0, 0.5, 0.9, 1.0)]
    values = [value for value, _ in doses]
    assert values == sorted(values, reverse=True)
    assert doses[0][1] == "healthy"
    assert doses[-1][1] == "collapsed"


def test_a_layer_that_merges_two_labels_is_named(model: models.Model) -> None:
    """Layer 12 gives every token `3` and `4` of a batch, all of which stand behind one sentence, the same state."""
    three, four = (model.tokenizer(f"Q{n}", add_special_tokens=False)["input_ids"][-1] for n in (3, 4))
    network = copy.deepcopy(model.network)
    layer = network.model.layers[11]
    plain = layer.forward
    ids: list[torch.Tensor] = []

    def remember(module: object, arguments: tuple[torch.Tensor, ...], options: dict[str, torch.Tensor]) -> None:
        ids[:] = [options["input_ids"]]

    def merging(*arguments: torch.Tensor, **options: object) -> torch.Tensor:
        output = plain(*arguments, **options)
        is_either = (ids[0] == three) | (ids[0] == four)
        if bool(is_either.any()):
            output = output.clone()
            output[is_either] = output[is_either].mean(0)
        return output

    network.register_forward_pre_hook(remember, with_kwargs=True)
    layer.forward = merging
    found = collapse.measure(replace(model, network=network), vocabulary=["quarters"], options=OPTIONS)
    quarters = of(found, "quarters")
    assert quarters.flag == "collapsed"
    flagged = [finding.depth for finding in found.findings if finding.flag == "collapsed"]
    assert min(flagged) == 12
    assert "input" not in quarters.sites


@pytest.fixture(scope="module")
def points(model: models.Model) -> tuple[list[str], dict[str, Points], str, Sequence[str]]:
    every = collapse.vocabularies("en", model)
    quarters = next(one for one in every if one.name == "quarters")
    chosen = [quarters, *(one for one in every if one.name in quarters.controls)]
    from diag.collapse.carriers import template_carriers

    site = next(site for site in context_sites(model, chosen, template_carriers("en")) if site.name == "layer 15")
    labels = [label.text for label in quarters.labels]
    return labels, dict(site.points), quarters.key, [one.key for one in chosen[1:]]


def flags(labels: list[str], every: dict[str, Points], key: str, controls: Sequence[str]) -> list[str]:
    flat = np.concatenate([one.reshape(-1, one.shape[-1]) for one in every.values()])
    moved = {name: centred(one, flat.mean(0)) for name, one in every.items()}
    null = null_of({name: moved[name] for name in controls})
    pairs, _ = judge_pairs(labels, moved[key], every[key], null, seed=1)
    return [pair.flag for pair in pairs]


def test_rotation_scale_and_shift_change_nothing(
    points: tuple[list[str], dict[str, Points], str, Sequence[str]],
) -> None:
    labels, every, key, controls = points
    draw = np.random.default_rng(0)
    width = every[key].shape[-1]
    rotation = np.linalg.qr(draw.normal(size=(width, width)))[0].astype(np.float32)
    shift = 100 * draw.normal(size=width).astype(np.float32)
    turned = {name: 7 * one @ rotation + shift for name, one in every.items()}
    assert flags(labels, every, key, controls) == flags(labels, turned, key, controls) == ["healthy"] * 6


def test_shuffled_labels_are_flagged_in_at_most_a_twentieth(
    points: tuple[list[str], dict[str, Points], str, Sequence[str]],
) -> None:
    labels, every, key, controls = points
    flagged = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        shuffled = every[key].copy()
        for carrier in range(shuffled.shape[1]):
            shuffled[:, carrier] = shuffled[draw.permutation(len(labels)), carrier]
        flagged += any(flag != "healthy" for flag in flags(labels, {**every, key: shuffled}, key, controls))
    assert flagged <= 10


def test_controls_are_rarely_flagged(model: models.Model) -> None:
    """Words that name no times, each held against the other matched ones."""
    every = collapse.vocabularies("en", model)
    codes = [one for one in every if one.name.startswith("codes")]
    own = [
        collapse.Vocabulary(
            f"own {one.name}", "en", one.labels, tuple(other.name for other in codes if other is not one)
        )
        for one in codes
    ]
    found = collapse.measure(model, vocabulary=own, options=OPTIONS)
    pairs = [pair for finding in found.findings for pair in finding.pairs]
    assert sum(pair.flag != "healthy" for pair in pairs) <= 0.05 * len(pairs)


def test_the_same_figures_twice(model: models.Model, healthy: collapse.CollapseReport) -> None:
    again = collapse.measure(model, vocabulary=["quarters", "months"], options=OPTIONS)
    for one, other in zip(healthy.findings, again.findings, strict=True):
        assert one.pairs == other.pairs
        assert one.map == other.map


def test_the_model_is_left_as_it_was(model: models.Model, healthy: collapse.CollapseReport) -> None:
    fresh = models.load("smollm2-135m")
    for one, other in zip(model.network.parameters(), fresh.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_an_unknown_vocabulary_and_states_that_are_not_finite(model: models.Model) -> None:
    with pytest.raises(InputError, match="no vocabulary is called 'centuries'; known: days, halves"):
        collapse.measure(model, vocabulary=["centuries"], options=OPTIONS)
    broken = planted(model, 0.0)
    with torch.no_grad():
        broken.network.get_input_embeddings().weight[:] = float("nan")
    with pytest.raises(DiagError, match="not finite"):
        collapse.measure(broken, vocabulary=["quarters"], options=OPTIONS)
