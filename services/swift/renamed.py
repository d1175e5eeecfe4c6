"""Argument names and values that people still paste, and what ms-swift calls them today."""

from __future__ import annotations

RENAMED = {
    # ms-swift 3
    "ckpt_dir": ("adapters", "model"),
    "lora_modules": ("adapters",),
    "metric": ("eval_metric",),
    "train_type": ("tuner_type",),
    # ms-swift 2
    "batch_size": ("per_device_train_batch_size",),
    "custom_train_dataset_path": ("dataset",),
    "custom_val_dataset_path": ("val_dataset",),
    "dataset_test_ratio": ("split_dataset_ratio",),
    "deepspeed_config_path": ("deepspeed",),
    "do_sample": ("temperature",),
    "dtype": ("torch_dtype",),
    "eval_batch_size": ("per_device_eval_batch_size",),
    "lora_bias_trainable": ("lora_bias",),
    "lora_lr_ratio": ("lorap_lr_ratio",),
    "lora_target_modules": ("target_modules",),
    "merge_lora_and_save": ("merge_lora",),
    "model_cache_dir": ("model",),
    "model_id_or_path": ("model",),
    "preprocess_num_proc": ("dataset_num_proc",),
    "quantization_bit": ("quant_bits",),
    "save_safetensors": ("safe_serialization",),
    "sft_type": ("tuner_type",),
    "show_dataset_sample": ("val_dataset_sample",),
    "template_type": ("template",),
    "use_flash_attn": ("attn_impl",),
    # what transformers and other trainers call it
    "evaluation_strategy": ("eval_strategy",),
    "flash_attn": ("attn_impl",),
    "gradient_clipping": ("max_grad_norm",),
    "lora_r": ("lora_rank",),
    "lr": ("learning_rate",),
    "max_seq_length": ("max_length",),
    "model_name_or_path": ("model",),
    "no_cuda": ("use_cpu",),
}
"""Old name -> today's, for arguments that no longer exist under the old one."""

_LORA_4_BIT = "--quant_method bnb --quant_bits 4 --tuner_type lora"
_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
RENAMED_VALUES = {
    ("deepspeed", "default-zero2"): "--deepspeed zero2",
    ("deepspeed", "default-zero3"): "--deepspeed zero3",
    ("fsdp", "full_shard"): "--fsdp fsdp2",
    ("fsdp", "full_shard auto_wrap"): "--fsdp fsdp2",
    ("infer_backend", "pt"): "--infer_backend transformers",
    ("quant_method", "qlora"): _LORA_4_BIT,
    ("target_modules", "ALL"): "--target_modules all-linear",
    ("tuner_type", "qlora"): _LORA_4_BIT,
    **{
        (name, old): f"--{name} {new}"
        for name in ("torch_dtype", "lora_dtype", "bnb_4bit_compute_dtype")
        for old, new in _DTYPES.items()
    },
}
"""(name, old value) -> what to write today."""
