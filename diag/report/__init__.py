"""Reports: plain text for a terminal, and one self-contained HTML page that asks nothing of the network."""

from diag.report.check import check_html, check_text

__all__ = ["check_html", "check_text"]
