"""How fast one way of training is beside another: a small written model, for ranking, not for promising seconds.

A step of a rank is computing plus what of the talking between cards cannot hide behind it.
"""

from __future__ import annotations

import math
import re

from services.models.facts import ModelFacts
from services.planning.setup import Gpu, Hardware, Setup

TERA = 1e12
PEAKS = (
    (r"B300|GB300|B200|GB200", 2250.0), (r"H200|H100|H800|GH200", 990.0), (r"H20\b", 148.0), (r"A100|A800", 312.0),
    (r"L40S", 362.0), (r"L40|6000 Ada", 181.0), (r"L20", 119.0), (r"A40\b|A6000", 150.0), (r"A30", 165.0),
    (r"A10\b|A10G", 125.0), (r"L4\b", 121.0), (r"5090", 210.0), (r"4090", 165.0), (r"4080", 97.0), (r"3090", 71.0),
    (r"V100", 125.0), (r"T4\b", 65.0), (r"910B|910C", 320.0), (r"40[67]0|3080|4070", 60.0), (r"30[567]0", 25.0),
)  # fmt: skip
"""Dense half-precision teraflops with float32 sums, from the makers' data sheets."""
OTHER_PEAK = 60.0
CPU_CORE_TERAFLOPS = 0.05
"""float32, AVX2: two fused units of eight numbers at 3 GHz are 0.1; half of it in practice."""
REACHED = 0.45
"""Of the peak, with rows long enough (Chowdhery et al. 2022 and Narayanan et al. 2021 report 0.45 to 0.55)."""
HALF_FULL_TOKENS = 512
"""Tokens a rank at once with which a card reaches half of that."""
LINK_GB_S = {"nvlink": 200.0, "pcie": 12.0, "system": 6.0, "": 12.0}
"""What a ring over all cards moves a second: NVLink 3 with NCCL, PCIe 4.0 x16, between sockets."""
BETWEEN_MACHINES_GB_S = 10.0
HOST_GB_S = 12.0
HOST_ADAM_GB_S = 20.0
"""What DeepSpeed's CPU Adam reads and writes a second, all ranks of a machine together."""
ZERO3_OVERHEAD = 1.18
"""Hooks around every layer: 15 to 20 % slower than ZeRO-2 on four cards, as practitioners report."""
SEQUENCE_GAIN = 1.12
"""Long rows (32K and more) split among the cards, as practitioners report: +12 %."""
LONG = 32_768
EXPERTS_LOOPED = 4.0
"""A mixture of experts outside Megatron: Megatron is reported to be 4 times as fast (+300 %)."""


def tokens_per_second(facts: ModelFacts, setup: Setup, hardware: Hardware, tokens: int) -> float:
    """Tokens of training a second over all ranks, with rows of ``tokens`` tokens."""
    rows = setup.batch * setup.accumulation * setup.copies / setup.sequence_parallel
    micro = compute_s(facts, setup, hardware, tokens)
    talk = talk_s(facts, setup, hardware)
    if setup.strategy in ("ddp", "fsdp2", "ddp+device_map", "megatron"):
        step = max(micro, talk) + 0.2 * min(micro, talk)
    else:  # ms-swift's DeepSpeed configurations set overlap_comm to false
        step = micro + talk
    seconds = setup.accumulation * step + once_a_step_s(facts, setup, hardware)
    return rows * tokens / seconds / _penalty(facts, setup)


def compute_s(facts: ModelFacts, setup: Setup, hardware: Hardware, tokens: int) -> float:
    """Seconds a rank computes for one micro batch.

    2 flops a parameter and token forward, 2 for the gradients of what flows, 2 for those of the trained weights
    (Kaplan et al. 2020), 2 more where activations are computed again (Chen et al. 2016); attention besides.
    """
    passes = 2 + 2 + (2 * setup.trained_share if setup.tuner == "full" else 0) + (2 if setup.checkpointing else 0)
    attention = 4 * facts.layers * facts.hidden * tokens / 2
    flops = (active_parameters(facts) + attention / 2) * passes
    here = setup.batch * tokens / setup.sequence_parallel / setup.context_parallel
    split = setup.tensor_parallel * setup.pipeline_parallel
    full = here / (here + HALF_FULL_TOKENS) if not hardware.on_cpu else 1.0
    return here * flops / split / (rank_peak(setup, hardware) * REACHED * full)


def active_parameters(facts: ModelFacts) -> float:
    """Parameters that a token meets: of the experts only those it is sent to; an embedding is looked up."""
    idle = 0.0
    if facts.experts and facts.experts_per_token:
        idle = facts.expert_parameters * (1 - facts.experts_per_token / facts.experts)
    lookup = 0 if facts.tied else facts.embedding_parameters / 2
    return max(1.0, facts.parameters - idle - lookup)


