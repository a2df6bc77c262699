"""Risk: which answers have their time wrong, how sure we are, and what the source says instead."""

from diag.risk.calibration import Calibration, default_calibration, fit, read_calibration
from diag.risk.competition import Asked, Candidate, Competition, Rival, candidates, compete
from diag.risk.features import BASELINES, FEATURES, deciding, features, scores
from diag.risk.said import Said, SaidSpan, find_in, read_record, read_said
from diag.risk.score import score
from diag.risk.spans import Options, SpanScore, judge_span, score_answers
from diag.risk.truth import Labelled, Truth, label

__all__ = [
    "BASELINES",
    "FEATURES",
    "Asked",
    "Calibration",
    "Candidate",
    "Competition",
    "Labelled",
    "Options",
    "Rival",
    "Said",
    "SaidSpan",
    "SpanScore",
    "Truth",
    "candidates",
    "compete",
    "deciding",
    "default_calibration",
    "features",
    "find_in",
    "fit",
    "judge_span",
    "label",
    "read_calibration",
    "read_record",
    "read_said",
    "score",
    "score_answers",
    "scores",
]
