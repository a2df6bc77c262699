"""Where labels stand: in the input embedding, in the output embedding, and in context behind each layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from diag.collapse.carriers import Carrier
from diag.collapse.vocabulary import Label, Vocabulary
from diag.models import Model, align, forward_options, share_prefix, token_range

Points = NDArray[np.float32]
"""Shape (labels, carriers, dimensions)."""

_BYTES_AT_ONCE = 600_000_000
_ROWS_AT_ONCE = 96
_SHARED_FROM = 3


class Site(NamedTuple):
    """A place in the model: `input`, `output`, or `layer 7`, with the points of each vocabulary there."""

    name: str
    points: Mapping[str, Points]


class _Row(NamedTuple):
    """A text's tokens, and which of them are the label's."""

    ids: tuple[int, ...]
    first: int
    last: int


def static_sites(model: Model, vocabularies: Sequence[Vocabulary]) -> Iterator[Site]:
    """The two embeddings, one point a label: the rows of its tokens one behind another, so that their order counts.

    Labels of fewer tokens begin with zeros: what follows the common lead (`Q` and the digit) stands in the same place.
    """
    tokens = {one.key: [_label_ids(model, one, label) for label in one.labels] for one in vocabularies}
    longest = max(len(ids) for rows in tokens.values() for ids in rows)
    matrices = {"input": model.network.get_input_embeddings(), "output": model.network.get_output_embeddings()}
    for name, layer in matrices.items():
        if layer is None:
            continue
        weight = layer.weight.detach()
        points = {key: [_concatenated(weight, ids, longest) for ids in rows] for key, rows in tokens.items()}
        yield Site(name, {key: np.stack(rows)[:, None] for key, rows in points.items()})


def _label_ids(model: Model, vocabulary: Vocabulary, label: Label) -> list[int]:
    lead = " " if vocabulary.language == "en" else ""
    return list(model.tokenizer(lead + label.text, add_special_tokens=False)["input_ids"])


def _concatenated(weight: Tensor, ids: Sequence[int], longest: int) -> NDArray[np.float32]:
    rows = torch.zeros(longest, weight.shape[1])
    rows[longest - len(ids) :] = weight[list(ids)].float().cpu()
    return rows.flatten().numpy()


def _pooled(states: Tensor) -> Tensor:
    """The mean over tokens, the nth of them n times: a plain mean is the same for `2012` and `2021` where digits are tokens.

    Muennighoff 2022 (SGPT), equation 2. Shape (..., tokens, dimensions) to (..., dimensions).
    """
    weights = torch.arange(1, states.shape[-2] + 1, dtype=states.dtype, device=states.device)
    return (weights / weights.sum()) @ states


def context_sites(model: Model, vocabularies: Sequence[Vocabulary], carriers: Sequence[Carrier]) -> Iterator[Site]:
    """Behind each layer, the pooled state of the label's tokens in each carrier.

    States that do not fit into memory at once are computed for some layers at a time.
    """
    rows = {one.key: _rows(model, one, carriers) for one in vocabularies}
    layers = int(model.network.config.get_text_config(decoder=True).num_hidden_layers)
    width = int(model.network.get_input_embeddings().weight.shape[1])
    count = sum(len(row) for grid in rows.values() for row in grid)
    at_once = max(1, _BYTES_AT_ONCE // (4 * width * count))
    for start in range(1, layers + 1, at_once):
        wanted = range(start, min(start + at_once, layers + 1))
        found = _states(model, rows, wanted, width)
        for layer in wanted:
            yield Site(f"layer {layer}", {key: points[layer - start] for key, points in found.items()})


def _rows(model: Model, vocabulary: Vocabulary, carriers: Sequence[Carrier]) -> list[list[_Row]]:
    """By label and carrier."""
    return [[_row(model, carrier.text, label.text) for carrier in carriers] for label in vocabulary.labels]


def _row(model: Model, before: str, label: str) -> _Row:
    ids = tuple(model.tokenizer(before + label)["input_ids"])  # type: ignore[arg-type]
    text, offsets = align(model.tokenizer, ids)
    start = text.rindex(label) if label in text else len(text) - len(label)
    first, last = token_range(offsets, start, start + len(label))
    return _Row(ids, first, max(last, first + 1))


def _states(
    model: Model, rows: Mapping[str, list[list[_Row]]], layers: range, width: int
) -> dict[str, NDArray[np.float32]]:
    """By vocabulary key, shape (layers, labels, carriers, dimensions)."""
    found = {key: np.zeros((len(layers), len(grid), len(grid[0]), width), np.float32) for key, grid in rows.items()}
    places = [(key, label) for key, grid in rows.items() for label in range(len(grid))]
    carriers = len(next(iter(rows.values()))[0])
    # All labels behind one carrier go together: the carrier is run once.
    for carrier in range(carriers):
        for start in range(0, len(places), _ROWS_AT_ONCE):
            part = places[start : start + _ROWS_AT_ONCE]
            pooled = _label_states(model, [rows[key][label][carrier] for key, label in part], layers)
            for (key, label), states in zip(part, pooled, strict=True):
                found[key][:, label, carrier] = states
    return found


def _label_states(model: Model, rows: Sequence[_Row], layers: range) -> Iterator[NDArray[np.float32]]:
    """For each row the pooled state of its label's tokens, shape (layers, dimensions)."""
    left = max(len(row.ids) - row.first for row in rows)
    with torch.inference_mode():
        batch = share_prefix(model, [row.ids for row in rows], least_left=left, least=_SHARED_FROM)
        options = forward_options(model, mask=batch.mask, keep=1)
        if batch.head:
            options["position_ids"] = options["position_ids"][:, batch.head :]
            options["cache"] = batch.cache
        output: Any = model.network(
            input_ids=batch.ids[:, batch.head :], use_cache=bool(batch.head), output_hidden_states=True, **options
        )
        states = torch.stack([output.hidden_states[layer].float() for layer in layers])
    width = states.shape[2]
    for number, row in enumerate(rows):
        shift = width - len(row.ids)
        yield _pooled(states[:, number, shift + row.first : shift + row.last]).cpu().numpy()
