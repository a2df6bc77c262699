"""English: where its time expressions start, which rules are tried there, and how they join."""

from __future__ import annotations

from diag.timex.english_dates import (
    DAY_MONTH_RULES,
    ENDED_RULE,
    FISCAL_ORDINAL_RULES,
    MONTH_RULES,
    NUMBERS,
    ORDINAL_RULES,
    WEEKDAY_RULES,
    YEAR_FIRST_RULES,
    YEAR_WORDS_RULES,
)
from diag.timex.english_relative import (
    CENTURY_RULES,
    CLOCK_RULES,
    RELATIVE_RULES,
    SET_RULES,
    SPAN_RULES,
)
from diag.timex.grammar import Language, Trigger
from diag.timex.numeric import BARE_YEAR, YEAR_DIGITS

_UNIT_COUNT = r"(?=(?:\s?\(\d{1,4}\))?[- ](?:(?:business|calendar|consecutive|full|working|trading|fiscal)[- ])?(?:year|quarter|month|week|day|hour|minute|decade|fortnight)s?(?![a-z]))"
_number_words = "|".join(sorted((w for w in NUMBERS if w not in ("a", "an")), key=len, reverse=True))

ENGLISH = Language(
    code="en",
    triggers={
        "year_word": Trigger(
            "0-9",
            YEAR_DIGITS
            + r"(?=0?'?s? ?(?:first|second|third|fourth|fiscal|financial|final)|'?s(?![a-z])|,? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
        ),
        "year": Trigger("0-9", YEAR_DIGITS + r"(?!\d)"),
        "date": Trigger(
            "0-9",
            r"[0-3]?\d(?=(?:st|nd|rd|th)?(?:(?: day)?(?: of)? ?|-)(?:[-] ?[0-3]?\d(?:st|nd|rd|th)? |(?:to|through|and) [0-3]?\d(?:st|nd|rd|th)? )?(?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
        ),
        "nth": Trigger("0-9", r"(?:1st|2nd|3rd|4th)(?= (?:fiscal |financial )?(?:quarter|half))"),
        "nth_century": Trigger(
            "0-9 sixteenth seventeenth eighteenth nineteenth twentieth twenty-first",
            r"(?:1[5-9]th|20th|21st|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty-first)(?=[ -]century)",
        ),
        "clock": Trigger("0-9", r"[012]?\d(?=:[0-5]\d|\s?[ap]\.?m\b)"),
        "count": Trigger(
            "0-9 one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen eighteen twenty thirty sixty ninety a_year a_quarter a_month a_week a_day a_decade",
            rf"(?:\d{{1,4}}|{_number_words}|an?(?= (?:year|quarter|month|week|day|decade) (?:ago|earlier|before|later|prior))){_UNIT_COUNT}",
        ),
        "month_date": Trigger(
            "jan feb mar apr may jun jul aug sep oct nov dec",
            r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?=[a-z]{0,6}\.?(?:,| of|,? fy)? ?-?(?:the )?['\d])",
        ),
        "month": Trigger(
            "jan feb mar apr may jun jul aug sep oct nov dec",
            r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?=[a-z.]{0,7}(?:\W|$))",
        ),
        "ordinal": Trigger(
            "first second third fourth final",
            r"(?:first|second|third|fourth|final)(?= (?:fiscal |financial )?(?:quarter|half)|-half|-quarter|, |[ ,]+(?:and|or|to|through) |(?: \w+)? (?:month|quarter)s)",
        ),
        "last": Trigger(
            "last",
            r"last(?=[ -](?:fiscal |financial )?(?:quarter|half|year|month|week|decade|century|[a-z]{3,9}day|[jfmasond][a-z]{2}))",
        ),
        "fiscal": Trigger(
            "fiscal financial", r"(?:fiscal|financial)(?= (?:first|second|third|fourth|quarter|year|half))"
        ),
        "unit": Trigger(
            "quarter half year yr calendar cy week yoy y/y y-o-y ytd qoq q/q",
            r"(?:cy(?= ?'?\d)|(?:quarter|half|year|yr|calendar|week|yoy|y/y|y-o-y|ytd|qoq|q/q)(?=[ -]|s |ly period|\W|$))",
        ),
        "weekday": Trigger(
            "mon tue wed thu fri sat sun",
            r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)(?=\.?,? \d|\.?,? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))",
        ),
        "relative": Trigger(
            "past this current next prior previous preceding following coming same corresponding comparable comparative equivalent like yesterday today tomorrow",
            r"(?:past|this|current|next|prior|previous|preceding|following|coming|same|corresponding|comparable|comparative|equivalent|yesterday|today|tomorrow)(?=[ -.,;:!?')]|$)",
        ),
        "set": Trigger(
            "every each annually yearly quarterly monthly weekly daily biannually semi hourly fortnightly",
            r"(?:every|each|annually|yearly|quarterly|monthly|weekly|daily|biannually|semi-?annually|hourly|fortnightly)(?![a-z])",
        ),
    },
    rules={
        "year_word": (*YEAR_FIRST_RULES, BARE_YEAR),
        "year": (BARE_YEAR,),
        "date": (*DAY_MONTH_RULES,),
        "nth": ORDINAL_RULES,
        "nth_century": CENTURY_RULES,
        "clock": CLOCK_RULES,
        "count": (*ENDED_RULE, *SPAN_RULES),
        "month_date": MONTH_RULES,
        "month": MONTH_RULES[-1:],
        "ordinal": (*ENDED_RULE, *ORDINAL_RULES),
        "last": (*ORDINAL_RULES[1:2], *RELATIVE_RULES),
        "fiscal": (*ENDED_RULE, *FISCAL_ORDINAL_RULES),
        "unit": (*ENDED_RULE, *YEAR_WORDS_RULES),
        "weekday": WEEKDAY_RULES,
        "relative": RELATIVE_RULES,
        "set": SET_RULES,
    },
    joins_list=r"(?:\s?[,;/&]\s?(?:and |or )?|,? (?:and|or|versus|vs\.?|compared (?:to|with)) )(?:the |in |fiscal |years? )?",
    joins_range=r"\s?--?\s?|,? (?:to|through|thru|until|till) (?:the )?(?:end of )?",
    joins_between=r" and (?:the )?",
    leads_since=r"(?:since|starting(?: in| from)?)(?: the)? ",
    leads_until=r"(?:until|till|up to|through)(?: the end of)? ",
    leads_range=r"from (?:the )?",
    leads_between=r"between (?:the )?",
    follows_onward=r",? (?:onwards?\b|and (?:later|after|beyond)\b(?! (?!years?\b|periods?\b|is\b|are\b|was\b)[a-z])|forward\b)",
    leads_comparison=r"(?:compared (?:to|with)|versus|vs\.?|against|from|than|relative to)(?: the)? ",
)
