"""What stands in a unit's place once it is taken out: a neutral filler of as many tokens, or the rival period itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diag.attribution.target import Target
from diag.attribution.units import Unit, prompt_offsets
from diag.models import Model, Prompt, continuation_ids
from diag.timex import Period

_NEUTRAL = (" …", "…", " ...", "...", " _", "_", " -", "-")
_BEFORE = 24

Replacement = tuple[int, ...]


def filler_id(model: Model) -> int:
    """A token that says nothing: the first of a few marks that is one token of this tokenizer, else the padding's."""
    tokenizer: Any = model.tokenizer
    unknown = tokenizer.unk_token_id
    for text in _NEUTRAL:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        if len(ids) == 1 and ids[0] != unknown:
            return ids[0]
    return model.pad_id


def fillers(model: Model, units: Sequence[Unit]) -> list[Replacement]:
    """As many neutral tokens as each unit has."""
    filler = filler_id(model)
    return [(filler,) * len(unit.tokens) for unit in units]


def swaps(
    model: Model, prompt: Prompt, units: Sequence[Unit], said: Period | None, rival: Period | None
) -> list[Replacement]:
    """The rival period in each unit's own notation; the said one where a unit names the rival already.

    A unit that names no period, or has none of its granularity to be swapped for, gets a filler.
    """
    offsets = prompt_offsets(model, prompt)
    plain = fillers(model, units)
    return [
        _swapped(model, prompt, offsets, unit, said, rival) or filler for unit, filler in zip(units, plain, strict=True)
    ]


def _swapped(
    model: Model,
    prompt: Prompt,
    offsets: Sequence[tuple[int, int]],
    unit: Unit,
    said: Period | None,
    rival: Period | None,
) -> Replacement | None:
    if said is None or rival is None or unit.expression is None or unit.period is None:
        return None
    other = said if unit.period.equals(rival) else rival
    if other.granularity != unit.period.granularity:
        return None
    text = other.format_like(unit.expression)
    first, last = offsets[unit.tokens[0]][0], offsets[unit.tokens[-1]][1]
    head, tail = prompt.text[first : unit.start], prompt.text[unit.end : last]
    return continuation_ids(model, prompt.text[max(0, first - _BEFORE) : first], head + text + tail) or None


def changed(target: Target, units: Sequence[Unit], replaced: Sequence[Replacement], kept: Sequence[bool]) -> list[int]:
    """The target's context with the units that are not kept replaced."""
    found = list(target.context)
    for unit, other, stays in reversed(list(zip(units, replaced, kept, strict=True))):
        if stays:
            continue
        if len(other) == len(unit.tokens):
            for place, token in zip(unit.tokens, other, strict=True):
                found[place] = token
        else:
            found[unit.tokens[0] : unit.tokens[-1] + 1] = other
    return found
