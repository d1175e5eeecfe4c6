"""Rules about how the data is read: lazily, as a stream, packed."""

from __future__ import annotations

from services.planning.rules.rule import SWIFT, TRANSFORMERS, Context, Rule, Values


def _lazy(context: Context) -> Values | None:
    given = context.settings
    other = next((name for name in ("packing", "streaming") if given.get(name)), None)
    return {"name": other} if given.get("lazy_tokenize") is True and other else None


def _endless_stream(context: Context) -> Values | None:
    given = context.settings
    counted = context.whole("max_steps", -1) > 0 or bool(given.get("train_iters"))
    return {} if given.get("streaming") and not counted else None


def _stream_without_split(context: Context) -> Values | None:
    split = context.settings.get("split_dataset_ratio")
    return {"ratio": split} if context.settings.get("streaming") and split else None


def _split_besides_file(context: Context) -> Values | None:
    split = context.settings.get("split_dataset_ratio")
    return {"ratio": split} if context.settings.get("val_dataset") and split else None


def _stored_stream(context: Context) -> Values | None:
    given = context.settings
    return {} if given.get("streaming") and (given.get("cached_dataset") or given.get("cached_val_dataset")) else None


def _stored_for_grpo(context: Context) -> Values | None:
    given = context.settings
    stored = given.get("cached_dataset") or given.get("cached_val_dataset")
    return {} if stored and context.setup.rlhf_type == "grpo" and not context.megatron else None


def _split_rows(context: Context) -> Values | None:
    given = context.settings
    asked = given.get("truncation_strategy") == "split"
    return {} if asked and (context.command.split()[-1] != "pt" or given.get("lazy_tokenize") is True) else None


def _sorted_megatron(context: Context) -> Values | None:
    given = context.settings
    return {} if context.megatron and given.get("group_by_length") and given.get("padding_free", True) else None


RULES = (
    Rule("lazy_clash", "refused", f"{SWIFT} BaseArguments._init_lazy_tokenize raises", _lazy),
    Rule("stream_needs_steps", "refused", f"{TRANSFORMERS} Trainer._validate_args raises: a stream has no length",
         _endless_stream),
    Rule("stream_split", "changed", f"{SWIFT} DataArguments.__post_init__ sets split_dataset_ratio to 0",
         _stream_without_split, lambda _: {"split_dataset_ratio": 0.0}),
    Rule("split_besides_file", "changed", f"{SWIFT} DataArguments.__post_init__ sets split_dataset_ratio to 0",
         _split_besides_file, lambda _: {"split_dataset_ratio": 0.0}),
    Rule("stored_stream", "refused", f"{SWIFT} SwiftSft._prepare_dataset asserts", _stored_stream),
    Rule("stored_grpo", "refused", f"{SWIFT} RLHFArguments._init_grpo raises", _stored_for_grpo),
    Rule("split_rows", "refused", f"{SWIFT} SwiftSft._encode_dataset raises", _split_rows),
    Rule("sorted_megatron", "refused", f"{SWIFT} MegatronArguments.__post_init__ raises", _sorted_megatron),
)  # fmt: skip
