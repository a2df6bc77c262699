"""Chinese: reports, contracts and news, digits and Chinese numerals alike (full-width forms are folded beforehand)."""

from __future__ import annotations

from diag.timex import chinese_meanings as meaning
from diag.timex.grammar import Language, Meaning, Relative, Rule, Trigger, rule

_N = r"[0-9〇零○一二三四五六七八九十两]"
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


_NO_AGE = r"(?!龄|轻|级|薪|费|会|报告?期)"
_TIME = rf"(?P<ampm>上午|下午|晚上|凌晨|傍晚|早上|中午)?(?P<hour>{_N}{{1,3}})(?:点|时)(?:(?P<halfhour>半)|(?P<minute>{_N}{{1,3}})分?)?(?:整)?"
_DAY_PREFIX = rf"(?:{ANY_YEAR}\s?)?{MONTH}\s?{DAY}"
_OF_SPAN = r"(?:期间)?"
_TOWARDS = r"\s?(?:-|~|～|至|到)\s?"

_RULES_YEAR = (
    rule("day_time", rf"{_DAY_PREFIX}\s?{_TIME}", meaning.day_time),
    rule(
        "digital_time",
        rf"{_DAY_PREFIX}\s?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?P<zone>(?!))?",
        meaning.digital_time,
    ),
    rule(
        "day_span",
        rf"(?:{ANY_YEAR}\s?)?{MONTH}\s?(?P<first>3[01]|[12]\d|0?[1-9])[日号]?{_TOWARDS}{DAY}",
        meaning.day_span,
    ),
    rule("day", _DAY_PREFIX, meaning.day),
    rule(
        "month_span",
        rf"(?:{ANY_YEAR}的?\s?)?(?P<first>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月?{_TOWARDS}{MONTH}(?:份)?(?!\s?\d{{1,2}}[日号])",
        meaning.month_span,
    ),
    rule("month_end", rf"(?:{YEAR}\s?){MONTH}(?:末|底)", meaning.month_end),
    rule("month", rf"{ANY_YEAR}的?\s?{MONTH}(?:份|初|中旬|上旬|下旬)?", meaning.month),
    rule("first_quarters", rf"{ANY_YEAR}的?\s?前\s?(?P<count>[二三两23])\s?个?季度", meaning.first_quarters),
    rule("first_months", rf"{ANY_YEAR}的?\s?(?:前|头)\s?(?P<count>{_N}{{1,2}})\s?个?月", meaning.first_months),
    rule("quarter", rf"(?:{FISCAL_YEAR}|{FISCAL_RELATIVE}|{ANY_YEAR})的?\s?{QUARTER}", meaning.quarter),
    rule(
        "quarter_list",
        rf"{ANY_YEAR}的?\s?第?(?P<q>[一二三四1-4])(?P<qf>(?!))?(?=[、,和及至到-]第?[一二三四1-4]\s?季)",
        meaning.quarter,
    ),
    rule("half", rf"(?:{FISCAL_YEAR}|{FISCAL_RELATIVE}|{ANY_YEAR})的?\s?{HALF}", meaning.half),
    rule("decade_of_years", r"(?P<decade>(?:19|20)\d)0年代", lambda groups: Meaning(groups["decade"])),
    rule("fiscal_year", FISCAL_YEAR, meaning.fiscal_year),
    rule("fiscal_relative", rf"{FISCAL_RELATIVE}", meaning.plain_year),
    rule("same_period", r"(?:去年|上年|上一年|前年)(?:度)?的?(?:同期|同季|同月)", meaning.same_period),
    rule("to_date", r"(?:今年|本年)(?:初)?(?:以来|至今|迄今)", meaning.to_date),
    rule("year_edge", rf"{ANY_YEAR}(?:末|底|年末|年底)", meaning.year_edge),
    rule("year_full", rf"{ANY_YEAR}(?:全年|年初|初|全年度)?{_NO_AGE}", meaning.plain_year),
)
_RULES_BARE = (
    *(one for one in _RULES_YEAR if one.name in ("day_time", "digital_time", "day_span", "day", "month_span")),
    rule("bare_quarter", rf"(?P<year>(?!))?{QUARTER}(?<!季)(?!\w?节)", meaning.quarter),
    rule(
        "ago",
        rf"(?P<n>{_N}{{1,4}})\s?(?P<unit>年|个季度|个月|周|个星期|天|日)(?P<direction>以?前|之前|以?后|之后)(?!三|两|\d)",
        meaning.ago,
    ),
    rule(
        "bare_month",
        rf"{MONTH}(?:份|初|底|末|中旬|上旬|下旬)?(?!\s?\d)",
        meaning.month,
        lambda text, start, end: not text[max(0, start - 1) : start].isdigit(),
    ),
    rule(
        "duration",
        rf"(?P<n>{_N}{{1,4}})\s?(?P<unit>{'|'.join(sorted(meaning.UNITS, key=len, reverse=True))})(?!龄|级|薪|前|后|度)",
        meaning.duration,
    ),
    rule("decade", rf"(?:(?P<century>{_N}{{1,3}})\s?世纪)?(?P<decade>\d0|[一二三四五六七八九]十)年代", meaning.decade),
    rule("century", rf"(?P<century>{_N}{{1,3}})\s?世纪", meaning.century),
    rule(
        "time",
        _TIME,
        meaning.time,
        lambda text, start, end: text[start:end][-1:] not in "时" and any(c in text[start:end] for c in "点午晚晨早"),
    ),
)

