"""What ms-swift 2 and 3 called its arguments, and what it calls them today (compared field by field with the argument
classes of the releases 2.0 to 4.0). old_names.json holds the longer lists: names that are gone, models and data sets
that had short names.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

RENAMED_IN_3 = {
    "add_output_dir_suffix": "add_version",
    "additional_trainable_parameters": "trainable_parameters",
    "batch_size": "per_device_train_batch_size",
    "bnb_4bit_comp_dtype": "bnb_4bit_compute_dtype",
    "boft_modules_to_save": "modules_to_save",
    "boft_target_modules": "target_modules",
    "check_model_is_latest": "check_model",
    "custom_train_dataset_path": "dataset",
    "custom_val_dataset_path": "val_dataset",
    "dataset_seed": "data_seed",
    "dataset_test_ratio": "split_dataset_ratio",
    "deepspeed_config_path": "deepspeed",
    "device_map_config": "device_map",
    "device_map_config_path": "device_map",
    "dtype": "torch_dtype",
    "eval_batch_size": "per_device_eval_batch_size",
    "eval_nproc": "eval_num_proc",
    "evaluation_strategy": "eval_strategy",
    "hf_output_dir": "output_dir",
    "ia3_modules_to_save": "modules_to_save",
    "ia3_target_modules": "target_modules",
    "init_lora_weights": "init_weights",
    "load_args_from_ckpt_dir": "load_args",
    "load_dataset_config": "load_data_args",
    "lora_bias_trainable": "lora_bias",
    "lora_dropout_p": "lora_dropout",
    "lora_lr_ratio": "lorap_lr_ratio",
    "lora_modules_to_save": "modules_to_save",
    "lora_target_modules": "target_modules",
    "lora_target_regex": "target_regex",
    "loss_name": "loss_type",
    "megatron_output_dir": "output_dir",
    "merge_lora_and_save": "merge_lora",
    "model_cache_dir": "model",
    "model_id_or_path": "model",
    "neftune_alpha": "neftune_noise_alpha",
    "ollama_output_dir": "output_dir",
    "only_save_model": "save_only_model",
    "preprocess_num_proc": "dataset_num_proc",
    "push_hub_strategy": "hub_strategy",
    "quant_device_map": "device_map",
    "quant_output_dir": "output_dir",
    "quant_seqlen": "max_length",
    "ref_model_id_or_path": "ref_model",
    "rescale_image": "max_pixels",
    "result_dir": "result_path",
    "reward_model_id_or_path": "reward_model",
    "save_safetensors": "safe_serialization",
    "sft_beta": "beta",
    "sft_type": "tuner_type",
    "show_dataset_sample": "val_dataset_sample",
    "streaming_buffer_size": "shuffle_buffer_size",
    "template_type": "template",
    "to_megatron": "to_mcore",
    "tools_prompt": "agent_template",
    "train_sampler_random": "train_dataloader_shuffle",
    "use_liger": "use_liger_kernel",
    "vera_modules_to_save": "modules_to_save",
    "vera_target_modules": "target_modules",
    "vit_use_gc": "vit_gradient_checkpointing",
    "vllm_lora_modules": "adapters",
}
"""Names of ms-swift 2."""

RENAMED_IN_4 = {
    "cache_max_entry_count": "lmdeploy_cache_max_entry_count",
    "data_parallel_size": "vllm_data_parallel_size",
    "disable_custom_all_reduce": "vllm_disable_custom_all_reduce",
    "enable_prefix_caching": "vllm_enable_prefix_caching",
    "enforce_eager": "vllm_enforce_eager",
    "eval_datasets": "eval_dataset",
    "eval_datasets_args": "eval_dataset_args",
    "gpu_memory_utilization": "vllm_gpu_memory_utilization",
    "limit_mm_per_prompt": "vllm_limit_mm_per_prompt",
    "lora_modules": "adapters",
    "max_num_seqs": "vllm_max_num_seqs",
    "metric": "eval_metric",
    "multi_turn_func": "multi_turn_scheduler",
    "num_sampling_per_gpu_batch_size": "num_sampling_batch_size",
    "num_sampling_per_gpu_batches": "num_sampling_batches",
    "pipeline_parallel_size": "vllm_pipeline_parallel_size",
    "quant_policy": "lmdeploy_quant_policy",
    "session_len": "lmdeploy_session_len",
    "swanlab_lark_secret": "swanlab_secret",
    "swanlab_lark_webhook_url": "swanlab_webhook_url",
    "tensor_parallel_size": "vllm_tensor_parallel_size",
    "tp": "lmdeploy_tp",
    "train_type": "tuner_type",
    "use_async_engine": "vllm_use_async_engine",
    "vision_batch_size": "lmdeploy_vision_batch_size",
}
"""Names of ms-swift 3 (many of them of 2 as well)."""

MEGATRON_3 = {
    "adapter_load": "mcore_adapter",
    "adapters_load": "mcore_adapter",
    "distributed_backend": "ddp_backend",
    "eval_interval": "eval_steps",
    "extra_megatron_kwargs": "megatron_extra_kwargs",
    "load": "mcore_model",
    "log_interval": "logging_steps",
    "manual_gc_interval": "manual_gc_steps",
    "max_epochs": "num_train_epochs",
    "mcore_adapters": "mcore_adapter",
    "microbatch_group_size_per_virtual_pipeline_stage": "microbatch_group_size_per_vp_stage",
    "num_workers": "dataloader_num_workers",
    "ref_adapter_load": "mcore_ref_adapter",
    "ref_load": "mcore_ref_model",
    "save": "output_dir",
    "save_interval": "save_steps",
    "train_type": "tuner_type",
}
"""Names of Megatron-SWIFT 3."""

MEGATRON_3_NEGATED = {
    "no_bias_dropout_fusion": "bias_dropout_fusion",
    "no_bias_swiglu_fusion": "bias_activation_fusion",
    "no_data_sharding": "data_sharding",
    "no_gradient_accumulation_fusion": "gradient_accumulation_fusion",
    "no_initialization": "perform_initialization",
    "no_masked_softmax_fusion": "masked_softmax_fusion",
    "no_rope_fusion": "apply_rope_fusion",
}
"""Switches of Megatron-SWIFT 3 that say the opposite today."""


NEAREST = {
    "additional_saved_files": "",
    "eval_human": "val_dataset",
    "fsdp_transformer_layer_cls": "fsdp",
    "gpu_memory_fraction": "",
    "gguf_file": "to_ollama",
    "load_safetensors": "model",
    "lmdeploy_device": "",
    "loss_scale_config_path": "loss_scale",
    "no_cuda": "use_cpu",
    "num_infer_workers": "vllm_mode",
    "overwrite_output_dir": "add_version",
    "quant_lora_ckpt_path": "adapters",
    "save_result": "result_path",
    "seq_length": "max_length",
    "sequence_parallel": "sequence_parallel_size",
    "streaming_val_size": "split_dataset_ratio",
    "test_oom_error": "",
    "lora_target": "target_modules",
    "max_seq_length": "max_length",
    "train_dataset_mix_ds": "dataset",
    "train_dataset_mix_ratio": "interleave_prob",
    "use_lmdeploy": "use_vllm",
    "use_fast_tokenizer": "",
    "use_loss_scale": "loss_scale",
    "val_dataset_sample": "val_dataset",
    "vllm_device": "vllm_mode",
}
"""Names without a counterpart, gone or never there -> the argument of today that does something alike."""

_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "AUTO": ""}
VALUES: dict[tuple[str, str], tuple[str, str]] = {
    ("deepspeed", "default-zero2"): ("zero2", "2"),
    ("deepspeed", "default-zero3"): ("zero3", "2"),
    ("deepspeed", "zero2-offload"): ("zero2_offload", "2"),
    ("deepspeed", "zero3-offload"): ("zero3_offload", "2"),
    ("fsdp", "full_shard"): ("fsdp2", "3"),
    ("fsdp", "full_shard auto_wrap"): ("fsdp2", "3"),
    ("hub_strategy", "push_best"): ("every_save", "2"),
    ("hub_strategy", "push_last"): ("every_save", "2"),
    ("infer_backend", "AUTO"): ("", "2"),
    ("infer_backend", "pt"): ("transformers", "3"),
    ("quant_bits", "0"): ("", "2"),
    ("sampler_engine", "pt"): ("transformers", "3"),
    ("target_modules", "ALL"): ("all-linear", "2"),
    ("target_modules", "AUTO"): ("", "2"),
    ("target_modules", "DEFAULT"): ("", "2"),
    ("target_modules", "EMBEDDING"): ("all-embedding", "2"),
    ("template", "AUTO"): ("", "2"),
    ("tuner_backend", "swift"): ("", "2"),
    ("truncation_strategy", "ignore"): ("delete", "2"),
    ("truncation_strategy", "truncation_left"): ("left", "2"),
    **{
        (name, old): (new, "2")
        for name in ("torch_dtype", "lora_dtype", "bnb_4bit_compute_dtype")
        for old, new in _DTYPES.items()
    },
}
"""(today's name, old value) -> (today's value, the version that had the old one); "" is today's default."""


