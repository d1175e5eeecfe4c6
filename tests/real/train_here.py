"""Runs several trainings, one after the other, in one process that imports ms-swift once.

``python -P tests/real/train_here.py``: stdin holds a JSON list of ``{"argv": ["sft", "--model", …], "log": FILE}``;
stdout gets a JSON list, for each ``{"logs": [its logged metrics], "rates": [initial learning rate of each group of
parameters], "seconds": s}`` or ``{"error": text, "seconds": s}``.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    jobs = json.loads(sys.stdin.buffer.read())
    answers_to = os.dup(1)
    answers = [outcome(job) for job in jobs]
    os.write(answers_to, json.dumps(answers).encode())


def outcome(job: dict[str, Any]) -> dict[str, Any]:
    began = time.monotonic()
    with Path(job["log"]).open("wb") as log:  # the file descriptors, as many a logger keeps the stream it once saw
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        answer = train(job["argv"])
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        answer = {"error": f"{type(error).__name__}: {error}"}
    _forget()
    return {**answer, "seconds": round(time.monotonic() - began, 1)}


def train(argv: list[str]) -> dict[str, Any]:
    """What ``swift <argv>`` logs, and the rates in its last checkpoint."""
    import torch
    from swift.pipelines import pretrain_main, rlhf_main, sft_main

    mains: dict[str, Callable[[list[str]], Any]] = {"sft": sft_main, "pt": pretrain_main, "rlhf": rlhf_main}
    result = mains[argv[0]](argv[1:])
    logs: list[dict[str, Any]] = result["log_history"]
    kept = [{name: value for name, value in log.items() if isinstance(value, int | float)} for log in logs]
    last = result["last_model_checkpoint"]
    optimizer = torch.load(Path(last) / "optimizer.pt", weights_only=False) if last else {"param_groups": []}
    return {"logs": kept, "rates": [group.get("initial_lr") for group in optimizer["param_groups"]]}


def _forget() -> None:
    """What one training leaves behind in the process, and the next would trip over."""
    from accelerate.state import AcceleratorState, GradientState, PartialState

    for state in (AcceleratorState, PartialState, GradientState):
        state._reset_state()
    warnings.resetwarnings()
    gc.collect()
    sys.stdout.flush()


if __name__ == "__main__":
    main()
