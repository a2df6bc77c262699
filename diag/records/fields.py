"""From a row of any field names to a `Record`: aliases, mapping, types, and what is wrong where it does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from diag.records.record import Record, SourceSpan, Table
from diag.records.rejects import RowError

ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "uid", "_id", "record_id", "qid"),
    "context": ("context", "passage", "source", "document", "text", "paragraphs", "paragraph", "premise"),
    "question": ("question", "query", "prompt", "input"),
    "answer": ("answer", "answers", "claim", "response", "output", "target", "hypothesis", "label"),
    "tables": ("tables", "table"),
    "evidence": ("evidence", "evidence_spans"),
    "document_date": ("document_date", "report_date", "published", "date"),
    "fiscal_year_end": ("fiscal_year_end", "fye"),
    "language": ("language", "lang"),
    "group": ("group", "document_id", "doc_id", "source_id"),
}
"""The names under which a field is looked for, in this order, without regard to capitals."""

Row = Mapping[str, Any]


def resolve_mapping(fields: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """The aliases with the user's own names first. Raises ValueError for a field that a record does not have."""
    names = dict(ALIASES)
    for field, column in (fields or {}).items():
        if field not in ALIASES:
            raise ValueError(f"a record has no field {field!r}; it has: {', '.join(ALIASES)}")
        names[field] = (column,)
    return names


def record_of(row: Row, line: int, names: Mapping[str, tuple[str, ...]]) -> Record:
    """The record of one flat row. Raises RowError naming the field that is missing or of the wrong type."""
    lowered = {key.lower(): key for key in row}
    used: set[str] = set()
    values: dict[str, Any] = {}
    for field, aliases in names.items():
        for alias in aliases:
            key = alias if alias in row else lowered.get(alias.lower())
            if key is not None and key not in used:
                values[field] = row[key]
                used.add(key)
                break
    tables = _tables(values.get("tables"))
    context = _context(values.get("context"))
    if not (context.strip() or tables or _text("question", values.get("question")).strip()):
        missing = "context" if "context" not in values else "context is empty"
        raise RowError("context", f"the row has no {missing}: name the column with --map context=COLUMN")
    identity = values.get("id")
    return Record(
        id=_text("id", identity) if identity not in (None, "") else str(line),
        context=context,
        question=_text("question", values.get("question")),
        answer=_answer(values.get("answer")),
        tables=tables,
        evidence=tuple(_evidence(values.get("evidence"), context)),
        document_date=_text("document_date", values.get("document_date")) or None,
        fiscal_year_end=_text("fiscal_year_end", values.get("fiscal_year_end")) or None,
        language=_text("language", values.get("language")) or None,
        group=_text("group", values.get("group")) or None,
        extra={key: value for key, value in row.items() if key not in used},
        line=line,
    )


def records_of(row: object, line: int, names: Mapping[str, tuple[str, ...]]) -> Iterator[Record]:
    """The records of one row of any known layout: flat, or TAT-QA's with its questions nested under a source."""
    if not isinstance(row, Mapping):
        raise RowError("", f"a row must be an object with named fields, this one is {_type_name(row)}")
    mapping = cast(Row, row)
    if "questions" in mapping and ("table" in mapping or "paragraphs" in mapping):
        yield from _tatqa(mapping, line)
    else:
        yield record_of(mapping, line, names)


def _tatqa(row: Row, line: int) -> Iterator[Record]:
    """TAT-QA's layout (Zhu et al., ACL 2021): a table, paragraphs, and questions about both."""
    table = row.get("table")
    questions = row.get("questions")
    if not isinstance(questions, list):
        raise RowError("questions", f"expected a list, found {_type_name(questions)}")
    cells = cast(Row, table).get("table") if isinstance(table, Mapping) else table
    tables = _tables(cells)
    context = _context(row.get("paragraphs"))
    group = str(cast(Row, table).get("uid") or line) if isinstance(table, Mapping) else str(line)
    known = {"uid", "question", "answer"}
    for number, question in enumerate(cast(list[object], questions), 1):
        if not isinstance(question, Mapping):
            raise RowError("questions", f"question {number} is {_type_name(question)}, not an object")
        fields = cast(Row, question)
        yield Record(
            id=str(fields.get("uid") or f"{group}-{number}"),
            context=context,
            question=_text("question", fields.get("question")),
            answer=_answer(fields.get("answer")),
            tables=tables,
            group=group,
            extra={key: value for key, value in fields.items() if key not in known},
            line=line,
        )


