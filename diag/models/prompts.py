"""From a record to a prompt: its source as text, cut around what the question asks where it is too long, in a template."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from diag.errors import InputError
from diag.models.excerpt import excerpt
from diag.models.model import Model
from diag.models.source_text import source_text
from diag.records import Record

Style = Literal["auto", "chat", "few-shot"]
STYLES: tuple[Style, ...] = ("auto", "chat", "few-shot")

_INSTRUCTION = """\
{%- if language == "zh" -%}
{%- if source -%}
阅读下文，只用文中的时间或数值简短回答问题。

{{ source }}

{% endif -%}
问题：{{ question }}
{%- else -%}
{%- if source -%}
Read the text and answer the question with the exact period or value from the text, in a few words.

{{ source }}

{% endif -%}
Question: {{ question }}
{%- endif -%}
"""
_ANSWER = {"zh": "\n答案：", "en": "\nAnswer:"}
_EXAMPLES = {
    "en": (
        (
            "Orders at Havel Cables were $41.0 million in Q1 2009 and $38.5 million in Q2 2009.",
            "In which quarter were orders $38.5 million?",
            "Q2 2009",
        ),
        (
            "Havel Cables had 210 employees in 2008 and 245 in 2009.",
            "How many employees did Havel Cables have in 2008?",
            "210",
        ),
    ),
    "zh": (
        (
            "华安电缆2009年第一季度订单额为41.0百万元，第二季度为38.5百万元。",
            "华安电缆哪个季度的订单额为38.5百万元？",
            "2009年第二季度",
        ),
        ("华安电缆2008年有210名员工，2009年有245名。", "2008年华安电缆有多少名员工？", "210名"),
    ),
}
"""Source, question, answer; made up, of years and values that no data set at hand has."""


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How prompts are made. `auto` is `chat` where the tokenizer has a chat template, else `few-shot` (plain text)."""

    style: Style = "auto"
    examples: bool = True
    """Put two worked examples in front: turns of the chat, or plain text. Small models ramble without."""
    template: Path | None = None
    """A Jinja template of the user's: gets `source`, `question`, `language`, `record`; a chat's user message, or all of it."""
    source_tokens: int | None = None
    """The most tokens of a source; None for what the model's window allows."""


class Piece(NamedTuple):
    """A part of the source that the prompt shows: `length` characters, from where to where."""

    in_prompt: int
    in_source: int
    length: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt ready to run."""

    text: str
    ids: tuple[int, ...]
    without_source: tuple[int, ...]
    """The same prompt's tokens with the question alone: what the model says when it has read nothing."""
    source: str
    """The whole source as text, tables first; `pieces` tell which parts of it the prompt shows."""
    pieces: tuple[Piece, ...]
    cut: int
    """Characters of the source that the prompt leaves out."""


