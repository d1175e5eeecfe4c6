"""Rules about saving, evaluating and going on: checkpoints, the best model, FSDP's own checkpointing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from services.planning.rules.rule import SWIFT, TRANSFORMERS, Context, Rule, Values


def eval_strategy(settings: Any) -> str:
    """As ms-swift settles it: save_strategy's where open, "no" without validation rows."""
    rows = settings.get("val_dataset") or settings.get("cached_val_dataset") or settings.get("eval_dataset")
    if not (rows or float(settings.get("split_dataset_ratio") or 0) > 0):
        return "no"
    return str(settings.get("eval_strategy") or settings.get("save_strategy") or "steps")


def _best_unevaluated(context: Context) -> Values | None:
    given = context.settings
    saves, evaluates = str(given.get("save_strategy") or "steps"), eval_strategy(given)
    if not given.get("load_best_model_at_end") or saves == "best" or context.megatron or saves == evaluates:
        return None
    return {"saves": saves, "evaluates": evaluates}


def _best_out_of_step(context: Context) -> Values | None:
    given = context.settings
    saves, evaluates = given.get("save_steps"), given.get("eval_steps")
    if not given.get("load_best_model_at_end") or eval_strategy(given) != "steps" or not saves or not evaluates:
        return None
    mixed = (saves < 1) != (evaluates < 1)
    return {"saves": saves, "evaluates": evaluates} if mixed or round(saves * 1e6) % round(evaluates * 1e6) else None


def _best_of_weights(context: Context) -> Values | None:
    given = context.settings
    sharded = context.deepspeed or context.fsdp
    both = given.get("save_only_model") and given.get("load_best_model_at_end")
    return {"given": "DeepSpeed" if context.deepspeed else "FSDP"} if both and sharded else None


def _shards_only_model(context: Context) -> Values | None:
    return {} if context.fsdp and context.settings.get("save_only_model") else None


def _searching_batch(context: Context) -> Values | None:
    return {} if context.settings.get("auto_find_batch_size") and context.stage == 3 else None


def _plateau(context: Context) -> Values | None:
    kind = context.settings.get("lr_scheduler_type")
    waits = kind in ("reduce_lr_on_plateau", "greedy")
    return {"kind": kind} if waits and eval_strategy(context.settings) == "no" else None


def _early_stop(context: Context) -> Values | None:
    waits = context.settings.get("early_stop_interval")
    return {} if waits and eval_strategy(context.settings) == "no" else None


def _nowhere(context: Context) -> Values | None:
    folder = context.settings.get("resume_from_checkpoint")
    gone = context.here and isinstance(folder, str) and not Path(folder).expanduser().is_dir()
    return {"folder": folder} if gone else None


def _fsdp_checkpointing(context: Context) -> Values | None:
    own = isinstance(context.settings.get("fsdp"), str) or context.setup.strategy == "fsdp2"
    return {} if own and context.fsdp and context.settings.get("gradient_checkpointing") is not False else None


RULES = (
    Rule("fsdp_checkpointing", "changed", f"{SWIFT} SftArguments._check_fsdp2_compatibility switches it off for "
         f"activation_checkpointing of fsdp2.json; {TRANSFORMERS} Trainer raises for both", _fsdp_checkpointing,
         lambda _: {"gradient_checkpointing": False}),
    Rule("best_unevaluated", "refused", f"{TRANSFORMERS} TrainingArguments._validate_args raises", _best_unevaluated),
    Rule("best_out_of_step", "refused", f"{TRANSFORMERS} TrainingArguments._validate_args raises", _best_out_of_step),
    Rule("best_of_weights", "refused", f"{TRANSFORMERS} Trainer.create_accelerator_and_postprocess raises",
         _best_of_weights),
    Rule("shards_only_model", "refused", f"{SWIFT} SftArguments._check_fsdp2_compatibility raises", _shards_only_model),
    Rule("searching_batch", "refused", f"{TRANSFORMERS} Trainer.create_accelerator_and_postprocess raises",
         _searching_batch),
    Rule("plateau_unevaluated", "refused", f"{TRANSFORMERS} TrainingArguments._validate_args raises", _plateau),
    Rule("early_stop_unevaluated", "warned", f"{SWIFT} callbacks/early_stop.py acts when a metric was evaluated",
         _early_stop),
    Rule("resume_nowhere", "refused", f"{SWIFT} swift/utils to_abspath(check_path_exist=True) raises", _nowhere),
)  # fmt: skip
