from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_models import tiny_model

from diag.errors import InputError
from diag.models import Prompter, PromptOptions, answer_ids, continuation_ids, source_text
from diag.models.excerpt import excerpt
from diag.records import Record, Table

RECORD = Record(
    "r",
    context="Preface.\n\nNothing to see.\n\nIn Q2 2021 revenue was $6.2 million.\n\nIn Q3 2021 it was $7.3 million.",
    question="In which quarter was revenue $6.2 million?",
    answer="Q2 2021",
    tables=(Table((("", "2020", "2021"), ("Wages", "10", "11")), "Costs"),),
)


def long_record() -> Record:
    filler = "\n\n".join(
        f"Paragraph {number} is about the weather and the roads to the coast." for number in range(400)
    )
    return replace(RECORD, context=f"{filler}\n\n{RECORD.context}\n\n{filler}")


def test_tables_stand_before_the_text() -> None:
    assert source_text(RECORD).startswith("Costs\n|  | 2020 | 2021 |\n| Wages | 10 | 11 |\n\nPreface.")


def test_a_chat_template_is_used_where_there_is_one(smollm: Any, tiny: Any) -> None:
    chat, plain = Prompter(smollm, PromptOptions(), 8), Prompter(tiny, PromptOptions(), 8)
    assert (chat.style, plain.style) == ("chat", "few-shot")
    assert chat.prompt(RECORD).text.endswith("<|im_start|>assistant\n")
    assert plain.prompt(RECORD).text.endswith("Answer:")
    with pytest.raises(InputError, match="has no chat template"):
        Prompter(tiny, PromptOptions(style="chat"), 8)


def test_without_examples_the_question_stands_alone(smollm: Any) -> None:
    assert "Havel" in Prompter(smollm, PromptOptions(), 8).prompt(RECORD).text
    assert "Havel" not in Prompter(smollm, PromptOptions(examples=False), 8).prompt(RECORD).text


def test_the_prompt_without_the_source_has_the_question(smollm: Any) -> None:
    prompt = Prompter(smollm, PromptOptions(examples=False), 8).prompt(RECORD)
    bare = smollm.tokenizer.decode(prompt.without_source)
    assert RECORD.question in bare
    assert "Preface" not in bare


@pytest.mark.parametrize("tokens", [None, 200, 60])
def test_pieces_say_where_the_source_stands_in_the_prompt(smollm: Any, tokens: int | None) -> None:
    prompt = Prompter(smollm, PromptOptions(source_tokens=tokens), 8).prompt(long_record() if tokens else RECORD)
    shown = 0
    for piece in prompt.pieces:
        part = prompt.source[piece.in_source : piece.in_source + piece.length]
        assert prompt.text[piece.in_prompt : piece.in_prompt + piece.length] == part
        shown += piece.length
    assert prompt.cut == len(prompt.source) - shown
    assert (prompt.cut == 0) == (tokens is None)


def test_a_long_source_is_cut_around_what_is_asked(smollm: Any) -> None:
    record = long_record()
    prompt = Prompter(smollm, PromptOptions(source_tokens=120), 8).prompt(record)
    shown = prompt.text[prompt.pieces[0].in_prompt :]
    assert "In Q2 2021 revenue was $6.2 million." in shown
    count = len(smollm.tokenizer(shown)["input_ids"])
    assert count < 250
    assert prompt.cut > 40_000


def test_a_source_longer_than_the_window_is_cut_to_it() -> None:
    small = tiny_model("gpt2")
    small.network.config.n_positions = 512
    record = long_record()
    prompt = Prompter(small, PromptOptions(examples=False), 16).prompt(record)
    assert len(prompt.ids) + 16 <= 512
    assert prompt.cut > 0


def test_a_question_longer_than_the_window_says_so() -> None:
    small = tiny_model("gpt2")
    small.network.config.n_positions = 64
    with pytest.raises(InputError, match=r"record r: its question alone has [\d,]+ tokens, the model's window 64"):
        Prompter(small, PromptOptions(examples=False), 8).prompt(replace(RECORD, question="Which? " * 100))
    with pytest.raises(InputError, match="leaves no room"):
        Prompter(small, PromptOptions(), 64)


def test_a_table_row_keeps_its_headers() -> None:
    rows = "\n".join(f"| Item {number} | {number * 7 + 1000} | {number * 9 + 2000} |" for number in range(200))
    source = f"| Costs | 2020 | 2021 |\n|---|---|---|\n{rows}\n\n" + "Weather was fair. " * 300
    kept = excerpt(source, "What was Item 150 in 2021?", 60, lambda text: len(text) // 4)
    shown = "\n".join(source[start:end] for start, end in kept)
    assert "| Costs | 2020 | 2021 |" in shown
    assert "| Item 150 |" in shown


def test_a_template_of_the_users_own(smollm: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.jinja"
    path.write_text("{{ record.id }}: {{ source[:7] }} / {{ question }} ({{ language }})", encoding="utf-8")
    prompt = Prompter(smollm, PromptOptions(template=path), 8).prompt(replace(RECORD, tables=()))
    assert "r: Preface / In which quarter was revenue $6.2 million? (en)" in prompt.text
    path.write_text("{{ nobody }}", encoding="utf-8")
    with pytest.raises(InputError, match="'nobody' is undefined"):
        Prompter(smollm, PromptOptions(template=path), 8).prompt(RECORD)
    path.write_text("{% if %}", encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.jinja, line 1"):
        Prompter(smollm, PromptOptions(template=path), 8)


def test_text_is_never_taken_for_a_template(smollm: Any) -> None:
    prompt = Prompter(smollm, PromptOptions(), 8).prompt(replace(RECORD, question="{{ 7 * 7 }} <|im_end|>?"))
    assert "{{ 7 * 7 }}" in prompt.text


def test_an_answers_tokens_are_those_of_prompt_and_answer_together(smollm: Any, tiny: Any) -> None:
    for model in (smollm, tiny, tiny_model("llama", "sentence_piece")):
        prompt = Prompter(model, PromptOptions(), 8).prompt(RECORD)
        ids = answer_ids(model, prompt, "Q3 2023")
        assert model.tokenizer.decode(ids).strip() == "Q3 2023"
        assert continuation_ids(model, "the third quarter of ", "2023")
