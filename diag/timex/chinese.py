"""Chinese: reports, contracts and news, digits and Chinese numerals alike (full-width forms are folded beforehand)."""

from __future__ import annotations

from diag.timex.calendar import month_span_value
from diag.timex.grammar import Groups, Language, Meaning, Relative, Trigger, rule
from diag.timex.numeric import clock, day_meaning

_DIGITS = {
    "〇": 0,
    "零": 0,
    "○": 0,
    "一": 1,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "两": 2,
}
_N = r"[0-9〇零○一二三四五六七八九十两]"
_ERAS = {"民国": 1911, "中华民国": 1911, "明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}

YEAR = (
    r"(?P<year>[12]\d{3}|[一二][〇零○一二三四五六七八九]{3}|(?P<short>\d\d|[〇零○一二三四五六七八九]{2}))\s?(?:年度|年)"
)
RELATIVE_YEAR = r"(?P<which>前年|去年|上年度?|上一年度?|今年|本年度?|当年|明年|次年|下一?年|后年)"
ANY_YEAR = rf"(?:{YEAR}|{RELATIVE_YEAR})"
FISCAL_YEAR = r"(?:fy\s?)?(?P<fyear>[12]\d{3}|[一二][〇零○一二三四五六七八九]{3}|\d\d)(?:/(?P<flast>\d{2,4}))?\s?(?:财政年度|财年|会计年度|财务年度)"
FISCAL_RELATIVE = r"(?P<fwhich>上一?|本|今|当前|下一?)(?:个)?(?:财政年度|财年|会计年度|财务年度)"
MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月"
DAY = r"(?P<day>3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])\s?[日号]"
QUARTER = (
    r"(?:第\s?(?P<q>[一二三四1-4])\s?(?P<qf>财季|财政季度)|第\s?(?P<q>[一二三四1-4])\s?个?季度?|(?P<q>[一二三四1-4])\s?季(?:度|报)?"
    r"|q(?P<q>[1-4])|(?P<q>[1-4])q)"
)
HALF = r"(?P<half>上半年|下半年|上半财年|下半财年|h[12]|[12]h)"


def numeral(text: str) -> int:
    """A number in digits, in positional Chinese (`二〇二三`) or with tens (`二十一`)."""
    if text.isascii():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_DIGITS.get(tens, 1) if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)
    number = 0
    for char in text:
        number = number * 10 + (_DIGITS[char] if char in _DIGITS else int(char))
    return number


_WHICH_STEPS = {
    "前年": -2, "去年": -1, "上年": -1, "上年度": -1, "上一年": -1, "上一年度": -1, "今年": 0, "本年": 0, "本年度": 0,
    "当年": 0, "明年": 1, "次年": 1, "下年": 1, "下一年": 1, "后年": 2,
}  # fmt: skip
_TEXT_BASED = ("上年", "上年度", "上一年", "上一年度", "当年", "次年")


def _group(groups: Groups, name: str) -> str | None:
    try:
        return groups[name]
    except IndexError:
        return None


def _year(groups: Groups) -> str | None:
    """The four-digit year, `XXXX` where none is written, None where the digits are no year."""
    text = _group(groups, "year")
    if not text:
        return "XXXX"
    year = numeral(text)
    if _group(groups, "short"):
        year += 2000 if year < 70 else 1900
    return f"{year:04d}" if 1000 <= year <= 2199 else None


def _placed(groups: Groups, part: str, *, kind: str = "date") -> Meaning | None:
    """A part of a year that is written, told from another, or not said."""
    if fiscal := _group(groups, "fyear"):
        year = numeral(fiscal)
        return Meaning(f"FY{year + 2000 if year < 100 else year}{part}")
    if which := _group(groups, "fwhich"):
        steps = -1 if which.startswith("上") else 1 if which.startswith("下") else 0
        return Meaning(None, relative=Relative("document", "year", steps, part, fiscal=True))
    if which := _group(groups, "which"):
        basis = "text" if which in _TEXT_BASED else "document"
        return Meaning(None, relative=Relative(basis, "year", _WHICH_STEPS[which], part))
    year = _year(groups)
    return Meaning(f"{year}{part}") if year else None


