"""What ms-swift, PEFT and transformers leave on disk: checkpoints, adapters, whole models."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

INCOMPLETE = "checkpoint-is-incomplete.txt"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_WEIGHTS = (
    "*.safetensors", "pytorch_model*.bin", "adapter_model.bin", "*.distcp", "global_step*", "pytorch_model_fsdp*",
)  # fmt: skip
_MODEL_WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.pth", "*.gguf")
LARGEST_HEADER_BYTES = 100_000_000
"""What safetensors itself reads at most."""
_CONVERTED = ("converted", "default")
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
    return _has(path, _WEIGHTS) and not any(map(_is_torn, _entries(path)))


def _is_torn(path: Path) -> bool:
    """True for a file whose end is missing, as after a power failure: the disk may keep names longer than bytes."""
    if path.suffix not in (".safetensors", ".pt", ".pth", ".bin"):
        return False
    try:
        stat = path.stat()
        return _ends_early(path, stat.st_size, stat.st_mtime_ns)
    except OSError:  # the trainer is deleting it
        return True


@lru_cache(maxsize=1024)
def _ends_early(path: Path, size: int, modified_ns: int) -> bool:
    if path.suffix == ".safetensors":
        meant = safetensors_bytes(path)
        return size >= 8 and (meant is None or meant > size)
    with path.open("rb") as file:  # torch writes zip archives, whose table comes last
        return file.read(4) == b"PK\x03\x04" and not zipfile.is_zipfile(path)


def safetensors_bytes(path: Path) -> int | None:
    """The size a safetensors file has when whole: its length word, a header that long, and the bytes that
    speaks of. None where it has no header that can be read.
    """
    try:
        with path.open("rb") as file:
            header = orjson.loads(file.read(min(int.from_bytes(file.read(8), "little"), LARGEST_HEADER_BYTES)))
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
            return int(file.tell() + max(ends))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None


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


def plain_adapter(path: Path) -> Path:
    """The adapter in ``path`` as a LoRA over the base as it is stored; ``path`` where it is one already.

    PiSSA, OLoRA and LoRA-GA split the base into adapter and rest. PEFT splits it anew whenever it loads such an
    adapter, which pissa_niter does by chance and so differently, and vLLM not at all. ms-swift writes what was learnt
    as a plain LoRA of twice the rank beside it (SwiftMixin._save_converted_model), counted from where the run began:
    of a run that went on from a checkpoint it lacks what was learnt before.
    """
    plain = path.joinpath(*_CONVERTED)
    start = (read_json(path / "adapter_config.json") or {}).get("init_lora_weights")
    if not isinstance(start, str) or not is_adapter(plain) or not _has(plain, _WEIGHTS):
        return path
    began = read_json(path / "args.json") or {}
    went_on = began.get("resume_from_checkpoint") or began.get("adapters")
    return path if went_on or any(map(_is_torn, _entries(plain))) else plain


def is_model(path: Path) -> bool:
    """True for a folder that holds a whole model: a configuration that can be read, and weights."""
    return read_json(path / "config.json") is not None and _has(path, _MODEL_WEIGHTS) and not is_adapter(path)


def torn_file(path: Path) -> str | None:
    """The name of a file of weights in ``path`` whose end is missing, as after a broken download.

    Raises PermissionError for one that may not be read.
    """
    for file in sorted(_entries(path)):
        if file.suffix == ".safetensors":
            file.open("rb").close()
        if _is_torn(file):
            return file.name
    return None


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
