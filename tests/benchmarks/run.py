"""Side by side with the peers, in one run: time expressions, claims, and same-period-other-notation pairs.

    python tests/benchmarks/run.py [--peers PYTHON] [--out FILE]

Without `--peers` the peers are installed into `.venv-peers` first. Times are of one core (CPU seconds). Every table has its base rate and its trivial
baselines; figures come with 95 % intervals (Wilson for rates, bootstrap by document for F1).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import claims as claim_set

import diag_data
from diag import records
from diag.evidence import Source, agreement, bound_of, judge, read_source
from diag.statistics import wilson
from diag.timex import Period, find

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# recognizers-text imports a name that emoji 2 took away.
PEERS = ["recognizers-text-suite", "emoji<2", "dateparser", "jionlp", "hallucinotype", "corroborate"]
SEED = 20230930
RESAMPLES = 500
SAMPLE = 30


def f1(hits: int, found: int, gold: int) -> float:
    """The harmonic mean of precision and recall, from counts."""
    return 2 * hits / (found + gold) if found + gold else 0.0


def peers_python(given: str | None) -> str:
    """The peers' interpreter, its environment made where it is not there."""
    if given:
        return given
    folder = ROOT / ".venv-peers"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return str(python)


def ask_peers(python: str, task: dict[str, Any]) -> dict[str, Any]:
    """Run a task in the peers' environment."""
    done = subprocess.run(
        [python, str(HERE / "peers.py")], input=json.dumps(task), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"the peers failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout[done.stdout.index("{") :])


# ---- time expressions ------------------------------------------------------------------------------------------------


def report_texts() -> dict[str, list[str]]:
    """Real reports where they are at hand (English), and the golden set's Chinese ones."""
    golden = [json.loads(line) for line in diag_data.path("golden/test.jsonl").read_text(encoding="utf-8").splitlines()]
    english = [row["context"] for row in golden if row["language"] == "en"]
    if claim_set.TATQA.exists():
        english = list(dict.fromkeys(record.context for record in records.read(claim_set.TATQA)))
    return {"en": english, "zh": [row["context"] for row in golden if row["language"] == "zh"]}


def ours(texts: Sequence[tuple[str, str]], options: Sequence[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The same as the peers' results, by `find`."""
    find("Q3 2023 2023年第三季度")
    spans: list[list[tuple[int, int, str | None]]] = []
    seconds = {"en": 0.0, "zh": 0.0}
    for index, (language, text) in enumerate(texts):
        began = time.process_time()
        found = find(text, **(options[index] if options else {}))
        seconds[language] += time.process_time() - began
        spans.append([(e.start, e.end, e.period.value if e.period else None) for e in found])
    return {"spans": spans, "seconds": seconds, "failures": 0}


def names_the_same(value: str | None, gold: str | None) -> bool:
    """Whether a peer's value is the gold one: the same string, or the same days in whatever spelling it uses."""
    if value is None or gold is None:
        return value == gold
    if value == gold:
        return True
    try:
        wanted = Period.parse(gold)
        days = [part.strip("()")[:10] for part in value.replace(",", "/").split("/")]
        starts = days[0]
        if len(days) == 1 and wanted.start == wanted.end and str(wanted.start) == starts:
            return True
        last = days[1] if len(days) > 1 else ""
        return str(wanted.start) == starts and last in (str(wanted.end), _day_after(wanted))
    except ValueError:
        return False


def _day_after(period: Period) -> str:
    from datetime import timedelta

    return str(period.end + timedelta(days=1)) if period.end else ""


def battery(python: str) -> dict[str, Any]:
    """Span F1 and value accuracy on the battery, by language and together."""
    rows = [
        json.loads(line) for line in diag_data.path("temporal_battery.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    texts = [(row["language"], row["text"]) for row in rows]
    options = [{"document_date": row["document_date"], "fiscal_year_end": row["fiscal_year_end"]} for row in rows]
    results = {"chronodiag": ours(texts, options), **ask_peers(python, {"task": "timex", "texts": texts})}
    table: dict[str, Any] = {}
    for name, result in results.items():
        for language in ("en", "zh", "all"):
            chosen = [i for i, row in enumerate(rows) if language in (row["language"], "all")]
            hits = found = gold = right = fired = traps = 0
            for i in chosen:
                wanted = {(e["start"], e["end"]): e["value"] for e in rows[i]["expressions"]}
                got = {(start, end): value for start, end, value in result["spans"][i]}
                hits += len(wanted.keys() & got.keys())
                found, gold = found + len(got), gold + len(wanted)
                right += sum(names_the_same(got[span], value) for span, value in wanted.items() if span in got)
                traps += rows[i]["trap"]
                fired += bool(rows[i]["trap"] and got)
            if name == "JioNLP" and language == "en":
                continue
            table[f"{name} {language}"] = {
                "span_f1": f1(hits, found, gold),
                "value_accuracy": right / gold,
                "traps_fired": f"{fired}/{traps}",
                "sentences": len(chosen),
            }
    return table


def speed(python: str) -> dict[str, Any]:
    """Megabytes a second on report text, each peer on the same sample of it; `both` is the two languages' samples together."""
    table: dict[str, Any] = {}
    together: dict[str, float] = {}
    for language, whole in report_texts().items():
        size = sum(len(text.encode()) for text in whole)
        best = min(ours([(language, text) for text in whole])["seconds"][language] for _ in range(5))
        table[f"chronodiag {language}, all"] = {"mb_per_s": size / best / 1e6}
        sample = random.Random(SEED).sample([text for text in whole if len(text) > 200], SAMPLE)
        sample_size = sum(len(text.encode()) for text in sample)
        same = min(ours([(language, text) for text in sample])["seconds"][language] for _ in range(5))
        taken = {"chronodiag": same}
        for name, result in ask_peers(python, {"task": "timex", "texts": [(language, t) for t in sample]}).items():
            if name != "JioNLP" or language == "zh":
                taken[name] = result["seconds"][language]
        for name, seconds in taken.items():
            row = {"mb_per_s": sample_size / seconds / 1e6, "chronodiag_is_faster_by": seconds / same}
            table[f"{name} {language}"] = row
            together[name] = together.get(name, 0.0) + seconds
    for name in ("recognizers-text", "dateparser"):
        table[f"{name} both"] = {"chronodiag_is_faster_by": together[name] / together["chronodiag"]}
    return table


# ---- claims ----------------------------------------------------------------------------------------------------------


def flat(record: records.Record) -> str:
    """A source as the peers take it: text, and the table's rows with its cells side by side."""
    rows = "\n".join(" | ".join(row) for table in record.tables for row in table.rows)
    return f"{rows}\n{record.context}"


def presence_only(claim: claim_set.Claim) -> bool:
    """The trivial baseline: flag a claim whose period the source names nowhere."""
    reading = read_source(Source.of(claim.record), None, None, None)
    said = [bound for e in find(f"{claim.question} {claim.answer}") if (bound := bound_of(e))]
    return any(all(agreement(one, other) != "same" for other in reading.bounds) for one in said)


def claims_table(python: str) -> dict[str, Any]:
    """F1, recall and false positive rate by kind of claim, ours and the peers'."""
    every = list(claim_set.claims())
    table: dict[str, Any] = {}
    for kind in ("binding", "sentence", "quarter"):
        chosen = [claim for claim in every if claim.kind == kind]
        methods: dict[str, tuple[list[bool], float]] = {}
        read_source.cache_clear()
        began = time.process_time()
        verdicts = [judge(c.question, c.answer, Source.of(c.record)).verdict for c in chosen]
        methods["chronodiag"] = ([v in ("misbound", "fabricated") for v in verdicts], time.process_time() - began)
        began = time.process_time()
        methods["presence only"] = ([presence_only(c) for c in chosen], time.process_time() - began)
        methods["always flag"] = ([True] * len(chosen), 0.0)
        pairs = [(f"{c.question} {c.answer}".strip(), flat(c.record)) for c in chosen]
        for name, result in ask_peers(python, {"task": "claims", "claims": pairs}).items():
            methods[name] = (result["flags"], result["seconds"])
        for name, (flags, seconds) in methods.items():
            table[f"{kind} {name}"] = scores(chosen, flags, seconds)
    return table


def scores(chosen: Sequence[claim_set.Claim], flags: Sequence[bool], seconds: float) -> dict[str, Any]:
    """The usual figures, with a bootstrap over documents for F1."""

    def measure(index: Sequence[int]) -> float:
        hits = sum(flags[i] and chosen[i].is_error for i in index)
        return f1(hits, sum(flags[i] for i in index), sum(chosen[i].is_error for i in index))

    by_document: dict[str, list[int]] = {}
    for i, claim in enumerate(chosen):
        by_document.setdefault(claim.record.group or claim.record.id, []).append(i)
    low, high = bootstrap(list(by_document.values()), measure)
    errors = sum(claim.is_error for claim in chosen)
    caught = sum(flag and claim.is_error for flag, claim in zip(flags, chosen, strict=True))
    false = sum(flag and not claim.is_error for flag, claim in zip(flags, chosen, strict=True))
    return {
        "claims": len(chosen),
        "base_rate": errors / len(chosen),
        "f1": measure(range(len(chosen))),
        "f1_interval": [low, high],
        "recall": caught / errors,
        "false_positive_rate": list(wilson(false, len(chosen) - errors)),
        "claims_per_s": len(chosen) / seconds if seconds else None,
    }


def bootstrap(groups: list[list[int]], measure: Callable[[Sequence[int]], float]) -> tuple[float, float]:
    """The 95 % percentile interval over resampled documents."""
    draw = random.Random(SEED)
    drawn = sorted(
        measure([i for group in draw.choices(groups, k=len(groups)) for i in group]) for _ in range(RESAMPLES)
    )
    return drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES) - 1]


# ---- same period, other notation -------------------------------------------------------------------------------------

NOTATIONS = (
    ("Q{n} {y}", "{n}Q{yy}", "Q{n}'{yy}", "the {ord} quarter of {y}", "{y}Q{n}", "the three months ended {end}, {y}", "{y}年第{zh}季度", "{y}年Q{n}"),
    ("{y}", "the year {y}", "calendar year {y}", "the year ended December 31, {y}", "{y}年", "{y}年度"),
    ("September {y}", "Sept. {y}", "{y}-09", "09/{y}", "{y}年9月"),
    ("September 30, {y}", "30 September {y}", "{y}-09-30", "Sep 30, {y}", "{y}年9月30日"),
)  # fmt: skip


def notation_pairs() -> dict[str, Any]:
    """A claim in one notation against a source in another: none may be flagged."""
    ends = ("March 31", "June 30", "September 30", "December 31")
    ordinals = ("first", "second", "third", "fourth")
    total = flagged = supported = 0
    for family in NOTATIONS:
        for year in (2019, 2022):
            for n in (1, 3) if "{n}" in family[0] else (1,):
                slots = {
                    "y": year,
                    "yy": year % 100,
                    "n": n,
                    "ord": ordinals[n - 1],
                    "end": ends[n - 1],
                    "zh": "一二三四"[n - 1],
                }
                for one, other in combinations([text.format(**slots) for text in family], 2):
                    source = f"Revenue of the Orion unit was $4,512 in {one}. It was $3,310 in {year - 3}."
                    verdict = judge("", f"Revenue of the Orion unit was $4,512 in {other}.", source).verdict
                    total += 1
                    flagged += verdict in ("misbound", "fabricated")
                    supported += verdict == "supported"
    return {"pairs": total, "flagged": flagged, "supported": supported}


def show(title: str, table: dict[str, Any]) -> None:
    """Print a table, a row a line."""
    print(f"\n{title}")
    for name, row in table.items():
        cells = row.items() if isinstance(row, dict) else [("", row)]
        print(f"  {name:<28}" + "  ".join(f"{key} {_cell(value)}" for key, value in cells))


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "[" + " ".join(_cell(part) for part in value) + "]"
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return str(value)


def main() -> None:
    """Run all, print the tables, write them as JSON."""
    parser = argparse.ArgumentParser(description="Benchmarks against the peers.")
    parser.add_argument("--peers", help="the Python of an environment that has the peers")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "benchmarks.json")
    options = parser.parse_args()
    python = peers_python(options.peers)
    tables: dict[str, Any] = {"battery": battery(python), "speed": speed(python), "notation": notation_pairs()}
    if claim_set.TATQA.exists():
        tables["claims"] = claims_table(python)
    else:
        print(f"TAT-QA is not at {claim_set.TATQA}: no table of claims", file=sys.stderr)
    for name, table in tables.items():
        show(name, table)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(tables, indent=1))


if __name__ == "__main__":
    main()
