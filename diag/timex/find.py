"""`find`: the time expressions of a text, with exact offsets and the periods they name."""

from __future__ import annotations

from datetime import date

from diag.timex.calendar import FiscalYearEnd, parse_fiscal_year_end
from diag.timex.compose import Item, compose
from diag.timex.expression import Issue, Kind, TimeExpression
from diag.timex.grammar import Meaning
from diag.timex.period import Period
from diag.timex.resolve import Context, resolve
from diag.timex.scan import fold, languages_of, scan


def find(
    text: str,
    *,
    language: str | None = None,
    document_date: date | str | None = None,
    fiscal_year_end: str | FiscalYearEnd | None = None,
    day_first: bool = False,
    roc_years: bool = False,
) -> list[TimeExpression]:
    """Find the time expressions of `text`, in order, none overlapping another.

    `language` is `en` or `zh` (which reads English as well); None looks whether the text has Chinese characters.
    `document_date` is the day from which "last quarter" or a month without a year is told; without it they are told
    from the periods before them in the text. `fiscal_year_end` (`09-30`) places fiscal periods on the calendar.
    `3/4/2023` is read month first, or day first where `day_first`, and marked `ambiguous` either way. Years of the Republic
    of China and of Japanese eras are read where their era is named; with `roc_years`, `112年` is one without it.

    Raises ValueError for an unknown language, document date or fiscal year end.
    """
    if not text:
        return []
    codes = languages_of(text, language)
    year_end = parse_fiscal_year_end(fiscal_year_end)
    folded, offsets = fold(text)
    original = text if offsets is None else "".join(text[offset] for offset in offsets[:-1])
    matches = scan(folded, original, codes, day_first=day_first, roc_years=roc_years)
    if not matches:
        return []
    context = Context(parse_document_date(document_date), year_end)
    found: list[TimeExpression] = []
    for item in compose(matches, folded, original, codes):
        start, end = item.start, item.end
        if offsets is not None:
            start, end = offsets[start], offsets[end - 1] + 1
        found.append(_expression(text, start, end, item, context))
    return found


def parse_document_date(value: date | str | None) -> date | None:
    """A document's day from a date, an ISO string, or any one day in words; the last day of a longer period.

    Raises ValueError where the text names no day or period.
    """
    if value is None or isinstance(value, date):
        return value
    text = value.strip()
    if not text:
        return None
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        pass
    for expression in find(text):
        if expression.period is not None and expression.period.end is not None:
            return expression.period.end
    raise ValueError(f"document_date {value!r} names no day: write it as YYYY-MM-DD")


def _expression(text: str, start: int, end: int, item: Item, context: Context) -> TimeExpression:
    meaning = item.meaning
    kind: Kind = "range" if item.last or item.open else meaning.kind
    issue: Issue | None = meaning.issue or (item.last.issue if item.last else None)
    period: Period | None = None
    if issue is None or meaning.value is not None:
        try:
            period = _period(item, context)
        except ValueError as error:
            issue = "inverted_range" if "before it starts" in str(error) else "invalid_date"
    if period is not None and "/" in period.value and kind == "date":
        kind = "range" if not _is_span(meaning) else kind
    if period is not None and not item.compared and kind in ("date", "range", "time"):
        context.remember(period)
    ambiguous = meaning.ambiguous or (item.last is not None and item.last.ambiguous)
    absolute = _is_absolute(meaning) and (item.last is None or _is_absolute(item.last))
    return TimeExpression(start, end, text[start:end], kind, period, ambiguous, issue, absolute)


def _is_absolute(meaning: Meaning) -> bool:
    return meaning.relative is None and "XXXX" not in (meaning.value or "")


def _is_span(meaning: Meaning) -> bool:
    return "<" in (meaning.value or "")


def _period(item: Item, context: Context) -> Period | None:
    first = resolve(item.meaning, context)
    if first is None:
        return None
    if item.last is not None:
        context.remember(first)
        last = resolve(item.last, context)
        if last is None:
            return None
        return context.parse(f"{_first_of(first)}/{_last_of(last)}")
    if item.open == "since":
        return context.parse(f"{_first_of(first)}/")
    if item.open == "until":
        return context.parse(f"/{_last_of(first)}")
    return first


def _first_of(period: Period) -> str:
    return period.value.split("/")[0]


def _last_of(period: Period) -> str:
    return period.value.split("/")[-1]
