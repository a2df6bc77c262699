"""What is explained: how much likelier the said period is than its rival, in the place where it was said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diag.errors import InputError
from diag.models import Answer, Model, Prompt, continuation_ids, token_range

_BEFORE = 24
"""Characters before a continuation that decide how its beginning is split."""


@dataclass(frozen=True, slots=True)
class Target:
    """log P(said | context) - log P(rival | context), in nats; without a rival, log P(said | context) alone.

    `context` is the prompt with the answer up to where said and rival part ways: tokens that both begin or end with are
    not scored, as only those where they differ tell one from the other.
    """

    context: tuple[int, ...]
    said: tuple[int, ...]
    rival: tuple[int, ...]
    """Empty for the plain log-probability."""
    said_text: str
    rival_text: str | None
    prompt_tokens: int
    """The context's first so many tokens are the prompt's."""


def make_target(model: Model, prompt: Prompt, answer: Answer, span: tuple[int, int], rival: str | None) -> Target:
    """The target for the characters `span` of an answer against the text `rival` in its place.

    Raises InputError where there is nothing to explain: no tokens, a rival that reads the same, or no room in the window.
    """
    said_text = answer.text[slice(*span)]
    if rival is not None and rival.strip() == said_text.strip():
        raise InputError(f"the rival is what the answer says already ({said_text!r}): give another")
    first, last = token_range(answer.offsets, *span)
    if first == last:
        raise InputError("the answer has no tokens to explain: it is empty, or says no time and no value")
    ids = answer.scores.ids
    said = ids[first:last]
    other: tuple[int, ...] = ()
    if rival is not None:
        start = answer.offsets[first][0]
        head, tail = answer.text[start : span[0]], answer.text[span[1] : answer.offsets[last - 1][1]]
        before = (prompt.text + _lead(model, ids, answer) + answer.text[:start])[-_BEFORE:]
        other = continuation_ids(model, before, head + rival + tail)
        shared, said, other = _parted(said, other)
        first += shared
        if said == other:
            raise InputError(f"the tokens of {said_text!r} and {rival!r} are the same: give another rival")
    context = (*prompt.ids, *ids[:first])
    room = model.window
    if room is not None and len(context) + len(said) + len(other) > room:
        raise InputError(f"the context has {len(context):,} tokens, the model's window {room:,}: cut the source")
    return Target(context, said, other, said_text, rival, len(prompt.ids))


def _lead(model: Model, ids: Sequence[int], answer: Answer) -> str:
    """The white space that an answer's tokens begin with and its text does not."""
    text = str(model.tokenizer.decode(list(ids), skip_special_tokens=True))
    return text[: len(text) - len(text.lstrip())] if answer.text else ""


def _parted(said: tuple[int, ...], rival: tuple[int, ...]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """How many tokens both begin with, and what is left of each without common beginning and end."""
    shortest = min(len(said), len(rival))
    shared = next((place for place in range(shortest) if said[place] != rival[place]), shortest)
    # What says nothing by itself (one is the other's beginning) keeps a token to be scored.
    shared = min(shared, shortest - 1) if shortest else 0
    said, rival = said[shared:], rival[shared:]
    while len(said) > 1 and len(rival) > 1 and said[-1] == rival[-1]:
        said, rival = said[:-1], rival[:-1]
    return shared, said, rival
