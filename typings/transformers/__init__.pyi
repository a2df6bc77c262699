# The part of transformers that chronodiag uses; its own types are partly unknown.
from typing import Any

from torch import nn

class PreTrainedConfig:
    num_hidden_layers: int
    def get_text_config(self, decoder: bool = ...) -> PreTrainedConfig: ...

class GenerationConfig:
    eos_token_id: int | list[int] | None
    def __init__(self, **kwargs: Any) -> None: ...

class PreTrainedModel(nn.Module):
    config: PreTrainedConfig
    dtype: Any
    def get_input_embeddings(self) -> nn.Embedding: ...
    def get_output_embeddings(self) -> nn.Linear | None: ...
    def generate(self, **kwargs: Any) -> Any: ...

class PreTrainedTokenizerBase:
    is_fast: bool
    eos_token_id: int | None
    pad_token_id: int | None
    all_special_ids: list[int]
    chat_template: str | None
    def __call__(self, text: str | list[str], **kwargs: Any) -> Any: ...
    def __len__(self) -> int: ...
    def decode(self, token_ids: list[int], **kwargs: Any) -> str: ...
    def batch_decode(self, sequences: list[list[int]], **kwargs: Any) -> list[str]: ...
    def apply_chat_template(self, conversation: list[dict[str, str]], **kwargs: Any) -> Any: ...

class AutoTokenizer:
    @staticmethod
    def from_pretrained(name: str, **kwargs: Any) -> Any: ...

class AutoConfig:
    @staticmethod
    def from_pretrained(name: Any, **kwargs: Any) -> Any: ...

class AutoModel:
    @staticmethod
    def from_pretrained(name: str, **kwargs: Any) -> Any: ...

class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name: str, **kwargs: Any) -> Any: ...
    @staticmethod
    def from_config(config: PreTrainedConfig, **kwargs: Any) -> Any: ...

class DynamicCache:
    layers: list[Any]
    def update(self, key_states: Any, value_states: Any, layer_idx: int) -> Any: ...

__version__: str
