"""Charts as inline SVG, drawn by Matplotlib; the same figures give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

_INK = "#1b1f24"
_BLUE, _ORANGE, _GREY = "#0b6bcb", "#c4570a", "#8a949e"
_SIZE = (4.2, 3.6)


def _figure(size: tuple[float, float] = _SIZE) -> tuple[Any, Any]:
    # Matplotlib's object interface: pyplot would keep every figure, and might open a display.
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "chronodiag", "svg.fonttype": "none", "font.family": "sans-serif"}):
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    return text[text.index("<svg") :]


def reliability_chart(bins: Sequence[Mapping[str, Any]], error: float) -> str:
    """Predicted risk against the share of wrong answers; the size of a dot is the number of answers."""
    figure, axes = _figure()
    axes.plot([0, 1], [0, 1], color=_GREY, linestyle="--", linewidth=1)
    most = max(one["answers"] for one in bins)
    sizes = [20 + 120 * one["answers"] / most for one in bins]
    risks, rates = [one["risk"] for one in bins], [one["rate"] for one in bins]
    axes.plot(risks, rates, color=_BLUE, linewidth=1)
    axes.scatter(risks, rates, s=sizes, color=_BLUE, zorder=3)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="predicted risk", ylabel="share of wrong answers")
    axes.set_title(f"Reliability (calibration error {error:.3f})", fontsize=10, color=_INK)
    return _svg(figure)


def roc_chart(curves: Mapping[str, Sequence[Sequence[float]]], named: Mapping[str, str]) -> str:
    """Recall against false positive rate; `named` are the curves to draw with their labels."""
    figure, axes = _figure()
    axes.plot([0, 1], [0, 1], color=_GREY, linestyle="--", linewidth=1, label="chance")
    for (name, label), (color, style) in zip(named.items(), _LINES, strict=False):
        axes.plot([p[0] for p in curves[name]], [p[1] for p in curves[name]], style, color=color, label=label)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="false positive rate", ylabel="recall")
    axes.set_title("ROC", fontsize=10, color=_INK)
    axes.legend(fontsize=7, loc="lower right", frameon=False)
    return _svg(figure)


def precision_chart(curves: Mapping[str, Sequence[Sequence[float]]], named: Mapping[str, str], base: float) -> str:
    """Precision against recall, with the base rate."""
    figure, axes = _figure()
    axes.axhline(base, color=_GREY, linestyle="--", linewidth=1, label=f"base rate {base:.2f}")
    for (name, label), (color, style) in zip(named.items(), _LINES, strict=False):
        points = curves[name][1:]
        axes.plot([p[1] for p in points], [p[2] for p in points], style, color=color, label=label)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="recall", ylabel="precision")
    axes.set_title("Precision and recall", fontsize=10, color=_INK)
    axes.legend(fontsize=7, loc="lower left", frameon=False)
    return _svg(figure)


_LINES = ((_BLUE, "-"), (_ORANGE, "--"), ("#6b3fa0", "-."), ("#1f7a4d", ":"))


def confusion_chart(kind: str, classes: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    """Said against true period, counts in the cells; right ones on the diagonal."""
    side = min(7.0, 1.6 + 0.5 * len(classes))
    figure, axes = _figure((side, side))
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for y, row in enumerate(counts):
        for x, count in enumerate(row):
            if count:
                color = "white" if shares[y][x] > 0.55 else _INK
                weight = "bold" if x == y else "normal"
                axes.text(x, y, str(count), ha="center", va="center", fontsize=8, color=color, fontweight=weight)
    axes.set_xticks(range(len(classes)), classes, rotation=45 if len(classes) > 6 else 0, fontsize=8)
    axes.set_yticks(range(len(classes)), classes, fontsize=8)
    axes.set(xlabel="said", ylabel="true")
    axes.set_title(kind.capitalize(), fontsize=10, color=_INK)
    return _svg(figure)
