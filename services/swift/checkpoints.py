"""What ms-swift, PEFT and transformers leave on disk: checkpoints, adapters, whole models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

INCOMPLETE = "checkpoint-is-incomplete.txt"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)$")
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "adapter_model.bin", "*.distcp", "global_step*", "pytorch_model_fsdp*")
_OPTIMIZER = ("optimizer*", "global_step*", "pytorch_model_fsdp*", "bf16_zero*")


@dataclass(frozen=True)
class Checkpoint:
    """A saved state of training."""

    step: int
    path: Path
    resumable: bool
    """False when it holds no optimizer state, so that training would start that anew."""


def list_checkpoints(folders: list[Path]) -> list[Checkpoint]:
    """All whole checkpoints in ``folders``, by step; of two with the same step the one in the later folder."""
    found: dict[int, Checkpoint] = {}
    for folder in folders:
        for path in folder.glob("checkpoint-*"):
            match = _CHECKPOINT.search(path.name)
            if match and is_whole(path):
                resumable = any(next(path.glob(pattern), None) is not None for pattern in _OPTIMIZER)
                found[int(match[1])] = Checkpoint(int(match[1]), path, resumable)
    return [found[step] for step in sorted(found)]


def is_whole(path: Path) -> bool:
    """True when a checkpoint has weights and the trainer's state and nothing says that it was cut short."""
    if (path / INCOMPLETE).exists() or read_json(path / "trainer_state.json") is None:
        return False
    return any(item.stat().st_size > 0 for pattern in _WEIGHTS for item in path.glob(pattern))


def is_adapter(path: Path) -> bool:
    """True for a folder that holds a PEFT adapter."""
    return (path / "adapter_config.json").is_file()


def is_model(path: Path) -> bool:
    """True for a folder that holds a whole model."""
    return (path / "config.json").is_file() and not is_adapter(path)


def adapter_base(path: Path) -> str | None:
    """The base model that an adapter names: ms-swift's args.json first, else PEFT's own configuration."""
    for name, key in (("args.json", "model"), ("adapter_config.json", "base_model_name_or_path")):
        value = (read_json(path / name) or {}).get(key)
        if isinstance(value, str) and value:
            return value
    return None


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None where there is none."""
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
