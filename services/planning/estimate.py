"""How much memory a training takes, from written formulas: a card at its busiest moment, the host, the disk.

Sources, by the names the docstrings use: ZeRO (Rajbhandari et al. 2020, section 3), Megatron (Korthikanti et al.
2022), LoRA (Hu et al. 2021), QLoRA (Dettmers et al. 2023); what is kept in which precision was read in ms-swift 4.6,
transformers 5.19, accelerate 1.15, DeepSpeed 0.19 and peft 0.20.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.models.facts import ModelFacts
from services.planning.activations import activation_bytes, layer_bytes, logits_bytes, moving_bytes
from services.planning.case import WITH_REFERENCE, Case
from services.planning.setup import Memory, Setup
from services.units import GIB

MASTER_BYTES = 4
"""The float32 copy of a trained parameter that DeepSpeed and Megatron keep (ZeRO, section 3.1)."""
STATES = {"adafactor": 0.02, "sgd": 0.0, "adagrad": 0.5, "rmsprop": 0.5, "lion": 0.5, "muon": 0.5, "galore": 0.25,
          "lomo": 0.0, "apollo": 0.25, "q_galore": 0.1}  # fmt: skip
"""What other optimizers keep as a share of Adam's two moments."""
QUANTIZED_BITS = {"bnb": 4.127, "hqq": 4.5, "awq": 4.25, "gptq": 4.25, "fp8": 8.0}
"""Bits of a weight with its scales; nf4 with double quantization: QLoRA, section 3. Methods of 4 bits."""
CONTEXT_GIB = 0.55
"""A CUDA context with cuBLAS's workspaces."""
NCCL_GIB = 0.5
"""Channels' buffers of a process group."""
FRAGMENTATION = 0.06
"""Of what comes and goes: held by torch's caching allocator without being used."""
CPU_PROCESS_GIB = 0.7
"""A process that has imported torch and ms-swift and holds a tokenizer and a small data set; measured."""
CPU_HEAP = 0.4
"""Of the activations: holes in glibc's heap, where numbers of less than 32 MiB lie (M_MMAP_THRESHOLD(3)); measured."""
GPU_PROCESS_GIB = 2.0
"""The host's part of a process that drives a card."""
ZERO_BUCKET = 200_000_000
"""Numbers in DeepSpeed's buckets, as ms-swift's zero2.json sets them."""
ZERO3_LIVE = 1_000_000_000
"""Parameters ZeRO-3 gathers at most (stage3_max_live_parameters in ms-swift's zero3.json)."""


def estimate(facts: ModelFacts, setup: Setup, tokens: int) -> Memory:
    """GiB a card (on a CPU: a rank) takes at its busiest moment with rows of ``tokens`` tokens, by part: the parts
    add up to it."""
    case = Case(facts, setup, tokens)
    lasting = {
        "weights": weights_bytes(case),
        "adapter": adapter_weight_bytes(case),
        "optimizer": optimizer_bytes(case),
    }
    passing = busiest(case)
    parts = {name: value / GIB for name, value in {**lasting, **passing}.items()}
    parts["rollout"] = rollout_gib(case)
    parts["runtime"] = runtime_gib(case, passing)
    return Memory({name: value for name, value in parts.items() if value > 0}, host_gib(case), disk_gib(case))


def busiest(case: Case) -> dict[str, float]:
    """What comes and goes, at the moment at which it is most: the loss, when all activations and logits are there (and
    the gradients of the batches before), or the end of the backward pass, when all gradients are.

    What the optimizer's step makes comes on top of either: torch's caching allocator keeps the blocks of the passes,
    and the step asks for others.
    """
    gradients, buffers = gradient_bytes(case), buffer_bytes(case) + step_bytes(case)
    at_loss = {
        "gradients": gradients if keeps_gradients(case) else 0.0,
        "activations": activation_bytes(case),
        "logits": logits_bytes(case),
        "buffers": buffers,
    }
    at_end = {"gradients": gradients, "activations": layer_bytes(case) + moving_bytes(case), "buffers": buffers}
    return max(at_loss, at_end, key=lambda moment: sum(moment.values()))


