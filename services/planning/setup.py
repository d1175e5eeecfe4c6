"""The nouns of planning: where a training run could happen (Hardware) and one way to run it (Setup)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Attention = Literal["flash_attn", "sdpa", "eager"]
Dtype = Literal["bfloat16", "float16", "float32"]


@dataclass(frozen=True)
class Gpu:
    """One card as planning sees it; memory in GiB."""

    name: str
    memory_gib: float
    free_gib: float
    index: str = "0"
    """Its physical number."""
    kind: Literal["gpu", "npu"] = "gpu"
    has_bf16: bool = True


@dataclass(frozen=True)
class Hardware:
    """This machine or a described one."""

    gpus: tuple[Gpu, ...] = ()
    link: str = ""
    """How the cards reach each other: nvlink, pcie (through a switch or the host), system (between sockets), or ""."""
    host_memory_gib: float = 0.0
    host_free_gib: float = 0.0
    cores: int = 1
    disk_free_gib: float | None = None
    """None: not told."""
    nodes: int = 1
    """Machines like this one."""
    has_bf16: bool = False
    """The CPU multiplies bfloat16 itself."""
    has_cxx_compiler: bool = True

    @property
    def on_cpu(self) -> bool:
        return not self.gpus


@dataclass(frozen=True)
class Setup:
    """One way of training one model: everything that its memory and its speed depend on."""

    command: str = "sft"
    rlhf_type: str | None = None
    tuner: str = "lora"
    """ms-swift's ``tuner_type``: lora, full, adalora …"""
    rank: int = 8
    target_modules: tuple[str, ...] = ("all-linear",)
    trained_share: float = 1.0
    """Of a full training: the share of parameters that is not frozen."""
    quant_method: str | None = None
    quant_bits: int | None = None
    strategy: str = "single"
    """A strategy of services/specs.py, never "auto"."""
    processes: int = 1
    """Ranks in all, over all machines."""
    cards: int = 1
    """Cards used in all; 0 on a CPU."""
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    expert_parallel: int = 1
    context_parallel: int = 1
    sequence_parallel: int = 1
    batch: int = 1
    """Rows a rank and step (per_device_train_batch_size); with packing each row is ``length`` tokens long."""
    accumulation: int = 1
    length: int = 2048
    """max_length: the most tokens of a row."""
    packing: bool = False
    padding_free: bool = False
    liger: bool = False
    checkpointing: bool = True
    attention: Attention = "sdpa"
    dtype: Dtype = "bfloat16"
    mixed: bool = True
    """Mixed precision (ms-swift's ``bf16`` or ``fp16``): FSDP2 then keeps what is trained in float32."""
    optimizer: str = "adamw_torch_fused"
    """ms-swift's ``optim``; the default is transformers' own from torch 2.8 on."""
    task: str = "causal_lm"
    """ms-swift's ``task_type``: seq_cls, embedding and reranker have no scores over the vocabulary."""
    teacher_gib: float = 0.0
    """GKD: what the teaching model's weights take."""
    kept_checkpoints: int = 3
    """save_total_limit."""
    card_gib: float = 0.0
    """Memory of a card; needed only for ``rollout_memory_share``."""
    generations: int = 0
    """GRPO: answers for each prompt."""
    completion_length: int = 0
    rollout_memory_share: float = 0.0
    """Of a card, given to a vLLM engine that generates on it (colocate)."""
    vision: bool = False

    @property
    def copies(self) -> int:
        """How many rows-parallel workers share a step: what the total batch is multiplied with."""
        return max(1, self.processes // (self.tensor_parallel * self.pipeline_parallel * self.context_parallel))


@dataclass(frozen=True)
class Memory:
    """What one card (on a CPU: one rank) takes at its busiest moment, by part, in GiB."""

    parts: Mapping[str, float] = field(default_factory=dict)
    """Among: weights, adapter, gradients, optimizer, activations, logits, buffers, rollout, runtime."""
    host_gib: float = 0.0
    """Of the host's memory, all ranks together (offloading, pinned buffers, loading, the processes themselves)."""
    disk_gib: float = 0.0
    """Of the checkpoints that are kept."""

    @property
    def total(self) -> float:
        """GiB a card."""
        return sum(self.parts.values())
