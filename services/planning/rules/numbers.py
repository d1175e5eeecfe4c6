"""Numbers that no training can have."""

from __future__ import annotations

import math

from services.planning.rules.rule import SWIFT, TRANSFORMERS, Context, Rule, Values

AT_LEAST_ONE = (
    "per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps", "max_length",
    "lora_rank", "save_total_limit", "sequence_parallel_size", "num_generations", "max_completion_length",
    "packing_length", "micro_batch_size", "global_batch_size", "train_iters", "tensor_model_parallel_size",
    "pipeline_model_parallel_size", "expert_model_parallel_size", "context_parallel_size", "quant_bits",
    "vllm_tensor_parallel_size",
)  # fmt: skip
MORE_THAN_NOTHING = ("num_train_epochs", "save_steps", "logging_steps", "eval_steps", "lora_alpha", "max_grad_norm")
NOT_NEGATIVE = (
    "learning_rate", "lr", "weight_decay", "warmup_steps", "dataloader_num_workers", "neftune_noise_alpha", "beta",
    "lr_warmup_iters", "max_new_tokens",
)  # fmt: skip
SHARES = ("warmup_ratio", "split_dataset_ratio", "lora_dropout", "freeze_parameters_ratio", "lr_warmup_fraction")
"""From 0 to less than 1."""


def _impossible(context: Context) -> Values | None:
    for name, value in context.settings.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if name in AT_LEAST_ONE and value < 1:
            return {"name": name, "value": value, "least": "1"}
        if name in MORE_THAN_NOTHING and not value > 0 and not (name == "max_grad_norm" and value == 0):
            return {"name": name, "value": value, "least": "0 <"}
        if (name in NOT_NEGATIVE and value < 0) or math.isnan(value):
            return {"name": name, "value": value, "least": "0"}
        if name in SHARES and not 0 <= value < 1:
            return {"name": name, "value": value, "least": "0 … 0.99"}
        if name == "max_steps" and value < -1:
            return {"name": name, "value": value, "least": "1"}
    return None


def _twice(context: Context) -> Values | None:
    given = context.settings
    return {} if given.get("warmup_ratio") and given.get("warmup_steps") else None


def _both_halves(context: Context) -> Values | None:
    return {} if context.settings.get("fp16") is True and context.settings.get("bf16") is True else None


def _no_workers(context: Context) -> Values | None:
    given = context.settings
    idle = given.get("dataloader_num_workers") == 0 and given.get("dataloader_prefetch_factor")
    return {"factor": given["dataloader_prefetch_factor"]} if idle else None


RULES = (
    Rule("argument_number", "refused", f"{TRANSFORMERS} TrainingArguments._validate_args, Trainer, PEFT LoraConfig and "
         "torch.utils.data: each raises, or trains nothing", _impossible),
    Rule("warmup_twice", "refused", f"{SWIFT} TrainArgumentsMixin._handle_hf_removed_args raises", _twice),
    Rule("both_halves", "refused", f"{TRANSFORMERS} TrainingArguments._validate_args raises", _both_halves),
    Rule("prefetch_without_workers", "refused", f"{TRANSFORMERS} TrainingArguments._validate_args raises", _no_workers),
)  # fmt: skip