def keeps_gradients(case: Case) -> bool:
    """True where gradients are there from one batch to the next: while they add up, and in DeepSpeed's, Megatron's and
    DDP's own buffers."""
    return case.setup.accumulation > 1 or case.setup.strategy not in ("single", "device_map", "fsdp2")


def weights_bytes(case: Case) -> float:
    """The model as loaded, with a copy of it where a method compares with one; sharded by ZeRO-3 and FSDP2."""
    stays_quantized = quantization(case) and not case.megatron  # which loads everything in its own dtype
    own = quantized_bytes(case) if stays_quantized else case.resident * case.width
    if case.full and case.fsdp and case.setup.mixed:
        own += case.trained * (MASTER_BYTES - case.width)  # accelerate turns what is trained into float32
    copies = case.resident * case.width if case.full and case.setup.rlhf_type in WITH_REFERENCE else 0
    total = own + copies + case.setup.teacher_gib * GIB
    if case.zero == 3 and case.offload:
        return 0.0
    return total / case.setup.processes if case.zero == 3 or case.fsdp else total


def quantization(case: Case) -> str | None:
    return case.setup.quant_method or case.facts.quant_method


def quantized_bytes(case: Case) -> float:
    """Linear layers in few bits; embeddings, output layer and norms as they are (QLoRA, section 3)."""
    if case.setup.quant_method is None and case.facts.bytes:
        return case.facts.bytes / case.model_split
    bits = case.setup.quant_bits or case.facts.quant_bits or 4
    each = QUANTIZED_BITS.get(quantization(case) or "", 4.25) + bits - 4 if bits != 8 else 8.25
    share = sum(rows * columns for rows, columns in case.facts.linears) + case.facts.expert_parameters
    quantized = case.resident * share / case.facts.parameters
    return quantized * each / 8 + (case.resident - quantized) * case.width


def adapter_weight_bytes(case: Case) -> float:
    """An adapter's weights: float32, as peft makes them; in DeepSpeed's dtype beside a float32 copy."""
    return case.adapter * trained_width(case) / shared_by(case, from_stage=3)


def trained_width(case: Case) -> int:
    """Bytes of a number that is trained. Without DeepSpeed a full training's weights and LLaMA-Pro's blocks stay as
    loaded, an adapter's are float32, and FSDP2's in mixed precision (accelerate's fsdp2_prepare_model)."""
    whole = case.full or case.setup.tuner == "llamapro"
    stays = case.zero is not None or case.megatron or (whole and not (case.fsdp and case.setup.mixed))
    return case.width if stays else 4


def shared_by(case: Case, from_stage: int) -> int:
    """Among how many ranks something is split that ZeRO splits from a stage on; FSDP2 splits all (ZeRO, section 5)."""
    sharded = case.fsdp or (case.zero is not None and case.zero >= from_stage)
    return case.setup.processes if sharded else 1


def gradient_bytes(case: Case) -> float:
    """One number for each that is trained; Megatron adds them up in float32. DDP's buckets hold a second copy."""
    if case.megatron:
        return case.trained * 4
    if case.offload:
        return 0.0  # they go to the host as they arise
    once = case.trained * trained_width(case) / shared_by(case, from_stage=2)
    return 2 * once if case.setup.strategy in ("ddp", "ddp+device_map") else once


def optimizer_bytes(case: Case) -> float:
    """Adam's two moments in the dtype of what is trained; under DeepSpeed and Megatron float32 with a float32 copy
    of the weights: the 12 bytes of ZeRO, section 3.1."""
    if case.offload:
        return 0.0
    if case.zero is not None:
        return case.trained * (MASTER_BYTES + moments(case, 4)) / shared_by(case, from_stage=1)
    if case.megatron:
        return case.trained * (MASTER_BYTES + moments(case, 4)) / case.sharders
    return case.trained * moments(case, trained_width(case)) / shared_by(case, from_stage=1)


