"""What the table of rules refuses, the installed ms-swift refuses too, and what it lets through, that takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services.errors import Refused
from services.planning.choose import advise
from services.planning.machine import described
from services.specs import train_spec
from tests.trainable_model import make_trainable_model

PROJECT = Path(__file__).resolve().parents[2]
CPU = described({"host_memory_gib": 24, "cores": 4})
ROW = '{"messages": [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b"}]}\n'
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # our code -> (a word of ms-swift's own message, what is refused, what is taken)
    "warmup_twice": ("warmup_ratio", {"warmup_ratio": 0.1, "warmup_steps": 5}, {"warmup_ratio": 0.1}),
    "argument_number": ("less than 1", {"warmup_ratio": 1.0}, {"warmup_ratio": 0.9}),
    "both_halves": ("fp16 and bf16", {"fp16": True, "bf16": True}, {}),
    "prefetch_without_workers": (
        "prefetch_factor", {"dataloader_num_workers": 0, "dataloader_prefetch_factor": 2},
        {"dataloader_num_workers": 0},
    ),
    "packing_without_flash": ("flash attention", {"packing": True}, {"packing": False}),
    "liger_missing": ("liger", {"use_liger_kernel": True}, {"use_liger_kernel": False}),
    "lazy_clash": (
        "incompatible", {"lazy_tokenize": True, "streaming": True, "max_steps": 2}, {"streaming": True, "max_steps": 2},
    ),
    "best_unevaluated": (
        "load_best_model_at_end", {"load_best_model_at_end": True},
        {"load_best_model_at_end": True, "split_dataset_ratio": 0.1},
    ),
    "best_out_of_step": (
        "multiple", {"load_best_model_at_end": True, "split_dataset_ratio": 0.1, "save_steps": 50, "eval_steps": 20},
        {"load_best_model_at_end": True, "split_dataset_ratio": 0.1, "save_steps": 40, "eval_steps": 20},
    ),
    "plateau_unevaluated": (
        "eval strategy", {"lr_scheduler_type": "reduce_lr_on_plateau"}, {"lr_scheduler_type": "cosine"},
    ),
    "shards_only_model": ("save_only_model", {"fsdp": "fsdp2", "save_only_model": True}, {"save_only_model": True}),
    "deepspeed_with_fsdp": ("not compatible", {"deepspeed": "zero2", "fsdp": "fsdp2"}, {"deepspeed": "zero2"}),
    "resume_nowhere": ("FileNotFoundError", {"resume_from_checkpoint": "/no/such/folder"}, {}),
    "method_without": ("padding_free", {"rlhf_type": "orpo", "padding_free": True, "attn_impl": "flash_attn"},
                       {"rlhf_type": "orpo"}),
    "reference_not_taken": ("ref_model", {"rlhf_type": "dpo", "ref_model": "{model}"}, {"rlhf_type": "dpo"}),
}  # fmt: skip
CHANGED = ("both_halves",)
"""What the table changes on a CPU before it could refuse it."""
CHILD = """
import contextlib, json, os, sys
cases = json.load(sys.stdin)
answers = []
with contextlib.redirect_stdout(sys.stderr):
    from swift.arguments import RLHFArguments, SftArguments
    for case in cases:
        kind = RLHFArguments if "rlhf_type" in case else SftArguments
        try:
            kind(**case)
            answers.append(None)
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
json.dump(answers, sys.stdout)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str | None]:
    """(code, "refused" or "taken") -> what ms-swift's own dataclass raises, None where it takes it."""
    folder = tmp_path_factory.mktemp("rules")
    model = make_trainable_model(folder / "model")
    (folder / "rows.jsonl").write_text(ROW * 20)
    usual = {"model": str(model), "model_type": "llama", "template": "chatml", "dataset": [str(folder / "rows.jsonl")],
             "output_dir": str(folder / "out"), "use_cpu": True, "torch_dtype": "float32", "fp16": False, "bf16": False,
             "check_model": False, "report_to": "none"}  # fmt: skip
    keys, cases = [], []
    for code, (_, refused, taken) in CASES.items():
        for kind, args in (("refused", refused), ("taken", taken)):
            filled = {name: str(model) if value == "{model}" else value for name, value in args.items()}
            keys.append((code, kind))
            cases.append({**usual, **filled})
    child = subprocess.run(
        [sys.executable, "-P", "-c", CHILD], input=json.dumps(cases), capture_output=True, text=True, encoding="utf-8",
        cwd=folder, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr[-3000:]
    return dict(zip(keys, json.loads(child.stdout), strict=True))


@pytest.mark.parametrize("code", CASES)
def test_ms_swift_stops_where_the_table_does_and_not_besides(
    code: str, answers: dict[tuple[str, str], str | None]
) -> None:
    word, refused, taken = CASES[code]
    said = answers[code, "refused"]
    assert said is not None and word.lower() in said.lower()
    assert answers[code, "taken"] is None
    if code not in CHANGED:
        with pytest.raises(Refused) as caught:
            advise(train_spec({"model": "a/b", **refused}), None, CPU, frozenset({"deepspeed", "flash_attn"}))
        assert caught.value.code == code
    advise(train_spec({"model": "a/b", **taken}), None, CPU, frozenset({"deepspeed"}))
