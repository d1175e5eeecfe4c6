"""Parameters counted from a config.json alone are those of the model that transformers makes of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services.models.facts import facts_of

SIZES = {"hidden_size": 96, "intermediate_size": 160, "num_hidden_layers": 3, "num_attention_heads": 6,
         "num_key_value_heads": 2, "vocab_size": 320, "max_position_embeddings": 128}  # fmt: skip
EXPERTS = {"moe_intermediate_size": 40, "num_experts_per_tok": 2}
LATENT = {"kv_lora_rank": 16, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10,
          "num_key_value_heads": 6, "n_shared_experts": 2, "first_k_dense_replace": 1, "n_group": 1,
          "topk_group": 1}  # fmt: skip
LINEAR = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8,
          "linear_value_head_dim": 12, "linear_conv_kernel_dim": 4}  # fmt: skip
CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {"model_type": "llama"},
    "llama, tied, with biases": {"model_type": "llama", "tie_word_embeddings": True, "attention_bias": True,
                                 "mlp_bias": True},
    "mistral": {"model_type": "mistral", "head_dim": 24},
    "qwen2": {"model_type": "qwen2"},
    "qwen2, tied": {"model_type": "qwen2", "tie_word_embeddings": True},
    "qwen2_moe": {"model_type": "qwen2_moe", "num_experts": 4, "shared_expert_intermediate_size": 56, **EXPERTS,
                  "decoder_sparse_step": 2},
    "qwen3": {"model_type": "qwen3", "head_dim": 24},
    "qwen3_moe": {"model_type": "qwen3_moe", "head_dim": 24, "num_experts": 4, "mlp_only_layers": [1], **EXPERTS},
    "qwen3_next": {"model_type": "qwen3_next", "head_dim": 24, "num_experts": 4, **EXPERTS, **LINEAR,
                   "shared_expert_intermediate_size": 56,
                   "layer_types": ["linear_attention", "full_attention", "linear_attention"]},
    "qwen3_5_text": {"model_type": "qwen3_5_text", "head_dim": 24, **LINEAR, "tie_word_embeddings": False,
                     "layer_types": ["linear_attention", "linear_attention", "full_attention"]},
    "mixtral": {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2},
    "gpt_oss": {"model_type": "gpt_oss", "head_dim": 24, "num_local_experts": 4, "num_experts_per_tok": 2},
    "deepseek_v2": {"model_type": "deepseek_v2", "n_routed_experts": 4, "q_lora_rank": None, **EXPERTS, **LATENT},
    "deepseek_v3": {"model_type": "deepseek_v3", "n_routed_experts": 4, "q_lora_rank": 24, **EXPERTS, **LATENT},
    "glm4_moe": {"model_type": "glm4_moe", "head_dim": 24, "n_routed_experts": 4, "n_shared_experts": 1,
                 "attention_bias": True, "use_qk_norm": True, "first_k_dense_replace": 1, **EXPERTS},
    "glm": {"model_type": "glm", "head_dim": 16, "attention_bias": True, "pad_token_id": 0},
    "glm4": {"model_type": "glm4", "head_dim": 16, "attention_bias": True, "pad_token_id": 0},
    "gemma": {"model_type": "gemma", "head_dim": 24},
    "gemma2": {"model_type": "gemma2", "head_dim": 24},
    "gemma3_text": {"model_type": "gemma3_text", "head_dim": 24},
    "phi": {"model_type": "phi", "num_key_value_heads": 6},
    "phi3": {"model_type": "phi3", "pad_token_id": 0},
    "cohere": {"model_type": "cohere"},
    "olmo2": {"model_type": "olmo2"},
    "starcoder2": {"model_type": "starcoder2"},
    "granite": {"model_type": "granite"},
    "smollm3": {"model_type": "smollm3", "pad_token_id": 0},
}  # fmt: skip


@pytest.fixture(scope="module")
def counted() -> dict[str, dict[str, Any]]:
    """What transformers counts, from one process for all."""
    child = Path(__file__).with_name("count_parameters.py")
    configs = [{**SIZES, **config} for config in CONFIGS.values()]
    done = subprocess.run([sys.executable, "-P", str(child)], input=json.dumps(configs), text=True, check=False,
                          capture_output=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(CONFIGS, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", CONFIGS)
def test_parameters_are_those_of_the_model_transformers_makes(name: str, counted: dict[str, dict[str, Any]]) -> None:
    facts = facts_of({**SIZES, **CONFIGS[name]})
    assert facts is not None and not facts.exact
    assert facts.parameters == counted[name]["parameters"]


@pytest.mark.parametrize("name", CONFIGS)
def test_the_layers_of_all_linear_are_the_linear_layers_there(name: str, counted: dict[str, dict[str, Any]]) -> None:
    facts = facts_of({**SIZES, **CONFIGS[name]})
    assert facts is not None
    assert sorted(map(list, facts.linears)) == counted[name]["linears"]
