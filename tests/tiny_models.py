"""Tokenizers trained on the golden set, and random networks of a few thousand weights, by architecture."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import diag_data

TEXT = diag_data.path("golden/train.jsonl").read_text(encoding="utf-8")[:400_000].splitlines()


def byte_level() -> Any:
    """A byte-level BPE tokenizer as GPT-2 and Llama 3 have."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<end>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(TEXT[:40], trainer)
    return tokenizer


def sentence_piece() -> Any:
    """A BPE tokenizer in SentencePiece's manner (Llama 2): `▁` for spaces, bytes for what it does not know."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, trainers

    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=["<unk>", "<end>", *bytes_], limit_alphabet=300, max_token_length=12
    )
    tokenizer.train_from_iterator((line.replace(" ", "▁") for line in TEXT[:40]), trainer)
    # Bytes are plain tokens there; only as special ones could they be put in front.
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [one for one in state["added_tokens"] if not one["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.add_special_tokens([AddedToken("<end>", special=True)])
    return tokenizer


def word_piece() -> Any:
    """Plain BPE over words split at white space, as the first GPT had."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<end>"], end_of_word_suffix="</w>")
    tokenizer.train_from_iterator(TEXT[:40], trainer)
    return tokenizer


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "byte_level": byte_level,
    "sentence_piece": sentence_piece,
    "word_piece": word_piece,
}


def wrapped(name: str) -> Any:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=TOKENIZERS[name](), eos_token="<end>", pad_token="<end>")


def tiny_network(architecture: str, vocabulary: int) -> Any:
    """A random network of a few thousand weights."""
    import torch
    import transformers

    torch.manual_seed(7)
    small = {"vocab_size": vocabulary, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    llama_like = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
    }
    configs: dict[str, Callable[[], Any]] = {
        "llama": lambda: transformers.LlamaConfig(**small, **llama_like),
        "qwen2": lambda: transformers.Qwen2Config(**small, **llama_like),
        "mistral": lambda: transformers.MistralConfig(**small, **llama_like, sliding_window=24),
        "gpt2": lambda: transformers.GPT2Config(**small, n_embd=32, n_layer=3, n_head=4, n_positions=4096),
    }
    network = transformers.AutoModelForCausalLM.from_config(configs[architecture]())
    return network.eval()


def tiny_model(architecture: str = "llama", tokenizer: str = "byte_level") -> Any:
    from diag.models import Model

    made = wrapped(tokenizer)
    return Model(f"tiny-{architecture}", tiny_network(architecture, len(made)), made)
