"""The tensors of a decoder as its config.json lays them out: name -> shape, without any weights at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]

# What a family does without saying it in its config.json. Everything else follows from the keys.
_QKV_BIAS = ("qwen2", "gpt_oss", "starcoder2")
_BIAS_EVERYWHERE = ("phi", "starcoder2", "gpt_neox", "gpt2")
_BIAS_OF_OUTPUT = ("gpt_oss", *_BIAS_EVERYWHERE)
_NO_BIAS_OF_OUTPUT = ("glm", "qwen2")
_QK_NORM = ("qwen3", "gemma3", "hunyuan", "dots1")
_FOUR_NORMS = ("gemma2", "gemma3", "glm4")
_ONE_NORM = ("phi", "cohere")
_NORM_BIAS = _BIAS_EVERYWHERE
_NOT_GATED = _BIAS_EVERYWHERE
_FUSED_QKV = ("phi3", "internlm2", "phi4")
_FUSED_GATE_UP = ("phi3", "phi4", "glm")
_TIED = ("gemma", "gpt2", "cohere", "starcoder2", "smollm3")
_GATED_ATTENTION = ("qwen3_next", "qwen3_5")


@dataclass(frozen=True)
class Decoder:
    """The text part of a config.json, under one name for each size."""

    config: Mapping[str, Any]
    """Its ``text_config`` where it has one, else itself."""
    outer: Mapping[str, Any]

    @property
    def family(self) -> str:
        return str(self.config.get("model_type") or self.outer.get("model_type") or "")

    def size(self, *names: str) -> int | None:
        """The first of ``names`` that has a positive whole number."""
        for name in names:
            value = self.config.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
        return None

    def says(self, name: str, default: bool = False) -> bool:
        value = self.config.get(name)
        return value if isinstance(value, bool) else default

    def is_a(self, families: tuple[str, ...]) -> bool:
        """True where the family is one of ``families`` or a newer kind of it ("qwen3" -> qwen3_moe, qwen3_vl_text).

        "phi" means phi alone: phi3 is built as Llama is. "glm4_moe" is built as DeepSeek is, not as glm4.
        """
        if self.family in ("glm4_moe", "glm4_moe_lite", "glm4v_moe_text"):
            return False
        return any(self.family == one or (one != "phi" and self.family.startswith(one)) for one in families)

    @property
    def layers(self) -> int | None:
        return self.size("num_hidden_layers", "n_layer", "num_layers")

    @property
    def hidden(self) -> int | None:
        return self.size("hidden_size", "n_embd", "d_model")

    @property
    def heads(self) -> int | None:
        return self.size("num_attention_heads", "n_head")

    @property
    def key_value_heads(self) -> int | None:
        return self.size("num_key_value_heads")

    @property
    def head_dim(self) -> int | None:
        """Width of a head: told, or hidden / heads."""
        if (told := self.size("head_dim")) is not None:
            return told
        return self.hidden // self.heads if self.hidden and self.heads else None

    @property
    def intermediate(self) -> int | None:
        told = self.size("intermediate_size", "n_inner", "ffn_hidden_size")
        return told or (4 * self.hidden if self.hidden and self.family == "gpt2" else None)

    @property
    def vocabulary(self) -> int | None:
        return self.size("vocab_size", "padded_vocab_size")

    @property
    def tied(self) -> bool:
        """One matrix serves as embedding and as output layer."""
        told = self.config.get("tie_word_embeddings", self.outer.get("tie_word_embeddings"))
        return told if isinstance(told, bool) else self.is_a(_TIED)

    @property
    def experts(self) -> int:
        return self.size("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts") or 0

    @property
    def experts_per_token(self) -> int:
        return self.size("num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk") or 0

    @property
    def expert_intermediate(self) -> int | None:
        return self.size("moe_intermediate_size", "expert_intermediate_size", "intermediate_size")

    @property
    def shared_intermediate(self) -> int:
        """Width of the experts that every token passes, all together."""
        if (told := self.size("shared_expert_intermediate_size")) is not None:
            return told
        return (self.size("n_shared_experts", "num_shared_experts", "moe_num_shared_experts") or 0) * (
            self.expert_intermediate or 0
        )

    def is_sparse(self, layer: int) -> bool:
        """True where ``layer`` has experts in place of one MLP."""
        if not self.experts or layer in (self.config.get("mlp_only_layers") or ()):
            return False
        first = self.config.get("first_k_dense_replace", self.config.get("moe_layer_start_index", 0))
        step = self.size("decoder_sparse_step", "moe_layer_freq") or 1
        return layer >= (first if isinstance(first, int) else 0) and (
            (layer + 1) % step == 0 if "decoder_sparse_step" in self.config else layer % step == 0
        )

    def is_linear_attention(self, layer: int) -> bool:
        kinds = self.config.get("layer_types")
        if isinstance(kinds, list) and layer < len(kinds):
            return bool(kinds[layer] == "linear_attention")
        every = self.size("full_attention_interval")
        return self.is_a(_GATED_ATTENTION) and every is not None and (layer + 1) % every != 0

    @property
    def dense_layers(self) -> int:
        return sum(not self.is_sparse(layer) for layer in range(self.layers or 0))


def decoder_of(config: Mapping[str, Any]) -> Decoder:
    """The text part of a config.json; that of a model which hears or sees lies in it under one of several names."""
    for name in ("text_config", "llm_config", "language_config", "thinker_config"):
        inner = config.get(name)
        if isinstance(inner, Mapping):
            return Decoder(decoder_of(inner).config, config)
    return Decoder(config, config)


def tensors_of(decoder: Decoder) -> dict[str, Shape]:
    """Name -> shape of every parameter, the layers as "layers.N.…"; empty where the config lacks a size."""
    hidden, vocabulary = decoder.hidden, decoder.vocabulary
    if not (decoder.layers and hidden and decoder.heads and decoder.intermediate and vocabulary):
        return {}
    tensors: dict[str, Shape] = {"embed_tokens.weight": (vocabulary, hidden)}
    if decoder.family == "gpt2":
        tensors["embed_positions.weight"] = (decoder.size("n_positions") or 1024, hidden)
    for layer in range(decoder.layers):
        for name, shape in _layer(decoder, layer):
            tensors[f"layers.{layer}.{name}"] = shape
    tensors |= dict(_norm(decoder, "norm"))
    if not decoder.tied:
        tensors |= dict(_linear("lm_head", vocabulary, hidden, bias=decoder.family == "phi"))
    return tensors


Tensors = Iterator[tuple[str, Shape]]


def _linear(name: str, rows: int, columns: int, bias: bool = False) -> Tensors:
    yield f"{name}.weight", (rows, columns)
    if bias:
        yield f"{name}.bias", (rows,)


def _norm(decoder: Decoder, name: str) -> Tensors:
    yield f"{name}.weight", (decoder.hidden or 0,)
    if decoder.is_a(_NORM_BIAS):
        yield f"{name}.bias", (decoder.hidden or 0,)


def _layer(decoder: Decoder, layer: int) -> Tensors:
    if decoder.is_linear_attention(layer):
        yield from _linear_attention(decoder)
    elif decoder.size("kv_lora_rank"):
        yield from _latent_attention(decoder)
    else:
        yield from _attention(decoder)
    yield from _experts(decoder) if decoder.is_sparse(layer) else _mlp(decoder, "mlp", decoder.intermediate or 0)
    count = 4 if decoder.is_a(_FOUR_NORMS) else 1 if decoder.is_a(_ONE_NORM) else 2
    for number in range(count):
        yield from _norm(decoder, f"norm_{number}")


def _attention(decoder: Decoder) -> Tensors:
    """Queries, keys, values, output; grouped keys and values (Ainslie et al. 2023)."""
    hidden, width = decoder.hidden or 0, decoder.head_dim or 0
    queries = (decoder.heads or 0) * width
    keys = (decoder.key_value_heads or decoder.heads or 0) * width
    told = decoder.config.get("attention_bias", decoder.config.get("qkv_bias", decoder.config.get("use_bias")))
    bias = told if isinstance(told, bool) else decoder.is_a((*_QKV_BIAS, *_BIAS_EVERYWHERE))
    if decoder.is_a(("qwen2",)):
        bias = True
    if decoder.is_a(_FUSED_QKV):
        yield from _linear("self_attn.qkv_proj", queries + 2 * keys, hidden, bias)
    else:
        gate = 2 if decoder.is_a(_GATED_ATTENTION) else 1
        yield from _linear("self_attn.q_proj", gate * queries, hidden, bias)
        yield from _linear("self_attn.k_proj", keys, hidden, bias)
        yield from _linear("self_attn.v_proj", keys, hidden, bias)
    output_bias = decoder.is_a(_BIAS_OF_OUTPUT) or (bias and not decoder.is_a(_NO_BIAS_OF_OUTPUT))
    glm_moe = decoder.family.startswith("glm4_moe") or decoder.family == "glm4v_moe_text"
    yield from _linear("self_attn.o_proj", hidden, queries, output_bias and not glm_moe)
    if decoder.is_a(("olmo2", "olmo3")):
        yield "self_attn.q_norm.weight", (queries,)
        yield "self_attn.k_norm.weight", (keys,)
    elif decoder.is_a(_QK_NORM) or decoder.says("use_qk_norm"):
        yield "self_attn.q_norm.weight", (width,)
        yield "self_attn.k_norm.weight", (width,)
    if decoder.is_a(("gpt_oss",)):
        yield "self_attn.sinks", (decoder.heads or 0,)


def _latent_attention(decoder: Decoder) -> Tensors:
    """Multi-head latent attention (DeepSeek-V2, 2024): keys and values from one narrow vector."""
    hidden, heads, narrow = decoder.hidden or 0, decoder.heads or 0, decoder.size("kv_lora_rank") or 0
    plain, turned = decoder.size("qk_nope_head_dim") or 0, decoder.size("qk_rope_head_dim") or 0
    value, bias = decoder.size("v_head_dim") or 0, decoder.says("attention_bias")
    if (rank := decoder.size("q_lora_rank")) is not None:
        yield from _linear("self_attn.q_a_proj", rank, hidden, bias)
        yield "self_attn.q_a_layernorm.weight", (rank,)
        yield from _linear("self_attn.q_b_proj", heads * (plain + turned), rank)
    else:
        yield from _linear("self_attn.q_proj", heads * (plain + turned), hidden)
    yield from _linear("self_attn.kv_a_proj_with_mqa", narrow + turned, hidden, bias)
    yield "self_attn.kv_a_layernorm.weight", (narrow,)
    yield from _linear("self_attn.kv_b_proj", heads * (plain + value), narrow)
    yield from _linear("self_attn.o_proj", hidden, heads * value, bias)


def _linear_attention(decoder: Decoder) -> Tensors:
    """Gated DeltaNet (Yang et al. 2024) as Qwen3-Next and Qwen3.5 lay it out."""
    hidden = decoder.hidden or 0
    key_heads, value_heads = decoder.size("linear_num_key_heads") or 0, decoder.size("linear_num_value_heads") or 0
    keys = key_heads * (decoder.size("linear_key_head_dim") or 0)
    width = decoder.size("linear_value_head_dim") or 0
    values = value_heads * width
    if decoder.is_a(("qwen3_next",)):
        yield from _linear("linear_attn.in_proj_qkvz", 2 * keys + 2 * values, hidden)
        yield from _linear("linear_attn.in_proj_ba", 2 * value_heads, hidden)
    else:
        yield from _linear("linear_attn.in_proj_qkv", 2 * keys + values, hidden)
        yield from _linear("linear_attn.in_proj_z", values, hidden)
        yield from _linear("linear_attn.in_proj_b", value_heads, hidden)
        yield from _linear("linear_attn.in_proj_a", value_heads, hidden)
    yield "linear_attn.conv1d.weight", (2 * keys + values, 1, decoder.size("linear_conv_kernel_dim") or 4)
    yield "linear_attn.dt_bias", (value_heads,)
    yield "linear_attn.A_log", (value_heads,)
    yield "linear_attn.norm.weight", (width,)
    yield from _linear("linear_attn.out_proj", hidden, values)


def _mlp(decoder: Decoder, name: str, width: int) -> Tensors:
    """Up, down and, in nearly all families, a gate (Shazeer 2020)."""
    hidden = decoder.hidden or 0
    bias = decoder.says("mlp_bias", decoder.says("use_bias", decoder.is_a(_BIAS_EVERYWHERE)))
    if decoder.is_a(_FUSED_GATE_UP):
        yield from _linear(f"{name}.gate_up_proj", 2 * width, hidden, bias)
    else:
        if not decoder.is_a(_NOT_GATED):
            yield from _linear(f"{name}.gate_proj", width, hidden, bias)
        yield from _linear(f"{name}.up_proj", width, hidden, bias)
    yield from _linear(f"{name}.down_proj", hidden, width, bias)


def _experts(decoder: Decoder) -> Tensors:
    """The experts as one tensor each, as transformers 5 keeps them, their router, and what every token passes."""
    hidden, count, width = decoder.hidden or 0, decoder.experts, decoder.expert_intermediate or 0
    biased = decoder.is_a(("gpt_oss",))
    yield "mlp.router.weight", (count, hidden)
    yield "mlp.experts.gate_up_proj", (count, 2 * width, hidden)
    yield "mlp.experts.down_proj", (count, hidden, width)
    if biased:
        yield "mlp.router.bias", (count,)
        yield "mlp.experts.gate_up_proj_bias", (count, 2 * width)
        yield "mlp.experts.down_proj_bias", (count, hidden)
    if decoder.shared_intermediate:
        yield from _mlp(decoder, "mlp.shared_expert", decoder.shared_intermediate)
        if decoder.size("shared_expert_intermediate_size"):
            yield from _linear("mlp.shared_expert_gate", 1, hidden)
