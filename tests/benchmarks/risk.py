"""The embedded model's own answers on three test sets: how well each score tells a wrong period.

    python tests/benchmarks/risk.py --work FOLDER [--model smollm2-135m] [--out FILE]

The calibration is fitted on the train and dev splits alone; thresholds are chosen there and reported on the test splits. Runs that
FOLDER already holds are taken up, not repeated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import questions

import diag_data
from diag import models, records, risk, runs
from diag.pipeline.calibrate import fit_rows
from diag.pipeline.predictions import is_hallucination
from diag.pipeline.qa import QaOptions, qa
from diag.pipeline.summary import labelled
from diag.risk.metrics import auroc, average_precision, calibration_error, calibration_floor, difference, estimate
from diag.statistics import wilson

SOURCE_TOKENS = 512
SETS = ("golden", "r1", "r2")
FITTED_ON = (("golden", "train"), ("golden", "dev"), ("r1", "dev"), ("r2", "dev"))
"""They share no document, no template and no year with the test splits."""


def record_file(name: str, split: str, work: Path) -> Path:
    """A set's records as a file."""
    if name == "golden":
        return diag_data.path(f"golden/{split}.jsonl")
    made = {"r1": questions.r1, "r2": questions.r2}[name](split)  # type: ignore[arg-type]
    path = work / f"{name}-{split}.jsonl"
    records.write(made, path)
    return path


def run_all(work: Path, model: models.Model) -> None:
    """Answer every set, once."""
    for name, split in (*FITTED_ON, *((name, "test") for name in SETS)):
        folder = work / f"{name}-{split}"
        if (runs.read_manifest(folder) or {}).get("finished"):
            continue
        options = QaOptions(prompt=models.PromptOptions(source_tokens=SOURCE_TOKENS), resume=folder.exists())
        qa(record_file(name, split, work), model, folder, options)
        print(f"{folder.name}: {runs.read_manifest(folder)['costs']}", flush=True)  # type: ignore[index]


def rejudged(folder: Path, data: Path) -> list[dict[str, Any]]:
    """A run's answers with the verdicts that the evidence tier gives them now; the model's own figures stay as they are."""
    run = runs.load_run(folder)
    by_id = {record.id: record for record in records.read(data)}
    spans: dict[str, list[dict[str, Any]]] = {}
    for span in run.spans.to_pylist():
        spans.setdefault(span["id"], []).append(span)
    found: list[dict[str, Any]] = []
    for row in run.predictions.to_pylist():
        record, scores = by_id[row["id"]], _token_scores(row)
        said = risk.read_said(record, row["answer"])
        judged = [_span_score(span, record, row["answer"], said) for span in spans.get(row["id"], [])]
        decided = risk.deciding([span for span in judged if span is not None])
        labelled_ = risk.label(record, row["answer"], said)
        verdict = decided.verdict if decided else "undetermined"
        row.update(truth=labelled_.truth, verdict=verdict, span=None, features=None)
        row["is_hallucination"] = is_hallucination(labelled_, verdict)
        if decided is not None:
            row.update(span=0, features=risk.features(scores, decided))
            row.update({f"score_{name}": value for name, value in risk.scores(scores, decided).items()})
        found.append(row)
    return found


def _token_scores(row: dict[str, Any]) -> models.TokenScores:
    names = ("token_ids", "logprobs", "entropies", "margins")
    return models.TokenScores(*(tuple(row[name]) for name in names), (), ())


def _span_score(span: dict[str, Any], record: records.Record, answer: str, said: risk.Said) -> risk.SpanScore | None:
    number = next((i for i, one in enumerate(said.spans) if (one.start, one.end) == (span["start"], span["end"])), None)
    if number is None:
        return None
    judgement = risk.judge_span(record, answer, said, number)
    kept = {name: span[name] for name in risk.SpanScore.__dataclass_fields__ if name in span}
    kept.update(
        tokens=(span["token_start"], span["token_end"]),
        rivals=tuple(risk.Rival(**one) for one in span["rivals"]),
        is_in_source=judgement.is_in_source,
        verdict=judgement.verdict,
        evidence=judgement.evidence,
        is_decisive=number == said.decisive,
    )
    return risk.SpanScore(**kept)


def table(every: list[dict[str, Any]], calibration: risk.Calibration) -> dict[str, Any]:
    """AUROC and AP by score, with intervals by document, and how far calibrated risk is ahead of each."""
    rows = labelled(every)
    wrong = np.array([row["truth"] == "wrong_period" for row in rows])
    groups = [row["group"] for row in rows]
    columns = {name: np.array([row[f"score_{name}"] for row in rows]) for name in risk.BASELINES}
    columns["calibrated_risk"] = np.array([calibration.risk(row["features"]) for row in rows])
    judged = [row for row in every if row["is_hallucination"] is not None]
    hallucinated = sum(row["is_hallucination"] for row in judged)
    found: dict[str, Any] = {
        "answers": len(every),
        "hallucination_rate": list(wilson(hallucinated, len(judged))),
        "labelled": len(rows),
        "base_rate": float(wrong.mean()),
        "ece": calibration_error(wrong, columns["calibrated_risk"]),
        "ece_of_a_perfect_one": calibration_floor(columns["calibrated_risk"]),
        "scores": {},
    }
    for name, column in columns.items():
        found["scores"][name] = {
            "auroc": estimate(auroc, wrong, column, groups),
            "ap": estimate(average_precision, wrong, column, groups),
            "ahead": difference(auroc, wrong, columns["calibrated_risk"], column, groups),
        }
    best = columns["temporal_competition"]
    found["competition_ahead_of_max_probability"] = difference(auroc, wrong, best, columns["max_probability"], groups)
    threshold = calibration.threshold(0.05)
    flagged = columns["calibrated_risk"] >= threshold
    found["at_5_percent"] = {
        "threshold": threshold,
        "recall": list(wilson(int((flagged & wrong).sum()), int(wrong.sum()))),
        "false_positive_rate": list(wilson(int((flagged & ~wrong).sum()), int((~wrong).sum()))),
    }
    return found


