"""The checks that one record decides by itself."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from diag.checks.finding import CHECKS, Finding
from diag.evidence import ASKS_WHEN, Bound, Judgement, Source, SourceReading, agreement, bound_of, judge, read_source
from diag.records import Record
from diag.timex import Period, TimeExpression, find, known_language, parse_document_date, parse_fiscal_year_end

_CUT = 120

Find = Callable[[str], list[TimeExpression]]


@dataclass(frozen=True, slots=True)
class Checked:
    """A record's findings, its judgement, and the period of its label."""

    findings: tuple[Finding, ...]
    judgement: Judgement
    label: Period | None
    expressions: tuple[TimeExpression, ...]
    """The time expressions of its context."""


def check_record(record: Record, *, day_first: bool = False) -> Checked:
    """Run every check of one record; `day_first` reads `3/4/2023` as 3 April. A document date or fiscal year end that cannot be read is itself a finding."""
    findings: list[Finding] = []
    document_date, fiscal_year_end = _dates(record, findings)
    language = known_language(record.language)
    if record.language and language is None:
        message = f"no time expressions are known for {record.language!r}; those of English and Chinese were looked for"
        findings.append(_finding(record, "unknown_language", message, "language", text=record.language))
    source = Source.of(record)
    reading = read_source(source, language, document_date, fiscal_year_end, day_first)

    def find_in(text: str) -> list[TimeExpression]:
        return find(
            text,
            language=language,
            document_date=document_date,
            fiscal_year_end=fiscal_year_end,
            day_first=day_first,
        )

    question, answer = find_in(record.question), find_in(record.answer)
    judgement = judge(
        record.question,
        record.answer,
        source,
        document_date=document_date,
        fiscal_year_end=fiscal_year_end,
        language=language,
        day_first=day_first,
    )
    label = judgement.period_said
    findings.extend(_label_findings(record, judgement, bool(answer)))
    findings.extend(_leak(record, question, answer))
    for name, found in (("context", reading.expressions), ("question", tuple(question)), ("answer", tuple(answer))):
        findings.extend(_written_wrong(record, name, found))
    findings.extend(_future(record, document_date, label))
    findings.extend(_calendars(record, reading, fiscal_year_end is not None))
    findings.extend(_contradictions(record, reading))
    findings.extend(_evidence(record, find_in, label))
    return Checked(tuple(findings), judgement, label, reading.expressions)


def _finding(
    record: Record, check: str, message: str, field: str = "", start: int = 0, end: int = 0, text: str = ""
) -> Finding:
    severity = CHECKS[check][0]
    return Finding(check, severity, record.id, record.line, field, start, end, text[:_CUT], message)


def _dates(record: Record, findings: list[Finding]) -> tuple[date | None, str | None]:
    try:
        document_date = parse_document_date(record.document_date)
    except ValueError as error:
        document_date = None
        findings.append(
            _finding(record, "impossible_date", str(error), "document_date", text=record.document_date or "")
        )
    try:
        parse_fiscal_year_end(record.fiscal_year_end)
    except ValueError as error:
        findings.append(
            _finding(record, "impossible_date", str(error), "fiscal_year_end", text=record.fiscal_year_end or "")
        )
        return document_date, None
    return document_date, record.fiscal_year_end


def _label_findings(record: Record, judgement: Judgement, in_answer: bool) -> Iterator[Finding]:
    field = "answer" if in_answer else "question"
    start, end = judgement.said_span or (0, 0)
    text = getattr(record, field)[start:end]
    given = judgement.correction
    match judgement.verdict:
        case "misbound":
            message = f"the source gives this to {given or 'another period'}, the label says {text!r}"
            yield _finding(record, "misbound", message, field, start, end, text)
        case "fabricated":
            message = f"the source names {text!r} nowhere{f'; it gives this to {given}' if given else ''}"
            yield _finding(record, "absent", message, field, start, end, text)
        case "underspecified":
            message = f"the source says {given or 'a part of it'}, the label {text!r}"
            yield _finding(record, "underspecified", message, field, start, end, text)
        case "omitted":
            yield _finding(
                record, "no_period", "the question asks for a time, the label names none", "answer", text=record.answer
            )
        case _:
            return


def _leak(record: Record, question: list[TimeExpression], answer: list[TimeExpression]) -> Iterator[Finding]:
    if not answer or not ASKS_WHEN.search(record.question):
        return
    for said in answer:
        for asked in question:
            if said.period and asked.period and said.kind == asked.kind == "date" and said.period.equals(asked.period):
                message = f"the question already names the answer's period {said.text!r}"
                yield _finding(record, "answer_leak", message, "question", asked.start, asked.end, asked.text)
                return


