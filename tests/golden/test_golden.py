"""The golden set is what its card says."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

Golden = dict[str, list[dict[str, Any]]]
ROOT = Path(__file__).parents[2]


def test_sizes_languages_and_joined_evidence(golden: Golden) -> None:
    rows = [row for split in golden.values() for row in split]
    assert len(rows) == 500
    assert Counter(row["language"] for row in rows) == {"en": 350, "zh": 150}
    assert sum(row["joined"] for row in rows) == 100
    assert {row["domain"] for row in rows} == {"report", "contract", "white_paper"}
    assert len({row["id"] for row in rows}) == 500


def test_texts_have_300_to_1500_words(golden: Golden) -> None:
    for row in (row for split in golden.values() for row in split):
        words = len(row["context"].split()) if row["language"] == "en" else len(row["context"]) // 2
        assert 300 <= words <= 1500, row["id"]


def test_evidence_offsets_slice_to_the_evidence(golden: Golden) -> None:
    for row in (row for split in golden.values() for row in split):
        assert row["evidence"]
        for span in row["evidence"]:
            assert row["context"][span["start"] : span["end"]] == span["text"], row["id"]


def test_joined_evidence_lies_far_apart(golden: Golden) -> None:
    for row in (row for split in golden.values() for row in split if row["joined"]):
        first, last = row["evidence"]
        between = row["context"][first["end"] : last["start"]]
        assert len(between.split()) > 60 if row["language"] == "en" else len(between) > 120, row["id"]


def test_splits_share_no_year_entity_or_template() -> None:
    sys.path.insert(0, str(ROOT / "datasets" / "generator"))
    import chinese_pools
    import english_pools

    for pools in (english_pools.SPLITS, chinese_pools.SPLITS):
        for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
            for name in pools[one]:
                shared = set(_leaves(pools[one][name])) & set(_leaves(pools[other][name]))
                assert not shared, (one, other, name, shared)


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]


def test_the_generator_makes_these_very_files() -> None:
    subprocess.run([sys.executable, ROOT / "datasets" / "generator" / "golden.py", "--check"], check=True)
