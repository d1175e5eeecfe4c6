"""A child process: check a merged model against base and adapter, then give it its final name.

It loads the merged folder (no weight missing, none left over), and compares its answers with those of the
base under the adapter on a few prompts. A merge that lost the tuning is refused here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

PROMPTS = ("Who are you?", "你是谁？", "Write one sentence about the sea.", "2 + 2 =")
LARGEST_DIFFERENCE = 0.1
"""In logits, in float32; rounding gives some 1e-4, a lost adapter several units."""
SMALLEST_AGREEMENT = 0.97
"""Share of positions at which both put the same token first."""


def main(
    base: Annotated[str, typer.Option()],
    adapter: Annotated[Path, typer.Option()],
    merged: Annotated[Path, typer.Option()],
    final: Annotated[Path, typer.Option()],
) -> None:
    """Verify ``merged``; on success it becomes ``final``, else the exit code is 1 and it is removed."""
    import shutil

    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    print("Checking the merged model against base and adapter", flush=True)
    tokenizer = AutoTokenizer.from_pretrained(merged)
    batches = [tokenizer(prompt, return_tensors="pt").input_ids for prompt in PROMPTS]

    def logits(model: torch.nn.Module) -> list[torch.Tensor]:
        model.eval()
        with torch.no_grad():
            return [model(input_ids=batch).logits.float() for batch in batches]

    reference = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    before = logits(reference)
    tuned = PeftModel.from_pretrained(reference, str(adapter))
    wanted = logits(tuned)
    del tuned, reference
    loaded, info = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32, output_loading_info=True)
    found = logits(loaded)

    missing = [key for key in info["missing_keys"] if key != "lm_head.weight"]
    unexpected = list(info["unexpected_keys"])
    difference = max(float((a - b).abs().max()) for a, b in zip(wanted, found, strict=True))
    tuning = max(float((a - b).abs().max()) for a, b in zip(wanted, before, strict=True))
    same = [(a.argmax(-1) == b.argmax(-1)).float() for a, b in zip(wanted, found, strict=True)]
    agreement = float(torch.cat([part.flatten() for part in same]).mean())
    scale = max(1.0, max(float(a.abs().max()) for a in wanted) / 30)
    print(
        f"missing keys {len(missing)}, unexpected keys {len(unexpected)}, largest logit difference {difference:.2g}, "
        f"same first token {agreement:.1%}, the tuning changed logits by up to {tuning:.2g}",
        flush=True,
    )
    lost = difference > LARGEST_DIFFERENCE * scale or agreement < SMALLEST_AGREEMENT
    if missing or unexpected or lost:
        shutil.rmtree(merged, ignore_errors=True)
        print("MergeVerificationError: the merged model does not answer as base and adapter do", flush=True)
        sys.exit(1)
    merged.rename(final)
    print(f"The merged model is whole and answers like the adapter: {final}", flush=True)


if __name__ == "__main__":
    typer.run(main)
