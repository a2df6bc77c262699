"""`collapse`: a model's vocabularies site by site, the data's contexts, and whether closeness predicts a run's errors."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from diag import collapse, models, records, report, runs
from diag.errors import InputError

Told = Callable[[int, int | None], None]
_TEXT, _WHOLE, _REAL, _FLAG = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_REALS = pa.list_(_REAL)
_MOST_RECORDS = 20_000
"""Records that carriers and contexts are drawn from: the first ones of larger data."""
FIGURES = ("collapsed", "watch", "lost", "won")

COLLAPSE = pa.schema(
    [
        *((name, _TEXT) for name in ("vocabulary", "language", "site")),
        ("depth", _WHOLE),
        ("flag", _TEXT),
        ("labels", pa.list_(_TEXT)),
        *((name, _REAL) for name in ("purity", "purity_low", "purity_high", "p_value", "silhouette", "margin")),
        *((name, _REAL) for name in ("effective_rank", "raw_cosine", "reference", "null_confusion")),
        ("control_purity", _REALS),
        ("control_silhouette", _REALS),
        ("confusion", pa.list_(_REALS)),
        ("centroid_cosine", pa.list_(_REALS)),
        ("map", pa.list_(_REALS)),
        ("edges", pa.list_(pa.list_(_WHOLE))),
        ("worst", _WHOLE),
        (
            "pairs",
            pa.list_(
                pa.struct(
                    [
                        *((name, _TEXT) for name in ("one", "other", "flag")),
                        *((name, _REAL) for name in ("confusion", "confusion_low", "confusion_high")),
                        *((name, _REAL) for name in ("separation", "separation_low", "separation_high")),
                        *((name, _REAL) for name in ("relative", "relative_low", "relative_high")),
                        *((name, _REAL) for name in ("confusion_position", "separation_position", "raw_cosine")),
                    ]
                )
            ),
        ),
    ]
)
"""One row a vocabulary and site; what needs several points a label is null in the embeddings."""

CONTEXTS = pa.schema(
    [
        *((name, _TEXT) for name in ("record", "group", "label", "text", "masked")),
        ("cluster", _WHOLE),
        ("duplicates", pa.list_(_WHOLE)),
    ]
)
"""One row a context; `cluster` is null outside all, `duplicates` are rows of near-duplicates that name other times."""


@dataclass(frozen=True, slots=True)
class CollapseOptions:
    """What to look at."""

    vocabulary: tuple[str, ...] | None = None
    data: str | None = None
    columns: dict[str, str] = field(default_factory=dict[str, str])
    format: str | None = None
    run: Path | None = None
    """A run of `diag qa`: its data serve unless others are given, and its report gets a section."""
    measure: collapse.MeasureOptions = field(default_factory=collapse.MeasureOptions)
    contexts: collapse.ContextsOptions = field(default_factory=collapse.ContextsOptions)
    encoder: str | None = None
    """What embeds the data's contexts, if not the model's own middle layer."""
    device: str = "cpu"
    offline: bool = False


def collapse_model(
    model: models.Model,
    out: Path,
    options: CollapseOptions | None = None,
    against: models.Model | None = None,
    progress: Told | None = None,
) -> dict[str, Any]:
    """Measure a model (and another one against it), write `collapse.parquet`, `.json` and `.html` into `out`, return the JSON.

    Raises InputError where data, run and model do not fit together.
    """
    options = options or CollapseOptions()
    run = runs.load_run(options.run) if options.run else None
    if run:
        same_model(run, model)
    every = _records(run, options)
    known = options.vocabulary
    found = collapse.measure(model, vocabulary=known, records=every, options=options.measure, progress=progress)
    later = (
        collapse.measure(against, vocabulary=known, records=every, options=options.measure, progress=progress)
        if against
        else None
    )
    changes = collapse.compare(found, later) if later else []
    embed = (
        collapse.by_encoder(options.encoder, device=options.device, offline=options.offline)
        if options.encoder
        else collapse.by_model(model)
    )
    contexts, why = _contexts(every, embed, options)
    prediction = collapse.predict(found, _answered(run), seed=options.measure.seed) if run else None
    summary = {**_summary(found, later, changes, contexts, prediction, options), "no_contexts": why}
    rows = [_row(finding) for finding in found.findings]
    out.mkdir(parents=True, exist_ok=True)
    _write_table(out / "collapse.parquet", pa.Table.from_pylist(rows, schema=COLLAPSE))
    if later:
        others = [_row(finding) for finding in later.findings]
        _write_table(out / "collapse-against.parquet", pa.Table.from_pylist(others, schema=COLLAPSE))
    if contexts:
        _write_table(out / "contexts.parquet", _context_table(contexts))
    runs.write_json(out / "collapse.json", summary)
    runs.write_text(out / "collapse.html", report.collapse_html(summary, rows))
    if run:
        _report(run, summary)
    return summary


def same_model(run: runs.Run, model: models.Model) -> None:
    """Raises InputError where a run was answered by other weights than the model's."""
    was = run.manifest.get("model_sha256")
    if was and model.weights_sha256 and was != model.weights_sha256:
        raise InputError(
            f"{run.folder} was answered by {run.manifest.get('model')}, whose weights are others than those of "
            f"{model.name}: give the same --model"
        )


