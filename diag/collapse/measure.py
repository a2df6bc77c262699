"""`measure`: every vocabulary at every site of a model, flagged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diag.collapse.carriers import Carrier, real_carriers, template_carriers
from diag.collapse.flag import Flag, Interval, Null, PairFigures, interval_of, judge_pairs, null_of, worst_of
from diag.collapse.geometry import Geometry, Numbers, centred, geometry_of, neighbour_edges, whitening_of
from diag.collapse.plane import MapMethod, plane
from diag.collapse.states import Points, Site, context_sites, static_sites
from diag.collapse.vocabulary import LANGUAGES, Language, Vocabulary, vocabularies
from diag.errors import DiagError, InputError
from diag.models import Model
from diag.records import Record

Told = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """What to look at; the same options give the same figures."""

    languages: tuple[Language, ...] = LANGUAGES
    whiten: bool = False
    """Give every direction the same weight before distances are taken."""
    real: int = 16
    """Carriers from the data, at most, for each language."""
    permutations: int = 200
    map: MapMethod = "pca"
    """`umap` is a run of its own for every vocabulary and layer: minutes."""
    seed: int = 20230930


@dataclass(frozen=True, slots=True)
class Control:
    """The same statistics over matched words: what is ordinary at this site."""

    purity: tuple[float, ...]
    """By matched vocabulary; empty where labels have one point each."""
    silhouette: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One vocabulary at one site."""

    vocabulary: Vocabulary
    site: str
    depth: int
    """0 for the embeddings, else the layer."""
    flag: Flag
    worst: PairFigures
    pairs: tuple[PairFigures, ...]
    relative: Numbers
    """Shape (pairs, carriers): separation as a share of the null's reference."""
    geometry: Geometry | None
    """None where labels have one point each."""
    purity: Interval | None
    raw_cosine: float
    """The mean of the pairs' before centring: the folk rule's figure."""
    null: Null
    control: Control
    map: tuple[tuple[float, float], ...]
    """The labels in two dimensions."""
    edges: tuple[tuple[int, int], ...]
    """For each label the label whose points are most often nearest to its own, itself left out."""

    @property
    def key(self) -> tuple[str, str]:
        """What finds the same vocabulary at the same site in another report."""
        return self.vocabulary.key, self.site


