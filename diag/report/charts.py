"""Charts as inline SVG, drawn by Matplotlib; the same figures give the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

ChartFormat = Literal["svg", "png"]
CHART_FORMATS: tuple[ChartFormat, ...] = ("svg", "png")

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


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    return stream.getvalue()


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


_MOST_BARS = 16
_LABEL = 48


def attribution_chart(
    units: Sequence[Mapping[str, Any]], said: str, rival: str | None, form: ChartFormat = "svg"
) -> bytes:
    """Bars by unit, in the order of the text: to the right what speaks for the said period, to the left what against it."""
    strongest = sorted(units, key=lambda unit: (-abs(unit["score"]), unit["start"]))[:_MOST_BARS]
    shown = sorted(strongest, key=lambda unit: unit["start"])
    figure, axes = _figure((7.0, 1.3 + 0.28 * len(shown)))
    values = [unit["score"] for unit in shown]
    colors = [_BLUE if value >= 0 else _ORANGE for value in values]
    axes.barh(range(len(shown)), values, color=colors)
    labels = [_short(unit["text"]) + (" ✓" if unit["is_evidence"] else "") for unit in shown]
    # What the data say is text: a price's dollar signs begin no formula.
    axes.set_yticks(range(len(shown)), labels, fontsize=8, parse_math=False, fontfamily=_families())
    axes.invert_yaxis()
    axes.axvline(0, color=_INK, linewidth=0.8)
    axes.set_xlabel("against  ←  nats  →  for")
    title = f"{_short(said)} and not {_short(rival)}" if rival else _short(said)
    axes.set_title(title, fontsize=10, color=_INK, parse_math=False, fontfamily=_families())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return _png(figure) if form == "png" else _svg(figure).encode()


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LABEL else f"{flat[: _LABEL - 1]}…"


def _families() -> list[str]:
    """The default font, and what is installed for Chinese behind it."""
    from matplotlib.font_manager import get_font_names

    known = set(get_font_names())
    return ["DejaVu Sans", *(name for name in _CHINESE if name in known)]


_CHINESE = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "Microsoft YaHei", "PingFang SC", "SimHei")


def layer_chart(lens: Sequence[float], attention: Sequence[float], position: Sequence[float] | None) -> str:
    """By layer: the logit lens on said against rival, and what the layer's attention and positions bring."""
    figure, axes = _figure((7.0, 2.8))
    layers = range(1, len(attention) + 1)
    axes.bar([layer - 0.2 for layer in layers], attention, width=0.4, color=_BLUE, label="its attention brings")
    if position:
        axes.bar([layer + 0.2 for layer in layers], position, width=0.4, color=_GREY, label="its positions bring")
    axes.plot(range(len(lens)), lens, color=_ORANGE, marker="o", markersize=3, linewidth=1.5, label="logit lens")
    axes.axhline(0, color=_INK, linewidth=0.8)
    axes.set(xlabel="layer (0: the embedding)", ylabel="nats for what was said")
    axes.legend(fontsize=7, frameon=False)
    return _svg(figure)


_FLAG_COLORS = {"healthy": "#d6e4f0", "watch": "#f0b45a", "collapsed": "#b3261e"}
_FLAG_MARKS = {"healthy": "", "watch": "!", "collapsed": "×"}


def flag_chart(names: Sequence[str], sites: Sequence[str], flags: Sequence[Sequence[str]]) -> str:
    """One row a vocabulary, one column a site; what is flagged has a mark beside its colour."""
    from matplotlib.colors import ListedColormap

    order = list(_FLAG_COLORS)
    figure, axes = _figure((min(11.0, 2.0 + 0.25 * len(sites)), 0.8 + 0.26 * len(names)))
    cells = [[order.index(flag) for flag in row] for row in flags]
    axes.imshow(cells, cmap=ListedColormap(list(_FLAG_COLORS.values())), vmin=0, vmax=len(order) - 1, aspect="auto")
    for y, row in enumerate(flags):
        for x, flag in enumerate(row):
            axes.text(x, y, _FLAG_MARKS[flag], ha="center", va="center", fontsize=9, color="white", fontweight="bold")
    axes.set_xticks(range(len(sites)), [site.removeprefix("layer ") for site in sites], fontsize=7, rotation=90)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.tick_params(length=0)
    axes.set_xlabel("embeddings, and behind each layer")
    return _svg(figure)


