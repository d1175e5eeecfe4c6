"""Spec -> Plan: the only place where ms-swift's command lines are made. Pure: no I/O, no clock."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from services.errors import Refused
from services.plan import Plan, Slot, partial_of
from services.specs import MergeSpec, ServeSpec, TrainSpec
from services.swift import catalogue
from services.swift.argument import words

DEEPSPEED = ("zero0", "zero1", "zero2", "zero3", "zero2_offload", "zero3_offload")
"""The DeepSpeed configurations that ms-swift brings."""
PLUGINS = Path(__file__).parent / "plugins"
SAVE_ON_STOP = PLUGINS / "save_on_stop.py"
"""A plugin with which all ranks save and end at the same step when the run is asked to stop."""
READER_GONE = PLUGINS / "reader_gone.py"
"""A plugin that makes ms-swift's own engine stop generating when nobody reads the answer any more."""
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "100000000000"}
"""glibc hands large tensors back to the kernel after each use and has them zeroed again; told to keep them, a step on
a CPU takes 12 s where it took 17 (135 M parameters, 4 rows of 512 tokens)."""
SPREAD = ("device_map", "ddp+device_map")
"""Strategies that spread a rank's model over all the cards there are."""
RESUME = "--resume_from_checkpoint"
MEGATRON = "swift.cli._megatron.main"
SAVES_A_RUN = 10
MOST_STEPS_AT_RISK = 200


@dataclass(frozen=True)
class Device:
    """What the plan may count on: the cards by their numbers (none: the CPU) and the cores."""

    cards: tuple[str, ...] = ()
    kind: str = "gpu"
    cores: int = 1

    @property
    def on_cpu(self) -> bool:
        return not self.cards

    @property
    def visible_variable(self) -> str:
        return "ASCEND_RT_VISIBLE_DEVICES" if self.kind == "npu" else "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Source:
    """A model or adapter as ms-swift is to load it."""

    model: str
    """A folder or a hub id."""
    adapter: str | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    local: bool = True
    use_hf: bool = False


@dataclass(frozen=True)
class Data:
    """The data sets as ms-swift is to load them, what is known of them, and the files made for them."""

    arguments: tuple[str, ...]
    rows: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that make ms-swift read the file as it is meant."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for the same."""
    validation: tuple[str, ...] = ()
    """The data sets of ``val_dataset``, as ms-swift is to load them."""


