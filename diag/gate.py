"""Gates: conditions on a report's figures, such as `misbound>0`, that make a command fail."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping

from diag.errors import GateError, InputError

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_CONDITION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)?)\s*(%?)\s*")


def parse_conditions(conditions: Iterable[str], names: Iterable[str]) -> list[tuple[str, str, float]]:
    """Read conditions before the work begins. Raises InputError for one that is malformed or names no known figure."""
    known = sorted(names)
    parsed: list[tuple[str, str, float]] = []
    for condition in conditions:
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise InputError(f"--fail-if {condition!r}: write NAME>NUMBER, such as 'misbound>0'")
        if match[1] not in known:
            raise InputError(f"--fail-if {condition!r}: no figure is called {match[1]!r}; known: {', '.join(known)}")
        parsed.append((match[1], match[2], float(match[3]) / (100 if match[4] else 1)))
    return parsed


def check_gate(conditions: Iterable[tuple[str, str, float]], figures: Mapping[str, float]) -> None:
    """Raise GateError that says which conditions hold, and by how much."""
    failed = [
        f"{name} is {figures[name]:g}, and the gate fails at {name}{sign}{limit:g} (by {abs(figures[name] - limit):g})"
        for name, sign, limit in conditions
        if _OPERATORS[sign](figures[name], limit)
    ]
    if failed:
        raise GateError("; ".join(failed))