@functools.cache
def _lists() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("old_names.json").read_bytes())
    return found


OF_TRANSFORMERS = frozenset(
    ["dispatch_batches", "evaluation_strategy", "fp16_backend", "fp16_opt_level", "fsdp_min_num_params",
     "fsdp_transformer_layer_cls_to_wrap", "half_precision_backend", "include_inputs_for_metrics", "jit_mode_eval",
     "mp_parameters", "no_cuda", "overwrite_output_dir", "past_index", "per_gpu_eval_batch_size",
     "per_gpu_train_batch_size", "push_to_hub_model_id", "push_to_hub_organization", "push_to_hub_token", "ray_scope",
     "split_batches", "torchdynamo", "tpu_num_cores", "use_ipex", "use_legacy_prediction_loop", "use_mps_device"]
)  # fmt: skip
"""Arguments that transformers 4 had, and so ms-swift 2 and 3."""


def is_shape(name: str) -> bool:
    """Whether ``name`` was part of the model's shape, which Megatron-SWIFT 4 reads from the model's own config.json."""
    return name in _lists()["shape"]


def gone_since(name: str) -> str:
    """The major versions of ms-swift that had an argument which 4 has not, or ""."""
    return _lists()["gone"].get(name, "2, 3" if name in OF_TRANSFORMERS else "")


def old_model(model_type: str) -> str:
    """The hub id that a ``model_type`` of ms-swift 2 stood for, or ""."""
    return _lists()["models"].get(model_type, "")


def old_dataset(text: str) -> str:
    """A data set's short name of ms-swift 2, with ``:subset`` and ``#count``, as today's; "" for anything else."""
    name, mark, count = text.partition("#")
    name, colon, subset = name.partition(":")
    found = _lists()["datasets"].get(name, "")
    return f"{found}{colon}{subset}{mark}{count}" if found else ""


def listed_as(owner: str, attribute: str) -> str:
    """What ``ModelType.qwen_7b_chat`` and ``DatasetName.alpaca_zh`` of ms-swift 2 stood for, or ""."""
    names = _lists().get({"ModelType": "models", "DatasetName": "datasets"}.get(owner, ""), {})
    return next((name for name in names if name.replace("-", "_") == attribute), "")