def figures(summary: dict[str, Any]) -> dict[str, float]:
    """What `--fail-if` may ask for: vocabularies by flag, and sites that changed against another model."""
    return {name: float(summary["figures"][name]) for name in FIGURES}


def _records(run: runs.Run | None, options: CollapseOptions) -> list[records.Record]:
    place: str | Path | None = options.data
    mapping, form = options.columns or None, options.format
    if place is None and run:
        place = Path(run.manifest["data"])
        mapping, form = run.manifest["map"] or None, run.manifest["format"]
        if not place.exists():
            raise InputError(f"the run's data are not at {place} any more: say where with --data")
    if place is None:
        return []
    found: list[records.Record] = []
    for record in records.read(place, map=mapping, format=form):
        found.append(record)
        if len(found) == _MOST_RECORDS:
            break
    return found


def _contexts(
    every: list[records.Record], embed: collapse.Embed, options: CollapseOptions
) -> tuple[collapse.ContextReport | None, str | None]:
    """The data's side, or why there is none."""
    if not every:
        return None, None
    try:
        return collapse.contexts(every, embed, options.contexts), None
    except InputError as error:
        return None, str(error)


def _answered(run: runs.Run) -> Iterator[collapse.Answered]:
    spans = {(row["id"], row["line"], row["index"]): row for row in run.spans.to_pylist()}
    for row in run.predictions.to_pylist():
        right = row["period_gold"] or row["period_in_source"]
        if row["span"] is None or not right:
            continue
        span = spans[row["id"], row["line"], row["span"]]
        if span["kind"] != "time":
            continue
        shares: dict[str, float] = {}
        rest = 1.0
        for rival in span["rivals"] or ():
            rest -= rival["share"]
            if rival["period"]:
                shares[rival["period"]] = shares.get(rival["period"], 0.0) + rival["share"]
        if span["period"]:
            shares[span["period"]] = shares.get(span["period"], 0.0) + max(0.0, rest)
        yield collapse.Answered(row["group"], row["language"] or "en", right, span["period"], shares)


def _summary(
    found: collapse.CollapseReport,
    later: collapse.CollapseReport | None,
    changes: Sequence[collapse.Change],
    contexts: collapse.ContextReport | None,
    prediction: collapse.Prediction | None,
    options: CollapseOptions,
) -> dict[str, Any]:
    told = collapse.meanings(found)
    flags = [one.flag for one in told]
    verdicts = [change.verdict for change in changes]
    return {
        "model": found.model,
        "model_sha256": found.weights_sha256,
        "layers": found.layers,
        "carriers": {language: len(carriers) for language, carriers in found.carriers.items()},
        "options": {**asdict(options.measure), "contexts": asdict(options.contexts), "encoder": options.encoder},
        "figures": {
            "collapsed": flags.count("collapsed"),
            "watch": flags.count("watch"),
            "lost": verdicts.count("lost"),
            "won": verdicts.count("won"),
        },
        "vocabularies": [_told(one) for one in told],
        "against": {
            "model": later.model,
            "changes": [{**asdict(change), "ratio": list(change.ratio)} for change in changes],
            "vocabularies": [_told(one) for one in collapse.meanings(later)],
        }
        if later
        else None,
        "prediction": _predicted(prediction) if prediction else None,
        "contexts": _context_summary(contexts) if contexts else None,
    }


def _told(one: collapse.Meaning) -> dict[str, Any]:
    return {
        "name": one.vocabulary.name,
        "language": one.vocabulary.language,
        "controls": list(one.vocabulary.controls),
        "flag": one.flag,
        "sites": list(one.sites),
        "site": one.finding.site,
        "sentence": one.sentence,
        "advice": one.advice,
    }


