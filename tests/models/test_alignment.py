from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import TOKENIZERS, wrapped

from diag.models import align, token_range
from diag.timex import find

CACHE: dict[str, Any] = {}
TEXTS = (
    "Revenue was $6.2 million in Q3 2023 and FY2022/23, i.e. the third quarter.",
    "2023年第三季度收入为5亿元，去年同期为4亿元。",
    "Café sales — “Q4’23” 😀 二〇二三年",
)


def tokenizer_named(name: str) -> Any:
    if name not in CACHE:
        CACHE[name] = wrapped(name)
    return CACHE[name]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", TEXTS)
def test_every_character_has_its_tokens(name: str, text: str) -> None:
    tokenizer = tokenizer_named(name)
    ids = tokenizer(text)["input_ids"]
    aligned = align(tokenizer, ids)
    assert len(aligned.offsets) == len(ids)
    assert [start for start, _ in aligned.offsets] == sorted(start for start, _ in aligned.offsets)
    covered = {place for start, end in aligned.offsets for place in range(start, end)}
    assert covered == set(range(len(aligned.text)))


@pytest.mark.parametrize("name", ["byte_level", "sentence_piece"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_text_comes_back_and_spans_have_their_tokens(name: str, text: str) -> None:
    tokenizer = tokenizer_named(name)
    ids = tokenizer(text)["input_ids"]
    aligned = align(tokenizer, ids)
    assert aligned.text == text
    for expression in find(text):
        first, last = token_range(aligned.offsets, expression.start, expression.end)
        assert aligned.offsets[first][0] <= expression.start
        assert aligned.offsets[last - 1][1] >= expression.end
        assert aligned.offsets[first][1] > expression.start
        assert aligned.offsets[last - 1][0] < expression.end


def test_a_chinese_character_of_several_tokens_is_each_ones() -> None:
    tokenizer = tokenizer_named("byte_level")
    ids = tokenizer("囍")["input_ids"]
    assert len(ids) > 1
    assert align(tokenizer, ids).offsets == ((0, 1),) * len(ids)


def test_special_tokens_have_no_characters(smollm: Any) -> None:
    ids = [*smollm.tokenizer("Q3 2023")["input_ids"], smollm.tokenizer.eos_token_id]
    aligned = align(smollm.tokenizer, ids)
    assert aligned.text == "Q3 2023"
    assert aligned.offsets[-1] == (7, 7)
    assert [aligned.text[start:end] for start, end in aligned.offsets[:2]] == ["Q", "3"]


def test_bytes_that_make_no_character_harm_nothing() -> None:
    tokenizer = tokenizer_named("byte_level")
    broken = tokenizer("年")["input_ids"][:1]
    ids = [*tokenizer("in ")["input_ids"], *broken, *tokenizer(" 2023")["input_ids"]]
    aligned = align(tokenizer, ids)
    start = aligned.text.index("2023")
    first, last = token_range(aligned.offsets, start, start + 4)
    assert tokenizer.decode(ids[first:last]).strip() == "2023"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.sampled_from(sorted(TOKENIZERS)))
def test_any_text_aligns(text: str, name: str) -> None:
    tokenizer = tokenizer_named(name)
    ids = tokenizer(text)["input_ids"]
    aligned = align(tokenizer, ids)
    assert len(aligned.offsets) == len(ids)
    assert all(0 <= start <= end <= len(aligned.text) for start, end in aligned.offsets)
