"""The tables of a run that had a model answer: one row an answer, one row a time expression (or value) of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from diag.models import Answer, Model, Prompt
from diag.records import Record
from diag.risk import Calibration, Labelled, Said, SpanScore, deciding, features, scores
from diag.risk.features import BASELINES

_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()
_SINGLE = pa.float32()

PREDICTIONS = pa.schema(
    [
        *((name, _TEXT) for name in ("id",)),
        ("line", _WHOLE),
        *((name, _TEXT) for name in ("group", "language", "question", "gold", "answer", "stop")),
        *(
            (name, _TEXT)
            for name in ("verdict", "truth", "period_said", "period_in_source", "period_gold", "correction")
        ),
        ("is_hallucination", pa.bool_()),
        ("risk", _REAL),
        ("span", _WHOLE),
        *((f"score_{name}", _REAL) for name in BASELINES),
        ("features", pa.list_(_REAL)),
        ("prompt_tokens", _WHOLE),
        ("cut_characters", _WHOLE),
        ("token_ids", pa.list_(_WHOLE)),
        ("token_starts", pa.list_(_WHOLE)),
        ("token_ends", pa.list_(_WHOLE)),
        *((name, pa.list_(_SINGLE)) for name in ("logprobs", "entropies", "margins")),
        ("top_texts", pa.list_(pa.list_(_TEXT))),
        ("top_logprobs", pa.list_(pa.list_(_SINGLE))),
    ]
)
"""`risk`, `span` and the scores are null where no span answers the question; `is_hallucination` where nothing decides."""

SPANS = pa.schema(
    [
        ("id", _TEXT),
        ("line", _WHOLE),
        ("index", _WHOLE),
        ("start", _WHOLE),
        ("end", _WHOLE),
        *((name, _TEXT) for name in ("text", "kind", "period", "granularity")),
        ("token_start", _WHOLE),
        ("token_end", _WHOLE),
        *((name, _REAL) for name in ("logprob", "mean_logprob", "mean_entropy", "max_entropy", "min_margin")),
        *((name, _REAL) for name in ("logprob_without_source", "context_gap", "competition")),
        (
            "rivals",
            pa.list_(pa.struct([("text", _TEXT), ("period", _TEXT), ("logprob", _REAL), ("share", _REAL)])),
        ),
        ("is_in_source", pa.bool_()),
        *((name, _TEXT) for name in ("verdict", "period_in_source", "correction")),
        (
            "evidence",
            pa.list_(
                pa.struct(
                    [
                        *((name, _WHOLE) for name in ("start", "end")),
                        ("text", _TEXT),
                        *((name, _WHOLE) for name in ("table", "row", "column")),
                    ]
                )
            ),
        ),
        ("is_decisive", pa.bool_()),
        ("is_restated", pa.bool_()),
        ("risk", _REAL),
    ]
)

_WRONG = ("misbound", "fabricated")


def is_hallucination(labelled: Labelled, verdict: str) -> bool | None:
    """Whether an answer's period is wrong: by its gold label where that decides, else by the source; None where neither does."""
    if labelled.truth == "wrong_period":
        return True
    if labelled.truth in ("right", "wrong_other", "underspecified", "omitted"):
        return False
    if verdict in _WRONG:
        return True
    return False if verdict in ("supported", "underspecified", "omitted") else None


def prediction_row(
    model: Model,
    record: Record,
    prompt: Prompt,
    answer: Answer,
    said: Said,
    spans: Sequence[SpanScore],
    labelled: Labelled,
    calibration: Calibration | None,
) -> dict[str, Any]:
    """The row of one answer."""
    decided = deciding(spans)
    verdict = decided.verdict if decided else ("omitted" if said.asks_when else "undetermined")
    row: dict[str, Any] = {
        "id": record.id,
        "line": record.line,
        "group": record.group or record.id,
        "language": record.language,
        "question": record.question,
        "gold": record.answer or None,
        "answer": answer.text,
        "stop": answer.stop,
        "verdict": verdict,
        "truth": labelled.truth,
        "period_said": decided.period if decided else None,
        "period_in_source": decided.period_in_source if decided else None,
        "period_gold": labelled.period.value if labelled.period else None,
        "correction": decided.correction if decided else None,
        "is_hallucination": is_hallucination(labelled, verdict),
        "risk": None,
        "span": None,
        "features": None,
        **{f"score_{name}": None for name in BASELINES},
        "prompt_tokens": len(prompt.ids),
        "cut_characters": prompt.cut,
        "token_ids": answer.scores.ids,
        "token_starts": [start for start, _ in answer.offsets],
        "token_ends": [end for _, end in answer.offsets],
        "logprobs": answer.scores.logprobs,
        "entropies": answer.scores.entropies,
        "margins": answer.scores.margins,
        "top_texts": [[_piece(model, one) for one in ids] for ids in answer.scores.top_ids],
        "top_logprobs": answer.scores.top_logprobs,
    }
    if decided is not None:
        row["span"] = next(index for index, span in enumerate(spans) if span is decided)
        row["features"] = features(answer.scores, decided)
        row.update({f"score_{name}": value for name, value in scores(answer.scores, decided).items()})
        if calibration is not None:
            row["risk"] = calibration.risk(row["features"])
    return row


def span_rows(
    record: Record, answer: Answer, spans: Sequence[SpanScore], calibration: Calibration | None
) -> list[dict[str, Any]]:
    """The rows of an answer's spans, in order."""
    return [
        {
            "id": record.id,
            "line": record.line,
            "index": index,
            **{name: getattr(span, name) for name in SPANS.names if hasattr(span, name)},
            "token_start": span.tokens[0],
            "token_end": span.tokens[1],
            "rivals": [
                {"text": one.text, "period": one.period, "logprob": one.logprob, "share": one.share}
                for one in span.rivals
            ],
            "evidence": [
                {name: getattr(one, name) for name in ("start", "end", "text", "table", "row", "column")}
                for one in span.evidence
            ],
            "risk": calibration.risk(features(answer.scores, span)) if calibration else None,
        }
        for index, span in enumerate(spans)
    ]


def _piece(model: Model, token: int) -> str:
    return str(model.tokenizer.decode([token]))
