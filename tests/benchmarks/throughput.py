"""Records a second and memory: `diag`'s batched, streamed scoring against a plain script and against `model.generate` alone.

    python tests/benchmarks/throughput.py [--records 32] [--source-tokens 200]

Each way runs in a process of its own on the same prompts. `script`: one record at a time, `output_scores` and `output_logits`
kept whole, figures by softmax over them at the end. `generate`: `model.generate` in the same batches, no scores. `streamed`: answers with
their token figures. `scored`: the same, with verdicts, spans and the context gap. `competition`: with temporal competition too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

WAYS = ("script", "generate", "streamed", "scored", "competition")
_NEW_TOKENS = 32


def prepare(count: int, source_tokens: int) -> tuple[Any, list[Any], list[Any]]:
    """The embedded model, records of the golden test split, and their prompts."""
    import diag_data
    from diag import models, records

    model = models.load(models.DEFAULT_MODEL)
    chosen = list(records.read(diag_data.path("golden/test.jsonl")))[:count]
    prompter = models.Prompter(model, models.PromptOptions(source_tokens=source_tokens), _NEW_TOKENS)
    return model, chosen, [prompter.prompt(record) for record in chosen]


def script(model: Any, prompts: list[Any]) -> None:
    """What one would write first."""
    import torch

    kept = []
    for prompt in prompts:
        ids = torch.tensor([prompt.ids])
        with torch.inference_mode():
            output = model.network.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=_NEW_TOKENS,
                do_sample=False,
                return_dict_in_generate=True,
                output_scores=True,
                output_logits=True,
                pad_token_id=model.pad_id,
            )
        kept.append(output)
    for output in kept:
        logprobs = torch.log_softmax(torch.cat(output.logits).float(), -1)
        tokens = output.sequences[0, -len(output.logits) :]
        _ = logprobs.gather(-1, tokens[:, None]).squeeze(-1).tolist()
        _ = (-(logprobs.exp() * logprobs).sum(-1)).tolist()
        _ = logprobs.topk(5).values.tolist()


def batched(model: Any, chosen: list[Any], prompts: list[Any], way: str, size: int) -> None:
    """The same prompts in `diag`'s batches."""
    import torch

    from diag import models, risk
    from diag.models.batches import left_padded

    for batch in models.batches([len(prompt.ids) for prompt in prompts], size):
        rows = [prompts[place] for place in batch]
        if way == "generate":
            ids, mask = left_padded(model, [prompt.ids for prompt in rows])
            with torch.inference_mode():
                model.network.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    max_new_tokens=_NEW_TOKENS,
                    do_sample=False,
                    pad_token_id=model.pad_id,
                )
            continue
        generated = models.generate(model, [prompt.ids for prompt in rows], models.Sampling(_NEW_TOKENS))
        if way != "streamed":
            options = risk.Options(context_gap=True, competition=way == "competition")
            risk.score_answers(
                model, [chosen[place] for place in batch], rows, generated.answers, generated.cached, options
            )
        del generated


def measure(way: str, count: int, source_tokens: int, size: int) -> dict[str, float]:
    """One way, in this process."""
    model, chosen, prompts = prepare(count, source_tokens)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.perf_counter()
    script(model, prompts) if way == "script" else batched(model, chosen, prompts, way, size)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    mean = sum(len(prompt.ids) for prompt in prompts) / len(prompts)
    return {"seconds": seconds, "records_per_s": count / seconds, "peak": peak, "before": before, "prompt_tokens": mean}


def main() -> None:
    """Run each way in its own process and print."""
    parser = argparse.ArgumentParser(description="Throughput of answering and scoring.")
    parser.add_argument("--records", type=int, default=32)
    parser.add_argument("--source-tokens", type=int, default=200)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--way", choices=WAYS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measure(options.way, options.records, options.source_tokens, options.batch)))
        return
    found: dict[str, dict[str, float]] = {}
    for way in WAYS:
        command = [sys.executable, __file__, "--way", way, "--records", str(options.records)]
        command += ["--source-tokens", str(options.source_tokens), "--batch", str(options.batch)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[way] = json.loads(done.stdout.splitlines()[-1])
        row = found[way]
        print(
            f"{way:<12} {row['seconds']:7.1f} s  {row['records_per_s']:6.2f} records/s  peak {row['peak'] / 1e6:6.0f} MB "
            f"({row['prompt_tokens']:.0f} prompt tokens)  {found['script']['seconds'] / row['seconds']:5.2f} x the script",
            flush=True,
        )
    plain = found["generate"]["seconds"]
    for way in ("streamed", "scored", "competition"):
        print(f"{way} costs {found[way]['seconds'] / plain - 1:+.1%} over plain generation")


if __name__ == "__main__":
    main()
