"""Attribution by the peers, in their own environment: a task as JSON on standard input, one line of JSON per method out.

    {"model": folder, "prompt": text, "said": text, "rival": text, "spans": [[start, end], …], "method": name}

Scores are by token or by span; the answer is the span whose characters score highest. No part of chronodiag is imported here.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

Scored = list[tuple[int, int, float]]


def tokens_of(tokenizer: Any, prompt: str) -> list[tuple[int, int]]:
    return tokenizer(prompt, return_offsets_mapping=True)["offset_mapping"]


def captum_ablation(model: Any, tokenizer: Any, task: dict[str, Any]) -> Callable[[], Scored]:
    """FeatureAblation by token, once for what was said and once for its rival."""
    from captum.attr import FeatureAblation, LLMAttribution, TextTokenInput

    def run() -> Scored:
        llm = LLMAttribution(FeatureAblation(model), tokenizer)
        said, rival = (
            llm.attribute(TextTokenInput(task["prompt"], tokenizer), target=f" {task[name]}").seq_attr.tolist()
            for name in ("said", "rival")
        )
        places = tokens_of(tokenizer, task["prompt"])
        return [(*place, one - other) for place, one, other in zip(places, said, rival, strict=True)]

    return run


def captum_spans(model: Any, tokenizer: Any, task: dict[str, Any]) -> Callable[[], Scored]:
    """FeatureAblation by template: the spans, which Captum would not find by itself, are handed to it."""
    from captum.attr import FeatureAblation, LLMAttribution, TextTemplateInput

    def run() -> Scored:
        llm = LLMAttribution(FeatureAblation(model), tokenizer)
        prompt, pieces, values, place = task["prompt"], [], [], 0
        for start, end in task["spans"]:
            pieces += [prompt[place:start].replace("{", "{{").replace("}", "}}"), "{}"]
            values.append(prompt[start:end])
            place = end
        template = "".join([*pieces, prompt[place:].replace("{", "{{").replace("}", "}}")])
        given = TextTemplateInput(template, values=values, baselines=["…"] * len(values))
        said, rival = (llm.attribute(given, target=f" {task[name]}").seq_attr.tolist() for name in ("said", "rival"))
        return [(*span, one - other) for span, one, other in zip(task["spans"], said, rival, strict=True)]

    return run


def captum_gradient(model: Any, tokenizer: Any, task: dict[str, Any]) -> Callable[[], Scored]:
    """LLMGradientAttribution with integrated gradients at the embedding, once for each period; steps run one by one."""
    from captum.attr import LayerIntegratedGradients, LLMGradientAttribution, TextTokenInput

    def run() -> Scored:
        lig = LayerIntegratedGradients(model, model.get_input_embeddings())
        llm = LLMGradientAttribution(lig, tokenizer)
        said, rival = (
            llm.attribute(
                TextTokenInput(task["prompt"], tokenizer), target=f" {task[name]}", internal_batch_size=1
            ).seq_attr.tolist()
            for name in ("said", "rival")
        )
        places = tokens_of(tokenizer, task["prompt"])
        return [(*place, one - other) for place, one, other in zip(places, said, rival, strict=True)]

    return run


def _inseq(kind: str, **options: Any) -> Callable[[Any, Any, dict[str, Any]], Callable[[], Scored]]:
    def method(model: Any, tokenizer: Any, task: dict[str, Any]) -> Callable[[], Scored]:
        import inseq

        def run() -> Scored:
            asked = inseq.load_model(task["model"], kind)
            prompt = task["prompt"]
            out = asked.attribute(
                prompt,
                f"{prompt} {task['said']}",
                attributed_fn="contrast_prob_diff",
                contrast_targets=f"{prompt} {task['rival']}",
                show_progress=False,
                **options,
            )
            scores = out[0].target_attributions
            scores = scores.sum(-1) if scores.dim() == 3 else scores
            places = tokens_of(tokenizer, prompt)
            summed = torch.nan_to_num(scores[: len(places)].float()).sum(-1).tolist()
            return [(*place, one) for place, one in zip(places, summed, strict=True)]

        return run

    return method


def context_cite(model: Any, tokenizer: Any, task: dict[str, Any]) -> Callable[[], Scored]:
    """Its own parts are sentences, and it knows no rival: the log-probability of what was said alone.

    The sentences are split by a pattern: its own splitter fetches a model of NLTK's first.
    """
    from context_cite import ContextCiter
    from context_cite.context_partitioner import SimpleContextPartitioner

    class Sentences(SimpleContextPartitioner):
        def split_context(self) -> None:
            self._cache["parts"] = re.split(r"(?<=[.?!]) ", self.context)
            self._cache["separators"] = [" "] * len(self._cache["parts"])

    def run() -> Scored:
        context, _, query = task["prompt"].rpartition("\n\n")
        tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
        citer = ContextCiter(
            model, tokenizer, context, query, prompt_template="{context}\n\n{query}", partitioner=Sentences(context)
        )
        citer._cache["output"] = citer._get_prompt_ids(return_prompt=True)[1] + f" {task['said']}"
        scores = citer.get_attributions(verbose=False).tolist()
        found: Scored = []
        place = 0
        for part, score in zip(citer.sources, scores, strict=True):
            start = task["prompt"].index(part, place)
            place = start + len(part)
            found.append((start, place, float(score)))
        return found

    return run


METHODS = {
    "Captum LLMAttribution, FeatureAblation by token": captum_ablation,
    "Captum LLMAttribution, FeatureAblation by our spans": captum_spans,
    "Captum LLMGradientAttribution, integrated gradients": captum_gradient,
    "Inseq contrastive integrated gradients": _inseq("integrated_gradients", n_steps=20, internal_batch_size=1),
    "Inseq contrastive saliency": _inseq("saliency"),
    "Inseq contrastive input x gradient": _inseq("input_x_gradient"),
    "ContextCite, sentences, no rival": context_cite,
}


def strongest(spans: list[list[int]], scored: Scored) -> int:
    """The span with the highest sum over the tokens that touch it."""
    sums = [sum(score for first, last, score in scored if first < end and last > start) for start, end in spans]
    return max(range(len(spans)), key=lambda place: (sums[place], -place))


def main() -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    task = json.loads(sys.stdin.read())
    torch.set_num_threads(task["threads"])
    libraries = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    model = AutoModelForCausalLM.from_pretrained(task["model"], dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(task["model"])
    run = METHODS[task["method"]](model, tokenizer, task)
    began = time.perf_counter()
    scored = run()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer = {"seconds": seconds, "peak_bytes": peak - libraries, "strongest": strongest(task["spans"], scored)}
    print(f"\n{json.dumps(answer)}")


if __name__ == "__main__":
    main()
