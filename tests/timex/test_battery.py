"""The temporal battery: gold spans and values, a third of the sentences traps."""

from __future__ import annotations

from typing import Any

from diag.timex import find

Battery = list[dict[str, Any]]


def _found(row: dict[str, Any]) -> dict[tuple[int, int], tuple[str, str | None]]:
    expressions = find(row["text"], document_date=row["document_date"], fiscal_year_end=row["fiscal_year_end"])
    return {(e.start, e.end): (e.kind, e.period.value if e.period else None) for e in expressions}


def _gold(row: dict[str, Any]) -> dict[tuple[int, int], tuple[str, str | None]]:
    return {(e["start"], e["end"]): (e["kind"], e["value"]) for e in row["expressions"]}


def test_is_large_enough_and_a_third_traps(battery: Battery) -> None:
    assert len(battery) >= 400
    assert sum(row["trap"] for row in battery) * 3 >= len(battery)
    assert {row["language"] for row in battery} == {"en", "zh"}


def test_gold_offsets_slice_to_the_gold_text(battery: Battery) -> None:
    for row in battery:
        for gold in row["expressions"]:
            assert row["text"][gold["start"] : gold["end"]] == gold["text"], row["id"]


def test_span_f1_is_above_097_in_each_language(battery: Battery) -> None:
    for language in ("en", "zh"):
        rows = [row for row in battery if row["language"] == language]
        hit = sum(len(_found(row).keys() & _gold(row).keys()) for row in rows)
        found = sum(len(_found(row)) for row in rows)
        gold = sum(len(_gold(row)) for row in rows)
        assert 2 * hit / (found + gold) > 0.97, language


def test_value_accuracy_is_above_095_in_each_language(battery: Battery) -> None:
    for language in ("en", "zh"):
        rows = [row for row in battery if row["language"] == language]
        right = sum(len(_found(row).items() & _gold(row).items()) for row in rows)
        assert right / sum(len(_gold(row)) for row in rows) > 0.95, language
