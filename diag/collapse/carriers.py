"""Carriers: the beginnings of sentences in which every label of a vocabulary can stand.

A causal model's state at a label knows what stands before it alone; so a carrier is a left context, and none has a right one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import NamedTuple

from diag.collapse.vocabulary import Language
from diag.records import Record
from diag.risk import find_in

_ENGLISH = (
    "Revenue was highest in",
    "The second table has the figures for",
    "Nobody in the warehouse could say anything about",
    "The contract names only one of them, namely",
    "Costs fell, and the auditors asked again for",
    "Net income of $41.2 million was reported for",
    "In the last column you will find",
    "The list begins with",
    "My favourite has always been",
    "The minister's reply did not mention",
    "Please send me whatever you have on",
    "The answer to the question is",
    "A small notice on the door said",
    "The graph shows a clear jump at",
    "The code for this item is",
    "The lease, signed in London, speaks of",
)
_CHINESE = (
    "收入最高的是",
    "第二张表列出了",
    "仓库里没有人了解",
    "合同只写明了其中一个,即",
    "成本下降,审计师再次询问",
    "净利润41.2百万元属于",
    "在最后一列可以看到",
    "名单从这里开始:",
    "我一直最喜欢",
    "部长的答复没有提到",
    "请把你手上的资料发给我,关于",
    "这个问题的答案是",
    "门上的小告示写着",
    "图中明显的跳升出现在",
    "这一项的代码是",
    "在上海签订的租约提到",
)
TEMPLATES: dict[Language, tuple[str, ...]] = {"en": _ENGLISH, "zh": _CHINESE}
_BEFORE = 160
"""Characters of a real occurrence's left context."""
_LEAST = 12


class Carrier(NamedTuple):
    """A left context; `source` is `template`, or the record that it is from."""

    text: str
    source: str


def template_carriers(language: Language) -> list[Carrier]:
    """The carriers that every vocabulary of a language shares."""
    space = " " if language == "en" else ""
    return [Carrier(text + space, "template") for text in TEMPLATES[language]]


def real_carriers(records: Iterable[Record], language: Language, most: int, seed: int) -> list[Carrier]:
    """What stands before time expressions in the records' own sources, at most one a record, `most` of them by the seed."""
    found: list[Carrier] = []
    for record in records:
        for one in find_in(record, record.context):
            before = record.context[max(0, one.start - _BEFORE) : one.start]
            is_own = (language == "zh") == any("㐀" <= char <= "鿿" for char in before)
            if one.kind == "date" and is_own and len(before.strip()) >= _LEAST:
                found.append(Carrier(before, record.id))
                break
    return random.Random(seed).sample(found, most) if len(found) > most else found
