"""Which tokens stand for which characters of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_UNFINISHED = "\ufffd"


class AlignedText(NamedTuple):
    """A text and, for each of its tokens, the characters it stands for (end exclusive; special tokens are empty)."""

    text: str
    offsets: tuple[tuple[int, int], ...]


def align(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> AlignedText:
    """Decode token ids, each with its characters.

    Tokens that together make one character (bytes of a Chinese one) each have that whole character. Works for BPE,
    SentencePiece and byte-level tokenizers alike, as it looks at nothing but decoded prefixes.
    """
    special = set(tokenizer.all_special_ids)
    kept = [index for index, one in enumerate(ids) if one not in special]
    pieces = _pieces(tokenizer, [ids[index] for index in kept])
    offsets: list[tuple[int, int]] = []
    position = place = 0
    for index in range(len(ids)):
        if place < len(kept) and kept[place] == index:
            offsets.append(pieces.offsets[place])
            position = pieces.offsets[place][1]
            place += 1
        else:
            offsets.append((position, position))
    return AlignedText(pieces.text, tuple(offsets))


_CONTEXT = 8
"""Tokens decoded again before each new one, since some decoders treat the first token of a text differently."""


def _pieces(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> AlignedText:
    text = _decode(tokenizer, ids)
    offsets: list[tuple[int, int]] = []
    open_from: int | None = None
    """The first of the tokens whose character is not finished yet."""
    position = 0
    for index in range(len(ids)):
        first = max(0, (index if open_from is None else open_from) - _CONTEXT)
        before = _decode(tokenizer, ids[first : index if open_from is None else open_from])
        here = _decode(tokenizer, ids[first : index + 1])
        if here.endswith(_UNFINISHED) and index + 1 < len(ids) and not text.startswith(_UNFINISHED, position):
            open_from = index if open_from is None else open_from
            offsets.append((position, position))
            continue
        end = min(len(text), position + max(0, len(here) - len(before)))
        start = position
        if open_from is not None:
            offsets[open_from:] = [(start, end)] * (index - open_from)
            open_from = None
        offsets.append((start, end))
        position = end
    return AlignedText(text, tuple(offsets))


def _decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    return str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def token_range(offsets: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """The tokens (first, last exclusive) that touch the characters `start` to `end`; empty where none does."""
    touching = [index for index, (first, last) in enumerate(offsets) if first < end and last > start]
    return (touching[0], touching[-1] + 1) if touching else (0, 0)
