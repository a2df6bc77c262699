"""Matches that belong together: lists that share a year, ranges, open ranges, years that stand for a longer date."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import NamedTuple

from diag.timex.grammar import Meaning
from diag.timex.numeric import NUMERIC
from diag.timex.scan import LANGUAGES, Match, scan

_LONGEST_JOIN = 24
_LONGEST_LEAD = 18
_ENDS_WITH_YEAR = re.compile(r"(?<!\d)\d{4}$")
_COMPARES = re.compile(
    r"\b(?:change|increase|decrease|difference|variance|compare|comparison|ratio|versus|increment|decline)[sd]?\b[^.;]*$|变化|差额|变动"
)
_BEFORE_COMPARED = 110
_VALUE_YEAR = re.compile(r"^((?:FY)?)(\d{4})")


class Item(NamedTuple):
    """One expression to be: a single meaning, or a range's first and `last`, or a range open on one side."""

    start: int
    end: int
    meaning: Meaning
    last: Meaning | None = None
    open: str = ""
    compared: bool = False


class _Joints(NamedTuple):
    between: re.Pattern[str]
    to: re.Pattern[str]
    among: re.Pattern[str]
    lead: re.Pattern[str]
    onward: re.Pattern[str]
    closing: re.Pattern[str]


@lru_cache(maxsize=8)
def _joints(codes: tuple[str, ...]) -> _Joints:
    """What stands between and around expressions, for all languages at hand at once."""
    languages = (NUMERIC, *(LANGUAGES[code] for code in codes))

    def any_of(patterns: list[str]) -> str:
        return "|".join(pattern for pattern in patterns if pattern and pattern != r"(?!)") or r"(?!)"

    lead = "|".join(
        f"(?P<{name}>{any_of([getattr(language, f'leads_{name}') for language in languages])})"
        for name in ("since", "until", "range", "between", "comparison")
    )
    return _Joints(
        between=re.compile(any_of([language.joins_between for language in languages])),
        to=re.compile(any_of([language.joins_range for language in languages])),
        among=re.compile(any_of([language.joins_list for language in languages])),
        lead=re.compile(rf"(?:^|(?<=[^a-z]))(?:{lead})$"),
        onward=re.compile(any_of([language.follows_onward for language in languages])),
        closing=re.compile(any_of([language.ends_range for language in languages])),
    )


def compose(matches: list[Match], folded: str, original: str, codes: tuple[str, ...]) -> list[Item]:
    """Join matches into items, left to right."""
    joints = _joints(codes)
    meanings = [match.meaning for match in matches]
    gaps = [_gap(folded, one.end, other.start) for one, other in itertools.pairwise(matches)]
    _share_year_leftwards(matches, meanings, gaps, joints)
    _carry_date_rightwards(matches, meanings, gaps, joints, folded, original, codes)
    items: list[Item] = []
    index = 0
    while index < len(matches):
        match, meaning = matches[index], meanings[index]
        lead = joints.lead.search(folded[max(0, match.start - _LONGEST_LEAD) : match.start])
        led_by = lead.lastgroup if lead else None
        start = match.start - (len(lead.group()) if lead else 0)
        following = meanings[index + 1] if index + 1 < len(matches) else None
        gap = gaps[index] if following is not None else None
        if (
            following is not None
            and gap is not None
            and _joins_range(meaning, following, gap, led_by, joints, folded, start)
        ):
            items.append(_range(match, matches[index + 1], meaning, following, gap, led_by, start, folded, joints))
            index += 2
        else:
            items.append(_single(match, meaning, folded, led_by, start, joints))
            index += 1
    return items


def _range(
    first: Match,
    last: Match,
    meaning: Meaning,
    following: Meaning,
    gap: str,
    led_by: str | None,
    start: int,
    folded: str,
    joints: _Joints,
) -> Item:
    """A range of two expressions, with the words that lead or close it; a bare year behind a fiscal one is fiscal."""
    closing = joints.closing.match(folded, last.end)
    is_led = led_by == "between" or (led_by in ("range", "since") and not _is_dash(gap))
    if following.is_bare_year and (meaning.value or "").startswith("FY"):
        following = following._replace(value=f"FY{following.value}")
    end = closing.end() if closing and closing.group() else last.end
    return Item(start if is_led else first.start, end, meaning, following)


def _is_dash(gap: str) -> bool:
    return gap.strip() in ("-", "--")


def _gap(folded: str, end: int, start: int) -> str | None:
    return folded[end:start] if start - end <= _LONGEST_JOIN else None


