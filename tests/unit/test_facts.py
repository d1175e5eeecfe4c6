"""What a model folder says of itself, without loading it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from services.models.facts import ModelFacts, Tensor, facts_of, read_facts


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


QWEN2_7B = {"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
            "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "torch_dtype": "bfloat16",
            "max_position_embeddings": 32768, "tie_word_embeddings": False}  # fmt: skip
QWEN2_HALF_B = {**QWEN2_7B, "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14,
                "num_key_value_heads": 2, "intermediate_size": 4864, "vocab_size": 151936,
                "tie_word_embeddings": True}  # fmt: skip
QWEN3_30B_A3B = {"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
                 "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
                 "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936, "decoder_sparse_step": 1,
                 "mlp_only_layers": [], "tie_word_embeddings": False}  # fmt: skip
DEEPSEEK_V3 = {"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
               "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
               "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
               "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
               "moe_layer_freq": 1, "vocab_size": 129280, "tie_word_embeddings": False}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (QWEN2_7B, 7_615_616_512),
        (QWEN2_HALF_B, 494_032_768),
        (QWEN3_30B_A3B, 30_532_122_624),
        (DEEPSEEK_V3, 671_026_404_352),
    ],
)
def test_a_config_alone_tells_the_known_number_of_parameters(config: dict[str, Any], parameters: int) -> None:
    facts = facts_of(config)
    assert facts is not None and not facts.exact
    assert facts.parameters == parameters


def test_a_folder_with_only_a_config_has_computed_facts(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(QWEN2_7B))
    facts = read_facts(tmp_path)
    assert facts is not None and not facts.exact
    assert (facts.layers, facts.hidden, facts.head_dim, facts.vocabulary) == (28, 3584, 128, 152064)
    assert (facts.dtype, facts.max_positions, facts.tied) == ("bfloat16", 32768, False)
    assert facts.bytes == 2 * facts.parameters
    assert facts.embedding_parameters == 2 * 152064 * 3584


def test_lora_on_chosen_layers_is_smaller_than_on_all() -> None:
    facts = facts_of(QWEN2_7B)
    assert facts is not None
    assert facts.lora_parameters(8) == 20_185_088  # what peft prints for rank 8 on all linear layers
    assert facts.lora_parameters(8, ("q_proj", "v_proj")) == 28 * 8 * (3584 + 3584 + 3584 + 512)


def test_experts_are_counted_but_not_among_the_layers_lora_adapts() -> None:
    facts = facts_of(QWEN3_30B_A3B)
    assert facts is not None
    assert facts.expert_parameters == 48 * 128 * 3 * 2048 * 768
    assert (facts.experts, facts.experts_per_token, facts.expert_intermediate) == (128, 8, 768)
    assert set(facts.linear_names) == {"q_proj", "k_proj", "v_proj", "o_proj"}


def test_layers_without_experts_are_told_apart() -> None:
    facts = facts_of(DEEPSEEK_V3)
    assert facts is not None and (facts.dense_layers, facts.shared_intermediate) == (3, 2048)


def test_headers_outweigh_the_config_and_leave_out_pictures() -> None:
    headers = {
        "visual.blocks.0.attn.qkv.weight": Tensor((30, 10), 600, "BF16"),
        "model.embed_tokens.weight": Tensor((100, 10), 2000, "BF16"),
        "model.layers.0.mlp.gate.weight": Tensor((4, 10), 80, "BF16"),
        "model.layers.0.mlp.experts.0.up_proj.weight": Tensor((7, 10), 140, "BF16"),
        "model.layers.0.self_attn.q_proj.weight": Tensor((10, 10), 200, "BF16"),
    }
    facts = facts_of({"text_config": {"num_attention_heads": 2}}, headers)
    assert facts is not None and facts.exact
    assert (facts.parameters, facts.bytes, facts.dtype, facts.layers) == (1510, 3020, "bfloat16", 1)
    assert (facts.vision_parameters, facts.expert_parameters, facts.embedding_parameters) == (300, 70, 1000)
    assert (facts.linears, facts.linear_names) == (((10, 10),), ("q_proj",))


@pytest.mark.parametrize(
    ("quantization", "method", "bits"),
    [
        ({"quant_method": "awq", "bits": 4}, "awq", 4),
        ({"quant_method": "gptq", "bits": 8}, "gptq", 8),
        ({"load_in_4bit": True}, "bitsandbytes", 4),
        ({"quant_method": "fp8"}, "fp8", 8),
        ("nonsense", None, None),
    ],
)
def test_a_quantized_model_has_all_its_parameters_in_fewer_bytes(
    quantization: object, method: str | None, bits: int | None
) -> None:
    facts = facts_of({**QWEN2_7B, "quantization_config": quantization})
    assert facts is not None
    assert (facts.quant_method, facts.quant_bits) == (method, bits)
    assert facts.parameters == 7_615_616_512
    assert (facts.bytes < 2 * facts.parameters) == (method is not None)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"hidden_size": "large"},
        {"text_config": []},
        {"model_type": "bert", "hidden_size": 8},
        {"num_hidden_layers": -1},
    ],
)
def test_a_config_that_does_not_tell_the_sizes_has_no_facts(config: dict[str, Any]) -> None:
    assert facts_of(config) is None
