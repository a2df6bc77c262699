"""Presence and binding: whether a source names a period, and which period it gives to a value or an event."""

from diag.evidence.agreement import Bound, agreement, bound_of
from diag.evidence.claim import ASKS_WHEN
from diag.evidence.clauses import sentence_spans
from diag.evidence.judge import Judgement, Verdict, judge, judge_each
from diag.evidence.rivals import rival_values
from diag.evidence.source import Mention, Source, SourceReading, read_source, with_terms
from diag.evidence.values import Value, values_in
from diag.evidence.words import words_of

__all__ = [
    "ASKS_WHEN",
    "Bound",
    "Judgement",
    "Mention",
    "Source",
    "SourceReading",
    "Value",
    "Verdict",
    "agreement",
    "bound_of",
    "judge",
    "judge_each",
    "read_source",
    "rival_values",
    "sentence_spans",
    "values_in",
    "with_terms",
    "words_of",
]
