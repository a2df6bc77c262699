"""Reports: plain text for a terminal, and one self-contained HTML page that asks nothing of the network."""

from diag.report.check import check_html, check_text
from diag.report.qa import qa_html, qa_text

__all__ = ["check_html", "check_text", "qa_html", "qa_text"]
