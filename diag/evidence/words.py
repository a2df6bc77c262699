"""Content words: what a claim and a place in the source have in common, besides values and times."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[㐀-鿿]+")
_STEM = 6
_STOP = frozenset(
    ["a", "about", "above", "after", "all", "also", "although", "among", "an", "and", "any", "are", "as", "at", "based", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could", "did", "do", "does", "during", "each", "ended", "ending", "end", "for", "from", "further", "had", "has", "have", "having", "how", "however", "if", "in", "into", "is", "it", "its", "itself", "less", "may", "more", "most", "much", "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our", "out", "over", "own", "per", "related", "respectively", "respective", "same", "shall", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "upon", "us", "versus", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "would", "year", "years", "quarter", "quarters", "month", "months", "day", "days", "fiscal", "period", "periods", "date", "amount", "value", "company", "group", "total", "number", "following", "compared", "including", "primarily", "approximately", "million", "millions", "billion", "thousand", "thousands", "percent", "q", "first", "second", "third", "fourth", "half", "calendar", "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"]
)  # fmt: skip
_KEPT = frozenset({"total", "amount", "value", "number", "company", "group", "less", "other", "net"})
_CJK_STOP = frozenset("的了和与及在为是于年月日季度上下半其中本公司亿万元哪个天何时什么多少所述发请给出说明文")


@lru_cache(maxsize=2048)
def words_of(lowered: str) -> frozenset[str]:
    """The content words of a text in lower case: English ones cut to a stem, Chinese ones as pairs of characters."""
    found: set[str] = set()
    for token in _TOKEN.findall(lowered):
        if token[0] > "㏿":
            found.update(
                token[i : i + 2] for i in range(len(token) - 1) if not _CJK_STOP.intersection(token[i : i + 2])
            )
        elif token in _KEPT or (token not in _STOP and len(token) > 1):
            found.add(token.removesuffix("'s").removesuffix("s")[:_STEM] if len(token) > 3 else token)
    return frozenset(found)
