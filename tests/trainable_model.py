"""A model that really trains: a Llama of some 100,000 parameters with a byte tokenizer and a ChatML template.

Made without torch, in a blink, the same at each call. It answers nonsense: for tests in which no answer is judged.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

HIDDEN, LAYERS, HEADS, INNER = 64, 2, 4, 128
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def make_trainable_model(folder: Path, seed: int = 7) -> Path:
    """Write the model into ``folder`` and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = _write_tokenizer(folder)
    _write_weights(folder, vocabulary, numpy.random.default_rng(seed))
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
        "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": 2, "head_dim": HIDDEN // HEADS, "vocab_size": vocabulary, "hidden_act": "silu",
        "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True,
        "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "torch_dtype": "float32",
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 2, "pad_token_id": 0}))
    return folder


def _write_tokenizer(folder: Path) -> int:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIAL[1], "eos_token": SPECIAL[2],
        "pad_token": SPECIAL[0], "model_max_length": 512, "chat_template": TEMPLATE,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2))
    return tokenizer.get_vocab_size()


def _write_weights(folder: Path, vocabulary: int, random: numpy.random.Generator) -> None:
    def matrix(rows: int, columns: int) -> numpy.ndarray:
        return random.normal(0, 0.05, (rows, columns)).astype(numpy.float32)

    key_value = HIDDEN // 2
    weights = {"model.embed_tokens.weight": matrix(vocabulary, HIDDEN), "model.norm.weight": _ones()}
    for layer in range(LAYERS):
        name = f"model.layers.{layer}"
        weights |= {
            f"{name}.input_layernorm.weight": _ones(),
            f"{name}.post_attention_layernorm.weight": _ones(),
            f"{name}.self_attn.q_proj.weight": matrix(HIDDEN, HIDDEN),
            f"{name}.self_attn.k_proj.weight": matrix(key_value, HIDDEN),
            f"{name}.self_attn.v_proj.weight": matrix(key_value, HIDDEN),
            f"{name}.self_attn.o_proj.weight": matrix(HIDDEN, HIDDEN),
            f"{name}.mlp.gate_proj.weight": matrix(INNER, HIDDEN),
            f"{name}.mlp.up_proj.weight": matrix(INNER, HIDDEN),
            f"{name}.mlp.down_proj.weight": matrix(HIDDEN, INNER),
        }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _ones() -> numpy.ndarray:
    return numpy.ones((HIDDEN,), numpy.float32)
