"""The figures of a run's report: rates, confusion, calibration, where the risk lies, the worst answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq

from diag.risk import BASELINES, Calibration
from diag.risk.metrics import (
    Estimate,
    auroc,
    average_precision,
    calibration_error,
    calibration_floor,
    difference,
    estimate,
    reliability,
)
from diag.statistics import Interval, wilson

_WORST = 50
_FEWEST_LABELLED = 10
_RANKED = {**BASELINES, "calibrated_risk": "the probability that the period is wrong, from all scores together"}
_COLUMNS = (
    *("id", "line", "group", "language", "question", "gold", "answer", "stop", "verdict", "truth"),
    *("period_said", "period_in_source", "period_gold", "correction", "is_hallucination", "risk", "span"),
    *(f"score_{name}" for name in BASELINES),
)
Row = Mapping[str, Any]


def summarise(
    folder: Path, calibration: Calibration | None, target_fpr: float, model_sha256: str | None
) -> dict[str, Any]:
    """Everything that the report says of a run's answers, from its `predictions` and `spans`."""
    rows: Sequence[Row] = pq.read_table(folder / "predictions.parquet", columns=list(_COLUMNS)).to_pylist()
    spans: Sequence[Row] = pq.read_table(folder / "spans.parquet").to_pylist()
    judged = [row for row in rows if row["is_hallucination"] is not None]
    wrong = sum(row["is_hallucination"] for row in judged)
    threshold = calibration.threshold(target_fpr) if calibration else None
    return {
        "answers": len(rows),
        "cut_off": sum(row["stop"] == "limit" for row in rows),
        "empty": sum(not row["answer"] for row in rows),
        "judged": len(judged),
        "hallucinations": wrong,
        "hallucination_rate": _rate(wilson(wrong, len(judged))),
        "verdicts": _shares(row["verdict"] for row in rows),
        "truths": _shares(row["truth"] for row in rows),
        "confusion": _confusion(rows),
        "by_granularity": _concentration(rows, spans, "granularity"),
        "by_kind": _concentration(rows, spans, "kind"),
        "tokens": _token_shares(folder, rows, spans),
        "discrimination": _discrimination(rows),
        "threshold": _threshold(rows, threshold, target_fpr),
        "calibration": _calibration(calibration, model_sha256),
        "worst": _worst(folder, rows, spans),
    }


def figures(report: Mapping[str, Any]) -> dict[str, float]:
    """The figures that `--fail-if` can ask about, by name."""
    found = {
        "answers": float(report["answers"]),
        "rejects": float(report["rejects"]),
        "judged": float(report["judged"]),
        "hallucinations": float(report["hallucinations"]),
        "hallucination_rate": report["hallucination_rate"]["rate"],
        "cut_off": float(report["cut_off"]),
        "empty": float(report["empty"]),
        "flagged": float(report["threshold"]["flagged"] if report["threshold"] else 0),
    }
    for kind, names in (("verdicts", VERDICTS), ("truths", TRUTHS)):
        for name in names:
            share = report[kind].get(name, {"count": 0, "rate": 0.0})
            key = name if kind == "verdicts" else f"label_{name}"
            found[key], found[f"{key}_rate"] = float(share["count"]), share["rate"]
    return found


VERDICTS = ("supported", "misbound", "fabricated", "underspecified", "omitted", "undetermined")
TRUTHS = ("right", "wrong_period", "wrong_other", "underspecified", "omitted", "undetermined")


def figure_names() -> list[str]:
    """The names of `figures`."""
    plain = ["answers", "rejects", "judged", "hallucinations", "hallucination_rate", "cut_off", "empty", "flagged"]
    kinds = [*VERDICTS, *(f"label_{name}" for name in TRUTHS)]
    return [*plain, *kinds, *(f"{name}_rate" for name in kinds)]


def _rate(interval: Interval) -> dict[str, float]:
    return {"rate": interval.rate, "low": interval.low, "high": interval.high}


def _shares(values: Iterable[str]) -> dict[str, Any]:
    counts = Counter(values)
    total = sum(counts.values())
    return {name: {"count": count, **_rate(wilson(count, total))} for name, count in sorted(counts.items())}


# ---- what is confused with what --------------------------------------------------------------------------------------

_PART = re.compile(r"^(?:FY)?(\d{4})(?:-(Q\d|H\d|\d\d))?$")
_MOST_CLASSES = 16


