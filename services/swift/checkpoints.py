"""What ms-swift, PEFT and transformers leave on disk: checkpoints, adapters, whole models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import orjson

INCOMPLETE = "checkpoint-is-incomplete.txt"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_WEIGHTS = (
    "*.safetensors", "pytorch_model*.bin", "adapter_model.bin", "*.distcp", "global_step*", "pytorch_model_fsdp*",
)  # fmt: skip
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
        for path in _entries(folder):
            match = _CHECKPOINT.fullmatch(path.name)
            if match and is_whole(path):
                found[int(match[1])] = Checkpoint(int(match[1]), path, _has(path, _OPTIMIZER))
    return [found[step] for step in sorted(found)]


def is_whole(path: Path) -> bool:
    """True when a checkpoint has weights and the trainer's state and nothing says that it was cut short."""
    if (path / INCOMPLETE).exists() or read_json(path / "trainer_state.json") is None:
        return False
    return _has(path, _WEIGHTS)


def _has(path: Path, patterns: tuple[str, ...]) -> bool:
    """True when something in ``path`` that is not empty has one of these names."""
    try:
        return any(
            fnmatch(item.name, pattern) and item.stat().st_size > 0 for item in _entries(path) for pattern in patterns
        )
    except OSError:  # the trainer is deleting it
        return False


def _entries(path: Path) -> list[Path]:
    try:
        return list(path.iterdir())
    except OSError:
        return []


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