def _quarter(groups: Groups) -> Meaning | None:
    meaning = _placed(groups, f"-Q{numeral(groups['q'] or '1')}")
    if meaning and groups["qf"]:
        if meaning.relative:
            return meaning._replace(relative=meaning.relative._replace(fiscal=True))
        value = meaning.value or ""
        return meaning._replace(value=value if value.startswith("FY") else f"FY{value}")
    return meaning


def _half(groups: Groups) -> Meaning | None:
    word = groups["half"] or ""
    return _placed(groups, "-H1" if "上" in word or "1" in word else "-H2")


def _first_quarters(groups: Groups) -> Meaning | None:
    count = numeral(groups["count"] or "1")
    if not 2 <= count <= 3:
        return None
    year = _year(groups)
    if which := groups["which"]:
        return Meaning(None, kind="range", relative=Relative("document", "year", _WHICH_STEPS[which], f"-Q1/-Q{count}"))
    if not year:
        return None
    return Meaning(f"{year}-Q1/{year}-Q{count}", kind="range")


def _first_months(groups: Groups) -> Meaning | None:
    count = numeral(groups["count"] or "1")
    year = _year(groups)
    if not 1 <= count <= 12 or not year:
        return None
    if which := groups["which"]:
        part = {3: "-Q1", 6: "-H1", 12: ""}.get(count, f"-01/-{count:02d}")
        return Meaning(None, kind="range", relative=Relative("document", "year", _WHICH_STEPS[which], part))
    if year == "XXXX":
        return Meaning(f"XXXX-01/XXXX-{count:02d}", kind="range")
    value = month_span_value(int(year), count, count, None)
    return Meaning(value, kind="range" if "/" in value else "date")


def _month_span(groups: Groups) -> Meaning | None:
    """`1-6月`: the months from the first to the last."""
    year, first, last = _year(groups), numeral(groups["first"] or "1"), numeral(groups["month"] or "1")
    if year is None or not 1 <= first < last <= 12:
        return None
    if which := groups["which"]:
        return Meaning(
            None, kind="range", relative=Relative("document", "year", _WHICH_STEPS[which], f"-{first:02d}/-{last:02d}")
        )
    return Meaning(f"{year}-{first:02d}/{year}-{last:02d}", kind="range")


def _month(groups: Groups) -> Meaning | None:
    return _placed(groups, f"-{numeral(groups['month'] or '1'):02d}")


def _month_end(groups: Groups) -> Meaning | None:
    from diag.timex.calendar import last_day

    year, month = _year(groups), numeral(groups["month"] or "1")
    if year is None or year == "XXXX":
        return Meaning(f"XXXX-{month:02d}")
    return Meaning(f"{year}-{month:02d}-{last_day(int(year), month):02d}")


def _day(groups: Groups, *, time: str = "") -> Meaning | None:
    month, day = numeral(groups["month"] or "1"), numeral(groups["day"] or "1")
    if _group(groups, "which"):
        return _placed(groups, f"-{month:02d}-{day:02d}")
    year = _year(groups)
    if year is None:
        return None
    return day_meaning(None if year == "XXXX" else int(year), month, day, time=time)


def _day_time(groups: Groups) -> Meaning | None:
    return _day(groups, time=_clock(groups))


def _clock(groups: Groups) -> str:
    hour = numeral(groups["hour"] or "0")
    minute = 30 if groups["halfhour"] else numeral(groups["minute"] or "0")
    if (groups["ampm"] or "") in ("下午", "晚上", "傍晚") and hour < 12:
        hour += 12
    return f"T{hour:02d}:{minute:02d}"


def _day_span(groups: Groups) -> Meaning | None:
    year, month = _year(groups), numeral(groups["month"] or "1")
    if year is None:
        return None
    first, last = numeral(groups["first"] or "1"), numeral(groups["day"] or "1")
    if first >= last:
        return None
    ends = [day_meaning(None if year == "XXXX" else int(year), month, day) for day in (first, last)]
    if any(end is None or end.value is None for end in ends):
        return Meaning(None, kind="range", issue="invalid_date")
    return Meaning("/".join(str(end.value) for end in ends if end), kind="range")