def _confusion(rows: Sequence[Row]) -> dict[str, Any]:
    """Said against true period, by quarter, half, month and year; the true one by label, else by the source."""
    tables: dict[str, Counter[tuple[str, str]]] = {}
    for row in rows:
        true = row["period_gold"] or row["period_in_source"]
        if row["truth"] == "right" or row["verdict"] == "supported":
            true = true or row["period_said"]
        said, meant = _PART.match(row["period_said"] or ""), _PART.match(true or "")
        if said is None or meant is None or bool(said[2]) != bool(meant[2]):
            continue
        kind = "year" if not said[2] else {"Q": "quarter", "H": "half"}.get(said[2][0], "month")
        other = "year" if not meant[2] else {"Q": "quarter", "H": "half"}.get(meant[2][0], "month")
        if kind == other:
            tables.setdefault(kind, Counter())[meant[2] or meant[1], said[2] or said[1]] += 1
    found: dict[str, Any] = {}
    for kind, counts in sorted(tables.items()):
        weights: Counter[str] = Counter()
        for (meant, said), count in counts.items():
            weights[meant] += count
            weights[said] += count
        kept = sorted(name for name, _ in weights.most_common(_MOST_CLASSES))
        found[kind] = {
            "classes": kept,
            "counts": [[counts[meant, said] for said in kept] for meant in kept],
            "total": sum(counts.values()),
        }
    return found


# ---- where the risk lies ---------------------------------------------------------------------------------------------


def _concentration(rows: Sequence[Row], spans: Sequence[Row], column: str) -> dict[str, Any]:
    """Answers by what the deciding span is: how many, how many of them wrong, mean risk."""
    by_id = {(row["id"], row["line"]): row for row in rows}
    groups: dict[str, list[Row]] = {}
    for span in spans:
        if span["is_decisive"]:
            name = span[column] or ("value" if span["kind"] == "value" else "none")
            groups.setdefault(name, []).append(by_id[span["id"], span["line"]])
    found: dict[str, Any] = {}
    for name, part in sorted(groups.items()):
        judged = [row for row in part if row["is_hallucination"] is not None]
        risks = [row["risk"] for row in part if row["risk"] is not None]
        wrong = sum(row["is_hallucination"] for row in judged)
        found[name] = {
            "answers": len(part),
            "judged": len(judged),
            "hallucinations": wrong,
            **_rate(wilson(wrong, len(judged))),
            "mean_risk": sum(risks) / len(risks) if risks else None,
        }
    return found


def _token_shares(folder: Path, rows: Sequence[Row], spans: Sequence[Row]) -> dict[str, Any]:
    """How much of the answers is time, how much of their surprisal, and how much of what is wrong."""
    table = pq.read_table(folder / "predictions.parquet", columns=["id", "line", "logprobs"])
    ranges: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for span in spans:
        if not span["is_restated"]:
            ranges.setdefault((span["id"], span["line"]), []).append((span["token_start"], span["token_end"]))
    tokens = timed = 0
    surprisal = timed_surprisal = 0.0
    for batch in table.to_batches(max_chunksize=4096):
        for row in batch.to_pylist():
            logprobs = row["logprobs"]
            inside = {i for first, last in ranges.get((row["id"], row["line"]), ()) for i in range(first, last)}
            tokens += len(logprobs)
            timed += len(inside)
            surprisal -= sum(logprobs)
            timed_surprisal -= sum(logprobs[i] for i in inside if i < len(logprobs))
    errors = Counter(row["truth"] for row in rows)
    wrong = errors["wrong_period"] + errors["wrong_other"]
    return {
        "tokens": tokens,
        "on_time": timed,
        "share_of_tokens": timed / tokens if tokens else 0.0,
        "share_of_surprisal": timed_surprisal / surprisal if surprisal > 0 else 0.0,
        "wrong_answers": wrong,
        "wrong_by_period": errors["wrong_period"],
        "share_of_errors": _rate(wilson(errors["wrong_period"], wrong)),
    }


# ---- how well the scores tell ----------------------------------------------------------------------------------------


def labelled(rows: Iterable[Row]) -> list[Row]:
    """Answers on which scores are measured: a span answers the question, and the gold label decides."""
    return [row for row in rows if row["span"] is not None and row["truth"] in TRUTHS[:4]]


def _discrimination(rows: Sequence[Row]) -> dict[str, Any] | None:
    chosen = labelled(rows)
    is_wrong = np.array([row["truth"] == "wrong_period" for row in chosen], dtype=bool)
    if len(chosen) < _FEWEST_LABELLED or is_wrong.all() or not is_wrong.any():
        return None
    groups = [row["group"] for row in chosen]
    columns = {name: np.array([row[f"score_{name}"] for row in chosen], dtype=float) for name in BASELINES}
    if all(row["risk"] is not None for row in chosen):
        columns["calibrated_risk"] = np.array([row["risk"] for row in chosen], dtype=float)
    base = wilson(int(is_wrong.sum()), len(chosen))
    table: dict[str, Any] = {
        name: {
            "meaning": _RANKED[name],
            "auroc": _estimate(estimate(auroc, is_wrong, column, groups)),
            "ap": _estimate(estimate(average_precision, is_wrong, column, groups)),
        }
        for name, column in columns.items()
    }
    table["always_flag"] = {
        "meaning": "every answer alike: what no score at all would reach",
        "auroc": {"value": 0.5, "low": 0.5, "high": 0.5},
        "ap": {"value": base.rate, "low": base.low, "high": base.high},
    }
    found: dict[str, Any] = {
        "answers": len(chosen),
        "wrong": int(is_wrong.sum()),
        "base_rate": _rate(base),
        "scores": table,
    }
    if "calibrated_risk" in columns:
        risk = columns["calibrated_risk"]
        found["calibration_error"] = calibration_error(is_wrong, risk)
        found["calibration_floor"] = calibration_floor(risk)
        found["reliability"] = [one._asdict() for one in reliability(is_wrong, risk)]
        found["ahead_of"] = {
            name: _estimate(difference(auroc, is_wrong, risk, column, groups))
            for name, column in columns.items()
            if name != "calibrated_risk"
        }
    found["curves"] = {name: _curve(is_wrong, column) for name, column in columns.items()}
    return found


