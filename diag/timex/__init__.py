"""Find time expressions and normalise them: English and Chinese, exact offsets, quarters and fiscal years included."""

from diag.timex.calendar import Calendar, FiscalYearEnd, Granularity, parse_fiscal_year_end
from diag.timex.expression import Issue, Kind, TimeExpression
from diag.timex.find import find, parse_document_date
from diag.timex.period import Equality, Period, period_of
from diag.timex.scan import known_language

__all__ = [
    "Calendar",
    "Equality",
    "FiscalYearEnd",
    "Granularity",
    "Issue",
    "Kind",
    "Period",
    "TimeExpression",
    "find",
    "known_language",
    "parse_document_date",
    "parse_fiscal_year_end",
    "period_of",
]