def moments(case: Case, width: int) -> float:
    """Bytes an optimizer keeps for each number it trains."""
    name = case.setup.optimizer
    if "8bit" in name:
        return 0.0 if name.startswith("paged") else 2.0
    for known, share in STATES.items():
        if known in name:
            return 2 * width * share
    return 2.0 * width


def step_bytes(case: Case) -> float:
    """What the optimizer's step makes and drops: a float32 copy of the gradients it owns under DeepSpeed (ZeRO-3: of
    a billion at most), all second moments' roots in torch's many-tensor AdamW; nothing where it is fused."""
    if case.offload:
        return 0.0
    if case.zero is not None:
        owned = case.trained / shared_by(case, from_stage=1)
        return 4 * (min(owned, ZERO3_LIVE) if case.zero == 3 else owned)
    many_tensors = case.setup.optimizer == "adamw_torch" and not case.on_cpu
    return case.trained / shared_by(case, from_stage=1) * trained_width(case) if many_tensors else 0.0


def buffer_bytes(case: Case) -> float:
    """What comes over from other ranks: ZeRO's buckets, gathered parameters of ZeRO-3, two gathered layers and the
    embeddings of FSDP2."""
    if case.zero in (0, 1, 2):
        return 2 * min(case.trained, ZERO_BUCKET) * case.width
    if case.zero == 3:
        gathered = min(case.facts.parameters, ZERO3_LIVE)
        return (gathered + min(case.trained, ZERO_BUCKET)) * case.width
    if case.fsdp and case.setup.processes > 1:
        return (2 * case.layer_parameters + case.facts.embedding_parameters) * case.width
    return 0.0


def rollout_gib(case: Case) -> float:
    """A vLLM engine on the same card takes the share of it that it is given; transformers' own generation keeps keys
    and values of all answers (2 x layers x key-value width for each token)."""
    setup, facts = case.setup, case.facts
    if setup.rlhf_type not in ("grpo", "gkd", "ppo") or not setup.completion_length:
        return 0.0
    if setup.rollout_memory_share:
        return setup.rollout_memory_share * setup.card_gib
    keys = 2 * facts.layers * (facts.key_value_heads or facts.heads or 0) * facts.head_dim
    return setup.batch * case.row_tokens * keys * case.width / GIB


def runtime_gib(case: Case, passing: Mapping[str, float]) -> float:
    """What lies beside the tensors: libraries, contexts, channels, and what an allocator holds without using it.
    ``passing``: bytes of what comes and goes, by part."""
    if case.on_cpu:
        return CPU_PROCESS_GIB + CPU_HEAP * passing["activations"] / GIB
    channels = NCCL_GIB if case.setup.processes > 1 else 0.0
    return CONTEXT_GIB + channels + FRAGMENTATION * sum(passing.values()) / GIB


def host_gib(case: Case) -> float:
    """The host's memory, all ranks together: the processes, the weights on their way to the cards (FSDP2 and ZeRO-3
    load them in one rank), and what is offloaded (ZeRO-Offload, Ren et al. 2021: 12 bytes of states and the gradients
    of each trained number; ZeRO-3's weights too)."""
    if case.on_cpu:
        return 0.0
    total = case.setup.processes * GPU_PROCESS_GIB
    total += case.facts.parameters * case.width / GIB if case.zero == 3 or case.fsdp else 0.0
    if case.offload:
        total += case.trained * (MASTER_BYTES + moments(case, 4) + 4 + case.width) / GIB
        total += case.facts.parameters * case.width / GIB if case.zero == 3 else 0.0
    return total


def disk_gib(case: Case) -> float:
    """Checkpoints: what is trained, and the optimizer's states; one more than is kept while a new one is written."""
    split = case.model_split
    weights = case.facts.parameters * case.width if case.full else case.adapter * split * trained_width(case)
    if case.zero is not None or case.megatron:
        states = case.trained * split * (MASTER_BYTES + moments(case, 4))
    else:
        states = case.trained * split * moments(case, trained_width(case))
    return (weights + states) * (case.setup.kept_checkpoints + 1) / GIB
