"""LM-Polygraph on given prompts, in its own environment: reads a task from standard input, prints answers, scores and seconds.

Its maximum sequence probability, perplexity and mean token entropy, each higher for a more doubtful answer. Claim-conditioned
probability needs an entailment model from the hub, and so does not run offline.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from lm_polygraph.estimators import MaximumSequenceProbability, MeanTokenEntropy, Perplexity
from lm_polygraph.stat_calculators.entropy import EntropyCalculator
from lm_polygraph.stat_calculators.greedy_probs import GreedyProbsCalculator
from lm_polygraph.utils.generation_parameters import GenerationParameters
from lm_polygraph.utils.model import WhiteboxModel
from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    """Answer and score."""
    task = json.load(sys.stdin)
    network = AutoModelForCausalLM.from_pretrained(task["model"], dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(task["model"], padding_side="left")
    model = WhiteboxModel(
        network, tokenizer, generation_parameters=GenerationParameters(allow_newlines=True, stop_strings=["\n"])
    )
    greedy, entropy = GreedyProbsCalculator(output_attentions=False), EntropyCalculator()
    estimators = {"MSP": MaximumSequenceProbability(), "perplexity": Perplexity(), "entropy": MeanTokenEntropy()}
    found: dict[str, list[float]] = {name: [] for name in estimators}
    texts: list[str] = []
    began = time.perf_counter()
    prompts: list[str] = task["prompts"]
    for start in range(0, len(prompts), task["batch"]):
        part = prompts[start : start + task["batch"]]
        stats = greedy({}, part, model, max_new_tokens=task["max_new_tokens"])
        stats.update(entropy(stats, part, model))
        for name, estimator in estimators.items():
            found[name].extend(float(value) for value in estimator(stats))
        texts.extend(stats["greedy_texts"])
    print("\n" + json.dumps({"scores": found, "texts": texts, "seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    main()
