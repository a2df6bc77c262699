"""Attribution: which words made the model say this period and not its rival, with proof that it is faithful."""

from diag.attribution.deciding import PROPERTIES, Deciding, deciding_unit, evidence_units
from diag.attribution.explain import (
    METHODS,
    UNIT_CHOICES,
    Attribution,
    ExplainOptions,
    Method,
    UnitChoice,
    explain,
)
from diag.attribution.faithfulness import Faithfulness
from diag.attribution.layers import LayerView, layer_view
from diag.attribution.units import Unit

__all__ = [
    "METHODS",
    "PROPERTIES",
    "UNIT_CHOICES",
    "Attribution",
    "Deciding",
    "ExplainOptions",
    "Faithfulness",
    "LayerView",
    "Method",
    "Unit",
    "UnitChoice",
    "deciding_unit",
    "evidence_units",
    "explain",
    "layer_view",
]