def ask_polygraph(python: str, name: str, work: Path, model: models.Model) -> dict[str, Any]:
    """LM-Polygraph's scores of its own answers to the same prompts, kept in `work` once measured."""
    kept = work / f"{name}-polygraph.json"
    if not kept.exists():
        options = models.PromptOptions(source_tokens=SOURCE_TOKENS)
        prompter = models.Prompter(model, options, QaOptions().sampling.max_new_tokens)
        chosen = list(records.read(record_file(name, "test", work)))
        prompts = [prompter.prompt(record).text for record in chosen]
        order = sorted(range(len(prompts)), key=lambda place: -len(prompts[place]))
        task = {
            "model": str(models.fetch(model.name)),
            "prompts": [prompts[place] for place in order],
            "max_new_tokens": QaOptions().sampling.max_new_tokens,
            "batch": QaOptions().batch,
        }
        command = [python, str(Path(__file__).with_name("polygraph.py"))]
        done = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"LM-Polygraph failed:\n{done.stderr[-2000:]}")
        answer = json.loads(done.stdout.splitlines()[-1])
        answer["ids"] = [chosen[place].id for place in order]
        kept.write_text(json.dumps(answer))
    return json.loads(kept.read_text())


def polygraph_table(every: list[dict[str, Any]], answer: dict[str, Any], seconds: float) -> dict[str, Any]:
    """AUROC of the peer's scores on the same answers as ours, and how the speeds compare."""
    rows = labelled(every)
    place = {one: index for index, one in enumerate(answer["ids"])}
    wrong = np.array([row["truth"] == "wrong_period" for row in rows])
    groups = [row["group"] for row in rows]
    same = sum(answer["texts"][place[row["id"]]].strip() == row["answer"] for row in every)
    found: dict[str, Any] = {
        "same_answers": f"{same} of {len(every)}",
        "faster_by": answer["seconds"] / seconds,
    }
    for name, values in answer["scores"].items():
        column = np.array([values[place[row["id"]]] for row in rows])
        found[name] = estimate(auroc, wrong, column, groups)
    return found


def show(name: str, found: dict[str, Any]) -> None:
    """One set's table."""
    rate = found["hallucination_rate"]
    print(
        f"\n{name}: {found['answers']} answers, hallucination rate {rate[0]:.3f} [{rate[1]:.3f} {rate[2]:.3f}]; "
        f"{found['labelled']} labelled, base rate {found['base_rate']:.3f}, calibration error {found['ece']:.3f} "
        f"(a perfect one would show {found['ece_of_a_perfect_one']:.3f})"
    )
    for score, row in found["scores"].items():
        one, ap, ahead = row["auroc"], row["ap"], row["ahead"]
        print(
            f"  {score:<22} AUROC {one[0]:.3f} [{one[1]:.3f} {one[2]:.3f}]  AP {ap[0]:.3f} [{ap[1]:.3f} {ap[2]:.3f}]  "
            f"calibrated risk ahead by {ahead[0]:+.3f} [{ahead[1]:+.3f} {ahead[2]:+.3f}]"
        )
    print(f"  temporal competition ahead of max-probability by {found['competition_ahead_of_max_probability']}")
    print(f"  at the threshold for 5 %: {found['at_5_percent']}")


def main() -> None:
    """Run all and print."""
    parser = argparse.ArgumentParser(description="Scores of the embedded model's own answers.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", default=models.DEFAULT_MODEL)
    parser.add_argument("--peers", help="a Python with lm-polygraph installed; left out without it")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    run_all(options.work, models.load(options.model, tell=print))
    answers = {
        (name, split): rejudged(options.work / f"{name}-{split}", record_file(name, split, options.work))
        for name, split in (*FITTED_ON, *((name, "test") for name in SETS))
    }
    manifest = runs.load_run(options.work / "golden-dev").manifest
    dev = labelled(row for one in FITTED_ON for row in answers[one])
    calibration = fit_rows(dev, manifest)
    (options.work / "calibration.json").write_text(calibration.model_dump_json(indent=1) + "\n")
    found = {name: table(answers[name, "test"], calibration) for name in SETS}
    pooled = labelled(row for name in SETS for row in answers[name, "test"])
    risks = np.array([calibration.risk(row["features"]) for row in pooled])
    error = calibration_error(np.array([row["truth"] == "wrong_period" for row in pooled]), risks)
    print(f"all three together: {len(pooled)} answers, calibration error {error:.3f}")
    for name, one in found.items():
        show(name, one)
        if options.peers:
            costs = runs.load_run(options.work / f"{name}-test").manifest["costs"]
            seconds = sum(costs[step]["seconds"] for step in ("prompts", "generate", "risk"))
            asked = ask_polygraph(options.peers, name, options.work, models.load(options.model))
            one["polygraph"] = polygraph_table(answers[name, "test"], asked, seconds)
            print(f"  LM-Polygraph: {one['polygraph']}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
