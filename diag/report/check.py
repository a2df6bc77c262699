"""The report of `diag check`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

VERDICTS = {
    "supported": "the source gives the label's period",
    "underspecified": "the source gives a part of the label's period",
    "misbound": "the source has the value or event, under another period",
    "fabricated": "the source names the label's period nowhere",
    "omitted": "a time was asked for, the label names none",
    "undetermined": "no time to judge, or the source does not decide",
}
_WIDTH = 22


def check_text(report: Mapping[str, Any]) -> str:
    """The report as a short text: what was read, the verdicts, and the findings with their advice."""
    lines = [
        f"{report['records']:,} records read, {report['rejects']:,} rows rejected",
        "",
        "Label's period against its source",
    ]
    for name, row in report["verdicts"].items():
        low, high = row["interval"]
        lines.append(
            f"  {name:<{_WIDTH}}{row['count']:>9,}  {row['rate']:7.2%}  (95 % interval {low:.2%} to {high:.2%})"
        )
    lines += ["", "Findings"]
    if not report["findings"]:
        lines.append("  none")
    for name, row in report["findings"].items():
        lines.append(f"  {name:<{_WIDTH}}{row['count']:>9,}  in {row['records']:,} records  [{row['severity']}]")
        lines.append(f"  {'':<{_WIDTH}}{row['advice']}")
    lines.append("")
    return "\n".join(lines)


def check_html(report: Mapping[str, Any], folder: Path) -> str:
    """The report as one HTML page: styles inline, no script, no request; all text of the data escaped."""
    balance = [
        {"kind": kind, "total": sum(counts.values()), "most": max(counts.values()), "counts": counts}
        for kind, counts in report["label_balance"].items()
    ]
    return (
        environment()
        .get_template("check.html")
        .render(
            report=report, name=Path(str(report["data"])).name, folder=folder.name, verdicts=VERDICTS, balance=balance
        )
    )


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates, with everything escaped that is not markup of our own."""
    return Environment(
        loader=PackageLoader("diag.report", "templates"),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
