"""Sentences as vectors: by the middle layer of the model under diagnosis, or by an encoder of the user's choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from diag.errors import InputError
from diag.models import Model, batches, forward_options, left_padded

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors, shape (texts, dimensions)."""

_ROWS = 16
_LONGEST = 256


def by_model(model: Model) -> Embed:
    """The mean over tokens of the states behind the middle layer, where a causal model's states hold most of what is meant."""
    middle = max(1, int(model.network.config.get_text_config(decoder=True).num_hidden_layers) // 2)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        rows: list[list[int]] = [model.tokenizer(text)["input_ids"][:_LONGEST] for text in texts]  # type: ignore[misc]
        found = np.zeros((len(rows), int(model.network.get_input_embeddings().weight.shape[1])), np.float32)
        for batch in batches([len(row) for row in rows], _ROWS):
            ids, mask = left_padded(model, [rows[place] for place in batch])
            with torch.inference_mode():
                output: Any = model.network(
                    input_ids=ids,
                    use_cache=False,
                    output_hidden_states=True,
                    **forward_options(model, mask=mask, keep=1),
                )
            found[batch] = _mean(output.hidden_states[middle], mask)
        return found

    return embed


def by_encoder(name: str, *, device: str = "cpu", offline: bool = False) -> Embed:
    """The mean over tokens of an encoder's last states; `name` is a folder or a hub id, with safetensors weights.

    Raises InputError where it cannot be loaded.
    """
    from transformers import AutoModel, AutoTokenizer

    local = offline or Path(name).exists()
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(name, local_files_only=local)
        network: Any = AutoModel.from_pretrained(name, local_files_only=local, use_safetensors=True).eval().to(device)
    except (OSError, ValueError) as error:
        raise InputError(f"no encoder could be loaded from {name!r}: {str(error).splitlines()[0]}") from error

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        found: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _ROWS):
            part = list(texts[start : start + _ROWS])
            batch = tokenizer(part, padding=True, truncation=True, max_length=_LONGEST, return_tensors="pt").to(device)
            with torch.inference_mode():
                found.append(_mean(network(**batch).last_hidden_state, batch["attention_mask"]))
        return np.concatenate(found)

    return embed


def _mean(states: torch.Tensor, mask: torch.Tensor) -> NDArray[np.float32]:
    weights = mask.unsqueeze(-1).to(states.device, torch.float32)
    return ((states.float() * weights).sum(1) / weights.sum(1).clamp_min(1)).cpu().numpy()
