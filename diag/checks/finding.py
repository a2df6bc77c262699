"""A finding: something wrong with the time in a data set, where it stands, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault. `field` and the offsets say where in the record; an empty `record` means the data set as a whole."""

    check: str
    severity: Severity
    record: str
    line: int
    field: str
    start: int
    end: int
    text: str
    message: str


CHECKS: dict[str, tuple[Severity, str]] = {
    "absent": ("error", "Correct the label, or the source it was taken from: a model learns to invent this period."),
    "misbound": ("error", "Correct the label to the period that the source gives: a model learns to mix periods up."),
    "contradiction": (
        "error",
        "Decide which statement holds and drop or date the other: no label can be right under both.",
    ),
    "impossible_date": ("error", "Correct the date: no calendar has it."),
    "inverted_range": ("error", "Exchange the ends of the range, or correct one: it ends before it starts."),
    "answer_leak": ("error", "Take the period out of the question: it can be answered without the source."),
    "duplicate_id": ("error", "Give each record its own id: later steps join by it."),
    "leakage": ("error", "Take the record out of one of the two files: the test would measure memory."),
    "evidence_mismatch": ("warning", "Check the evidence span: it names neither the label's period nor its value."),
    "future": ("warning", "Check the document date or the period: the report is dated before the time it reports on."),
    "no_period": (
        "warning",
        "Give the label a period, or the question another form: it asks for a time and gets none.",
    ),
    "underspecified": (
        "warning",
        "Make the label as fine as the source: it names a longer period than the source does.",
    ),
    "near_duplicate": (
        "warning",
        "Drop one or correct its label: the two differ in a period alone and have the same label.",
    ),
    "ambiguous_day_order": (
        "warning",
        "Write the date as YYYY-MM-DD, or set the day order: it can be read as two days.",
    ),
    "fiscal_civil_mix": (
        "warning",
        "Give fiscal_year_end for the document: fiscal and calendar periods cannot be compared.",
    ),
    "weekday_mismatch": ("warning", "Correct the weekday or the date: they do not fall together."),
    "unknown_language": (
        "warning",
        "Correct the language, or leave the field out: no time was looked for in that language.",
    ),
    "imbalance": ("warning", "Balance the periods of the labels: a model learns the frequent one as a guess."),
}
"""Every check: its severity, and the advice that goes with it."""


def advice(check: str) -> str:
    """What to do about findings of a check."""
    return CHECKS[check][1]
