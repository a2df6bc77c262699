"""`score`: the span scores of one given answer behind a prompt of the caller's own."""

from __future__ import annotations

from diag.models import Model, Prompt, answer_ids, make_answer, score_tokens
from diag.records import Record
from diag.risk.spans import Options, SpanScore, score_answers


def score(
    model: Model,
    prompt: str,
    answer: str,
    *,
    source: str | Record | None = None,
    question: str = "",
    options: Options | None = None,
) -> list[SpanScore]:
    """Score the time expressions (and values) of `answer`, teacher-forced behind `prompt` as it stands.

    `source` is what the evidence tier holds the answer against: a text, or a record, whose question then counts; without
    it, nothing is judged and rivals are siblings alone. Figures are in nats. The context gap needs a prompt without the
    source, and so a record; it is None here.
    """
    options = options or Options()
    record = source if isinstance(source, Record) else Record("", context=source or "", question=question)
    tokenizer = model.tokenizer
    ids = tuple(tokenizer(prompt)["input_ids"])  # type: ignore[arg-type]
    made = Prompt(prompt, ids, (), prompt, (), 0)
    forced = score_tokens(model, [ids], [answer_ids(model, made, answer)], keep_cache=True)
    given = make_answer(model, forced.scores[0], "end")
    kept = Options(context_gap=False, competition=options.competition)
    return score_answers(model, [record], [made], [given], forced.cached, kept)[0][1]
