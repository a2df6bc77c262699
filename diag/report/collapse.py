"""The page of `diag collapse`: flags by layer, what they mean, and the figures behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from diag.report.charts import depth_chart, flag_chart, label_chart, map_chart
from diag.report.check import environment


def collapse_text(summary: Mapping[str, Any]) -> str:
    """The flags and their sentences as a short text."""
    carriers = ", ".join(f"{count} {language}" for language, count in summary["carriers"].items())
    lines = [f"{summary['model']}: {summary['layers']} layers, labels in {carriers} sentence beginnings", ""]
    for one in summary["vocabularies"]:
        lines.append(f"{one['flag']:<10} {one['name']} ({one['language']}): {one['sentence']}")
        if one["advice"]:
            lines.append(f"{'':<10} {one['advice']}")
    if summary["against"]:
        lines += ["", f"Against {summary['against']['model']}:", *(f"  {text}" for text in change_lines(summary))]
    if summary["prediction"]:
        lines += ["", summary["prediction"]["sentence"]]
    if summary["contexts"]:
        lines += ["", *context_lines(summary["contexts"])]
    if summary["no_contexts"]:
        lines += ["", summary["no_contexts"]]
    lines.append("")
    return "\n".join(lines)


def change_lines(summary: Mapping[str, Any]) -> list[str]:
    """By vocabulary, in how many layers the second model lost or won separation."""
    found: list[str] = []
    changes = summary["against"]["changes"]
    for name in dict.fromkeys(change["vocabulary"] for change in changes):
        rows = [change for change in changes if change["vocabulary"] == name]
        counts = {verdict: [row for row in rows if row["verdict"] == verdict] for verdict in ("lost", "won")}
        if not any(counts.values()):
            found.append(f"{name}: no site changed")
            continue
        parts: list[str] = []
        for verdict, part in counts.items():
            if part:
                most = max(part, key=lambda row: abs(row["ratio"][0] - 1))
                low, high = most["ratio"][1:]
                parts.append(
                    f"{verdict} separation at {len(part)} of {len(rows)} sites, most at {most['site']} "
                    f"(to {most['ratio'][0]:.0%}, interval {low:.0%} to {high:.0%})"
                )
        found.append(f"{name}: {'; '.join(parts)}")
    return found


def context_lines(contexts: Mapping[str, Any]) -> list[str]:
    """What the data teach, in a few lines."""
    alien = contexts["alien"]
    more = [pair for pair in contexts["interchanges"] if pair["is_more"]]
    lines = [
        f"The data: {contexts['embedded']:,} of {contexts['found']:,} sentences that name one period; of their nearest in other "
        f"records {alien['rate']:.0%} name another one ({alien['low']:.0%} to {alien['high']:.0%})",
        f"{contexts['duplicate_pairs']:,} pairs of sentences differ in nothing but their time, in "
        f"{contexts['teacher_records']:,} records; {len(contexts['clusters']):,} clusters",
    ]
    lines += [
        f"  {pair['one']} and {pair['other']} stand in interchangeable contexts: {pair['rate']['rate']:.0%} of neighbours, "
        f"{pair['expected']:.0%} by chance"
        for pair in more[:5]
    ]
    return lines


def collapse_html(summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """One page: styles and charts inline, no script, no request; all text of the data escaped."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["language"], row["vocabulary"]), []).append(row)
    flags = {
        language: Markup(_flags([group for (other, _), group in groups.items() if other == language]))
        for language in dict.fromkeys(language for language, _ in groups)
    }
    axis = "UMAP" if summary["options"]["map"] == "umap" else "principal component"
    vocabularies = [
        {**one, "charts": [Markup(chart) for chart in _charts(one, groups[one["language"], one["name"]], axis)]}
        for one in summary["vocabularies"]
    ]
    page = environment().get_template("collapse.html")
    return page.render(
        summary=summary,
        flags=flags,
        vocabularies=vocabularies,
        changes=change_lines(summary) if summary["against"] else [],
    )


def _flags(groups: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    sites = [row["site"] for row in groups[0]]
    names = [group[0]["vocabulary"] for group in groups]
    return flag_chart(names, sites, [[row["flag"] for row in group] for group in groups])


def _charts(one: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], axis: str) -> list[str]:
    layers = [row for row in rows if row["purity"] is not None]
    shown = next((row for row in rows if row["site"] == one["site"]), rows[-1])
    charts: list[str] = []
    if layers:
        purity = [(row["purity"], row["purity_low"], row["purity_high"]) for row in layers]
        depths = [row["depth"] for row in layers]
        charts.append(depth_chart(depths, purity, [row["control_purity"] for row in layers], "Purity by depth"))
    if shown["confusion"]:
        charts.append(label_chart(shown["labels"], shown["confusion"], f"Neighbours at {shown['site']}, %"))
    charts.append(map_chart(shown["labels"], shown["map"], shown["edges"], f"Map at {shown['site']}", axis))
    return charts
