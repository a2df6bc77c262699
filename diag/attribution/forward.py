"""The target's value under changed contexts: the beginning that is unchanged is run once, and its KV cache shared."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from diag.attribution.target import Target
from diag.errors import DiagError
from diag.models import Model, forward_options, left_padded, plain_layers, repeated_cache

Told = Callable[[int], None]
"""Told of each so many contexts that were run."""

_RUN_AT_ONCE = {"cpu": 2_048}
_RUN_AT_ONCE_GPU = 32_768
"""Rows times the tokens that each runs."""
_KEPT = 2
"""Times as many may stand in a batch's KV caches, which each row has a copy of."""


class TargetForward:
    """The target as a function of the context; `value` is that of the context as it stands.

    Keys and values of the context are kept, so that a changed context costs no more than what follows its first change.
    For an architecture whose cache cannot be shared (sliding windows, recurrent states) every context is run whole.
    """

    def __init__(self, model: Model, target: Target, told: Told | None = None) -> None:
        """Raises DiagError where the model's figures are not finite."""
        self.model = model
        self.target = target
        self.rows_run = 0
        self.tokens_run = 0
        self._told = told
        self._layers: list[Any] | None = None
        self._can_share = "position_ids" in inspect.signature(model.network.forward).parameters
        self._at_once = _RUN_AT_ONCE.get(model.device.type, _RUN_AT_ONCE_GPU)
        with torch.inference_mode():
            self._layers = self._prefill() if self._can_share else None
        self.value = float(self.of_contexts([target.context])[0])

    def _prefill(self) -> list[Any] | None:
        """The cache of all of the context but its last token, from which every value is read."""
        context = self.target.context
        if len(context) < 2:
            return None
        ids = torch.tensor([list(context[:-1])], device=self.model.device)
        self.tokens_run += ids.shape[1]
        output: Any = self.model.network(input_ids=ids, use_cache=True, **forward_options(self.model, keep=1))
        return plain_layers(getattr(output, "cache", None))

    # ---- token ids ---------------------------------------------------------------------------------------------------

    def of_contexts(self, contexts: Sequence[Sequence[int]]) -> Tensor:
        """The target's value behind each context, shape (contexts,), in float64."""
        values = torch.zeros(len(contexts), dtype=torch.float64)
        heads = [self._unchanged(one) for one in contexts]
        # The later the first change the more is shared, so those alike in that go together.
        order = sorted(range(len(contexts)), key=lambda place: (heads[place], len(contexts[place])))
        batch: list[int] = []
        for place in order:
            longest = max([len(contexts[one]) for one in [*batch, place]]) + self._tail
            rest = longest - heads[(batch or [place])[0]]
            rows = len(batch) + 1
            if batch and (rows * rest > self._at_once or rows * longest > _KEPT * self._at_once):
                self._run(contexts, heads, batch, values)
                batch = []
            batch.append(place)
        if batch:
            self._run(contexts, heads, batch, values)
        return values

    @property
    def _tail(self) -> int:
        return len(self.target.said) + len(self.target.rival)

    def _unchanged(self, context: Sequence[int]) -> int:
        """How many tokens a context shares with the one whose cache is kept; at least one token is left to run."""
        if self._layers is None:
            return 0
        known = self.target.context
        most = min(len(known), len(context)) - 1
        return next((place for place in range(most) if known[place] != context[place]), most)

    def _run(self, contexts: Sequence[Sequence[int]], heads: list[int], batch: list[int], values: Tensor) -> None:
        head = heads[batch[0]]
        rows = [list(contexts[place][head:]) for place in batch]
        with torch.inference_mode():
            found = self._shared(head, rows) if self._layers is not None else self._whole(rows)
        if not bool(torch.isfinite(found).all()):
            raise DiagError(
                f"the model's figures are not finite in {self.model.dtype}: use --dtype float32"
                + (" or bfloat16" if self.model.dtype == "float16" else "")
            )
        values[batch] = found
        self.rows_run += len(batch)
        if self._told:
            self._told(len(batch))

    def _shared(self, head: int, rows: list[list[int]]) -> Tensor:
        ids, mask = left_padded(self.model, rows)
        tails = torch.tensor([self._tail_tokens()] * len(rows), dtype=torch.long, device=ids.device)
        self.tokens_run += ids.numel() + tails.numel()
        output = self._call(head, mask, input_ids=torch.cat([ids, tails], 1))
        return self._read(output.logits).double().cpu()

    def _tail_tokens(self) -> list[int]:
        return [*self.target.said[:-1], *self.target.rival[:-1]]

    def _call(self, head: int, mask: Tensor, **inputs: Tensor) -> Any:
        """Run rows of `[padding][rest of a context][said][rival]` behind the kept cache; said and rival see not each other."""
        rows, width = mask.shape
        said, rival = len(self.target.said) - 1, max(0, len(self.target.rival) - 1)
        count = width + said + rival
        dtype = self.model.network.dtype
        least = torch.finfo(dtype).min
        sees = torch.ones(count, count, dtype=torch.bool, device=mask.device).tril()
        sees[width + said :, width : width + said] = False
        seen = torch.cat([mask.bool(), torch.ones(rows, said + rival, dtype=torch.bool, device=mask.device)], 1)
        allowed = sees[None] & seen[:, None, :]
        allowed = torch.cat([torch.ones(rows, count, head, dtype=torch.bool, device=mask.device), allowed], 2)
        attention = torch.zeros(rows, 1, count, head + count, dtype=dtype, device=mask.device)
        attention.masked_fill_(~allowed[:, None], least)
        places = (mask.cumsum(-1) - 1).clamp_min(0) + head
        last = places[:, -1:]
        after = [torch.arange(1, length + 1, device=mask.device)[None] + last for length in (said, rival)]
        positions = torch.cat([places, *after], 1)
        options = forward_options(self.model, keep=1 + said + rival)
        cache = repeated_cache(self._layers or [], rows, head)
        return self.model.network(
            **inputs, attention_mask=attention, position_ids=positions, cache=cache, use_cache=True, **options
        )

    def _read(self, logits: Tensor) -> Tensor:
        """The target from the logits that end in `[last of the context][said][rival]`."""
        said, rival = self.target.said, self.target.rival
        count = len(said) + max(0, len(rival) - 1)
        part = logits[:, -count:].float()
        if len(said) == 1 and len(rival) == 1:
            # The normaliser is the same for both.
            return part[:, 0, said[0]] - part[:, 0, rival[0]]
        total = _sum_logprobs(part[:, : len(said)], said)
        if rival:
            places = [0, *range(len(said), count)]
            total = total - _sum_logprobs(part[:, places], rival)
        return total

    def _whole(self, rows: list[list[int]]) -> Tensor:
        found = torch.zeros(len(rows), dtype=torch.float64)
        for tail, sign in ((self.target.said, 1), (self.target.rival, -1)):
            if tail:
                ids, mask = left_padded(self.model, [[*row, *tail[:-1]] for row in rows])
                self.tokens_run += ids.numel()
                options = forward_options(self.model, mask=mask, keep=len(tail))
                output: Any = self.model.network(input_ids=ids, use_cache=False, **options)
                found += sign * _sum_logprobs(output.logits[:, -len(tail) :].float(), tail).double().cpu()
        return found

    def copies_at_once(self, width: int) -> int:
        """How many copies of the context may be run together, `width` tokens of each."""
        longest = len(self.target.context) + self._tail
        return max(1, min(self._at_once // (width + self._tail), _KEPT * self._at_once // longest))

    def of_copies(self, copies: int, *, whole: bool) -> Tensor:
        """The value of so many copies of the context as it stands, for use under hooks that change each copy.

        Of each the last token is run alone behind the kept cache, or the `whole` context. Shape (copies,), in float64.
        """
        context = self.target.context
        with torch.inference_mode():
            if self._layers is None:
                found = self._whole([list(context)] * copies)
            else:
                head = 0 if whole else len(context) - 1
                found = self._shared(head, [list(context[head:])] * copies)
        self.rows_run += copies
        if self._told:
            self._told(copies)
        return found

    def last_states(self) -> tuple[Tensor, ...]:
        """The hidden state of the context's last token behind each layer, shape (hidden,), the input embedding first."""
        context = self.target.context
        head = 0 if self._layers is None else len(context) - 1
        ids = torch.tensor([list(context[head:])], device=self.model.device)
        with torch.inference_mode():
            options: dict[str, Any] = {"use_cache": False}
            if self._layers is not None:
                position = torch.tensor([[head]], device=self.model.device)
                options = {"use_cache": True, "cache": repeated_cache(self._layers, 1, head), "position_ids": position}
            output: Any = self.model.network(input_ids=ids, output_hidden_states=True, **options)
        return tuple(states[0, -1] for states in output.hidden_states)

    # ---- embeddings --------------------------------------------------------------------------------------------------

    def embeddings(self, ids: Sequence[int]) -> Tensor:
        """The input embeddings of tokens, shape (1, tokens, hidden)."""
        layer = self.model.network.get_input_embeddings()
        with torch.no_grad():
            return layer(torch.tensor([list(ids)], dtype=torch.long, device=self.model.device))

    def first_shared(self, first_change: int) -> int:
        """How many tokens of the context need not be in what `of_embeddings` is given, if none before `first_change` changes."""
        return min(first_change, len(self.target.context) - 1) if self._layers is not None else 0

    def of_embeddings(self, head: int, embedded: Tensor) -> Tensor:
        """The target's value as a differentiable function of the embeddings of the context behind its first `head` tokens.

        Shapes: `embedded` (rows, tokens, hidden), the value (rows,).
        """
        rows = embedded.shape[0]
        self.rows_run += rows
        if self._told:
            self._told(rows)
        if self._layers is not None:
            tails = self.embeddings(self._tail_tokens()).expand(rows, -1, -1)
            mask = torch.ones(embedded.shape[:2], dtype=torch.long, device=embedded.device)
            self.tokens_run += rows * (embedded.shape[1] + tails.shape[1])
            return self._read(self._call(head, mask, inputs_embeds=torch.cat([embedded, tails], 1)).logits)
        total: Any = 0.0
        for tail, sign in ((self.target.said, 1), (self.target.rival, -1)):
            if tail:
                whole = torch.cat([embedded, self.embeddings(tail[:-1]).expand(rows, -1, -1)], 1)
                self.tokens_run += whole.shape[0] * whole.shape[1]
                options = forward_options(self.model, keep=len(tail))
                output: Any = self.model.network(inputs_embeds=whole, use_cache=False, **options)
                total = total + sign * _sum_logprobs(output.logits[:, -len(tail) :].float(), tail)
        return total


def _sum_logprobs(logits: Tensor, tokens: Sequence[int]) -> Tensor:
    """Logits (rows, tokens, vocabulary) at the places that foretell `tokens`; the sum of their log-probabilities, (rows,)."""
    wanted = torch.tensor(list(tokens), device=logits.device).expand(logits.shape[0], -1).unsqueeze(-1)
    return (logits.gather(-1, wanted).squeeze(-1) - torch.logsumexp(logits, -1)).sum(-1)
