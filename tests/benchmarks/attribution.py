"""Attribution: does it point at the evidence, is it faithful, and how long does it take beside the peers?

    python tests/benchmarks/attribution.py --run RUN [--peers PYTHON] [--out FILE]

RUN is a finished run of `diag qa` over the golden test split. Pointing is asked of the answers that are right: the strongest
time expression should be the annotated evidence. An answer can be right without having been read there (one of four quarters, by luck),
so it is also asked of those alone that change once the evidence names the rival.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from scipy.stats import wilcoxon

from diag import attribution, models, records, risk, runs
from diag.attribution.explain import ExplainOptions, Method, choose_contrast
from diag.attribution.replace import changed, swaps
from diag.attribution.target import make_target
from diag.attribution.units import regions_of, units_of
from diag.models import DEFAULT_MODEL
from diag.pipeline.attribute import answer_of, rival_of
from diag.statistics import wilson

POINTING: tuple[Method, ...] = ("random", "attention", "gradient", "layer_ig", "shapley", "ablation", "swap")
SIZES = (128, 512, 1500)
FILLER = (
    "The board met in the new building and thanked the staff for their patience. Deliveries were on schedule, and the "
    "warehouse was tidied. Customers asked for fewer options and faster replies, and got both. "
)
PEERS = (
    "Captum LLMAttribution, FeatureAblation by token",
    "Captum LLMAttribution, FeatureAblation by our spans",
    "Captum LLMGradientAttribution, integrated gradients",
    "Inseq contrastive integrated gradients",
    "Inseq contrastive saliency",
    "Inseq contrastive input x gradient",
    "ContextCite, sentences, no rival",
)


def right_answers(run: runs.Run) -> list[tuple[dict[str, Any], dict[str, Any], records.Record]]:
    """The run's right answers, the span that answers, and the record."""
    spans = {(row["id"], row["index"]): row for row in run.spans.to_pylist()}
    every = {record.id: record for record in records.read(Path(run.manifest["data"]))}
    rows = [row for row in run.predictions.to_pylist() if row["truth"] == "right" and row["span"] is not None]
    return [(row, spans[row["id"], row["span"]], every[row["id"]]) for row in rows]


def follows_evidence(
    model: models.Model, prompt: models.Prompt, record: records.Record, row: dict[str, Any], span: dict[str, Any]
) -> bool:
    """Whether the model, asked again with the evidence naming the rival, says something else."""
    answer = answer_of(row)
    place = (span["start"], span["end"])
    chosen = choose_contrast(model, prompt, answer, record, place, rival_of(span), contrast=True)
    target = make_target(model, prompt, answer, chosen.span, chosen.rival)
    units = units_of(model, prompt, record, regions_of(prompt, record), "time")
    proof = attribution.evidence_units(units, record, prompt, record.evidence)
    swapped = swaps(model, prompt, units, chosen.said_period, chosen.rival_period)
    context = changed(target, units, swapped, [number not in proof for number in range(len(units))])
    asked = context[: len(context) - (len(target.context) - len(prompt.ids))]
    said = models.generate(model, [asked], models.Sampling()).answers[0].text
    spoken = risk.read_said(record, said)
    now = spoken.spans[spoken.decisive].text if spoken.decisive is not None else None
    return now != span["text"]


def point(run: runs.Run, model: models.Model, methods: Sequence[Method]) -> dict[str, Any]:
    """By method, over all right answers and those that follow the evidence: pointing, and top deletions against random ones."""
    manifest = run.manifest
    options = models.PromptOptions(
        manifest["prompt_style"], manifest["prompt_examples"], None, manifest["source_tokens"]
    )
    prompter = models.Prompter(model, options, manifest["sampling"]["max_new_tokens"])
    found: dict[str, list[dict[str, Any]]] = {method: [] for method in methods}
    for row, span, record in right_answers(run):
        prompt = prompter.prompt(record)
        follows = follows_evidence(model, prompt, record, row, span)
        for method in methods:
            one = attribution.explain(
                model,
                prompt,
                answer_of(row),
                rival=rival_of(span),
                span=(span["start"], span["end"]),
                record=record,
                method=method,
                options=ExplainOptions(draws=5, second_opinion=False, shapley_samples=4),
            )
            proof = attribution.evidence_units(one.units, record, prompt, record.evidence)
            best = max(range(len(one.units)), key=lambda place: one.scores[place])
            found[method].append(
                {
                    "id": row["id"],
                    "follows": follows,
                    "points": best in proof,
                    "chance": len(proof) / len(one.units),
                    "top": one.faithfulness.comprehensiveness,
                    "random": statistics.mean(one.faithfulness.random_comprehensiveness),
                    "beats_random": one.faithfulness.beats_random,
                    "seconds": one.seconds,
                }
            )
        print(row["id"], follows, {method: found[method][-1]["points"] for method in methods}, flush=True)
    return {
        method: {"all": pointing_row(rows), "following": pointing_row([row for row in rows if row["follows"]])}
        for method, rows in found.items()
    }


