"""What a model is, read from config.json and the headers of its safetensors files; no weights are loaded."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from services.models.shapes import Decoder, Shape, decoder_of, tensors_of
from services.swift.checkpoints import read_json

MAX_HEADER = 100 * 1024 * 1024
_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8, "float8_e4m3fn": 1}
_NOT_ADAPTED = re.compile(
    r"embed|lm_head|wte|wpe|norm|\.experts\.|(?:^|\.)(?:gate|router|score|sinks)\.|_inv$|absmax|quant"
)
_VISION = re.compile(
    r"(?:^|\.)(?:visual|vision\w*|vit|img_\w+|image_\w+|mm_projector|multi_modal_projector|mlp1|audio\w*|"
    r"connector|resampler|aligner)\."
)
_EMBEDDING = re.compile(r"embed_tokens|wte\.|tok_embeddings|word_embeddings|lm_head|embed_out|(?:^|\.)output\.weight$")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d+)\.")


@dataclass(frozen=True)
class Tensor:
    """One entry of a safetensors header."""

    shape: Shape
    bytes: int
    dtype: str = ""


Headers = Mapping[str, Tensor]


@dataclass(frozen=True)
class ModelFacts:
    """Sizes of a model. Where ``exact`` is False the counts follow from config.json alone; ``bytes`` is what the
    weights take as stored."""

    parameters: int
    bytes: int
    heads: int | None
    key_value_heads: int | None
    linears: tuple[tuple[int, int], ...]
    """Shapes (out, in) of the layers that LoRA's "all-linear" adapts: not experts, routers and vision."""
    linear_names: tuple[str, ...] = ()
    """The last part of each one's name (q_proj …), in the same order."""
    exact: bool = True
    model_type: str = ""
    architecture: str = ""
    layers: int = 0
    hidden: int = 0
    intermediate: int = 0
    head_dim: int = 0
    vocabulary: int = 0
    tied: bool = False
    max_positions: int | None = None
    dtype: str | None = None
    """Of the weights as stored: bfloat16, float16, float32; None: not told."""
    experts: int = 0
    """Of a layer that has some; 0: none has."""
    experts_per_token: int = 0
    expert_intermediate: int = 0
    shared_intermediate: int = 0
    dense_layers: int = 0
    """Layers with one MLP in place of experts."""
    expert_parameters: int = 0
    embedding_parameters: int = 0
    """Embedding and output layer together."""
    vision_parameters: int = 0
    """Of everything before the language model: encoders of pictures or sound and what joins them to it."""
    quant_method: str | None = None
    quant_bits: int | None = None

    def lora_parameters(self, rank: int, target_modules: Iterable[str] = ("all-linear",)) -> int:
        """Parameters of a LoRA of ``rank``: rank x (in + out) for each adapted layer (Hu et al. 2021)."""
        wanted = set(target_modules)
        names = self.linear_names if self.linear_names and "all-linear" not in wanted else None
        shapes = zip(self.linears, names, strict=True) if names else ((shape, "") for shape in self.linears)
        return sum(rank * sum(shape) for shape, name in shapes if not name or name in wanted)

    def tensor_parallel_sizes(self) -> list[int]:
        """The sizes that vLLM can split the attention heads into: those that divide them."""
        if not self.heads:
            return [1]
        return [size for size in range(1, self.heads + 1) if self.heads % size == 0 and self._splits_kv(size)]

    def _splits_kv(self, size: int) -> bool:
        heads = self.key_value_heads or self.heads or 1
        return heads % size == 0 or size % heads == 0


def read_facts(folder: Path) -> ModelFacts | None:
    """The facts of a local model folder: exact with safetensors files, computed where only config.json is there.

    None where its safetensors files are damaged, or nothing says what it is.
    """
    headers: dict[str, Tensor] = {}
    files = sorted(folder.glob("*.safetensors"))
    for path in files:
        header = _read_header(path)
        if header is None:
            return None
        headers |= header
    return facts_of(read_json(folder / "config.json") or {}, headers if files else None)