def _months_ended(groups: Groups) -> Meaning | None:
    day = _day(groups)
    if day is None or day.value is None:
        return day
    unit = groups["unit"] or ""
    months = numeral(groups["count"]) if groups["count"] else 3 if unit == "季度" else 6 if unit[0] == "半" else 12
    return Meaning(f"{day.value}<{months}")


def _plain_year(groups: Groups) -> Meaning | None:
    return _placed(groups, "")


def _year_edge(groups: Groups) -> Meaning | None:
    return _placed(groups, "-12-31")


def _era_year(groups: Groups) -> Meaning | None:
    number = 1 if groups["n"] == "元" else numeral(groups["n"] or "1")
    year = _ERAS[groups["era"] or ""] + number
    if groups["month"]:
        month = numeral(groups["month"])
        return day_meaning(year, month, numeral(groups["day"])) if groups["day"] else Meaning(f"{year}-{month:02d}")
    return Meaning(f"{year}")


def _fiscal_year(groups: Groups) -> Meaning | None:
    if groups["flast"]:
        first, last = numeral(groups["fyear"] or "1"), int(groups["flast"])
        last = last if last > 99 else first // 100 * 100 + last
        return Meaning(f"FY{last}" if last == first + 1 else f"FY{first}/FY{last}")
    return _placed(groups, "")


def _decade(groups: Groups) -> Meaning | None:
    decade = numeral(groups["decade"] or "0")
    century = numeral(groups["century"]) - 1 if groups["century"] else (20 if decade < 40 else 19)
    return Meaning(f"{century:02d}{decade // 10}")


def _century(groups: Groups) -> Meaning | None:
    return Meaning(f"{numeral(groups['century'] or '1') - 1:02d}")


def _relative_unit(groups: Groups) -> Meaning | None:
    which, unit = groups["which"] or "", groups["unit"] or ""
    steps = -2 if which.startswith("上上") else -1 if which[0] in "上" else 1 if which[0] in "下次" else 0
    name = {
        "季度": "quarter",
        "季": "quarter",
        "月": "month",
        "周": "week",
        "星期": "week",
        "半年": "half",
        "财季": "quarter",
    }[unit]
    basis = "text" if which[0] in "当次" else "document"
    if groups["edge"]:
        return Meaning(None, relative=Relative(basis, "month", steps, "end")) if name == "month" else None
    return Meaning(None, relative=Relative(basis, name, steps, fiscal=unit == "财季"))  # type: ignore[arg-type]


def _weekday(groups: Groups) -> Meaning:
    which = groups["which"] or ""
    day = {"日": 7, "天": 7}.get(groups["n"] or "") or numeral(groups["n"] or "1")
    return Meaning(
        None,
        relative=Relative(
            "document", "week", -1 if which.startswith("上") else 1 if which.startswith("下") else 0, f"-{day}"
        ),
    )