def _written_wrong(record: Record, field: str, found: tuple[TimeExpression, ...]) -> Iterator[Finding]:
    names = {
        "invalid_date": "impossible_date",
        "inverted_range": "inverted_range",
        "weekday_mismatch": "weekday_mismatch",
    }
    for expression in found:
        place = (field, expression.start, expression.end, expression.text)
        if expression.issue:
            check = names[expression.issue]
            yield _finding(record, check, f"{expression.text!r}: {CHECKS[check][1].split(': ')[-1]}", *place)
        elif expression.ambiguous and expression.period:
            yield _finding(
                record, "ambiguous_day_order", f"{expression.text!r} was read as {expression.period.value}", *place
            )


def _future(record: Record, document_date: date | None, label: Period | None) -> Iterator[Finding]:
    if document_date and label and label.start and label.start > document_date:
        message = f"the label's period {label.value} begins after the document date {document_date.isoformat()}"
        yield _finding(record, "future", message, "document_date", text=record.document_date or "")


def _calendars(record: Record, reading: SourceReading, is_known: bool) -> Iterator[Finding]:
    if is_known:
        return
    bounds = [bound for bound in reading.bounds if not bound.period.is_partial]
    fiscal = {bound.period.value.removeprefix("FY"): bound for bound in bounds if bound.period.calendar == "fiscal"}
    for bound in bounds:
        twin = fiscal.get(bound.period.value) if bound.period.calendar == "civil" and not bound.is_bare else None
        if twin is not None:
            message = f"the source names both {twin.text!r} and {bound.text!r}, and no fiscal year end tells them apart"
            yield _finding(record, "fiscal_civil_mix", message, "context", text=bound.text)
            return


_LONGEST_COMPARED = 400
_STATEMENT_WORDS = 5
_REFERS_BACK = re.compile(r"\b(?:this|these|those|such|that)\b|该|此|上述", re.IGNORECASE)


def _contradictions(record: Record, reading: SourceReading) -> Iterator[Finding]:
    """Two sentences alike in every word and value, of which one names another period; or alike but for the value."""
    dated: dict[int, list[TimeExpression]] = {}
    for one in reading.dated:
        dated.setdefault(one.sentence, []).append(one.expression)
    by_words: dict[frozenset[str], list[int]] = {}
    for index, sentence in enumerate(reading.sentences[:_LONGEST_COMPARED]):
        text = record.context[sentence.start : sentence.end]
        if len(sentence.words) >= _STATEMENT_WORDS and len(dated.get(index, ())) == 1 and not _REFERS_BACK.search(text):
            by_words.setdefault(sentence.words, []).append(index)
    for twins in by_words.values():
        for first, second in itertools.pairwise(twins):
            message = _disagreement(record.context, reading, dated, first, second)
            if message:
                place = reading.sentences[second]
                text = record.context[place.start : place.end].strip()
                yield _finding(record, "contradiction", message, "context", place.start, place.end, text)


def _disagreement(
    context: str, reading: SourceReading, dated: dict[int, list[TimeExpression]], first: int, second: int
) -> str | None:
    one, other = dated[first][0], dated[second][0]
    if one.period is None or other.period is None:
        return None
    numbers = [_numbers(context, reading, dated, index) for index in (first, second)]
    if not numbers[0] or not numbers[1]:
        return None
    same_time = one.period.equals(other.period)
    if same_time is False and numbers[0] == numbers[1] and one.period.granularity == other.period.granularity:
        return f"the same statement stands under {one.text!r} and under {other.text!r}"
    if same_time and numbers[0] != numbers[1] and len(numbers[0]) == len(numbers[1]) == 1:
        return f"for {one.text!r} the source says both {numbers[0][0]} and {numbers[1][0]}"
    return None


def _numbers(context: str, reading: SourceReading, dated: dict[int, list[TimeExpression]], index: int) -> list[str]:
    place = reading.sentences[index]
    text = context[place.start : place.end]
    for expression in reversed(dated[index]):
        text = text[: expression.start - place.start] + " " + text[expression.end - place.start :]
    return re.findall(r"\d[\d,.]*\d|\d", text)


def _evidence(record: Record, find_in: Find, label: Period | None) -> Iterator[Finding]:
    if not record.evidence or label is None:
        return
    said = _bounds(find_in(record.answer)) + _bounds(find_in(record.question))
    numbers = re.findall(r"\d[\d,.]*\d|\d", record.answer)
    for span in record.evidence:
        named = any(
            agreement(one, other) in ("same", "coarser") for one in said for other in _bounds(find_in(span.text))
        )
        if named or any(number in span.text for number in numbers):
            return
    span = record.evidence[0]
    message = "no evidence span names the label's period or value"
    yield _finding(record, "evidence_mismatch", message, "evidence", span.start, span.end, span.text)


def _bounds(expressions: list[TimeExpression]) -> list[Bound]:
    return [bound for expression in expressions if (bound := bound_of(expression))]