def depth_chart(
    depths: Sequence[int], purity: Sequence[Sequence[float]], band: Sequence[Sequence[float]], title: str
) -> str:
    """Purity by layer with its interval, against the lowest to highest of the matched controls'."""
    figure, axes = _figure((5.2, 3.0))
    known = [(depth, row) for depth, row in zip(depths, band, strict=True) if row]
    if known:
        lows, highs = [min(row) for _, row in known], [max(row) for _, row in known]
        axes.fill_between([depth for depth, _ in known], lows, highs, color=_GREY, alpha=0.3, label="matched controls")
    axes.plot(depths, [row[0] for row in purity], color=_BLUE, marker="o", markersize=3, label="these times")
    axes.fill_between(depths, [row[1] for row in purity], [row[2] for row in purity], color=_BLUE, alpha=0.2)
    axes.set(xlabel="layer", ylabel="neighbours of the same label", ylim=(-0.03, 1.03))
    axes.set_title(title, fontsize=10, color=_INK, fontfamily=_families())
    axes.legend(fontsize=7, frameon=False, loc="lower right")
    return _svg(figure)


def label_chart(labels: Sequence[str], shares: Sequence[Sequence[float]], title: str) -> str:
    """Of each label's (row) nearest neighbours, the share that each label (column) has."""
    side = min(7.0, 1.6 + 0.34 * len(labels))
    figure, axes = _figure((side, side))
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if len(labels) <= 13:
        for y, row in enumerate(shares):
            for x, share in enumerate(row):
                if share >= 0.005:
                    color = "white" if share > 0.55 else _INK
                    axes.text(x, y, f"{share:.0%}"[:-1], ha="center", va="center", fontsize=7, color=color)
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7, fontfamily=_families())
    axes.set_yticks(range(len(labels)), labels, fontsize=7, fontfamily=_families())
    axes.set_title(title, fontsize=10, color=_INK, fontfamily=_families())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return _svg(figure)


def map_chart(
    labels: Sequence[str], points: Sequence[Sequence[float]], edges: Sequence[Sequence[int]], title: str, axis: str
) -> str:
    """The labels' centroids in two dimensions, each with a line to the one it stands nearest to in all of them."""
    figure, axes = _figure((4.6, 4.0))
    for one, other in edges:
        axes.plot(*zip(points[one], points[other], strict=True), color=_GREY, linewidth=0.8, zorder=1)
    axes.scatter([point[0] for point in points], [point[1] for point in points], s=18, color=_BLUE, zorder=2)
    for label, point in zip(labels, points, strict=True):
        axes.annotate(
            label, point, xytext=(3, 3), textcoords="offset points", fontsize=7, color=_INK, fontfamily=_families()
        )
    axes.set(xlabel=f"{axis} 1", ylabel=f"{axis} 2")
    axes.set_title(title, fontsize=10, color=_INK, fontfamily=_families())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return _svg(figure)


def sparsity_chart(
    rows: Sequence[str], columns: Sequence[str], shares: Sequence[Sequence[float | None]], form: ChartFormat = "svg"
) -> bytes:
    """Layers (rows) by modules (columns): the share of zeros, where there is such a module."""
    figure, axes = _figure((2.0 + 0.55 * len(columns), 1.4 + 0.2 * len(rows)))
    cells = [[float("nan") if share is None else share for share in row] for row in shares]
    image = axes.imshow(cells, cmap="viridis", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(rows)), rows, fontsize=6)
    figure.colorbar(image, ax=axes, label="share of zeros")
    return _png(figure) if form == "png" else _svg(figure).encode()