def rank_peak(setup: Setup, hardware: Hardware) -> float:
    """Flops a second of what one rank computes on; spread over cards, one computes at a time."""
    if hardware.on_cpu:
        return CPU_CORE_TERAFLOPS * TERA * hardware.cores / max(1, setup.processes)
    slowest = min(peak(gpu) for gpu in hardware.gpus) * TERA
    return slowest / 2 if setup.dtype == "float32" else slowest


def peak(gpu: Gpu) -> float:
    """Teraflops of a card by its name."""
    return next((value for names, value in PEAKS if re.search(names, gpu.name, re.IGNORECASE)), OTHER_PEAK)


def trained_parameters(facts: ModelFacts, setup: Setup) -> float:
    if setup.tuner == "full":
        return facts.parameters * setup.trained_share
    return float(facts.lora_parameters(setup.rank, setup.target_modules))


def talk_s(facts: ModelFacts, setup: Setup, hardware: Hardware) -> float:
    """Seconds a micro batch is in talk between ranks: ZeRO-2 hands its gradients on at each, ZeRO-3 and FSDP gather
    the weights twice (Rajbhandari et al. 2020, section 7); tensor and expert parallelism send activations."""
    if setup.processes < 2:
        return _from_host_s(facts, setup)
    width = _width(setup)
    weights, gradients = facts.parameters * width, trained_parameters(facts, setup) * width
    moved = 0.0
    if setup.strategy.startswith("zero3") or setup.strategy == "fsdp2":
        moved = 2 * weights + gradients
    elif setup.strategy.startswith("zero2"):
        moved = gradients
    return moved / (bandwidth(hardware, setup) * 1e9) + _from_host_s(facts, setup)


def _from_host_s(facts: ModelFacts, setup: Setup) -> float:
    """Offloaded weights come over PCIe twice, each rank fetching its share."""
    share = 2 * facts.parameters * _width(setup) / setup.processes
    return share / (HOST_GB_S * 1e9) if setup.strategy == "zero3_offload" else 0.0


def once_a_step_s(facts: ModelFacts, setup: Setup, hardware: Hardware) -> float:
    """Seconds once an optimizer step: averaging gradients, handing out new weights, Adam on the host."""
    trained, width = trained_parameters(facts, setup), _width(setup)
    seconds = 0.0
    if setup.processes > 1:
        rounds = {"zero2": 1, "zero2_offload": 1, "zero3": 0, "zero3_offload": 0, "fsdp2": 0}.get(setup.strategy, 2)
        split = setup.tensor_parallel * setup.pipeline_parallel
        seconds += rounds * trained * width / split / (bandwidth(hardware, setup) * 1e9)
    if setup.strategy.endswith("_offload"):
        on_machine = max(1, setup.processes // hardware.nodes)
        seconds += trained * 6 / setup.processes / (HOST_GB_S * 1e9)
        seconds += trained * 16 * on_machine / setup.processes / (HOST_ADAM_GB_S * 1e9)
    return seconds


def bandwidth(hardware: Hardware, setup: Setup) -> float:
    """GB a second of the slowest link in the ring."""
    if hardware.on_cpu:
        return 2.0
    across = hardware.nodes > 1 and setup.processes > len(hardware.gpus)
    return min(LINK_GB_S[hardware.link], BETWEEN_MACHINES_GB_S if across else math.inf)


def _width(setup: Setup) -> int:
    return 4 if setup.dtype == "float32" else 2


def _penalty(facts: ModelFacts, setup: Setup) -> float:
    """What slows a setup down beside flops and bytes, as a factor."""
    factor = 1.0
    if setup.strategy.startswith("zero3"):
        factor *= ZERO3_OVERHEAD
    if setup.sequence_parallel > 1:
        factor /= SEQUENCE_GAIN if setup.length >= LONG else 0.9
    if setup.strategy == "megatron":
        waiting = (setup.pipeline_parallel - 1) / max(1, setup.accumulation)
        factor *= (1 + waiting) * (1 + 0.08 * math.log2(setup.tensor_parallel))
        factor *= (1 + 0.04 * math.log2(setup.expert_parallel)) * (1 + 0.04 * math.log2(setup.context_parallel))
    elif facts.experts:
        factor *= EXPERTS_LOOPED
    if setup.quant_method is not None:
        factor *= 1.25  # weights are unpacked before each product (Dettmers et al. 2023, appendix)
    if setup.liger:
        factor *= 0.92  # Hsu et al. 2024 report up to 20 % more tokens a second
    if setup.attention == "flash_attn" and setup.padding_free:
        factor *= 0.95
    return factor