def _single(match: Match, meaning: Meaning, folded: str, led_by: str | None, start: int, joints: _Joints) -> Item:
    is_point = meaning.kind in ("date", "time") and meaning.issue is None
    if is_point:
        onward = joints.onward.match(folded, match.end)
        if onward and onward.group():
            return Item(start if led_by in ("since", "range") else match.start, onward.end(), meaning, open="since")
        if led_by == "since" and not folded[start : match.start].startswith(("自", "从")):
            return Item(start, match.end, meaning, open="since")
        if led_by == "until":
            return Item(start, match.end, meaning, open="until")
    return Item(match.start, match.end, meaning, compared=led_by == "comparison")


def _joins_range(
    one: Meaning, other: Meaning, gap: str, led_by: str | None, joints: _Joints, folded: str, start: int
) -> bool:
    points = all(m.kind in ("date", "time") and m.issue is None and "<" not in (m.value or "") for m in (one, other))
    if not points or (one.value is None and one.relative is None):
        return False
    if gap == "/" and one.is_bare_year and other.is_bare_year:
        return int(other.value or 0) == int(one.value or 0) + 1
    if gap == "/":
        return all("-" in (m.value or "") and "Q" not in (m.value or "") for m in (one, other))
    if not joints.to.fullmatch(gap) and not (led_by == "between" and joints.between.fullmatch(gap)):
        return False
    return _is_dash(gap) or _COMPARES.search(folded, max(0, start - _BEFORE_COMPARED), start) is None


def _is_joined(gap: str | None, joints: _Joints) -> bool:
    return gap is not None and any(joint.fullmatch(gap) for joint in (joints.among, joints.to, joints.between))


def _share_year_leftwards(
    matches: list[Match], meanings: list[Meaning], gaps: list[str | None], joints: _Joints
) -> None:
    """`Q1, Q2 and Q4 2023`: an unsaid year is that of the expression it is listed with; a range may cross a new year."""
    for index in range(len(matches) - 2, -1, -1):
        value = meanings[index].value
        if value is None or "XXXX" not in value or meanings[index].kind == "set" or value.startswith("XXXX-XX"):
            continue
        follower = meanings[index + 1]
        if follower.relative and follower.relative.unit == "year" and _is_joined(gaps[index], joints):
            part = value.removeprefix("FY").removeprefix("XXXX")
            meanings[index] = Meaning(None, relative=follower.relative._replace(part=part))
            continue
        year = _VALUE_YEAR.match(follower.value or "")
        if (
            year is None
            or "<" in (follower.value or "")
            or follower.is_bare_year
            or not _is_joined(gaps[index], joints)
        ):
            continue
        part = value.removeprefix("FY").removeprefix("XXXX")
        number = int(year[2])
        is_range = gaps[index] is not None and joints.among.fullmatch(gaps[index] or "") is None
        if is_range and part > (follower.value or "")[len(year.group()) :] and number > 1:
            number -= 1
        prefix = "FY" if value.startswith("FY") else year[1] if part[1:2] in ("Q", "H") else ""
        meanings[index] = meanings[index]._replace(value=f"{prefix}{number:04d}{part}")


def _carry_date_rightwards(
    matches: list[Match],
    meanings: list[Meaning],
    gaps: list[str | None],
    joints: _Joints,
    folded: str,
    original: str,
    codes: tuple[str, ...],
) -> None:
    """`years ended December 31, 2019, 2018 and 2017`: a bare year in a list stands for the date before it."""
    prefix, original_prefix = "", ""
    for index in range(1, len(matches)):
        gap = gaps[index - 1]
        if not meanings[index].is_bare_year or gap is None or ";" in gap or joints.among.fullmatch(gap) is None:
            prefix = ""
            continue
        previous = matches[index - 1]
        if not prefix:
            text = folded[previous.start : previous.end]
            if (
                meanings[index - 1].is_bare_year
                or not _ENDS_WITH_YEAR.search(text)
                or previous.rule.name in _STANDALONE
            ):
                continue
            prefix, original_prefix = text[:-4], original[previous.start : previous.end - 4]
        year = folded[matches[index].start : matches[index].end]
        again = scan(prefix + year, original_prefix + year, codes)
        if len(again) == 1 and again[0].start == 0 and again[0].end == len(prefix) + 4:
            meanings[index] = again[0].meaning


_STANDALONE = frozenset({"year_end", "year_number"})