def _type_name(value: object) -> str:
    if value is None:
        return "missing"
    return {"dict": "an object", "list": "a list", "str": "text", "bool": "true or false"}.get(
        type(value).__name__, f"of type {type(value).__name__}"
    )


def _text(field: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, list, dict)):
        raise RowError(field, f"expected text, found {_type_name(cast(object, value))}")
    return str(value)


def _context(value: object) -> str:
    """Text, or a list of paragraphs (texts, or objects with `text` and perhaps `order`)."""
    if not isinstance(value, list):
        return _text("context", value)
    parts: list[tuple[float, str]] = []
    for number, part in enumerate(cast(list[object], value)):
        if isinstance(part, Mapping):
            fields = cast(Row, part)
            order = fields.get("order")
            place = float(order) if isinstance(order, (int, float)) else float(number)
            parts.append((place, _text("context", fields.get("text"))))
        else:
            parts.append((float(number), _text("context", part)))
    parts.sort(key=lambda part: part[0])
    return "\n\n".join(text for _, text in parts)


def _answer(value: object) -> str:
    if isinstance(value, list):
        items = cast(list[object], value)
        return ", ".join(_text("answer", item) for item in items)
    if isinstance(value, Mapping):
        text = cast(Row, value).get("text")
        if text is None:
            raise RowError("answer", "an answer that is an object needs a field 'text'")
        return _answer(cast(object, text))
    return _text("answer", value)


def _tables(value: object) -> tuple[Table, ...]:
    """One table as a list of rows, an object with `rows` or `table`, or a list of such tables."""
    if value is None or value == "":
        return ()
    if isinstance(value, Mapping):
        fields = cast(Row, value)
        rows = fields.get("rows", fields.get("table"))
        return (Table(_rows(rows), _text("tables", fields.get("title"))),)
    if not isinstance(value, list):
        raise RowError("tables", f"expected a list of rows, found {_type_name(value)}")
    items = cast(list[object], value)
    if items and all(isinstance(item, Mapping) or _is_grid(item) for item in items):
        return tuple(table for item in items for table in _tables(item))
    return (Table(_rows(cast(object, value))),) if items else ()


def _is_grid(value: object) -> bool:
    return isinstance(value, list) and value != [] and all(isinstance(row, list) for row in cast(list[object], value))


def _rows(value: object) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list):
        raise RowError("tables", f"a table needs a list of rows, found {_type_name(value)}")
    rows: list[tuple[str, ...]] = []
    for number, row in enumerate(cast(list[object], value), 1):
        if not isinstance(row, list):
            raise RowError("tables", f"row {number} of a table is {_type_name(row)}, not a list of cells")
        rows.append(tuple(_text("tables", cell) for cell in cast(list[object], row)))
    return tuple(rows)


def _evidence(value: object, context: str) -> Iterator[SourceSpan]:
    if value is None or value == "":
        return
    if not isinstance(value, list):
        raise RowError("evidence", f"expected a list of spans, found {_type_name(value)}")
    for span in cast(list[object], value):
        fields: Row = {}
        if isinstance(span, Mapping):
            fields = cast(Row, span)
            start, end = fields.get("start"), fields.get("end")
        elif isinstance(span, list) and len(cast(list[object], span)) == 2:
            start, end = cast(list[object], span)
        else:
            raise RowError("evidence", "a span is an object with start and end, or a pair of offsets")
        if not isinstance(start, int) or not isinstance(end, int) or start > end or start < 0:
            raise RowError("evidence", f"a span needs whole numbers 0 <= start <= end, found {start!r}, {end!r}")
        table = fields.get("table")
        if table is None and end > len(context):
            raise RowError("evidence", f"the span {start}-{end} ends beyond the context's {len(context)} characters")
        yield SourceSpan(
            start,
            end,
            context[start:end] if table is None else _text("evidence", fields.get("text")),
            *(fields.get(name) for name in ("table", "row", "column")),
        )