class Prompter:
    """Makes the prompts of one model; templates are compiled once."""

    def __init__(self, model: Model, options: PromptOptions, max_new_tokens: int) -> None:
        """Raises InputError for a template that cannot be read, or a chat style without a chat template."""
        self._model = model
        self._options = options
        has_chat = bool(getattr(model.tokenizer, "chat_template", None))
        if options.style == "chat" and not has_chat:
            raise InputError(f"model {model.name} has no chat template: use --prompt plain or few-shot")
        self.style: Style = ("chat" if has_chat else "few-shot") if options.style == "auto" else options.style
        self._template = _compile(options.template)
        self._room = None if model.window is None else model.window - max_new_tokens
        if self._room is not None and self._room < 1:
            raise InputError(
                f"--max-new-tokens {max_new_tokens} leaves no room in the model's window of {model.window}"
            )

    def prompt(self, record: Record) -> Prompt:
        """The prompt of a record. Raises InputError where not even its question fits into the model's window."""
        source = source_text(record)
        bare = self._ids(self._render(record, ""))
        room = self._room_for_source(record, source, len(bare))
        kept = excerpt(source, record.question, room, self._count) if room is not None else [(0, len(source))]
        shown = "\n[…]\n".join(source[start:end] for start, end in kept)
        text = self._render(record, shown)
        pieces: list[Piece] = []
        position = text.find(shown)
        for start, end in kept:
            pieces.append(Piece(position, start, end - start))
            position += end - start + len("\n[…]\n")
        cut = len(source) - sum(piece.length for piece in pieces)
        return Prompt(text, self._ids(text), bare, source, tuple(pieces) if shown else (), cut)

    def _room_for_source(self, record: Record, source: str, bare: int) -> int | None:
        """The tokens that the source may have; None where it fits without counting."""
        limit = self._options.source_tokens
        if self._room is not None:
            around = bare + self._count("\n\n")
            if around >= self._room:
                raise InputError(
                    f"record {record.id}: its question alone has {bare:,} tokens, the model's window {self._model.window:,}"
                )
            limit = min(limit or self._room, self._room - around - _SPARE)
        if limit is None or len(source) < limit // 4:
            return None
        return limit

    def _render(self, record: Record, source: str) -> str:
        language = "zh" if (record.language or _language(record.question)) == "zh" else "en"
        shown = _EXAMPLES[language] if self._options.examples and self._options.template is None else ()
        turns = [
            *((self._message(record, language, text, question), answer) for text, question, answer in shown),
            (self._message(record, language, source, record.question), None),
        ]
        if self.style == "chat":
            messages: list[dict[str, str]] = []
            for message, answer in turns:
                messages.append({"role": "user", "content": message})
                if answer is not None:
                    messages.append({"role": "assistant", "content": answer})
            tokenizer: Any = self._model.tokenizer
            return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        if self._options.template:
            return turns[0][0]
        lead = _ANSWER[language]
        return "\n\n".join(f"{message}{lead}" + (f" {answer}" if answer else "") for message, answer in turns)

    def _message(self, record: Record, language: str, source: str, question: str) -> str:
        try:
            return self._template.render(source=source, question=question, language=language, record=record)
        except jinja2.TemplateError as error:
            raise InputError(f"--template {self._options.template}: {error}") from error

    def _ids(self, text: str) -> tuple[int, ...]:
        # A chat template writes the special tokens itself.
        tokenizer: Any = self._model.tokenizer
        return tuple(tokenizer(text, add_special_tokens=self.style != "chat", verbose=False)["input_ids"])

    def _count(self, text: str) -> int:
        tokenizer: Any = self._model.tokenizer
        return len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


_SPARE = 32
"""Tokens kept free for what joins the pieces, and for tokens that split otherwise at their edges."""


def answer_ids(model: Model, prompt: Prompt, answer: str) -> tuple[int, ...]:
    """The tokens of a given answer behind a prompt, as the tokenizer makes them of the two together."""
    lead = "" if prompt.text[-1:].isspace() or not answer or _language(answer) == "zh" else " "
    return continuation_ids(model, prompt.text[-_TAIL:], lead + answer)


_TAIL = 24
"""Characters before a continuation that decide how its beginning is split."""


def continuation_ids(model: Model, before: str, text: str) -> tuple[int, ...]:
    """The tokens of `text` right after `before`: those that reach beyond it when the two are tokenized together.

    Where a token would span the border (tokenizers that merge over spaces), `text` is tokenized by itself.
    """
    tokenizer: Any = model.tokenizer
    if tokenizer.is_fast:
        encoded = tokenizer(before + text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        pairs: list[tuple[int, tuple[int, int]]] = list(
            zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
        )
        reaching = [(one, start) for one, (start, end) in pairs if end > len(before)]
        if not reaching or reaching[0][1] >= len(before):
            return tuple(one for one, _ in reaching)
    return _by_itself(tokenizer, before, text)


def _by_itself(tokenizer: Any, before: str, text: str) -> tuple[int, ...]:
    """Some tokenizers put a space in front by themselves: the tokens that read as `text` behind `before` are right."""
    first: list[int] = tokenizer(before, add_special_tokens=False)["input_ids"]
    wanted = tokenizer.decode(first) + text
    for one in (text, text.lstrip()):
        ids: list[int] = tokenizer(one, add_special_tokens=False)["input_ids"]
        if tokenizer.decode([*first, *ids]) == wanted:
            return tuple(ids)
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def _language(text: str) -> str:
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in text) else "en"


def _compile(path: Path | None) -> jinja2.Template:
    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined)
    if path is None:
        return environment.from_string(_INSTRUCTION)
    try:
        return environment.from_string(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--template {path} could not be read: {error}") from error
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"--template {path}, line {error.lineno}: {error.message}") from error
