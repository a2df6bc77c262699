"""Whether an attribution is true to the model: deleting what it names must move the target more than deleting at random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import spearmanr

from diag.attribution.forward import TargetForward
from diag.attribution.perturbation import Presence
from diag.attribution.replace import filler_id
from diag.attribution.target import Target
from diag.attribution.units import Region, Unit
from diag.models import plain

TOP_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Comprehensiveness and sufficiency (DeYoung et al. 2020) of the top units against random ones, in nats of the target."""

    top: tuple[int, ...]
    """The units (by place) that the attribution names first: a fifth of them, at least one."""
    comprehensiveness: float
    """The target less what it is without the top units; the more the better."""
    random_comprehensiveness: tuple[float, ...]
    """The same for random spans of the source with as many tokens."""
    sufficiency: float | None
    """The target less what it is with the top units alone; the less the better. None with no other units."""
    random_sufficiency: tuple[float, ...]
    """The same for as many random units."""
    p_value: float
    """Of comprehensiveness among the random spans: (1 + those that move it as much) / (1 + all)."""
    beats_random: bool
    """Whether deleting the top units lowers the target more than every random span does."""
    joint: float
    """The target less what it is with no unit left."""
    completeness_error: float | None
    """How far the scores' sum is from the joint effect, as a share of it; None where scores are no shares of the target."""
    agreement: float | None
    """Spearman's rank correlation with `other`; None where there are too few units, or the other was not computed."""
    other: str | None


def check_faithfulness(
    forward: TargetForward,
    presence: Presence,
    units: Sequence[Unit],
    scores: Sequence[float],
    regions: Sequence[Region],
    offsets: Sequence[tuple[int, int]],
    *,
    draws: int,
    seed: int,
    is_additive: bool,
    other: tuple[str, Sequence[float]] | None,
) -> Faithfulness:
    """Hold the scores of units against random deletions. `offsets` are the characters of the prompt's tokens."""
    count = len(units)
    order = sorted(range(count), key=lambda place: (-scores[place], place))
    top = tuple(order[: max(1, round(TOP_SHARE * count))])
    draw = random.Random(seed)
    moved = forward.value - presence.without(top)
    contexts = _random_deletions(forward, units, top, regions, offsets, draws, draw)
    at_random = tuple(forward.value - value for value in plain(forward.of_contexts(contexts)))
    rest = [place for place in range(count) if place not in top]
    sufficiency = forward.value - presence.only(top) if rest else None
    some = [draw.sample(range(count), len(top)) for _ in range(draws)] if rest else []
    kept = tuple(forward.value - presence.only(places) for places in some)
    joint = forward.value - presence.without(range(count))
    error = abs(sum(scores) - joint) / max(abs(joint), 1e-9) if is_additive else None
    as_much = sum(1 for one in at_random if one >= moved)
    return Faithfulness(
        top,
        moved,
        at_random,
        sufficiency,
        kept,
        (1 + as_much) / (1 + len(at_random)),
        bool(at_random) and not as_much and moved > 0,
        joint,
        error,
        _agreement(scores, other[1]) if other else None,
        other[0] if other else None,
    )


def _agreement(one: Sequence[float], other: Sequence[float]) -> float | None:
    if len(one) < 3 or len(set(one)) == 1 or len(set(other)) == 1:
        return None
    return float(spearmanr(one, other).statistic)


def _random_deletions(
    forward: TargetForward,
    units: Sequence[Unit],
    top: Sequence[int],
    regions: Sequence[Region],
    offsets: Sequence[tuple[int, int]],
    draws: int,
    draw: random.Random,
) -> list[list[int]]:
    """Contexts in which random runs of as many tokens as the top units have, apart from them, are fillers."""
    taken = {token for place in top for token in units[place].tokens}
    free = [
        token
        for token, (start, end) in enumerate(offsets)
        if end > start and token not in taken and any(start < one.end and end > one.start for one in regions)
    ]
    lengths = [len(units[place].tokens) for place in top]
    if len(free) < sum(lengths):
        return []
    return [_deleted(forward, _runs(free, lengths, draw)) for _ in range(draws)]


def _runs(free: Sequence[int], lengths: Sequence[int], draw: random.Random) -> set[int]:
    chosen: set[int] = set()
    for length in lengths:
        start = draw.randrange(max(1, len(free) - length + 1))
        chosen.update(free[start : start + length])
    return chosen


def _deleted(forward: TargetForward, tokens: set[int]) -> list[int]:
    filler = filler_id(forward.model)
    return [filler if place in tokens else token for place, token in enumerate(forward.target.context)]


def random_scores(target: Target, count: int, seed: int) -> list[float]:
    """The trivial baseline: scores by chance, the same for the same target and seed."""
    draw = random.Random(f"{seed} {target.context}")
    return [draw.random() for _ in range(count)]