@dataclass(frozen=True)
class Launch:
    """How a training is started, as services/planning chose it."""

    command: str
    """sft, pt, rlhf, or one of them behind ``megatron``."""
    strategy: str
    processes: int
    """Ranks on each machine."""
    settings: Mapping[str, Any]
    """All arguments beside model, data and places; a mapping as ``deepspeed`` or ``fsdp`` becomes a file of the run."""
    nodes: int = 1

    @property
    def ranks(self) -> int:
        return self.processes * self.nodes

    @property
    def megatron(self) -> bool:
        return self.command.startswith("megatron ")

    @property
    def copies(self) -> int:
        """Ranks that see different rows."""
        names = ("sequence_parallel_size", "tensor_model_parallel_size", "pipeline_model_parallel_size",
                 "context_parallel_size")  # fmt: skip
        return max(1, self.ranks // math.prod(int(self.settings.get(name) or 1) for name in names))


def train_plan(
    spec: TrainSpec, launch: Launch, source: Source, data: Data, device: Device, python: str,
    resume_from: str | None = None,
) -> Plan:  # fmt: skip
    """The plan of a training run: what each of its machines does, all of them with a ``device`` like this."""
    given, files = _as_files(launch.settings)
    settings: dict[str, Any] = {
        "model": source.model,
        **source.flags,
        **({"check_model": False} if source.local and not launch.megatron else {}),
        **({"use_hf": True} if source.use_hf else {}),
        "dataset": list(data.arguments),
        **({"model_name": [spec.model_name], "model_author": [spec.model_author]} if spec.teaches_swifts_own else {}),
        **data.settings,
        **_rank_arguments(launch, device),
        **({"ddp_timeout": spec.network.timeout_s} if spec.network.timeout_s else {}),
        "output_dir": Slot("{run}/output"),
        **given,
        **({"val_dataset": list(data.validation)} if data.validation else {}),
        **({} if launch.megatron else _plugins(given)),
    }
    total = total_steps(settings, data.rows, launch.copies)
    settings.setdefault("save_steps", safe_save_steps(total))
    settings.setdefault("logging_steps", max(1, min(5, (total or 100) // 20)))
    if resume_from is not None:
        settings |= _resumed(launch, resume_from)
    start = megatron if launch.megatron else swift
    return Plan(
        kind="train",
        argv=(*start(python), launch.command.removeprefix("megatron "), *catalogue.to_argv(settings)),
        env={**training_environment(launch, device), **data.env, **spec.env},
        files={**data.files, **files},
        output_dir=settings["output_dir"],
        total_steps=total,
        processes=launch.processes,
        **needs(device, spec.devices, None if launch.strategy in SPREAD else launch.processes),
    )


def _resumed(launch: Launch, checkpoint: str) -> dict[str, Any]:
    """Megatron takes weights, optimizer and step from a checkpoint of its own kind when it is not told to finetune."""
    if not launch.megatron:
        return {"resume_from_checkpoint": checkpoint}
    full = launch.settings.get("tuner_type") == "full"
    return {"mcore_model" if full else "mcore_adapter": checkpoint, "finetune": False}


def _plugins(given: Mapping[str, Any]) -> dict[str, Any]:
    """Saving on request; Megatron's trainer takes no callbacks of transformers."""
    return {
        "external_plugins": [str(SAVE_ON_STOP), *words(given.get("external_plugins"))],
        "callbacks": ["save_on_stop", *words(given.get("callbacks"))],
    }


def _as_files(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(settings, files): a mapping that configures the sharding is read by ms-swift from a file of the run."""
    given, files = dict(settings), {}
    for name in ("deepspeed", "fsdp", "teacher_deepspeed"):
        if isinstance(given.get(name), Mapping):
            files[f"{name}.json"] = json.dumps(given[name], indent=2) + "\n"
            given[name] = Slot("{run}/" + f"{name}.json")
    return given, files


def resumed(plan: Plan, checkpoint: str) -> Plan:
    """The same training, going on from ``checkpoint``."""
    words = list(plan.argv)
    is_full = "--tuner_type" in words and words[words.index("--tuner_type") + 1] == "full"
    flags = {RESUME[2:]: checkpoint}
    if MEGATRON in words:
        flags = {"mcore_model" if is_full else "mcore_adapter": checkpoint, "finetune": "false"}
    for name, value in flags.items():
        if f"--{name}" in words:
            words[words.index(f"--{name}") + 1] = value
        else:
            words += [f"--{name}", value]
    return replace(plan, argv=tuple(words))


def cpu_precision(device: Device) -> dict[str, Any]:
    """bf16 without special instructions is more than ten times slower on a CPU, and config.json often asks for it."""
    return {"torch_dtype": "float32"} if device.on_cpu else {}


def _rank_arguments(launch: Launch, device: Device) -> dict[str, Any]:
    """On a CPU the ranks average their gradients only over gloo; NPUs talk over HCCL."""
    if not uses_torchrun(launch) or launch.megatron:
        return {}
    if device.on_cpu:
        return {"ddp_backend": "gloo"}
    return {"ddp_backend": "hccl"} if device.kind == "npu" else {}


def uses_torchrun(launch: Launch) -> bool:
    """DeepSpeed, FSDP and Megatron need a process group even for one rank, also with a person's own configuration."""
    sharded = launch.settings.get("deepspeed") or launch.settings.get("fsdp")
    return launch.ranks > 1 or bool(sharded) or launch.megatron


def training_environment(launch: Launch, device: Device) -> dict[str, str]:
    """The variables that make ``swift`` start torchrun, and each rank take its share of the machine."""
    env: dict[str, str] = {}
    if uses_torchrun(launch):
        env |= {"NPROC_PER_NODE": str(launch.processes), "MASTER_PORT": Slot("{port}")}
        if device.on_cpu:
            env |= {
                "OMP_NUM_THREADS": str(max(1, device.cores // launch.processes)),
                "GLOO_SOCKET_IFNAME": "lo",
            }
    return {**env, **(KEEP_MEMORY if device.on_cpu else {device.visible_variable: Slot("{devices}")})}


def chosen_cards(device: Device, wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    """The cards a spec may use. Raises Refused("card_not_there") for one the machine does not have."""
    for card in wanted or ():
        if card not in device.cards:
            raise Refused("card_not_there", card=card, cards=", ".join(device.cards) or "–")
    return wanted or device.cards


def needs(device: Device, wanted: tuple[str, ...] | None, count: int | None) -> dict[str, Any]:
    """The Plan's fields for what the run waits for; ``count`` None: all the chosen cards."""
    if device.on_cpu:
        return {"needs": "cpu"}
    cards = chosen_cards(device, wanted)
    return {"needs": "cards", "devices": cards, "device_count": len(cards) if count is None else count}


def total_batch(settings: Mapping[str, Any], copies: int) -> int:
    """Rows an optimizer step learns from: per device x accumulation x ranks that see different rows."""
    if settings.get("global_batch_size"):
        return int(settings["global_batch_size"])
    return (
        int(settings.get("per_device_train_batch_size") or 1)
        * int(settings.get("gradient_accumulation_steps") or 1)
        * copies
    )


def total_steps(settings: Mapping[str, Any], rows: int | None, copies: int) -> int | None:
    """Optimizer steps, as transformers' Trainer counts them; None where the rows are not known."""
    limit = int(settings.get("max_steps") or settings.get("train_iters") or -1)
    if limit > 0:
        return limit
    if not rows:
        return None
    epochs = float(settings.get("num_train_epochs") or 1)
    if not math.isfinite(epochs):
        return None
    if settings.get("global_batch_size"):  # Megatron leaves out what does not fill a batch
        return max(1, int(rows * epochs // int(settings["global_batch_size"])))
    batches = math.ceil(rows / (int(settings.get("per_device_train_batch_size") or 1) * copies))
    an_epoch = max(1, math.ceil(batches / int(settings.get("gradient_accumulation_steps") or 1)))
    return max(1, math.ceil(epochs * an_epoch))


def safe_save_steps(total: int | None) -> int:
    """How often to save, so that little is at risk: a tenth of the run, and never more than some hundred steps."""
    return max(1, min((total or MOST_STEPS_AT_RISK) // SAVES_A_RUN, MOST_STEPS_AT_RISK))


def merge_plan(spec: MergeSpec, source: Source, output: str, device: Device, python: str) -> Plan:
    """Merge ``source.adapter`` into its base under a temporary name, then check it and give it its name."""
    if source.adapter is None:
        raise Refused("not_an_adapter", path=spec.adapter)
    partial = partial_of(output)
    settings = {
        "model": source.model,
        **source.flags,
        **({"use_hf": True} if source.use_hf else {}),
        "adapters": [source.adapter],
        "merge_lora": True,
        "output_dir": partial,
        **cpu_precision(device),
    }
    return Plan(
        kind="merge",
        argv=(*swift(python), "export", *catalogue.to_argv(settings)),
        env={} if device.on_cpu else {device.visible_variable: Slot("{devices}")},
        then=(
            python, "-P", "-m", "services.models.verify",
            "--base", source.model, "--adapter", source.adapter, "--merged", partial, "--final", output,
        ),
        output_dir=output,
        **needs(device, spec.devices, None if device.on_cpu else 1),
    )  # fmt: skip


def serve_plan(spec: ServeSpec, source: Source, device: Device, python: str) -> Plan:
    """An OpenAI-compatible server on the loopback address, under the run's id as the model's name."""
    settings: dict[str, Any] = {
        "model": source.model,
        **source.flags,
        **({"use_hf": True} if source.use_hf else {}),
        **({"adapters": [source.adapter]} if source.adapter else {}),
        "infer_backend": spec.engine,
        "host": "127.0.0.1",
        "port": Slot("{port}"),
        "served_model_name": Slot("{id}"),
        "verbose": False,
        "log_interval": -1,
        **cpu_precision(device),
    }
    env: dict[str, str] = {} if device.on_cpu else {device.visible_variable: Slot("{devices}")}
    if spec.engine == "vllm":
        settings["vllm_tensor_parallel_size"] = spec.tensor_parallel
        if device.on_cpu:
            settings["vllm_enforce_eager"] = True
            env |= {"VLLM_PLUGINS": "none", "VLLM_CPU_KVCACHE_SPACE": "1"}
            if spec.tensor_parallel > 1:
                env["VLLM_CPU_OMP_THREADS_BIND"] = "|".join(str(core) for core in range(spec.tensor_parallel))
    else:
        settings["external_plugins"] = [str(READER_GONE)]
    cards = chosen_cards(device, spec.devices)
    return Plan(
        kind="serve",
        argv=(*swift(python), "deploy", *catalogue.to_argv(settings)),
        env=env,
        ready_url=Slot("http://127.0.0.1:{port}/v1/models"),
        needs="nothing",
        devices=cards,
        device_count=min(len(cards), spec.tensor_parallel),
    )


def swift(python: str) -> tuple[str, ...]:
    """How ms-swift is started: by its module, so that no other program of that name on PATH is;
    -P, so that no folder ``swift`` in the working directory is."""
    return (python, "-P", "-m", "swift.cli.main")


def megatron(python: str) -> tuple[str, ...]:
    """The same for ms-swift's second console script, ``megatron``."""
    return (python, "-P", "-m", MEGATRON)
