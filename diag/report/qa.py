"""The report of `diag qa` and `diag score`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from diag.report.charts import confusion_chart, precision_chart, reliability_chart, roc_chart
from diag.report.check import VERDICTS as LABEL_VERDICTS
from diag.report.check import environment

VERDICTS = {
    "supported": "the source gives the period that the answer says",
    "underspecified": "right, but coarser than the source",
    "misbound": "the source gives this value or event another period",
    "fabricated": "the source names the period nowhere",
    "omitted": "a time was asked for, none was said",
    "undetermined": "the source does not decide",
}
TRUTHS = {
    "right": "as the gold label says",
    "wrong_period": "another period, or the value of another period: a temporal error",
    "wrong_other": "wrong in something else",
    "underspecified": "right, but coarser than the label",
    "omitted": "no period or value was said",
    "undetermined": "no label, or one that cannot be compared",
}
_NAMES = {
    "calibrated_risk": "calibrated risk",
    "evidence_verdict": "evidence verdict",
    "temporal_competition": "temporal competition",
    "max_probability": "max-probability",
}
_WIDTH = 22


def qa_text(report: Mapping[str, Any]) -> str:
    """The report as a short text."""
    rate = report["hallucination_rate"]
    lines = [
        f"{report['answers']:,} answers of {report['model']}, {report['rejects']:,} rows rejected",
        f"temporal hallucination: {report['hallucinations']:,} of {report['judged']:,} judged, "
        f"{rate['rate']:.1%}  (95 % interval {rate['low']:.1%} to {rate['high']:.1%})",
    ]
    if report["prompts_cut"]:
        lines.append(
            f"CUT: {report['prompts_cut']:,} of {report['answers']:,} sources did not fit and were cut around what the question "
            f"asks, {report['characters_cut']:,} characters in all"
        )
    if report["cut_off"]:
        lines.append(f"{report['cut_off']:,} answers ran to the limit of tokens, {report['empty']:,} are empty")
    lines += ["", "Against the source"]
    lines += _shares(report["verdicts"])
    if set(report["truths"]) - {"undetermined"}:
        lines += ["", "Against the gold label"]
        lines += _shares(report["truths"])
    told = report["discrimination"]
    if told:
        base = told["base_rate"]["rate"]
        lines += [
            "",
            f"Telling wrong periods from the rest: {told['answers']:,} labelled answers, base rate {base:.1%}",
        ]
        lines.append(f"  {'':<{_WIDTH}}{'AUROC':>7}  {'95 % interval':<16}{'AP':>7}")
        for name, row in told["scores"].items():
            one = row["auroc"]
            lines.append(
                f"  {name:<{_WIDTH}}{one['value']:>7.3f}  {one['low']:.3f} to {one['high']:.3f}  {row['ap']['value']:>7.3f}"
            )
        if "calibration_error" in told:
            lines.append(
                f"  calibration error {told['calibration_error']:.3f}; a perfect one would show "
                f"{told['calibration_floor']:.3f} on as few answers"
            )
    flag = report["threshold"]
    if flag:
        lines += [
            "",
            f"Flagged at risk {flag['threshold']:.2f} and over (aimed at a false positive rate of {flag['target_fpr']:.0%}): "
            f"{flag['flagged']:,} of {flag['scored']:,}",
        ]
        if told:
            lines.append(
                f"  of the wrong ones {flag['recall']['rate']:.0%} are flagged, of the others {flag['false_positive_rate']['rate']:.0%}"
            )
    if report["calibration"] and not report["calibration"]["is_of_this_model"]:
        lines.append(
            "  the calibration was fitted on another model's answers: `diag calibrate RUN` fits one to this model"
        )
    lines.append("")
    return "\n".join(lines)


def _shares(shares: Mapping[str, Any]) -> list[str]:
    return [
        f"  {name:<{_WIDTH}}{row['count']:>9,}  {row['rate']:7.2%}  (95 % interval {row['low']:.2%} to {row['high']:.2%})"
        for name, row in shares.items()
    ]


def qa_html(report: Mapping[str, Any], folder: Path) -> str:
    """The report as one HTML page: styles and charts inline, no script, no request; all text of the data escaped."""
    told = report["discrimination"]
    charts: list[Markup] = []
    if told:
        named = {name: label for name, label in _NAMES.items() if name in told["curves"]}
        if "reliability" in told:
            charts.append(Markup(reliability_chart(told["reliability"], told["calibration_error"])))
        charts.append(Markup(roc_chart(told["curves"], named)))
        charts.append(Markup(precision_chart(told["curves"], named, told["base_rate"]["rate"])))
    confusion = [
        Markup(confusion_chart(kind, table["classes"], table["counts"])) for kind, table in report["confusion"].items()
    ]
    return (
        environment()
        .get_template("qa.html")
        .render(
            report=report,
            name=Path(str(report["data"])).name,
            folder=folder.name,
            verdicts=VERDICTS,
            truths=TRUTHS,
            label_verdicts=LABEL_VERDICTS,
            charts=charts,
            confusion=confusion,
        )
    )
