"""How a language tells its time expressions: a table of rules, tried where a trigger fires.

A `Language` is data. Its triggers are cheap patterns that say where an expression may start and which rules to try
there; a rule is a pattern and a function that turns its match into a `Meaning`. Patterns see the text in lower case
with one-for-one replacements (`diag.timex.scan`), so offsets are those of the original.
"""

from __future__ import annotations

import re as stdlib_re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import regex

from diag.timex.calendar import Granularity
from diag.timex.expression import Issue, Kind

Basis = Literal["document", "text"]


class Groups(Protocol):
    """The part of a regular expression's match that a rule's function reads.

    A group's text is None where it took no part in the match; which groups a pattern surely fills, its function knows.
    """

    def __getitem__(self, name: str | int, /) -> Any: ...
    def group(self) -> str:
        """The whole match."""
        ...


class Relative(NamedTuple):
    """A period told from another one: `steps` units from it, then perhaps a `part` of that (`-Q3`, `-12-31`).

    `unit` None is the reference itself shifted by years ("the same period a year earlier"), `own` the reference shifted
    by its own granularity ("quarter-on-quarter"). `basis` says which reference comes first: the document date, or the period before it in the text.
    """

    basis: Basis
    unit: Granularity | Literal["own"] | None
    steps: int
    part: str = ""
    to_date: bool = False
    fiscal: bool = False


class Meaning(NamedTuple):
    """What a match says by itself: a TIMEX3 value (with `XXXX` for an unsaid year), or a relation to be resolved."""

    value: str | None
    kind: Kind = "date"
    relative: Relative | None = None
    ambiguous: bool = False
    issue: Issue | None = None
    is_bare_year: bool = False
    opens_range: bool = False


Build = Callable[[Groups], Meaning | None]
Accept = Callable[[str, int, int], bool]


class Rule:
    """A pattern tried at a trigger, and what its match means (None: not a time after all).

    `accept`, where given, looks at the original text around the match (capitals, the words before and after). The
    pattern is compiled when it is first tried: a program that reads English compiles no Chinese.
    """

    __slots__ = ("accept", "build", "match", "name", "pattern")

    def __init__(self, name: str, pattern: str, build: Build, accept: Accept | None = None) -> None:
        self.name = name
        self.pattern = pattern
        self.build = build
        self.accept = accept
        self.match: Callable[[str, int, int], regex.Match[str] | None] = self._compile_and_match

    def _compile_and_match(self, text: str, start: int, end: int) -> regex.Match[str] | None:
        self.match = regex.compile(self.pattern, regex.VERSION1 | regex.ASCII).match
        return self.match(text, start, end)


rule = Rule
"""Short, as a language's table is made of it."""


class Trigger(NamedTuple):
    """Where an expression may start: `starts` are its first letters (`0-9` for a digit), `pattern` looks closer.

    `follow` spares a closer look at single characters that are common words too: the characters that must come next.
    """

    starts: str
    pattern: str
    follow: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """All that `find` knows of one language.

    `rules` gives, for each key of `triggers`, the rules to try, longest reading first. `joins_*` match the text between
    two expressions, `leads_*` what stands right before one, `follows_onward` and `ends_range` what comes after.
    `starts` of several words are separated by spaces, a space inside one is written `_`.
    """

    code: str
    triggers: Mapping[str, Trigger]
    rules: Mapping[str, tuple[Rule, ...]]
    joins_list: str
    joins_range: str
    joins_between: str = ""
    leads_since: str = ""
    leads_until: str = ""
    leads_range: str = ""
    leads_between: str = ""
    leads_comparison: str = ""
    follows_onward: str = ""
    ends_range: str = ""


class Opening(NamedTuple):
    """The triggers that share their first letters: which of them fires, and its rules."""

    pattern: stdlib_re.Pattern[str]
    rules: Mapping[str, tuple[Rule, ...]]


class Scanner(NamedTuple):
    """Two steps, for speed: `starts` finds first letters (stdlib `re`: faster at this than `regex`), `openings` judge."""

    starts: stdlib_re.Pattern[str]
    openings: Mapping[str, Opening]


_NO_AMOUNT = r"(?!\d{1,3},\d{3}(?!\d))(?:(?<!\d[.,])|(?=\d{4}))"
"""Before a digit: not the first group of `1,234`, nor what follows a decimal point or a comma, unless four digits do."""


def compile_scanner(languages: tuple[Language, ...]) -> Scanner:
    """One scanner for several languages; where two fire at the same place, the first language's rules come first."""
    by_start: dict[str, list[tuple[str, str, tuple[Rule, ...]]]] = {}
    for language in languages:
        for key, trigger in language.triggers.items():
            entry = (f"{language.code}_{key}", trigger.pattern, language.rules[key])
            for start in trigger.starts.replace("0-9", " ".join("0123456789")).split():
                by_start.setdefault(start.replace("_", " "), []).append(entry)
    shortest = [start for start in by_start if not any(start[:n] in by_start for n in range(1, len(start)))]
    openings: dict[str, Opening] = {}
    for start in shortest:
        entries = {entry[0]: entry for other, group in by_start.items() if other.startswith(start) for entry in group}
        ordered = [entries[name] for name in _in_order(languages) if name in entries]
        pattern = stdlib_re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern, _ in ordered))
        openings[start] = Opening(pattern, {name: rules for name, _, rules in ordered})
    digits = [start for start in shortest if start.isascii() and start.isdigit()]
    words = [start for start in shortest if start.isascii() and not start.isdigit()]
    firsts = "".join(sorted({word[0] for word in words}))
    starts = rf"\b(?:{_NO_AMOUNT}{_trie(digits)}|(?=[{firsts}]){_trie(words)})"
    others = [start for start in shortest if not start.isascii()]
    if others:
        follow = _follow(languages)
        plain, guarded = [o for o in others if not follow.get(o)], [o for o in others if follow.get(o)]
        firsts = "".join(sorted({start[0] for start in others}))
        branches = [_trie(plain), *(f"{start}(?=[{follow[start]}])" for start in guarded)]
        starts += f"|(?=[{firsts}])(?:{'|'.join(branches)})"
    return Scanner(stdlib_re.compile(starts, stdlib_re.ASCII), openings)


def _follow(languages: tuple[Language, ...]) -> dict[str, str]:
    """What must come after each start; empty where one of its triggers does not say."""
    follow: dict[str, str] = {}
    for language in languages:
        for trigger in language.triggers.values():
            for start in trigger.starts.split():
                known = follow.get(start)
                follow[start] = "" if known == "" or not trigger.follow else (known or "") + trigger.follow
    for start in list(follow):
        if len(start) > 1 and follow.get(start[0]):
            follow[start[0]] += start[1]
    return follow


def _in_order(languages: tuple[Language, ...]) -> list[str]:
    return [f"{language.code}_{key}" for language in languages for key in language.triggers]


def _trie(words: list[str]) -> str:
    """A pattern that matches any of the words, none a prefix of another, by their shared first letters."""
    branches: dict[str, list[str]] = {}
    for word in words:
        if word:
            branches.setdefault(word[0], []).append(word[1:])
    parts = [stdlib_re.escape(letter) + (_trie(rest) if any(rest) else "") for letter, rest in sorted(branches.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
