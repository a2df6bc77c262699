"""Records in and out: a source, a question and an answer, from any of the usual files."""

from diag.records.fields import ALIASES, resolve_mapping
from diag.records.read import Reading, id_hash, parse, read, reject, rows_of
from diag.records.record import Record, SourceSpan, Table
from diag.records.rejects import Reject, Rejects, RowError
from diag.records.rows import FORMATS, RawRow
from diag.records.write import row_of, write

__all__ = [
    "ALIASES",
    "FORMATS",
    "RawRow",
    "Reading",
    "Record",
    "Reject",
    "Rejects",
    "RowError",
    "SourceSpan",
    "Table",
    "id_hash",
    "parse",
    "read",
    "reject",
    "resolve_mapping",
    "row_of",
    "rows_of",
    "write",
]