def _named_day(groups: Groups) -> Meaning:
    steps = {"前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2}[groups.group()]
    return Meaning(None, relative=Relative("document", "day", steps))


def _same_period(groups: Groups) -> Meaning:
    steps = -2 if groups.group().startswith("前年") else -1
    return Meaning(None, relative=Relative("text", None, steps))


_UNITS = {"年": "Y", "个季度": "Q", "季度": "Q", "个月": "M", "周": "W", "个星期": "W", "星期": "W", "天": "D", "日": "D", "个工作日": "D", "个交易日": "D", "个自然日": "D", "工作日": "D", "交易日": "D", "个小时": "H", "小时": "H", "分钟": "M", "财季": "Q", "个财季": "Q", "个日历日": "D", "个日历天": "D"}  # fmt: skip


def _duration(groups: Groups) -> Meaning | None:
    unit = groups["unit"] or ""
    number = numeral(groups["n"] or "1")
    if number == 0 or (unit == "年" and number >= 1000):
        return None
    prefix = "PT" if unit in ("个小时", "小时", "分钟") else "P"
    return Meaning(f"{prefix}{number}{_UNITS[unit]}", kind="duration")


def _half_year(_: Groups) -> Meaning:
    return Meaning("P6M", kind="duration")


def _ago(groups: Groups) -> Meaning | None:
    unit = {
        "年": "year",
        "个季度": "quarter",
        "个月": "month",
        "周": "week",
        "个星期": "week",
        "天": "day",
        "日": "day",
    }.get(groups["unit"] or "")
    if unit is None:
        return None
    sign = -1 if (groups["direction"] or "") in ("前", "以前", "之前") else 1
    return Meaning(None, relative=Relative("document", unit, sign * numeral(groups["n"] or "1")))  # type: ignore[arg-type]


def _set(groups: Groups) -> Meaning | None:
    unit = {
        "年": "P1Y",
        "季度": "P1Q",
        "季": "P1Q",
        "月": "P1M",
        "周": "P1W",
        "星期": "P1W",
        "日": "P1D",
        "天": "P1D",
        "小时": "PT1H",
        "半年": "P6M",
    }
    return Meaning(unit[groups["unit"] or "年"], kind="set")


def _to_date(groups: Groups) -> Meaning:
    return Meaning(None, kind="range", relative=Relative("document", "year", 0, to_date=True))


def _time(groups: Groups) -> Meaning:
    return Meaning("XXXX-XX-XX" + _clock(groups), kind="time")


def _digital_time(groups: Groups) -> Meaning | None:
    month, day, year = numeral(groups["month"] or "1"), numeral(groups["day"] or "1"), _year(groups)
    return None if year is None else day_meaning(None if year == "XXXX" else int(year), month, day, time=clock(groups))


_NO_AGE = r"(?!龄|轻|级|薪|费|会|报告?期)"
_TIME = rf"(?P<ampm>上午|下午|晚上|凌晨|傍晚|早上|中午)?(?P<hour>{_N}{{1,3}})(?:点|时)(?:(?P<halfhour>半)|(?P<minute>{_N}{{1,3}})分?)?(?:整)?"
_DAY_PREFIX = rf"(?:{ANY_YEAR}\s?)?{MONTH}\s?{DAY}"
_OF_SPAN = r"(?:期间)?"
_TOWARDS = r"\s?(?:-|~|～|至|到)\s?"

_RULES_YEAR = (
    rule("day_time", rf"{_DAY_PREFIX}\s?{_TIME}", _day_time),
    rule(
        "digital_time",
        rf"{_DAY_PREFIX}\s?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?P<zone>(?!))?",
        _digital_time,
    ),
    rule("day_span", rf"(?:{ANY_YEAR}\s?)?{MONTH}\s?(?P<first>3[01]|[12]\d|0?[1-9])[日号]?{_TOWARDS}{DAY}", _day_span),
    rule("day", _DAY_PREFIX, _day),
    rule(
        "month_span",
        rf"(?:{ANY_YEAR}的?\s?)?(?P<first>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月?{_TOWARDS}{MONTH}(?:份)?(?!\s?\d{{1,2}}[日号])",
        _month_span,
    ),
    rule("month_end", rf"(?:{YEAR}\s?){MONTH}(?:末|底)", _month_end),
    rule("month", rf"{ANY_YEAR}的?\s?{MONTH}(?:份|初|中旬|上旬|下旬)?", _month),
    rule("first_quarters", rf"{ANY_YEAR}的?\s?前\s?(?P<count>[二三两23])\s?个?季度", _first_quarters),
    rule("first_months", rf"{ANY_YEAR}的?\s?(?:前|头)\s?(?P<count>{_N}{{1,2}})\s?个?月", _first_months),
    rule("quarter", rf"(?:{FISCAL_YEAR}|{FISCAL_RELATIVE}|{ANY_YEAR})的?\s?{QUARTER}", _quarter),
    rule("half", rf"(?:{FISCAL_YEAR}|{FISCAL_RELATIVE}|{ANY_YEAR})的?\s?{HALF}", _half),
    rule("fiscal_year", FISCAL_YEAR, _fiscal_year),
    rule("fiscal_relative", rf"{FISCAL_RELATIVE}", _placed_plain := (lambda groups: _placed(groups, ""))),
    rule("same_period", r"(?:去年|上年|上一年|前年)(?:度)?的?(?:同期|同季|同月)", _same_period),
    rule("to_date", r"(?:今年|本年)(?:初)?(?:以来|至今|迄今)", _to_date),
    rule("year_edge", rf"{ANY_YEAR}(?:末|底|年末|年底)", _year_edge),
    rule("year_full", rf"{ANY_YEAR}(?:全年|年初|初|全年度)?{_NO_AGE}", _plain_year),
)
_RULES_BARE = (
    *(one for one in _RULES_YEAR if one.name in ("day_time", "digital_time", "day_span", "day", "month_span")),
    rule("bare_quarter", rf"(?P<year>(?!))?{QUARTER}(?<!季)(?!\w?节)", _quarter),
    rule(
        "ago",
        rf"(?P<n>{_N}{{1,4}})\s?(?P<unit>年|个季度|个月|周|个星期|天|日)(?P<direction>以?前|之前|以?后|之后)(?!三|两|\d)",
        _ago,
    ),
    rule(
        "bare_month",
        rf"{MONTH}(?:份|初|底|末|中旬|上旬|下旬)?(?!\s?\d)",
        _month,
        lambda text, start, end: not text[max(0, start - 1) : start].isdigit(),
    ),
    rule(
        "duration",
        rf"(?P<n>{_N}{{1,4}})\s?(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})(?!龄|级|薪|前|后|度)",
        _duration,
    ),
    rule("decade", rf"(?:(?P<century>{_N}{{1,3}})\s?世纪)?(?P<decade>\d0|[一二三四五六七八九]十)年代", _decade),
    rule("century", rf"(?P<century>{_N}{{1,3}})\s?世纪", _century),
    rule(
        "time",
        _TIME,
        _time,
        lambda text, start, end: text[start:end][-1:] not in "时" and any(c in text[start:end] for c in "点午晚晨早"),
    ),
)

_COUNT_FOLLOW = "0-9一二三四五六七八九十两 "
_NUMERAL_FOLLOW = r"0-9〇零○一二三四五六七八九十两 个年月日号季周星天点时分小工交自世财~至到\-"
_UNIT_FOLLOW = "上一个季月周星半财"

CHINESE = Language(
    code="zh",
    triggers={
        "until": Trigger("截至 截止", r"截[至止](?=.{4,14}止)"),
        "year": Trigger(
            "0-9 fy 一 二",
            r"(?:(?<![0-9])(?<![0-9][.,])(?:fy\s?)?[12]\d{3}(?=\s?(?:年|财|会计|/\d{2,4}\s?(?:财|会计)))|(?<![0-9])(?<![0-9][.,])\d\d(?=\s?(?:年度?(?:第|[上下]半年|[一二三四]季|q|\d?\d月|前)|财年|年度))|[一二][〇零○一二三四五六七八九]{3}(?=\s?(?:年|财)))",
            _NUMERAL_FOLLOW,
        ),
        "era": Trigger(
            "中华民国 民国 明治 大正 昭和 平成 令和",
            r"(?:中华民国|民国|明治|大正|昭和|平成|令和)(?=[0-9元一二三四五六七八九十〇])",
        ),
        "relative": Trigger(
            "去年 今年 明年 前年 后年 本年 当年 次年 上年 上一年 上一个 下年 下一年 下一个 上一财 上一会 上财 下财 上会 下会 下一财 本财 今财 本个 今个 上个 下个 本会",
            r"去年|今年|明年|前年|后年|[本当次]年(?!龄)|上一?年(?!级)|下一?年(?!级)|[本今](?:个)?财年|[上下]一?(?:个)?(?:财年|财政年度|会计年度)|本(?:会计|财政|财务)年度",
        ),
        "half": Trigger("上半 下半", r"[上下]半(?=年|财年)"),
        "unit": Trigger(
            "上 下 本 当 这 次", r"(?:上上|上一?|下一?|本|当|这|次)个?(?=季|月|周|星期|半年|财季)", _UNIT_FOLLOW
        ),
        "first": Trigger(
            "前 头",
            r"前\s?(?=[二三两23一四五六七八九十\d]{1,2}\s?个?(?:季度|月))|头(?=[一二三四五六七八九十\d]{1,2}个月)",
            _COUNT_FOLLOW,
        ),
        "nth": Trigger("第", r"第\s?(?=[一二三四1-4]\s?个?(?:季|财))"),
        "same": Trigger(
            "上年同 去年同 同期 同比 年初至今 环比",
            r"(?:上年|去年)?(?<![合共不协一])同期(?![限货权间货])|年初至今|同比|环比",
        ),
        "every": Trigger("每 按", r"每(?=个?(?:年|季|月|周|星期|日|天|小时|半年))|按(?=年|季度?|月)"),
        "named": Trigger("前天 昨 今天 今日 明天 明日 后天", r"[前昨今明后][天日](?![本产立])"),
        "duration": Trigger("半年", r"半年(?!报|度)"),
        "bare": Trigger(
            "0-9 〇 零 一 二 三 四 五 六 七 八 九 十 两 上午 下午 晚上 凌晨 傍晚 早上 中午",
            rf"(?<![\d〇零○一二三四五六七八九十第])(?<!\d[.,])(?:(?:上午|下午|晚上|凌晨|傍晚|早上|中午)?{_N}{{1,4}})(?=\s?(?:个?季|个?月|周|个?星期|[天日号年点]|-\s?{_N}{{1,2}}\s?月|[~～至到]{_N}{{1,2}}月|\d?0?年代|年代|世纪|个工作日|个交易日|个自然日|工作日|交易日|个?小时|分钟|个?财季|个日历|时))",
            _NUMERAL_FOLLOW,
        ),
    },
    rules={
        "until": (
            rule(
                "months_ended",
                rf"截[至止]{_DAY_PREFIX}止\s?(?:的|之)?(?:(?P<count>{_N}{{1,3}})\s?个月|(?P<unit>季度|半年度?|财政年度|年度|财年)){_OF_SPAN}",
                _months_ended,
            ),
        ),
        "year": _RULES_YEAR,
        "era": (
            rule(
                "era",
                rf"(?P<era>中华民国|民国|明治|大正|昭和|平成|令和)(?P<n>元|{_N}{{1,3}})年(?:{MONTH}(?:{DAY})?)?",
                _era_year,
            ),
        ),
        "relative": _RULES_YEAR,
        "unit": (
            rule("weekday", r"(?P<which>上上?个?|下个?|本|这)(?:周|星期)(?P<n>[一二三四五六日天])", _weekday),
            rule(
                "relative_unit",
                r"(?P<which>上上|上一|下一|上|下|本|当|这|次)个?(?P<unit>季度|财季|季|月|周|星期|半年)(?P<edge>末|底)?(?!报|节)",
                _relative_unit,
            ),
        ),
        "half": (rule("bare_half", r"(?P<half>上半年|下半年|上半财年|下半财年)", _half),),
        "first": (
            rule(
                "bare_first_quarters",
                r"前\s?(?P<count>[二三两23])\s?个?季度(?P<year>(?!))?(?P<which>(?!))?",
                _first_quarters,
            ),
            rule(
                "bare_first_months",
                rf"(?:前|头)\s?(?P<count>{_N}{{1,2}})\s?个?月(?P<year>(?!))?(?P<which>(?!))?",
                _first_months,
            ),
        ),
        "nth": (rule("nth_quarter", QUARTER, _quarter),),
        "same": (
            rule("to_date", r"年初至今", _to_date),
            rule("same_period", r"(?:去年|上年)?同期|同比", _same_period),
            rule("previous_quarter", r"环比", lambda _: Meaning(None, relative=Relative("text", "own", -1))),
        ),
        "every": (rule("every", r"(?:每个?|按)(?P<unit>半年|年|季度|季|月|周|星期|日|天|小时)(?!初|末|底)", _set),),
        "named": (rule("named_day", r"前天|昨天|昨日|今天|今日|明天|明日|后天", _named_day),),
        "duration": (rule("half_year", r"半年", _half_year),),
        "bare": _RULES_BARE,
    },
    joins_list=r"\s?(?:、|,|，|和|及|与|以及|或|较|比)\s?",
    joins_range=r"\s?(?:-{1,2}|~|～|至|到)\s?",
    leads_since=r"(?:自从?|从)",
    leads_until=r"直到",
    leads_range=r"(?:自|从|由)",
    leads_between=r"(?:介于|在)",
    follows_onward=r"\s?(?:以来|起(?![诉草初伏])|至今)",
    ends_range=r"(?:之间|期间|止)",
    leads_comparison=r"(?:较|比|相比|对比|与)",
)
