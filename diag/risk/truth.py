"""Whether an answer is right by its gold label, and if not, whether it is its time that is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from diag.evidence import Bound, agreement, rival_values
from diag.records import Record
from diag.risk.said import Said, read_record, read_said
from diag.timex import Period

Truth = Literal["right", "wrong_period", "wrong_other", "underspecified", "omitted", "undetermined"]


@dataclass(frozen=True, slots=True)
class Labelled:
    """`right`, or what is wrong by the gold label.

    `wrong_period`: another period than the gold one, or the value of another period: a temporal error. `wrong_other`: a
    value or a text that the source gives to no other period either. `underspecified`: right, but coarser. `omitted`: no
    period or value was said. `undetermined`: there is no gold label, or the two cannot be compared.
    """

    truth: Truth
    period: Period | None = None
    """The gold period."""


def label(record: Record, answer: str, said: Said) -> Labelled:
    """Hold an answer against the record's own."""
    if not record.answer.strip():
        return Labelled("undetermined")
    gold = read_said(record, record.answer)
    true = gold.decisive_span
    mine = said.decisive_span
    if true is None:
        return _by_text(record, answer)
    if mine is None:
        return Labelled("omitted", true.period)
    if true.bound is not None and mine.bound is not None:
        return Labelled(_against_period(mine.bound, true.bound), true.period)
    if true.value is not None and mine.value is not None:
        return Labelled(_against_value(record, mine.value.number, true.value.number), None)
    return Labelled("wrong_other", true.period)


_TRUTHS: dict[str, Truth] = {
    "same": "right",
    "coarser": "underspecified",
    "unknown": "undetermined",
    "different": "wrong_period",
}


def _against_period(mine: Bound, true: Bound) -> Truth:
    truth = _TRUTHS[agreement(mine, true)]
    # A quarter for the year asked is another period than the gold one, though a part of it.
    is_finer = truth == "undetermined" and true.period.contains(mine.period) is True
    return "wrong_period" if is_finer else truth


def _against_value(record: Record, mine: float, true: float) -> Truth:
    if mine == true:
        return "right"
    rivals = {mention.value.number for mention in rival_values(record.question, true, read_record(record))}
    return "wrong_period" if mine in rivals else "wrong_other"


def _by_text(record: Record, answer: str) -> Labelled:
    gold, mine = _plain(record.answer), _plain(answer)
    if not mine:
        return Labelled("omitted")
    return Labelled("right" if gold and gold in mine else "wrong_other")


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.lower()).strip()