def _estimate(one: Estimate) -> dict[str, float | None]:
    return one._asdict()


_POINTS = 200


def _curve(is_wrong: Any, score: Any) -> list[list[float]]:
    """Points of the ROC and the precision–recall curve together: false positive rate, recall, precision."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)
    hits = np.cumsum(is_wrong[order])[last]
    flagged = (np.arange(len(order)) + 1)[last]
    wrong, right = int(is_wrong.sum()), int((~is_wrong).sum())
    points = [[0.0, 0.0, 1.0]]
    points += [
        [float((n - hit) / right), float(hit / wrong), float(hit / n)] for hit, n in zip(hits, flagged, strict=True)
    ]
    step = max(1, len(points) // _POINTS)
    return points[::step] + ([points[-1]] if (len(points) - 1) % step else [])


def _threshold(rows: Sequence[Row], threshold: float | None, target_fpr: float) -> dict[str, Any] | None:
    """What flagging from the threshold on means: how many, and, where there are labels, how many of them rightly."""
    if threshold is None:
        return None
    with_risk = [row for row in rows if row["risk"] is not None]
    flagged = [row for row in with_risk if row["risk"] >= threshold]
    chosen = labelled(with_risk)
    wrong = [row for row in chosen if row["truth"] == "wrong_period"]
    right = [row for row in chosen if row["truth"] != "wrong_period"]

    def over(part: Sequence[Row]) -> int:
        return sum(row["risk"] >= threshold for row in part)

    return {
        "threshold": threshold,
        "target_fpr": target_fpr,
        "scored": len(with_risk),
        "flagged": len(flagged),
        "recall": _rate(wilson(over(wrong), len(wrong))),
        "false_positive_rate": _rate(wilson(over(right), len(right))),
        "precision": _rate(wilson(over(wrong), over(wrong) + over(right))),
    }


def _calibration(calibration: Calibration | None, model_sha256: str | None) -> dict[str, Any] | None:
    if calibration is None:
        return None
    return {
        **calibration.model_dump(include={"meaning", "answers", "wrong", "documents", "training_sha256", "model_name"}),
        "is_of_this_model": calibration.model_sha256 is not None and calibration.model_sha256 == model_sha256,
    }


# ---- the worst answers -----------------------------------------------------------------------------------------------


_AROUND = 220


def _worst(folder: Path, rows: Sequence[Row], spans: Sequence[Row]) -> list[dict[str, Any]]:
    deciding = {(span["id"], span["line"]): span for span in spans if span["is_decisive"]}
    chosen = [row for row in rows if row["risk"] is not None and row["truth"] != "right"]
    chosen.sort(key=lambda row: (-bool(row["is_hallucination"]), -row["risk"], row["id"], row["line"]))
    chosen = chosen[:_WORST]
    sources = _sources(folder, {(row["id"], row["line"]) for row in chosen})
    found: list[dict[str, Any]] = []
    for row in chosen:
        span = deciding[row["id"], row["line"]]
        kept = ("id", "line", "question", "gold", "answer", "verdict", "truth", "period_said", "correction", "risk")
        source = sources.get((row["id"], row["line"]))
        found.append(
            {
                **{name: row[name] for name in kept},
                "period_in_source": row["period_in_source"],
                "start": span["start"],
                "end": span["end"],
                "competition": span["competition"],
                "rivals": span["rivals"][:3],
                "evidence": [_shown(one, source) for one in span["evidence"]],
            }
        )
    return found


def _sources(folder: Path, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], Row]:
    path = folder / "records.parquet"
    if not path.exists():
        return {}
    found: dict[tuple[str, int], Row] = {}
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=["id", "line", "context", "tables"]):
            for row in batch.to_pylist():
                if (row["id"], row["line"]) in wanted:
                    found[row["id"], row["line"]] = row
    return found


def _shown(evidence: Row, source: Row | None) -> dict[str, Any]:
    """A place of the source with what stands around it: the text before and behind, or the cells of its row."""
    before = after = ""
    if source is not None and evidence["table"] is None:
        context = source["context"] or ""
        before = context[max(0, evidence["start"] - _AROUND) : evidence["start"]]
        after = context[evidence["end"] : evidence["end"] + _AROUND]
    elif source is not None and source["tables"]:
        cells = orjson.loads(source["tables"])[evidence["table"]]["rows"][evidence["row"]]
        before = " | ".join(cells[: evidence["column"]]) + " | "
        after = " | " + " | ".join(cells[evidence["column"] + 1 :])
    return {"before": before, "text": evidence["text"], "after": after}
