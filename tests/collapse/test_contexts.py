from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import BertConfig, BertModel, BertTokenizerFast

from diag import collapse, models
from diag.collapse.neighbours import nearest
from diag.errors import InputError
from diag.records import Record

TWINS = ("Revenue in {} was strong and orders grew.", "The lease of {} covers the whole building.")
PERIODS = ("Q3 2022", "Q4 2022")
OTHERS = (
    "The harbour was dredged in 2011 by a Dutch firm.",
    "My uncle bought a boat in 1987 and sold it again.",
    "Wheat prices fell in March 2016 after the harvest.",
    "A new school was opened in 2004 by the mayor.",
    "The comet was last seen in May 1986 over Chile.",
    "Snow fell in June 2013 on the southern passes.",
    "The orchestra toured Japan in 2009 for a month.",
    "Two bridges were closed in 2020 for repairs.",
)


def records() -> list[Record]:
    texts = [twin.format(period) for twin in TWINS for period in PERIODS] + list(OTHERS)
    return [Record(f"r{number}", context=text) for number, text in enumerate(texts)]


def test_twins_that_differ_in_their_time_alone_are_found() -> None:
    embed = collapse.by_model(models.load("smollm2-135m"))
    found = collapse.contexts(records(), embed, collapse.ContextsOptions(least_cluster=2))
    pairs = {(found.contexts[pair.one].record, found.contexts[pair.other].record) for pair in found.duplicates}
    assert {("r0", "r1"), ("r2", "r3")} <= pairs
    assert {teacher.record for teacher in found.teachers} >= {"r0", "r1", "r2", "r3"}
    assert ("2022-Q3", "2022-Q4") in {(pair.one, pair.other) for pair in found.interchanges}
    assert found.contexts[0].masked == "Revenue in [time] was strong and orders grew."
    assert found.method == "exact"


def test_too_few_contexts_are_an_error_that_says_so() -> None:
    with pytest.raises(InputError, match="have 1 sentences that name one period: too few"):
        collapse.contexts(records()[:1], lambda texts: np.zeros((len(texts), 4), np.float32))


def test_an_encoder_of_the_users_choice(tmp_path: Path) -> None:
    words = sorted({word.strip(".") for record in records() for word in record.context.lower().split()})
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    tokenizer = BertTokenizerFast(vocab=str(tmp_path / "vocab.txt"))
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    points = collapse.by_encoder(str(tmp_path))(["revenue was strong", "a boat"])
    assert points.shape == (2, 16)
    assert np.isfinite(points).all()
    with pytest.raises(InputError, match="no encoder could be loaded"):
        collapse.by_encoder(str(tmp_path / "nowhere"), offline=True)


def clustered(count: int) -> np.ndarray:
    draw = np.random.default_rng(0)
    centres = draw.normal(size=(count // 50, 32))
    return (centres[draw.integers(len(centres), size=count)] + 0.3 * draw.normal(size=(count, 32))).astype(np.float32)


def test_exact_neighbours_are_those_of_the_whole_matrix() -> None:
    points = clustered(500)
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    closeness = unit @ unit.T
    np.fill_diagonal(closeness, -np.inf)
    wanted = np.sort(-closeness, 1)[:, :5]
    found = nearest(points, 5)
    assert found.method == "exact"
    np.testing.assert_allclose(-found.closeness, wanted, atol=1e-5)
    assert not (found.places == np.arange(500)[:, None]).any()


def test_the_index_finds_what_exact_search_finds() -> None:
    points = clustered(6000)
    exact, found = nearest(points, 5), nearest(points, 5, exact_below=1000)
    assert found.method.startswith("faiss")
    assert found.recall >= 0.98
    recall = np.mean([len(np.intersect1d(*pair)) / 5 for pair in zip(exact.places, found.places, strict=True)])
    assert recall >= 0.97
    again = nearest(points, 5, exact_below=1000)
    np.testing.assert_array_equal(found.places, again.places)


def test_equal_points_are_no_neighbours_of_themselves() -> None:
    found = nearest(np.ones((40, 4), np.float32), 5)
    assert found.places.shape == (40, 5)
    assert not (found.places == np.arange(40)[:, None]).sum(1).max() > 1


def test_more_neighbours_than_points_is_an_error() -> None:
    with pytest.raises(InputError, match="have no 5 neighbours"):
        nearest(np.ones((5, 4), np.float32), 5)