_COUNT_FOLLOW = "0-9一二三四五六七八九十两 "
_NUMERAL_FOLLOW = r"0-9〇零○一二三四五六七八九十两 个年月日号季周星天点时分小工交自世财~至到\-"
_UNIT_FOLLOW = "上一个季月周星半财"

_ERA_YEAR = rf"(?P<era>中华民国|民国|明治|大正|昭和|平成|令和)\s?(?P<year>元|{_N}{{1,3}})\s?(?:年度|年)"
_ROC_YEAR = r"(?P<year>(?P<roc>\d{2,3}))\s?(?:年度|年)"


def _with_year(year: str, name: str) -> tuple[Rule, ...]:
    """The rules that begin with a year, for years written in another way."""
    return tuple(
        rule(f"{name}_{one.name}", one.pattern.replace(YEAR, year), one.build, one.accept)
        for one in _RULES_YEAR
        if YEAR in one.pattern
    )


ROC_YEARS = Language(
    code="roc",
    triggers={"year": Trigger("0-9", r"(?<![0-9])(?<![0-9][.,])\d{2,3}(?=\s?年(?![前后来内间]))")},
    rules={"year": _with_year(_ROC_YEAR, "roc")},
    joins_list="",
    joins_range="",
)
"""Years of the Republic of China without its name (`112年` is 2023): read where the user asks for it, as `12年` is a length too."""

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
        "weekday": Trigger(
            "星期 周", r"(?<![一二三四五六七八九十两每几\d上下本这])(?:星期|周)(?=[一二三四五六日天])(?!周[日天一]?期)"
        ),
        "every": Trigger(
            "每 按", r"每(?=(?:[一二两三四六\d]{1,2})?个?(?:年|季|月|周|星期|日|天|小时|半年))|按(?=年|季度?|月)"
        ),
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
                meaning.months_ended,
            ),
        ),
        "year": _RULES_YEAR,
        "era": _with_year(_ERA_YEAR, "era"),
        "relative": _RULES_YEAR,
        "unit": (
            rule("weekday", r"(?P<which>上上?个?|下个?|本|这)(?:周|星期)(?P<n>[一二三四五六日天])", meaning.weekday),
            rule(
                "relative_unit",
                r"(?P<which>上上|上一|下一|上|下|本|当|这|次)个?(?P<unit>季度|财季|季|月|周|星期|半年)(?P<edge>末|底)?(?!报|节)",
                meaning.relative_unit,
            ),
        ),
        "half": (rule("bare_half", r"(?P<half>上半年|下半年|上半财年|下半财年)", meaning.half),),
        "first": (
            rule(
                "bare_first_quarters",
                r"前\s?(?P<count>[二三两23])\s?个?季度(?P<year>(?!))?(?P<which>(?!))?",
                meaning.first_quarters,
            ),
            rule(
                "bare_first_months",
                rf"(?:前|头)\s?(?P<count>{_N}{{1,2}})\s?个?月(?P<year>(?!))?(?P<which>(?!))?",
                meaning.first_months,
            ),
        ),
        "nth": (rule("nth_quarter", QUARTER, meaning.quarter),),
        "same": (
            rule("to_date", r"年初至今", meaning.to_date),
            rule("same_period", r"(?:去年|上年)?同期|同比", meaning.same_period),
            rule("previous_quarter", r"环比", lambda _: Meaning(None, relative=Relative("text", "own", -1))),
        ),
        "weekday": (
            rule(
                "bare_weekday", r"(?P<which>(?!))?(?:星期|周)(?P<n>[一二三四五六日天])(?![期年报转边])", meaning.weekday
            ),
        ),
        "every": (
            rule(
                "every",
                r"(?:每(?P<n>[一二两三四六]|\d{1,2})?个?|按)(?P<unit>半年|年|季度|季|月|周|星期|日|天|小时)(?!初|末|底)",
                meaning.repetition,
            ),
        ),
        "named": (rule("named_day", r"前天|昨天|昨日|今天|今日|明天|明日|后天", meaning.named_day),),
        "duration": (rule("half_year", r"半年", meaning.half_year),),
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
