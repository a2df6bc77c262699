"""The bounds on claims from real reports, and on golden labels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from diag.evidence import Source, judge
from diag.records import read

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import claims as claim_set

FLAGGED = ("misbound", "fabricated")


@pytest.mark.parametrize(
    ("kind", "least_f1", "most_false"), [("binding", 0.85, 0.10), ("sentence", 0.90, 0.10), ("quarter", 0.95, 0.10)]
)
def test_claims_from_real_reports(shared_data: Path, kind: str, least_f1: float, most_false: float) -> None:
    chosen = [c for c in claim_set.claims(shared_data / "tatqa" / "tatqa_dataset_dev.json") if c.kind == kind]
    flags = [judge(c.question, c.answer, Source.of(c.record)).verdict in FLAGGED for c in chosen]
    caught = sum(flag and c.is_error for flag, c in zip(flags, chosen, strict=True))
    false = sum(flag and not c.is_error for flag, c in zip(flags, chosen, strict=True))
    errors = sum(c.is_error for c in chosen)
    assert 2 * caught / (errors + caught + false) >= least_f1
    assert false / (len(chosen) - errors) <= most_false


def test_no_golden_label_is_flagged_and_nearly_all_are_supported(golden: dict[str, list[dict[str, Any]]]) -> None:
    import diag_data

    for split, rows in golden.items():
        verdicts = [
            judge(
                r.question, r.answer, Source.of(r), document_date=r.document_date, fiscal_year_end=r.fiscal_year_end
            ).verdict
            for r in read(diag_data.path(f"golden/{split}.jsonl"))
        ]
        assert not set(verdicts) & {*FLAGGED, "omitted"}, split
        assert verdicts.count("supported") / len(rows) > 0.95, split


def test_every_golden_label_swapped_for_a_competing_period_is_flagged(golden: dict[str, list[dict[str, Any]]]) -> None:
    from diag.timex import Period

    flagged = total = 0
    for row in golden["test"]:
        if row["asks"] != "period" or row["granularity"] == "day":
            continue
        for value in row["competing"][:2]:
            wrong = Period.parse(value, fiscal_year_end=row["fiscal_year_end"]).format_like(row["answer"])
            verdict = judge(row["question"], wrong, row["context"], fiscal_year_end=row["fiscal_year_end"]).verdict
            flagged += verdict in FLAGGED
            total += 1
    assert total > 100
    assert flagged / total > 0.97
