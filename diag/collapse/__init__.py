"""Collapse: whether the model's times have become one lump, where, and whether that predicts its errors."""

from diag.collapse.carriers import Carrier
from diag.collapse.compare import Change, compare
from diag.collapse.contexts import ContextReport, ContextsOptions, contexts
from diag.collapse.embed import Embed, by_encoder, by_model
from diag.collapse.flag import FLAGS, Flag, Interval, Null, PairFigures
from diag.collapse.geometry import Geometry
from diag.collapse.measure import CollapseReport, Finding, MeasureOptions, measure
from diag.collapse.neighbours import EXACT_BELOW, Neighbours, nearest
from diag.collapse.plane import MAP_METHODS, MapMethod
from diag.collapse.prediction import Answered, Prediction, predict
from diag.collapse.vocabulary import LANGUAGES, Label, Language, Vocabulary, vocabularies
from diag.collapse.wording import Meaning, meanings

__all__ = [
    "EXACT_BELOW",
    "FLAGS",
    "LANGUAGES",
    "MAP_METHODS",
    "Answered",
    "Carrier",
    "Change",
    "CollapseReport",
    "ContextReport",
    "ContextsOptions",
    "Embed",
    "Finding",
    "Flag",
    "Geometry",
    "Interval",
    "Label",
    "Language",
    "MapMethod",
    "Meaning",
    "MeasureOptions",
    "Neighbours",
    "Null",
    "PairFigures",
    "Prediction",
    "Vocabulary",
    "by_encoder",
    "by_model",
    "compare",
    "contexts",
    "meanings",
    "measure",
    "nearest",
    "predict",
    "vocabularies",
]
