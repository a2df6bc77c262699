"""The peers, run in their own environment (`.venv-peers`): reads a task as JSON on standard input, writes its results.

    {"task": "timex", "texts": [[language, text], …]}   → spans [[start, end], …] and values of each peer, and seconds
    {"task": "claims", "claims": [[claim, source], …]}  → flags of each peer, and seconds

No part of chronodiag is imported here.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

warnings.filterwarnings("ignore")
Found = list[tuple[int, int, str | None]]


def _recognizers() -> Callable[[str, str], Found]:
    from recognizers_date_time import recognize_datetime
    from recognizers_text import Culture

    def run(text: str, language: str) -> Found:
        culture = Culture.Chinese if language == "zh" else Culture.English
        found: Found = []
        for result in recognize_datetime(text, culture):
            values = (result.resolution or {}).get("values") or [{}]
            found.append((result.start, result.end + 1, values[0].get("timex")))
        return found

    return run


def _dateparser() -> Callable[[str, str], Found]:
    from dateparser.search import search_dates

    def run(text: str, language: str) -> Found:
        found: Found = []
        position = 0
        for piece, moment in search_dates(text, languages=[language]) or []:
            start = text.find(piece, position)
            if start >= 0:
                position = start + len(piece)
                found.append((start, position, moment.date().isoformat()))
        return found

    return run


def _jionlp() -> Callable[[str, str], Found]:
    import jionlp

    def run(text: str, language: str) -> Found:
        if language != "zh":
            return []
        found: Found = []
        for entity in jionlp.ner.extract_time(text):
            start, end = entity["offset"]
            moment = entity.get("detail", {}).get("time")
            found.append((start, end, "/".join(map(str, moment)) if isinstance(moment, list) else str(moment)))
        return found

    return run


def timex(texts: list[tuple[str, str]]) -> dict[str, Any]:
    """Each peer over all texts; a text on which it raises has no spans."""
    results: dict[str, Any] = {}
    for name, make in (("recognizers-text", _recognizers), ("dateparser", _dateparser), ("JioNLP", _jionlp)):
        run = make()
        run("2023年3月5日" if name == "JioNLP" else "March 5, 2023", "zh" if name == "JioNLP" else "en")
        spans: list[Found] = []
        seconds = {"en": 0.0, "zh": 0.0}
        failures = 0
        for language, text in texts:
            began = time.process_time()
            try:
                spans.append(run(text, language))
            except Exception:
                spans.append([])
                failures += 1
            seconds[language] += time.process_time() - began
        results[name] = {"spans": spans, "seconds": seconds, "failures": failures}
    return results


def claims(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Whether each peer flags each claim for its time."""
    import corroborate
    from hallucinotype.detectors import TemporalConfusionDetector

    detector = TemporalConfusionDetector(year_tolerance=0)

    def by_type(claim: str, source: str) -> bool:
        return bool(detector.detect(claim, source))

    def by_grounding(claim: str, source: str) -> bool:
        report = corroborate.check_answer(query="", retrieved_chunks=[source], answer=claim)
        return any(finding.code == "FG002" for finding in report.findings)

    results: dict[str, Any] = {}
    for name, flag in (("hallucinotype", by_type), ("corroborate", by_grounding)):
        began = time.process_time()
        flags = [flag(claim, source) for claim, source in pairs]
        results[name] = {"flags": flags, "seconds": time.process_time() - began}
    return results


def main() -> None:
    """Run the task on standard input."""
    task = json.load(sys.stdin)
    result = timex(task["texts"]) if task["task"] == "timex" else claims(task["claims"])
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
