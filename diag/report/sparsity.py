"""What `diag sparsity scan` and `gate` print, and the heat map of layers and modules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from diag.report.charts import ChartFormat, sparsity_chart
from diag.report.check import environment

_MOST_LINES = 60


def sparsity_text(report: Mapping[str, Any]) -> str:
    """The report as a tree: layers, what stands under them, their share of zeros."""
    lines = [
        f"{report['place']}: {report['size']:,} values in {len(report['tensors']):,} tensors, {report['sparsity']:.2%} of them zero; "
        f"{report['zero_blocks']:,} of {report['blocks']:,} blocks of 64 × 64 are zero",
    ]
    if report["zero_sublayers"]:
        lines.append(
            f"zero by the two-stage rule (fewer than 0.01 % of the values left): {', '.join(report['zero_sublayers'])}"
        )
    if report["not_finite"]:
        lines.append(f"NaN or infinite values in: {', '.join(report['not_finite'])}")
    for name, heads in report["zero_heads"].items():
        lines.append(f"zero heads of {name}: {', '.join(map(str, heads))}")
    lines.append("")
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in report["sublayers"]:
        parent, _, _ = one["name"].rpartition(".")
        groups[parent].append(one)
    shown = 0
    for parent, parts in groups.items():
        if shown + len(parts) >= _MOST_LINES:
            lines.append(f"… {len(groups) - list(groups).index(parent):,} more layers: --json, or --out for the map")
            break
        lines.append(parent)
        for number, one in enumerate(parts):
            branch = "└─" if number == len(parts) - 1 else "├─"
            mark = "  ZERO" if one["is_zero"] else ""
            lines.append(f"  {branch} {one['name'].rpartition('.')[2]:<28}{1 - one['density']:>8.2%} zero{mark}")
            shown += 1
    lines.append("")
    return "\n".join(lines)


def sparsity_html(report: Mapping[str, Any]) -> str:
    """One page with the heat map and the tensors; no script, no request."""
    page = environment().get_template("sparsity.html")
    return page.render(report=report, chart=Markup(heat_map(report).decode()) if report["map"]["rows"] else None)


def heat_map(report: Mapping[str, Any], form: ChartFormat = "svg") -> bytes:
    """Layers by modules, the share of zeros in each."""
    table: Mapping[str, Sequence[Any]] = report["map"]
    return sparsity_chart(table["rows"], table["columns"], table["shares"], form)