def facts_of(config: Mapping[str, Any], headers: Headers | None = None) -> ModelFacts | None:
    """The facts of a model from its config.json and, where there are some, its safetensors headers.

    None where neither tells its size.
    """
    decoder = decoder_of(config)
    computed = {name: Tensor(shape, 0) for name, shape in (*tensors_of(decoder).items(), *_vision(config).items())}
    quantization = config.get("quantization_config") or decoder.config.get("quantization_config")
    method, bits = _quantization(quantization)
    packed = method is not None and bits is not None and bits <= 8 and method != "fp8"
    tensors = computed if headers is None or (packed and computed) else headers
    parameters = sum(math.prod(tensor.shape) for tensor in tensors.values())
    if not parameters:
        return None
    dtype = _dtype(config, decoder, headers)
    linears = [(name, tensor.shape) for name, tensor in tensors.items() if _is_adapted(name, tensor.shape)]
    stored = sum(tensor.bytes for tensor in headers.values()) if headers else 0
    return ModelFacts(
        parameters=parameters,
        bytes=stored or _stored_bytes(parameters, tensors, dtype, bits),
        heads=decoder.heads,
        key_value_heads=decoder.key_value_heads,
        linears=tuple((shape[0], shape[1]) for _, shape in linears),
        linear_names=tuple(name.removesuffix(".weight").rpartition(".")[2] for name, _ in linears),
        exact=tensors is headers,
        model_type=str(config.get("model_type") or ""),
        architecture=_first(config.get("architectures")),
        layers=decoder.layers or _layers_in(tensors),
        hidden=decoder.hidden or 0,
        intermediate=decoder.intermediate or 0,
        head_dim=decoder.head_dim or 0,
        vocabulary=decoder.vocabulary or 0,
        tied=decoder.tied,
        max_positions=decoder.size("max_position_embeddings", "n_positions", "seq_length", "max_seq_len"),
        dtype=dtype,
        experts=decoder.experts,
        experts_per_token=decoder.experts_per_token,
        expert_intermediate=(decoder.expert_intermediate or 0) if decoder.experts else 0,
        shared_intermediate=decoder.shared_intermediate if decoder.experts else 0,
        dense_layers=decoder.dense_layers,
        expert_parameters=_count(tensors, re.compile(r"\.experts\.")),
        embedding_parameters=_count(tensors, _EMBEDDING),
        vision_parameters=_count(tensors, _VISION),
        quant_method=method,
        quant_bits=bits,
    )


def header_of(data: bytes) -> dict[str, Tensor] | None:
    """The table at the beginning of a safetensors file (without its length word); None for anything else."""
    try:
        value = orjson.loads(data)
        return {
            name: Tensor(tuple(map(int, entry["shape"])), int(entry["data_offsets"][1]) - int(entry["data_offsets"][0]),
                         str(entry.get("dtype", "")))
            for name, entry in value.items()
            if name != "__metadata__"
        }  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError, IndexError):
        return None


def _read_header(path: Path) -> dict[str, Tensor] | None:
    """8 bytes little-endian length, then that much JSON."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            return None if length > MAX_HEADER else header_of(file.read(length))
    except (OSError, struct.error):
        return None


def _is_adapted(name: str, shape: Shape) -> bool:
    return len(shape) == 2 and not _NOT_ADAPTED.search(name) and not _VISION.search(name) and not name.endswith(".bias")


def _count(tensors: Headers, names: re.Pattern[str]) -> int:
    return sum(math.prod(tensor.shape) for name, tensor in tensors.items() if names.search(name))


def _layers_in(tensors: Headers) -> int:
    numbers = {int(match[1]) for name in tensors if (match := _LAYER.search(name)) and not _VISION.search(name)}
    return max(numbers) + 1 if numbers else 0


def _vision(config: Mapping[str, Any]) -> dict[str, Shape]:
    """An encoder of pictures, roughly: attention and MLP of each layer; only where its sizes are told."""
    vision = config.get("vision_config")
    if not isinstance(vision, Mapping):
        return {}
    sizes = Decoder(vision, vision)
    layers = sizes.size("depth", "num_hidden_layers", "layers")
    hidden = sizes.size("embed_dim", "hidden_size", "width")
    if not layers or not hidden:
        return {}
    ratio = vision.get("mlp_ratio", 4)
    width = sizes.size("intermediate_size") or int(hidden * (ratio if isinstance(ratio, int | float) else 4))
    gated = 3 if vision.get("hidden_act") == "silu" else 2
    return {f"visual.blocks.{layer}.{name}": shape for layer in range(layers)
            for name, shape in (("attn", (4 * hidden, hidden)), ("mlp", (gated * width, hidden)))}  # fmt: skip


def _quantization(value: object) -> tuple[str | None, int | None]:
    """(method, bits) as config.json tells them."""
    if not isinstance(value, Mapping):
        return None, None
    method = str(value.get("quant_method") or ("bitsandbytes" if "load_in_4bit" in value else "unknown"))
    bits = value.get("bits") or value.get("nbits")
    if value.get("load_in_4bit") or method == "mxfp4":
        bits = 4
    elif value.get("load_in_8bit") or method == "fp8":
        bits = 8
    return method, bits if isinstance(bits, int) else None


def _dtype(config: Mapping[str, Any], decoder: Decoder, headers: Headers | None) -> str | None:
    for place in (config, decoder.config):
        told = place.get("torch_dtype") or place.get("dtype")
        if isinstance(told, str):
            return told.removeprefix("torch.")
    names = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
    sizes: dict[str, int] = {}
    for tensor in (headers or {}).values():
        sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.bytes
    return names.get(max(sizes, key=sizes.__getitem__)) if sizes else None


def _stored_bytes(parameters: int, tensors: Headers, dtype: str | None, bits: int | None) -> int:
    """Weights at their dtype; of a quantized model embeddings and output alone, the rest in bits with their scales."""
    width = _BYTES.get(dtype or "", 2)
    if bits is None or bits > 8:
        return parameters * width
    whole = _count(tensors, _EMBEDDING)
    return whole * width + int((parameters - whole) * (bits + 0.25) / 8)


def _first(value: object) -> str:
    return str(value[0]) if isinstance(value, list) and value else ""
