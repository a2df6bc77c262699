"""A claim as the evidence tier sees it: which periods it says, of which values, and what its question asks for."""

from __future__ import annotations

import re
from typing import NamedTuple

from diag.evidence.agreement import Bound, bound_of
from diag.evidence.clauses import Dated, TextReading, read_text
from diag.evidence.values import Value, values_in
from diag.evidence.words import words_of
from diag.timex import Granularity, TimeExpression

ASKS_WHEN = re.compile(
    r"\b(?:when|(?:in |during |for |by |at )?(?:which|what) (?:fiscal |financial |calendar )?"
    r"(?:year|quarter|month|half|period|date|day|week)s?"
    r"|the (?:exact )?(?:year|quarter|month|half-year|period|date|day) (?:when|in which|on which|that saw))\b"
    r"|何时|什么时候|哪一?(?:个)?(?:年|季度|月|天|日|财年|半年|报告期)|什么时间",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:larger|largest|highest|higher|lowest|lower|smallest|smaller|greater|greatest|more|most|less|least|exceed\w*|above|"
    r"below|between|change|difference|increase|decrease|average|sum|led to|caused?|reason|why|how many years)\b|最[高低大小多少]|变化|差额",
    re.IGNORECASE,
)
_BOUNDS_VALUE = re.compile(
    r"\b(?:(?:less|more|greater|larger|higher|lower|fewer) than|exceed\w*|above|below|over|under|between|at least|at most)\b"
    r"|超过|低于|高于|不足",
    re.IGNORECASE,
)
"""The value in the question is a bound, not the one that the source has."""
_ASKS_UNIT = re.compile(
    r"\b(?:which|what) (?:\w+ )?(year|quarter|month|half)\b|哪一?个?(年|季度|月|半年|财年)", re.IGNORECASE
)
_UNITS: dict[str, Granularity] = {
    "year": "year", "quarter": "quarter", "month": "month", "half": "half", "年": "year", "财年": "year", "季度": "quarter",
    "月": "month", "半年": "half",
}  # fmt: skip
_NUMBER_ALONE = re.compile(r"\s*-?\d{4}(?:\.\d+)?\s*")


class Said(NamedTuple):
    """One period of the claim, the values the claim gives it, and the claim's words."""

    expression: TimeExpression
    bound: Bound
    values: tuple[Value, ...]
    words: frozenset[str]
    dated: Dated | None
    is_comparison: bool = False
    answer_words: frozenset[str] = frozenset()
    """Where the period is the question's and the answer an entity or a phrase: its words, which the evidence must have."""
    is_fine_enough: bool = False
    """Whether the question asks for a period of just this granularity, so that a finer one in the source is no fault."""


_LONGEST_VALUE_ANSWER = 80


def read_claim(
    question: str, answer: str, question_times: list[TimeExpression], answer_times: list[TimeExpression]
) -> list[Said]:
    """The periods of an answer, or of the question where the answer has none and is a value for it; empty for no time.

    With an empty question each period keeps the values and the words of its own clause.
    """
    if question and not ASKS_WHEN.search(question) and _NUMBER_ALONE.fullmatch(answer):
        answer_times = []
    bounds = [(expression, bound) for expression in answer_times if (bound := bound_of(expression))]
    claim_words = words_of(f"{question}\n{answer}".lower())
    reading = read_text(answer, answer_times)
    compares = _COMPARES.search(question) is not None
    if bounds:
        is_bound = reading.values or _BOUNDS_VALUE.search(question)
        asked = [] if is_bound else _values_of(question, question_times)
        unit = _ASKS_UNIT.search(question)
        asked_unit = _UNITS[(unit[1] or unit[2]).lower()] if unit else None
        return [
            Said(
                expression,
                bound,
                tuple(value.value for value in reading.values if bound in value.bounds) or tuple(asked),
                words_of(question.lower()) | _sentence_words(reading, expression),
                None if question else next((d for d in reading.dated if d.expression is expression), None),
                compares,
                is_fine_enough=bound.period.granularity == asked_unit,
            )
            for expression, bound in bounds
        ]
    asked_bounds = [(expression, bound) for expression in question_times if (bound := bound_of(expression))]
    if len({bound.period for _, bound in asked_bounds}) != 1 or ASKS_WHEN.search(question):
        return []
    expression, bound = asked_bounds[0]
    is_value = len(answer) <= _LONGEST_VALUE_ANSWER
    values = tuple(value.value for value in reading.values) if is_value else ()
    answer_words = frozenset[str]() if values else words_of(answer.lower())
    return [Said(expression, bound, values, claim_words, None, compares or not is_value, answer_words)]


def _values_of(text: str, times: list[TimeExpression]) -> list[Value]:
    return values_in(text, [(expression.start, expression.end) for expression in times])


def _sentence_words(reading: TextReading, expression: TimeExpression) -> frozenset[str]:
    return next(
        (sentence.words for sentence in reading.sentences if sentence.start <= expression.start < sentence.end),
        frozenset[str](),
    )