def pointing_row(rows: list[dict[str, Any]]) -> dict[str, Any]:
    rate = wilson(sum(row["points"] for row in rows), len(rows))
    moved = [row["top"] - row["random"] for row in rows]
    ranks = wilcoxon(moved, alternative="greater")
    total = len(moved) * (len(moved) + 1) / 2
    return {
        "answers": len(rows),
        "pointing": rate.rate,
        "low": rate.low,
        "high": rate.high,
        "chance": statistics.mean(row["chance"] for row in rows),
        "median_top": statistics.median(row["top"] for row in rows),
        "median_random": statistics.median(row["random"] for row in rows),
        "wilcoxon_p": float(ranks.pvalue),
        "rank_biserial": float(2 * ranks.statistic / total - 1),
        "beats_random": statistics.mean(row["beats_random"] for row in rows),
        "seconds": statistics.median(row["seconds"] for row in rows),
    }


# ---- speed -----------------------------------------------------------------------------------------------------------


def speed_prompt(tokenizer: Any, size: int) -> str:
    """A prompt of about so many tokens: four quarters amid filler, and a question."""
    told = "Revenue was $41.0 million in Q1 2022, $38.5 million in Q2 2022, $52.3 million in Q3 2022 and $47.9 million in Q4 2022."
    ask = "\n\nQuestion: In which quarter was revenue $52.3 million?\nAnswer: The quarter was"
    words = (FILLER * (size // 20)).split()
    room = size - len(tokenizer(told + ask)["input_ids"])
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if len(tokenizer(" ".join(words[:middle]))["input_ids"]) <= room else (low, middle - 1)
        )
    before, after = words[: low // 2], words[low // 2 : low]
    return " ".join([*before, told, *after]) + ask


def own(task: dict[str, Any]) -> dict[str, Any]:
    """Our ablation over time expressions; with its faithfulness, and its floor: as many plain passes over what follows a change."""
    import torch

    torch.set_num_threads(task["threads"])
    torch.zeros(1)
    libraries = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    model = models.load(task["model"])
    ids = torch.tensor([model.tokenizer(task["prompt"])["input_ids"]])
    began = time.perf_counter()
    with torch.inference_mode():
        model.network(input_ids=ids, logits_to_keep=1)
    whole = time.perf_counter() - began
    plain_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    options = ExplainOptions(second_opinion=task["second_opinion"])
    began = time.perf_counter()
    found = attribution.explain(model, task["prompt"], task["said"], rival=task["rival"], options=options)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    floor = whole
    with torch.inference_mode():
        for unit in found.units:
            began = time.perf_counter()
            model.network(input_ids=ids[:, unit.tokens[0] :], logits_to_keep=8)
            floor += time.perf_counter() - began
    best = max(range(len(found.units)), key=lambda place: found.scores[place])
    return {
        "seconds": seconds,
        "scored_after": found.scored_after,
        "peak_bytes": peak - libraries,
        "plain_pass_bytes": plain_peak - libraries,
        "floor": floor,
        "rows": found.rows,
        "strongest": best,
        "spans": [[unit.start, unit.end] for unit in found.units],
    }


def measured(command: list[str], task: dict[str, Any], limit: float) -> dict[str, Any]:
    try:
        done = subprocess.run(
            command, input=json.dumps(task), capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {limit:.0f} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"failed": "killed: out of memory" if done.returncode == -9 else lines[-1][:200] if lines else "failed"}
    return json.loads(done.stdout.strip().splitlines()[-1])


def speed(model: str, peers: str | None, chosen: Sequence[str], limit: float) -> dict[str, Any]:
    """By size: seconds, peak memory above the libraries, and whether the strongest span is the evidence."""
    loaded = models.load(model)
    threads = os.cpu_count() or 1
    folder = str(loaded.network.config.name_or_path)
    tables: dict[str, Any] = {}
    for size in SIZES:
        prompt = speed_prompt(loaded.tokenizer, size)
        task = {"model": model, "prompt": prompt, "said": "Q3 2022", "rival": "Q4 2022", "threads": threads}
        table: dict[str, Any] = {"tokens": len(loaded.tokenizer(prompt)["input_ids"])}
        this = [sys.executable, __file__, "--own"]
        for name, second in (("chronodiag", False), ("chronodiag, second method too", True)):
            table[name] = measured(this, {**task, "second_opinion": second}, limit)
            print(size, name, table[name], flush=True)
        spans = table["chronodiag"]["spans"]
        for name in chosen if peers else ():
            script = str(Path(__file__).with_name("attribution_peers.py"))
            table[name] = measured(
                [peers or "", script], {**task, "model": folder, "method": name, "spans": spans}, limit
            )
            print(size, name, table[name], flush=True)
        tables[str(size)] = table
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--own", action="store_true", help="measure ourselves once: a task on standard input")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--peers", help="a Python with captum, inseq and context-cite; left out without it")
    parser.add_argument("--only", nargs="*", default=list(PEERS), choices=PEERS, help="these peers' methods")
    parser.add_argument("--methods", nargs="*", default=list(POINTING), choices=get_args(Method))
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a peer is given up")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.own:
        print(f"\n{json.dumps(own(json.loads(sys.stdin.read())))}")
        return
    tables: dict[str, Any] = {}
    if not options.no_speed:
        tables["speed"] = speed(options.model, options.peers, options.only, options.limit)
    if options.run:
        tables["pointing"] = point(runs.load_run(options.run), models.load(options.model), options.methods)
    text = json.dumps(tables, indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
