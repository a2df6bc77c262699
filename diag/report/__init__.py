"""Reports: plain text for a terminal, and self-contained HTML pages that ask nothing of the network."""

from diag.report.attribution import attribution_html, attribution_text
from diag.report.charts import CHART_FORMATS, ChartFormat, attribution_chart
from diag.report.check import check_html, check_text
from diag.report.collapse import collapse_html, collapse_text
from diag.report.qa import qa_html, qa_text
from diag.report.sparsity import heat_map, sparsity_html, sparsity_text

__all__ = [
    "CHART_FORMATS",
    "ChartFormat",
    "attribution_chart",
    "attribution_html",
    "attribution_text",
    "check_html",
    "check_text",
    "collapse_html",
    "collapse_text",
    "heat_map",
    "qa_html",
    "qa_text",
    "sparsity_html",
    "sparsity_text",
]