def _predicted(one: collapse.Prediction) -> dict[str, Any]:
    return {
        "sentence": one.sentence,
        "answers": one.answers,
        "pairs": [pair._asdict() for pair in one.pairs],
        "correlations": [
            {name: part if name == "site" else (list(part) if part else None) for name, part in asdict(row).items()}
            for row in one.correlations
        ],
    }


_SHOWN = 50


def _context_summary(one: collapse.ContextReport) -> dict[str, Any]:
    return {
        "found": one.found,
        "embedded": len(one.contexts),
        "alien": one.alien._asdict(),
        "method": one.method,
        "recall": one.recall,
        "interchanges": [{**pair._asdict(), "rate": pair.rate._asdict()} for pair in one.interchanges],
        "duplicates": [
            {
                "cosine": pair.cosine,
                "one": one.contexts[pair.one]._asdict(),
                "other": one.contexts[pair.other]._asdict(),
            }
            for pair in one.duplicates[:_SHOWN]
        ],
        "duplicate_pairs": len(one.duplicates),
        "clusters": [
            {
                "size": len(cluster.members),
                "labels": [list(label) for label in cluster.labels],
                "members": [one.contexts[place]._asdict() for place in cluster.members[:_SHOWN]],
            }
            for cluster in one.clusters
        ],
        "teachers": [teacher._asdict() for teacher in one.teachers[:_SHOWN]],
        "teacher_records": len(one.teachers),
    }


def _context_table(one: collapse.ContextReport) -> pa.Table:
    cluster = {place: number for number, group in enumerate(one.clusters) for place in group.members}
    alike: dict[int, list[int]] = {}
    for pair in one.duplicates:
        alike.setdefault(pair.one, []).append(pair.other)
        alike.setdefault(pair.other, []).append(pair.one)
    rows = [
        {**context._asdict(), "cluster": cluster.get(place), "duplicates": alike.get(place, [])}
        for place, context in enumerate(one.contexts)
    ]
    return pa.Table.from_pylist(rows, schema=CONTEXTS)


def _row(finding: collapse.Finding) -> dict[str, Any]:
    geometry, purity = finding.geometry, finding.purity
    return {
        "vocabulary": finding.vocabulary.name,
        "language": finding.vocabulary.language,
        "site": finding.site,
        "depth": finding.depth,
        "flag": finding.flag,
        "labels": [label.text for label in finding.vocabulary.labels],
        "purity": purity.value if purity else None,
        "purity_low": purity.low if purity else None,
        "purity_high": purity.high if purity else None,
        "p_value": geometry.p_value if geometry else None,
        "silhouette": geometry.silhouette if geometry else None,
        "margin": geometry.margin if geometry else None,
        "effective_rank": geometry.effective_rank if geometry else None,
        "raw_cosine": finding.raw_cosine,
        "reference": finding.null.reference,
        "null_confusion": float(finding.null.confusion.mean()) if len(finding.null.confusion) else None,
        "control_purity": list(finding.control.purity),
        "control_silhouette": list(finding.control.silhouette),
        "confusion": geometry.confusion.tolist() if geometry else None,
        "centroid_cosine": geometry.centroid_cosine.tolist() if geometry else None,
        "map": [list(point) for point in finding.map],
        "edges": [list(edge) for edge in finding.edges],
        "worst": finding.pairs.index(finding.worst),
        "pairs": [_pair_row(pair) for pair in finding.pairs],
    }


def _pair_row(pair: collapse.PairFigures) -> dict[str, Any]:
    row: dict[str, Any] = {"one": pair.one, "other": pair.other, "flag": pair.flag, "raw_cosine": pair.raw_cosine}
    for name in ("confusion", "separation", "relative"):
        part = getattr(pair, name)
        row |= {name: None, f"{name}_low": None, f"{name}_high": None}
        if part is not None:
            row |= {name: part.value, f"{name}_low": part.low, f"{name}_high": part.high}
    row["confusion_position"] = pair.confusion_position
    row["separation_position"] = pair.separation_position
    return row


def _write_table(path: Path, table: pa.Table) -> None:
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    runs.write_bytes(path, stream.getvalue())


def _report(run: runs.Run, summary: dict[str, Any]) -> None:
    whole = {**run.report, "collapse": {name: summary[name] for name in ("figures", "vocabularies", "prediction")}}
    runs.write_json(run.folder / "report.json", whole)
    page = report.qa_html({**whole, "costs": run.manifest["costs"]}, run.folder)
    runs.write_text(run.folder / "report.html", page)
