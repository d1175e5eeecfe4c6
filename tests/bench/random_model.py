"""Llama models of real sizes with random weights: they train as slowly and take as much memory as real ones."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")


@dataclass(frozen=True)
class Shape:
    """The sizes that differ between them; embedding and output layer are one matrix."""

    hidden: int
    layers: int
    heads: int
    key_value_heads: int
    intermediate: int
    vocabulary: int = 49152

    @property
    def config(self) -> dict[str, object]:
        """Its config.json."""
        return {
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": self.hidden,
            "intermediate_size": self.intermediate, "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads, "num_key_value_heads": self.key_value_heads,
            "vocab_size": self.vocabulary, "hidden_act": "silu", "max_position_embeddings": 8192,
            "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "tie_word_embeddings": True, "bos_token_id": 1,
            "eos_token_id": 2, "pad_token_id": 2, "dtype": "bfloat16",
        }  # fmt: skip


SHAPES = {
    "30M": Shape(384, 10, 6, 2, 1024),
    "135M": Shape(576, 30, 9, 3, 1536),
    "360M": Shape(960, 32, 15, 5, 2560),
}


def make_random_model(folder: Path, shape: Shape, tokenizer_of: Path) -> Path:
    """Write such a model with another one's tokenizer into ``folder``, in bfloat16 as models on a hub are."""
    folder.mkdir(parents=True)
    for name in TOKENIZER:
        shutil.copy(tokenizer_of / name, folder)
    (folder / "config.json").write_text(json.dumps(shape.config))
    random = numpy.random.default_rng(7)
    _write_safetensors(folder / "model.safetensors", {name: _bfloat16(random, size) for name, size in _tensors(shape)})
    return folder


def _bfloat16(random: numpy.random.Generator, size: tuple[int, ...]) -> numpy.ndarray:
    """Random values' upper halves: what bfloat16 keeps of a float32."""
    values = random.normal(0, 0.02, size) if len(size) > 1 else numpy.ones(size)
    return (values.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def _write_safetensors(path: Path, tensors: dict[str, numpy.ndarray]) -> None:
    """The header's length, the header, the values: numpy has no bfloat16 that safetensors would take."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, values in tensors.items():
        header[name] = {"dtype": "BF16", "shape": values.shape, "data_offsets": (end, end + values.nbytes)}
        end += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(values.tobytes())


def _tensors(shape: Shape) -> Iterator[tuple[str, tuple[int, ...]]]:
    hidden, keys = shape.hidden, shape.hidden // shape.heads * shape.key_value_heads
    yield "model.embed_tokens.weight", (shape.vocabulary, hidden)
    yield "model.norm.weight", (hidden,)
    for layer in range(shape.layers):
        name = f"model.layers.{layer}"
        yield f"{name}.input_layernorm.weight", (hidden,)
        yield f"{name}.post_attention_layernorm.weight", (hidden,)
        for part, rows in (("q", hidden), ("k", keys), ("v", keys), ("o", hidden)):
            yield f"{name}.self_attn.{part}_proj.weight", (rows, hidden)
        for part in ("gate", "up"):
            yield f"{name}.mlp.{part}_proj.weight", (shape.intermediate, hidden)
        yield f"{name}.mlp.down_proj.weight", (hidden, shape.intermediate)
