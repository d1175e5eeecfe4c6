"""The optional packages that decide what ms-swift can do, by the names they are imported under."""

from __future__ import annotations

import importlib.util

ALL = frozenset({"bitsandbytes", "deepspeed", "flash_attn", "hqq", "liger_kernel", "megatron", "vllm"})
"""What a described machine counts as having."""
MEGATRON_PARTS = ("megatron.core", "transformer_engine", "mcore_bridge")
"""swift/megatron/arguments/megatron_args.py imports them all (ms-swift 4.6)."""


def installed() -> frozenset[str]:
    """Those of ``ALL`` that are installed beside TuneDesk; nothing is imported."""
    return frozenset(name for name in ALL if _is_there(name))


def _is_there(name: str) -> bool:
    parts = MEGATRON_PARTS if name == "megatron" else (name,)
    try:
        return all(importlib.util.find_spec(part) is not None for part in parts)
    except (ImportError, ValueError):  # a parent package that is missing, or a broken install
        return False
