"""What a training step keeps of its tokens until the backward pass: activations and logits, in bytes a card.

The counts follow Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models", section 4,
for layers as transformers builds them (RMSNorm in float32, gated MLP, fused attention); see each function.
"""

from __future__ import annotations

from services.planning.case import Case


def activation_bytes(case: Case) -> float:
    """With checkpointing: each layer's input, and all of the one layer that is recomputed; without: all of all layers.

    Both times the gradients that flow through the widest part of a layer come on top. Layers that lie on other cards
    (device_map, pipeline) count there; a pipeline's first stage keeps one batch in flight for each stage, so that
    its share of layers counts once for each stage (Narayanan et al. 2021), which comes to all layers again.
    """
    layers = case.facts.layers
    if case.setup.strategy in ("device_map", "ddp+device_map"):
        layers = -(-layers // case.model_split)
    if checkpoints(case):
        kept = layers * case.step_tokens * case.facts.hidden * case.width / case.setup.tensor_parallel
        return kept + layer_bytes(case) + moving_bytes(case)
    return layers * layer_bytes(case) + moving_bytes(case)


def moving_bytes(case: Case) -> float:
    """The gradients of one layer's values while they are needed: three as wide as the MLP (Liger writes two of them
    over what was kept), two as the model."""
    values = (1 if case.setup.liger else 3) * widest(case) + 2 * case.facts.hidden
    return case.step_tokens * case.width * values / case.setup.tensor_parallel


def checkpoints(case: Case) -> bool:
    """FSDP2 always recomputes: ms-swift's configuration turns activation_checkpointing on."""
    return case.setup.checkpointing or case.fsdp


def layer_bytes(case: Case) -> float:
    """What one layer keeps of its tokens."""
    each_token = norm_bytes(case) + attention_bytes(case) + mlp_bytes(case) + adapter_bytes(case)
    return case.step_tokens * each_token / case.setup.tensor_parallel + scores_bytes(case)


def norm_bytes(case: Case) -> float:
    """Two RMSNorms: the input in float32 (Liger: as it is); for the gradients of trained weights also the normalized
    value and the output, which the next layer multiplies."""
    kept = case.width if case.setup.liger else 4
    if case.full:
        kept += case.width if case.setup.liger else 2 * case.width
    return 2.0 * kept * case.facts.hidden


def attention_bytes(case: Case) -> float:
    """Queries, keys, values and the attention's output, once more as input of a trained output layer; flash attention
    and sdpa keep no scores (Dao et al. 2022). Where rows are padded, sdpa gets a mask of numbers, and keys and values
    repeated for all heads (transformers' sdpa_attention_forward)."""
    queries = (case.facts.heads or 0) * case.facts.head_dim
    keys = (case.facts.key_value_heads or case.facts.heads or 0) * case.facts.head_dim
    mask = 0
    if case.setup.attention == "sdpa" and case.pads:
        keys, mask = queries, case.row_tokens
    return float(case.width * ((3 if case.full else 2) * queries + 2 * keys + mask))


def mlp_bytes(case: Case) -> float:
    """Gate, its activation and up, and their product where the layer after it is trained; Liger's SwiGLU computes the
    activation again (Hsu et al. 2024)."""
    return float((3 + case.full - case.setup.liger) * case.width * widest(case))


def adapter_bytes(case: Case) -> float:
    """Each adapted layer's own dropped-out input for the gradient of its A, and the dropout's noise (peft's Linear): a
    byte a value on a card, a float32 on a CPU."""
    if case.full or not case.facts.layers:
        return 0.0
    shapes = zip(case.facts.linears, case.facts.linear_names or ("",) * len(case.facts.linears), strict=True)
    everything = "all-linear" in case.setup.target_modules
    inputs = sum(shape[1] for shape, name in shapes if everything or not name or name in case.setup.target_modules)
    return inputs / case.facts.layers * (case.width + (4 if case.on_cpu else 1))


def scores_bytes(case: Case) -> float:
    """Eager attention's scores and probabilities of one layer: heads x length² in the dtype, and a float32 softmax."""
    if case.setup.attention != "eager":
        return 0.0
    rows = case.step_tokens / max(1, case.row_tokens)
    heads = (case.facts.heads or 0) / case.setup.tensor_parallel
    return rows * heads * case.row_tokens**2 * (2 * case.width + 4)


def widest(case: Case) -> int:
    """MLP values a token: those of the dense MLP, or of the experts it visits and of the shared ones."""
    if not case.facts.experts:
        return case.facts.intermediate
    chosen = case.facts.experts_per_token * case.facts.expert_intermediate + case.facts.shared_intermediate
    return max(chosen, case.facts.intermediate if case.facts.dense_layers else 0)


def logits_bytes(case: Case) -> float:
    """Scores over the vocabulary at the peak of the loss's backward pass.

    transformers' ForCausalLMLoss keeps the log-softmax in float32, and its backward pass makes two more of that size.
    Preference methods under DeepSpeed stay in the dtype: the logits, their log-softmax and a gradient of each (trl's
    selective_log_softmax). Liger's fused loss makes logits in chunks of about tokens x hidden / vocabulary rows, but
    keeps the gradients of the hidden states and of the output layer.
    """
    if not case.has_logits:
        return 0.0
    tokens = scored_tokens(case)
    vocabulary = case.facts.vocabulary / case.setup.tensor_parallel
    if case.setup.liger:
        chunk = tokens * case.facts.hidden * (case.width + 8)
        weight = vocabulary * case.facts.hidden * case.width if case.full else 0
        return chunk + tokens * case.facts.hidden * case.width + weight
    in_dtype = case.zero is not None and case.setup.rlhf_type is not None
    return tokens * vocabulary * (4 * case.width if in_dtype else 12)


def scored_tokens(case: Case) -> float:
    """The tokens whose logits are made: at worst all; in GRPO those of the answers."""
    if case.setup.rlhf_type != "grpo" or not case.row_tokens:
        return float(case.step_tokens)
    return case.step_tokens * case.setup.completion_length / case.row_tokens
