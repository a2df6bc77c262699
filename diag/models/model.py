"""A loaded causal language model with its tokenizer, and what a run records of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Model:
    """A causal LM ready to run; nothing here ever changes the network, the tokenizer or their configurations."""

    name: str
    """As it was asked for."""
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    weights_sha256: str | None = None
    """Of the weight files; None for a network that was handed over in memory."""

    @property
    def device(self) -> torch.device:
        """Where the input goes: the device of the input embedding, which a device map may place apart from other layers."""
        return self.network.get_input_embeddings().weight.device

    @property
    def dtype(self) -> str:
        """The weights' type: `float32`, `bfloat16`, `float16`."""
        return str(self.network.dtype).removeprefix("torch.")

    @property
    def window(self) -> int | None:
        """The most tokens that prompt and answer may have together; None where the configuration names no limit."""
        config = self.network.config.get_text_config(decoder=True)
        for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
            if isinstance(size := getattr(config, name, None), int):
                return size
        return None

    @property
    def parameters(self) -> int:
        """How many weights it has."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    @property
    def end_ids(self) -> frozenset[int]:
        """The tokens that end an answer, by the generation configuration and by the tokenizer."""
        configured = self.generation_config.eos_token_id
        ids = configured if isinstance(configured, list) else [configured]
        return frozenset(int(one) for one in [*ids, self.tokenizer.eos_token_id] if one is not None)

    @property
    def pad_id(self) -> int:
        """A token to pad with; attention never sees it, so any will do where the tokenizer has none."""
        pad = self.tokenizer.pad_token_id
        return int(pad) if isinstance(pad, int) else next(iter(sorted(self.end_ids)), 0)

    @property
    def generation_config(self) -> GenerationConfig:
        """The network's generation configuration, or a new one where it has none; never to be changed."""
        from transformers import GenerationConfig

        found = getattr(self.network, "generation_config", None)
        return found if found is not None else GenerationConfig()