@dataclass(frozen=True, slots=True)
class CollapseReport:
    """What `measure` found, in the order of languages, sites and vocabularies."""

    model: str
    weights_sha256: str | None
    layers: int
    carriers: Mapping[Language, tuple[Carrier, ...]]
    findings: tuple[Finding, ...]
    options: MeasureOptions

    def of(self, vocabulary: Vocabulary) -> list[Finding]:
        """One vocabulary's findings, site by site."""
        return [finding for finding in self.findings if finding.vocabulary.key == vocabulary.key]

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Those that were looked at."""
        return list({finding.vocabulary.key: finding.vocabulary for finding in self.findings}.values())


def measure(
    model: Model,
    *,
    vocabulary: Sequence[str | Vocabulary] | None = None,
    records: Sequence[Record] | None = None,
    options: MeasureOptions | None = None,
    progress: Told | None = None,
) -> CollapseReport:
    """Look at time vocabularies in both embeddings and behind every layer, against matched controls.

    `vocabulary` are names (`quarters`, `months`, …) or vocabularies of one's own, whose `controls` name known ones; None is
    all. `records` lend the beginnings of their own sentences as carriers, beside the templates. Raises InputError for an
    unknown name, and DiagError where the model's states are not finite.
    """
    options = options or MeasureOptions()
    layers = int(model.network.config.get_text_config(decoder=True).num_hidden_layers)
    total = len(options.languages) * (layers + 2)
    found: list[Finding] = []
    carriers: dict[Language, tuple[Carrier, ...]] = {}
    wanted: dict[Language, tuple[list[Vocabulary], list[Vocabulary]]] = {
        language: _wanted(model, language, vocabulary, options) for language in options.languages
    }
    _check_names(vocabulary, wanted)
    done = 0
    for language, (every, chosen) in wanted.items():
        real = real_carriers(records or (), language, options.real, options.seed)
        carriers[language] = (*template_carriers(language), *real)
        for site in _sites(model, every, carriers[language] if chosen else ()):
            found.extend(_at(site, every, chosen, options))
            done += 1
            if progress:
                progress(done, total)
    return CollapseReport(model.name, model.weights_sha256, layers, carriers, tuple(found), options)


def _wanted(
    model: Model, language: Language, asked: Sequence[str | Vocabulary] | None, options: MeasureOptions
) -> tuple[list[Vocabulary], list[Vocabulary]]:
    """What to embed, and what of it to judge: only the controls of what is asked for are embedded beside it."""
    known = vocabularies(language, model, seed=options.seed)
    own = [one for one in asked or () if isinstance(one, Vocabulary) and one.language == language]
    names = {one for one in asked or () if isinstance(one, str)}
    chosen = own + [one for one in known if one.is_time and (asked is None or one.name in names)]
    needed = {name for one in chosen for name in one.controls}
    taken = {one.name for one in chosen}
    return chosen + [one for one in known if one.name in needed and one.name not in taken], chosen


def _check_names(
    asked: Sequence[str | Vocabulary] | None, wanted: Mapping[Language, tuple[list[Vocabulary], list[Vocabulary]]]
) -> None:
    found = {one.name for _, chosen in wanted.values() for one in chosen}
    for name in asked or ():
        if isinstance(name, str) and name not in found:
            known = sorted({one.name for language in wanted for one in vocabularies(language) if one.is_time})
            raise InputError(f"no vocabulary is called {name!r}; known: {', '.join(known)}")


def _sites(model: Model, every: Sequence[Vocabulary], carriers: Sequence[Carrier]) -> Iterator[Site]:
    if every:
        yield from static_sites(model, every)
        yield from context_sites(model, every, carriers)


def _at(
    site: Site, every: Sequence[Vocabulary], chosen: Sequence[Vocabulary], options: MeasureOptions
) -> Iterator[Finding]:
    """The findings at one site. All points are centred together, so that the controls stand in the same space."""
    flat = np.concatenate([points.reshape(-1, points.shape[-1]) for points in site.points.values()])
    if not np.isfinite(flat).all():
        raise DiagError(f"the model's states at {site.name} are not finite: load it with --dtype float32")
    whitening = whitening_of(flat) if options.whiten else None
    moved = {key: centred(points, flat.mean(0), whitening) for key, points in site.points.items()}
    geometries: dict[str, Geometry | None] = {}

    def geometry(key: str) -> Geometry | None:
        if key not in geometries:
            geometries[key] = geometry_of(moved[key], permutations=options.permutations, seed=options.seed)
        return geometries[key]

    for one in chosen:
        matched = [other.key for other in every if other.name in one.controls]
        controls = [known for key in matched if (known := geometry(key))]
        control = Control(tuple(known.purity for known in controls), tuple(known.silhouette for known in controls))
        null = null_of({key: moved[key] for key in matched})
        yield _finding(site, one, moved[one.key], geometry(one.key), null, control, options)


def _finding(
    site: Site,
    one: Vocabulary,
    points: Points,
    geometry: Geometry | None,
    null: Null,
    control: Control,
    options: MeasureOptions,
) -> Finding:
    seed = options.seed
    pairs, relative = judge_pairs([label.text for label in one.labels], points, site.points[one.key], null, seed=seed)
    worst = worst_of(pairs)
    return Finding(
        one,
        site.name,
        int(site.name.removeprefix("layer ")) if site.name.startswith("layer ") else 0,
        worst.flag,
        worst,
        tuple(pairs),
        relative,
        geometry,
        interval_of(geometry.purity_by_carrier, seed=seed) if geometry else None,
        float(np.mean([pair.raw_cosine for pair in pairs])),
        null,
        control,
        plane(points, options.map, options.seed),
        neighbour_edges(points),
    )
