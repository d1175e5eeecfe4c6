"""What a model folder is, read from config.json and the headers of its safetensors files; no weights are loaded."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path

import orjson

from services.swift.checkpoints import read_json

_MAX_HEADER = 100 * 1024 * 1024


@dataclass(frozen=True)
class ModelFacts:
    """Counts are exact; ``bytes`` is what the weights take as stored."""

    parameters: int
    bytes: int
    heads: int | None
    key_value_heads: int | None
    linears: tuple[tuple[int, int], ...]
    """Shapes (out, in) of the layers that LoRA's "all-linear" adapts."""

    def lora_parameters(self, rank: int) -> int:
        """Parameters of a LoRA of ``rank`` on all linear layers: rank x (in + out) each (Hu et al. 2021)."""
        return sum(rank * (rows + columns) for rows, columns in self.linears)

    def tensor_parallel_sizes(self) -> list[int]:
        """The sizes that vLLM can split the attention heads into: those that divide them."""
        if not self.heads:
            return [1]
        return [size for size in range(1, self.heads + 1) if self.heads % size == 0 and self._splits_kv(size)]

    def _splits_kv(self, size: int) -> bool:
        heads = self.key_value_heads or self.heads or 1
        return heads % size == 0 or size % heads == 0


def read_facts(folder: Path) -> ModelFacts | None:
    """The facts of a local model folder, None where there are no safetensors files or they are damaged."""
    config = read_json(folder / "config.json") or {}
    text = config.get("text_config") if isinstance(config.get("text_config"), dict) else config
    parameters = size = 0
    linears: list[tuple[int, int]] = []
    for path in sorted(folder.glob("*.safetensors")):
        header = _header(path)
        if header is None:
            return None
        for name, tensor in header.items():
            if name == "__metadata__" or not isinstance(tensor, dict):
                continue
            try:
                shape, (start, end) = tensor["shape"], tensor["data_offsets"]
            except (KeyError, ValueError):
                return None
            parameters += math.prod(shape)
            size += end - start
            if len(shape) == 2 and not any(part in name for part in ("embed", "lm_head", "wte", "norm")):
                linears.append((shape[0], shape[1]))
    if not parameters:
        return None
    return ModelFacts(
        parameters, size, _count(text, "num_attention_heads"), _count(text, "num_key_value_heads"), tuple(linears)
    )


def _header(path: Path) -> dict[str, dict[str, list[int]]] | None:
    """The table at the beginning of a safetensors file: 8 bytes little-endian length, then JSON."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > _MAX_HEADER:
                return None
            value = orjson.loads(file.read(length))
    except (OSError, ValueError, struct.error):
        return None
    return value if isinstance(value, dict) else None


def _count(config: object, key: str) -> int | None:
    value = config.get(key) if isinstance(config, dict) else None
    return value if isinstance(value, int) and value > 0 else None
