"""Language models: loading, prompts, answers with scores; nothing here changes a model that it is given."""

from diag.models.alignment import AlignedText, align, token_range
from diag.models.batches import batches, forward_options, left_padded
from diag.models.catalog import CATALOG, DEFAULT_MODEL, CatalogEntry, Tell, fetch, is_fetched, model_folder
from diag.models.continuations import CachedRow, Fork, continuation_logprobs, fork_logprobs
from diag.models.forced import Forced, score_tokens, token_logprobs
from diag.models.generate import Answer, Generated, Sampling, Stop, generate, make_answer, newline_ids
from diag.models.load import Dtype, load
from diag.models.model import Model
from diag.models.prompts import (
    STYLES,
    Piece,
    Prompt,
    Prompter,
    PromptOptions,
    Style,
    answer_ids,
    continuation_ids,
)
from diag.models.shared_prefix import plain_layers, repeated_cache, share_prefix
from diag.models.source_text import in_prompt, in_source, source_text
from diag.models.steps import TOP, TokenScores, plain

__all__ = [
    "CATALOG",
    "DEFAULT_MODEL",
    "STYLES",
    "TOP",
    "AlignedText",
    "Answer",
    "CachedRow",
    "CatalogEntry",
    "Dtype",
    "Forced",
    "Fork",
    "Generated",
    "Model",
    "Piece",
    "Prompt",
    "PromptOptions",
    "Prompter",
    "Sampling",
    "Stop",
    "Style",
    "Tell",
    "TokenScores",
    "align",
    "answer_ids",
    "batches",
    "continuation_ids",
    "continuation_logprobs",
    "fetch",
    "fork_logprobs",
    "forward_options",
    "generate",
    "in_prompt",
    "in_source",
    "is_fetched",
    "left_padded",
    "load",
    "make_answer",
    "model_folder",
    "newline_ids",
    "plain",
    "plain_layers",
    "repeated_cache",
    "score_tokens",
    "share_prefix",
    "source_text",
    "token_logprobs",
    "token_range",
]
