"""Make the golden set: 500 long texts with a question, an answer, and the evidence's place, by one seed.

    python datasets/generator/golden.py [--out FOLDER] [--check]

350 are English and 150 Chinese; reports, contracts and white papers; 100 need evidence joined across distant places
(a definition on one page, its use on another). The splits share no template, entity or year. `--check` writes nothing
and fails where the files would differ.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import chinese_pools
import english_pools

from diag.timex import Period

SEED = 20230930
SIZES = {"train": {"en": 210, "zh": 90}, "dev": {"en": 50, "zh": 20}, "test": {"en": 90, "zh": 40}}
JOINED_SHARE = 0.2
_FEW_WORDS = 15
DOMAINS = ("report", "contract", "white_paper")
FISCAL_YEAR_ENDS = ("12-31", "12-31", "09-30", "06-30", "03-31")
WORDS = {"en": (300, 1500), "zh": (300, 1500)}
OUT = Path(__file__).resolve().parent.parent / "diag_data" / "golden"
_MARK = re.compile("\ue000(.*?)\ue001", re.DOTALL)
_ORDINALS = ("first", "second", "third", "fourth")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_ZH = "〇一二三四五六七八九"
_UNITS = {"en": {"quarter": "quarter", "half": "half-year", "month": "month", "year": "year"},
          "zh": {"quarter": "季度", "half": "半年", "month": "月份", "year": "年度"}}  # fmt: skip


class Notation(NamedTuple):
    """How a period is written: with the words that need an article before it, and by itself."""

    phrase: str
    bare: str


def notation(period: Period, language: str, draw: random.Random) -> Notation:
    """One of the usual notations of a period."""
    value = period.value.removeprefix("FY")
    fiscal = period.calendar == "fiscal"
    year = value[:4]
    if language == "zh":
        return _chinese_notation(value, fiscal, year, period.granularity, draw)
    name = f"fiscal {year}" if fiscal else year
    if period.granularity == "quarter":
        n = int(value[-1])
        spelled = f"{_ORDINALS[n - 1]} quarter of {name}"
        short = f"Q{n} FY{year[2:]}" if fiscal else draw.choice((f"Q{n} {year}", f"{n}Q{year[2:]}"))
        return draw.choice((Notation(f"the {spelled}", spelled), _plain(short)))
    if period.granularity == "half":
        n = int(value[-1])
        spelled = f"{_ORDINALS[n - 1]} half of {name}"
        short = f"H{n} FY{year[2:]}" if fiscal else f"H{n} {year}"
        return draw.choice((Notation(f"the {spelled}", spelled), _plain(short)))
    if period.granularity == "month":
        month = _MONTHS[int(value[5:7]) - 1]
        return _plain(draw.choice((f"{month} {year}", f"{month[:3]} {year}")))
    if period.granularity == "day":
        month, day = _MONTHS[int(value[5:7]) - 1], int(value[8:10])
        return _plain(draw.choice((f"{month} {day}, {year}", f"{day} {month} {year}")))
    return _plain(draw.choice((f"fiscal {year}", f"FY{year}")) if fiscal else year)


def _plain(text: str) -> Notation:
    return Notation(text, text)


def _chinese_notation(value: str, fiscal: bool, year: str, granularity: str, draw: random.Random) -> Notation:
    years = f"{year}财年" if fiscal else f"{year}年"
    if granularity == "quarter":
        n = int(value[-1])
        text = draw.choice((f"{years}第{_ZH[n]}季度", f"{years}Q{n}" if not fiscal else f"{years}第{_ZH[n]}季度"))
    elif granularity == "half":
        text = f"{years}{'上' if value[-1] == '1' else '下'}半年"
    elif granularity == "month":
        text = f"{year}年{int(value[5:7])}月"
    elif granularity == "day":
        text = f"{year}年{int(value[5:7])}月{int(value[8:10])}日"
    else:
        text = years if fiscal else draw.choice((f"{year}年", f"{year}年度"))
    return _plain(text)


def mark(text: str) -> str:
    """Mark a text as evidence; the marks are taken out at the end, their places kept."""
    return f"\ue000{text}\ue001"


def marked(phrase: str, bare: str) -> str:
    """The phrase with its expression marked, article left out."""
    return phrase.replace(bare, mark(bare), 1)


def values(count: int, draw: random.Random, language: str) -> list[str]:
    """Distinct amounts, no two of which could be taken for each other."""
    chosen: set[float] = set()
    while len(chosen) < count:
        chosen.add(round(draw.uniform(101, 9_900), 1))
    ordered = list(chosen)
    draw.shuffle(ordered)
    return [f"${amount:,.1f} million" if language == "en" else f"{amount:,.1f}百万元" for amount in ordered]


def periods(years: tuple[int, ...], granularity: str, fiscal_year_end: str, draw: random.Random) -> list[Period]:
    """Three or four neighbouring periods that compete with each other."""
    fiscal = "FY" if fiscal_year_end != "12-31" else ""
    year = draw.choice(years)
    match granularity:
        case "quarter":
            names = [f"{fiscal}{year}-Q{n}" for n in range(1, 5)]
        case "half":
            other = year - 1 if year - 1 in years else year + 1
            names = [f"{fiscal}{y}-H{n}" for y in sorted((year, other)) for n in (1, 2)]
        case "month":
            first = draw.randint(1, 9)
            names = [f"{year}-{month:02d}" for month in range(first, first + 4)]
        case _:
            start = draw.randint(0, len(years) - 3)
            names = [f"{fiscal}{y}" for y in years[start : start + 4]]
    return [Period.parse(name, fiscal_year_end=fiscal_year_end) for name in names]


def fill(template: str, **slots: str) -> str:
    """A template with its slots; `{Entity}`, `{Metric}` begin with a capital."""
    metric = slots.get("metric", "")
    return template.format(**slots, Metric=metric[:1].upper() + metric[1:])


def record(number: int, split: str, language: str, draw: random.Random, *, joined: bool) -> dict[str, Any]:
    """One record of the set."""
    pool: dict[str, Any] = (english_pools if language == "en" else chinese_pools).SPLITS[split]
    domain = draw.randrange(3)
    entity = draw.choice(pool["entities"])
    fiscal_year_end = draw.choice(FISCAL_YEAR_ENDS)
    metrics = draw.sample(pool["metrics"], 3)
    is_event = not joined and draw.random() < (0.5 if domain == 1 else 0.2)
    granularity = "quarter" if joined else draw.choice(("quarter", "quarter", "half", "month", "year"))
    spans = periods(pool["years"], granularity, fiscal_year_end, draw)
    amounts = values(3 * len(spans) + 2, draw, language)
    target = draw.randrange(len(spans))
    asks_period = joined or is_event or draw.random() < 0.6
    sections: list[list[str]] = [[], [], [], []]
    answer_notation = notation(spans[target], language, draw)
    question = answer = ""
    competing = [period.value for index, period in enumerate(spans) if index != target]
    answer_value: str | None = spans[target].value

    in_table = not joined and not is_event and draw.random() < 0.4
    for row, metric in enumerate(metrics[:2]):
        row_amounts = amounts[row * len(spans) : (row + 1) * len(spans)]
        is_target = row == 0 and not is_event and not joined
        if is_target and in_table:
            continue
        sections[1].extend(
            _facts(pool, entity, metric, spans, row_amounts, target if is_target else None, language, draw)
        )
    if not is_event and not joined:
        metric, amount = metrics[0], amounts[target]
        if asks_period:
            template = draw.choice(pool["period_questions"])
            question = fill(template, Entity=entity, metric=metric, value=amount, unit=_UNITS[language][granularity])
            answer = answer_notation.bare
        else:
            question = fill(
                draw.choice(pool["value_questions"]), Entity=entity, metric=metric, period=answer_notation.phrase
            )
            answer = amount
    sections[2].append(_table(pool, metrics, spans, amounts, target if in_table else None, language, draw))
    events = draw.sample(pool["events"], 2)
    days = [
        Period.parse(f"{draw.choice(pool['years'])}-{draw.randint(1, 12):02d}-{day:02d}")
        for day in draw.sample(range(1, 29), 2)
    ]
    for index, ((event, sentence), day) in enumerate(zip(events, days, strict=True)):
        written = notation(day, language, draw)
        is_target = is_event and index == 0
        text = sentence.format(period=mark(written.bare) if is_target else written.bare)
        sections[3].append(mark_free(text) if not is_target else text)
        if is_target:
            question = draw.choice(pool["event_questions"]).format(event=event)
            answer, answer_value = notation(day, language, draw).bare, day.value
            competing = [days[1].value]
    if joined:
        term, metric, amount = draw.choice(pool["terms"]), metrics[2], amounts[-1]
        written = notation(spans[target], language, draw)
        sections[0].append(
            draw.choice(pool["definitions"]).format(term=term, period=marked(written.phrase, written.bare))
        )
        fact = fill(draw.choice(pool["term_facts"]), term=term, metric=metric, value=mark(amount))
        sections[3].append(fact)
        question = fill(
            draw.choice(pool["period_questions"]),
            Entity=entity,
            metric=metric,
            value=amount,
            unit=_UNITS[language][granularity],
        )
        answer = answer_notation.bare
    text = _assemble(pool, domain, entity, sections, language, draw, far=joined)
    context, evidence = _places(text)
    report_year = max(pool["years"])
    return {
        "id": f"golden-{split}-{language}-{number:03d}",
        "context": context,
        "question": question,
        "answer": answer,
        "answer_value": answer_value if asks_period else None,
        "period": answer_value,
        "asks": "period" if asks_period else "value",
        "competing": competing,
        "evidence": evidence,
        "joined": joined,
        "domain": DOMAINS[domain],
        "granularity": "day" if is_event else granularity,
        "document_date": f"{report_year + 1}-03-15",
        "fiscal_year_end": fiscal_year_end,
        "language": language,
        "group": f"golden-{split}-{language}-{number:03d}",
        "split": split,
    }


def mark_free(text: str) -> str:
    """The text without evidence marks."""
    return text.replace("\ue000", "").replace("\ue001", "")


def _facts(
    pool: dict[str, Any],
    entity: str,
    metric: str,
    spans: list[Period],
    amounts: list[str],
    target: int | None,
    language: str,
    draw: random.Random,
) -> Iterator[str]:
    written = [notation(period, language, draw) for period in spans]
    start = 0
    if draw.random() < 0.4:
        start = 2
        phrases = [marked(*written[i]) if i == target else written[i].phrase for i in (0, 1)]
        shown = [mark(amounts[i]) if i == target else amounts[i] for i in (0, 1)]
        yield fill(
            draw.choice(pool["pairs"]),
            Entity=entity,
            metric=metric,
            value=shown[0],
            value2=shown[1],
            period=phrases[0],
            period2=phrases[1],
        )
    for index in range(start, len(spans)):
        phrase, amount = written[index].phrase, amounts[index]
        if index == target:
            phrase, amount = marked(*written[index]), mark(amount)
        yield fill(draw.choice(pool["facts"]), Entity=entity, metric=metric, period=phrase, value=amount)


def _table(
    pool: dict[str, Any],
    metrics: list[str],
    spans: list[Period],
    amounts: list[str],
    target: int | None,
    language: str,
    draw: random.Random,
) -> str:
    heads = [notation(period, language, draw).bare for period in spans]
    shown = metrics[:1] + metrics[2:] if target is not None else metrics[2:]
    lines = [f"| | {' | '.join(mark(head) if index == target else head for index, head in enumerate(heads))} |"]
    lines.append("|---" * (len(spans) + 1) + "|")
    for row, metric in enumerate(shown):
        is_target = target is not None and row == 0
        offset = 0 if is_target else 2 * len(spans)
        cells: list[str] = []
        for index in range(len(spans)):
            amount = re.sub(r"[^\d.,]", "", amounts[offset + index]).rstrip(".")
            cells.append(mark(amount) if is_target and index == target else amount)
        lines.append(f"| {metric} | {' | '.join(cells)} |")
    return f"{pool['table_intro']}\n\n" + "\n".join(lines)


def _assemble(
    pool: dict[str, Any],
    domain: int,
    entity: str,
    sections: list[list[str]],
    language: str,
    draw: random.Random,
    *,
    far: bool,
) -> str:
    filler: tuple[str, ...] = pool["filler"][domain]
    low, high = WORDS[language]
    wanted = round(draw.triangular(low, high - 500, low + (300 if far else 100)))
    body_length = _length("".join(mark_free("".join(section)) for section in sections), language)
    space = max(0, wanted - body_length)
    parts = [pool["titles"][domain].format(Entity=entity)]
    glue = " " if language == "en" else ""
    for index, section in enumerate(sections):
        parts.append(pool["headings"][domain][index])
        share = space // len(sections)
        before = _filler(filler, share // 2, language, draw) if share > _FEW_WORDS else []
        after = _filler(filler, share - share // 2, language, draw) if share > _FEW_WORDS else []
        middle = section if index == 2 else [glue.join(section)] if section else []
        parts.extend(part for part in (*before, *middle, *after) if part)
    return "\n\n".join(parts) + "\n"


def _filler(sentences: tuple[str, ...], size: int, language: str, draw: random.Random) -> list[str]:
    """Paragraphs of about `size` words of sentences that name no time and no value."""
    paragraphs: list[str] = []
    total = 0
    while total < size:
        chosen = draw.sample(sentences, min(len(sentences), 3))
        paragraphs.append((" " if language == "en" else "").join(chosen))
        total += _length(paragraphs[-1], language)
    return paragraphs


def _length(text: str, language: str) -> int:
    """Words; for Chinese, characters by two, as its words are on average."""
    return len(text.split()) if language == "en" else len(text) // 2


def _places(text: str) -> tuple[str, list[dict[str, Any]]]:
    context, evidence, last = "", [], 0
    for match in _MARK.finditer(text):
        context += text[last : match.start()]
        evidence.append({"start": len(context), "end": len(context) + len(match[1]), "text": match[1]})
        context += match[1]
        last = match.end()
    return context + text[last:], evidence


def build() -> dict[str, bytes]:
    """The files of the set, by name."""
    files: dict[str, bytes] = {}
    for split, sizes in SIZES.items():
        lines: list[str] = []
        for language, size in sizes.items():
            for number in range(size):
                draw = random.Random(f"{SEED}-{split}-{language}-{number}")
                row = record(number, split, language, draw, joined=number < round(size * JOINED_SHARE))
                lines.append(json.dumps(row, ensure_ascii=False))
        files[f"{split}.jsonl"] = ("\n".join(lines) + "\n").encode()
    return files


def main() -> None:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description="Make the golden set.")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the files would differ")
    options = parser.parse_args()
    for name, content in build().items():
        path = options.out / name
        if options.check:
            if path.read_bytes() != content:
                raise SystemExit(f"{path} is not what the generator makes")
        else:
            path.write_bytes(content)
            print(f"{path}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
