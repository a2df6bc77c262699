"""Presence and binding: whether a source names a period, and which period it gives to a value or an event."""

from diag.evidence.agreement import Bound, agreement, bound_of
from diag.evidence.claim import ASKS_WHEN
from diag.evidence.judge import Judgement, Verdict, judge
from diag.evidence.source import Mention, Source, SourceReading, read_source

__all__ = [
    "ASKS_WHEN",
    "Bound",
    "Judgement",
    "Mention",
    "Source",
    "SourceReading",
    "Verdict",
    "agreement",
    "bound_of",
    "judge",
    "read_source",
]
