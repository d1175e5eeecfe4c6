"""A plan for every method and option, on one described machine: what the golden commands and the parser test hold.

``python -m tests.method_plans`` writes tests/golden/methods.txt anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from services.plan import Plan, Slot
from services.planning.choose import advise
from services.planning.machine import described, device_of_description
from services.planning.packages import ALL
from services.presets import machines
from services.specs import TrainSpec, train_spec
from services.swift import commands
from services.swift.commands import Data, Source
from services.training import launch_of
from tests.preset_table import config_of

GOLDEN = Path(__file__).parent / "golden" / "methods.txt"
MODEL = "Qwen/Qwen2.5-3B-Instruct"
FILLED = {"run": "/runs/r", "id": "r", "port": "4321", "devices": "0"}
DATA = Data((Slot("{run}/sample.jsonl"),), rows=1000)
FIXED = {
    "per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "max_length": 1024, "strategy": "single",
    "gradient_checkpointing": True, "dataloader_num_workers": 2, "torch_dtype": "bfloat16", "attn_impl": "sdpa",
    "padding_free": False, "use_liger_kernel": False,
}  # fmt: skip
"""What would otherwise be the planner's choice: these commands are about the methods."""

RLHF: dict[str, dict[str, Any]] = {
    "dpo": {"beta": 0.1, "rpo_alpha": 0.2},
    "orpo": {"beta": 0.1},
    "simpo": {"simpo_gamma": 0.5},
    "cpo": {"cpo_alpha": 0.5},
    "kto": {"desirable_weight": 1.3},
    "rm": {"center_rewards_coefficient": 0.01},
    "grpo": {"reward_funcs": ["accuracy", "format"], "max_completion_length": 512},
    "gkd": {"teacher_model": "Qwen/Qwen2.5-3B-Instruct", "lmbda": 0.5},
}
OPTIONS: dict[str, dict[str, Any]] = {
    "full": {"tuner_type": "full"},
    "freezing the lower half": {"tuner_type": "full", "freeze_parameters_ratio": 0.5},
    "training one part": {
        "tuner_type": "full", "freeze_parameters": ["model"], "trainable_parameters": ["model.norm", "lm_head"],
    },
    "rsLoRA": {"use_rslora": True, "lora_rank": 64},
    "DoRA": {"use_dora": True},
    "PiSSA": {"init_weights": "pissa"},
    "LoRA+": {"lorap_lr_ratio": 16},
    "QLoRA with bitsandbytes": {"quant_method": "bnb"},
    "QLoRA with HQQ": {"quant_method": "hqq", "quant_bits": 4},
    "packing": {"packing": True, "attn_impl": "flash_attn"},
    "padding-free": {"padding_free": True, "attn_impl": "flash_attn"},
    "Liger": {"use_liger_kernel": True},
    "flash attention": {"attn_impl": "flash_attn"},
    "no gradient checkpointing": {"gradient_checkpointing": False},
    "NEFTune": {"neftune_noise_alpha": 5},
    "loss scale": {"loss_scale": "last_round+ignore_empty_think"},
    "a validation file, the best checkpoint and early stopping": {
        "val_dataset": ["/data/held out.jsonl"], "eval_strategy": "steps", "eval_steps": 50, "save_steps": 50,
        "load_best_model_at_end": True, "metric_for_best_model": "loss", "early_stop_interval": 3,
    },
    "a part for validation": {"split_dataset_ratio": 0.05, "eval_strategy": "epoch"},
    "few checkpoints, weights only": {"save_strategy": "epoch", "save_total_limit": 1, "save_only_model": True},
    "self-cognition": {"dataset": ["sample"], "model_name": "小黄", "model_author": "It's me"},
}  # fmt: skip
CASES: dict[str, dict[str, Any]] = {
    "pt": {"command": "pt"},
    "sft": {},
    **{name: {"rlhf_type": name, **args} for name, args in RLHF.items()},
    "dpo, full": {"rlhf_type": "dpo", "tuner_type": "full"},
    "grpo, vLLM on the same card": {
        "rlhf_type": "grpo", "reward_funcs": ["format"], "use_vllm": True, "vllm_gpu_memory_utilization": 0.3,
        "sleep_level": 1, "max_completion_length": 512,
    },
    "grpo, vLLM behind a server": {
        "rlhf_type": "grpo", "reward_funcs": ["format"], "vllm_server_host": ["10.0.0.2"], "vllm_server_port": [8001],
    },
    **OPTIONS,
}  # fmt: skip


def method_plan(case: dict[str, Any]) -> Plan:
    """The plan of a method or an option, what it leaves open being fixed."""
    return plan_of(train_spec({"model": MODEL, **FIXED, **case}), "1x24")


def plan_of(spec: TrainSpec, machine: str) -> Plan:
    """The plan of a spec on a described machine."""
    hardware = described(dict(machines()[machine]))
    advice = advise(spec, config_of(spec.model), hardware, ALL, rows=DATA.rows, here=False)
    device, source = device_of_description(hardware), Source(spec.model, local=False)
    return commands.train_plan(spec, launch_of(advice), source, DATA, device, "python").filled(FILLED)


def golden() -> str:
    """Every command under its name, as it is shown to a person."""
    root = str(Path(__file__).resolve().parents[1])
    return "".join(f"# {name}\n{method_plan(case)}\n\n" for name, case in CASES.items()).replace(root, "TUNEDESK")


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(golden(), "utf-8")
