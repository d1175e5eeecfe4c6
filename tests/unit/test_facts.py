"""What a model folder says of itself, without loading it."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from services.models.facts import ModelFacts, read_facts


def test_counts_are_read_from_the_headers(tiny_model: Path) -> None:
    facts = read_facts(tiny_model)
    assert facts is not None
    assert (facts.parameters, facts.bytes) == (40 + 32 + 4, 4 * 76)
    assert (facts.heads, facts.key_value_heads, facts.linears) == (4, 2, ((8, 4),))
    assert facts.lora_parameters(8) == 8 * (8 + 4)


def test_a_model_in_several_files_is_counted_once(tiny_model: Path) -> None:
    whole = read_facts(tiny_model)
    (tiny_model / "model.safetensors").rename(tiny_model / "model-00001-of-00002.safetensors")
    (tiny_model / "model-00002-of-00002.safetensors").write_bytes(struct.pack("<Q", 2) + b"{}")
    assert read_facts(tiny_model) == whole


def test_the_text_part_of_a_multimodal_model_has_the_heads(tiny_model: Path) -> None:
    config = {"text_config": {"num_attention_heads": 6, "num_key_value_heads": 3}, "num_attention_heads": 1}
    (tiny_model / "config.json").write_text(json.dumps(config))
    facts = read_facts(tiny_model)
    assert facts is not None and (facts.heads, facts.key_value_heads) == (6, 3)


@pytest.mark.parametrize(
    ("heads", "key_value_heads", "sizes"),
    [
        (9, 3, [1, 3, 9]),
        (4, 2, [1, 2, 4]),
        (8, 8, [1, 2, 4, 8]),
        (14, 2, [1, 2, 14]),
        (6, None, [1, 2, 3, 6]),
        (None, None, [1]),
    ],
)
def test_only_sizes_that_divide_the_heads_split_a_model(
    heads: int | None, key_value_heads: int | None, sizes: list[int]
) -> None:
    assert ModelFacts(1, 1, heads, key_value_heads, ()).tensor_parallel_sizes() == sizes


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 4,
        struct.pack("<Q", 100) + b"{",
        struct.pack("<Q", 1 << 62),
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 9) + b'{"a": {}}',
    ],
)
def test_damaged_weights_have_no_facts(tiny_model: Path, data: bytes) -> None:
    (tiny_model / "model.safetensors").write_bytes(data)
    assert read_facts(tiny_model) is None


def test_a_folder_without_weights_has_no_facts(tmp_path: Path) -> None:
    assert read_facts(tmp_path) is None and read_facts(tmp_path / "none") is None
