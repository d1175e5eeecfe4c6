"""Spec -> Plan: the only place where ms-swift's command lines are made. Pure: no I/O, no clock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.errors import Key, Refused
from services.plan import Plan, Slot, partial_of
from services.specs import MergeSpec, ServeSpec, TrainSpec
from services.swift import catalogue

DEEPSPEED = ("zero0", "zero1", "zero2", "zero3", "zero2_offload", "zero3_offload")
PLUGINS = Path(__file__).parent / "plugins"
SAVE_ON_STOP = PLUGINS / "save_on_stop.py"
"""A plugin with which all ranks save and end at the same step when the run is asked to stop."""
READER_GONE = PLUGINS / "reader_gone.py"
"""A plugin that makes ms-swift's own engine stop generating when nobody reads the answer any more."""
CHECKPOINTS_KEPT = 3
SAVES_A_RUN = 10
MOST_STEPS_AT_RISK = 200


@dataclass(frozen=True)
class Device:
    """What the plan may count on: the cards by their numbers (none: the CPU) and the cores."""

    cards: tuple[str, ...] = ()
    kind: str = "gpu"
    cores: int = 1
    impossible: Mapping[str, str] = field(default_factory=dict)
    """Strategies that cannot run here -> the code of the reason."""

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
    small: bool = False
    """Its activations fit without gradient checkpointing."""


@dataclass(frozen=True)
class Data:
    """The data sets as ms-swift is to load them, what is known of them, and the files made for them."""

    arguments: tuple[str, ...]
    rows: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that make ms-swift read the file as it is meant."""


def train_plan(
    spec: TrainSpec, source: Source, data: Data, device: Device, python: str, resume_from: str | None = None
) -> Plan:
    """The plan of a training run.

    Raises Refused for arguments ms-swift does not know and for settings that cannot work together.
    """
    args = catalogue.check(spec.command, spec.args)
    strategy, processes = strategy_of(spec, args, device)
    defaults = training_defaults(source, device, args)
    settings: dict[str, Any] = {
        "model": source.model,
        **source.flags,
        **({"check_model": False} if source.local else {}),
        **({"use_hf": True} if source.use_hf else {}),
        "dataset": list(data.arguments),
        **data.settings,
        **defaults,
        **strategy_arguments(strategy, processes, device, args),
        "output_dir": Slot("{run}/output"),
        **args,
        "external_plugins": [str(SAVE_ON_STOP), *_words(args.get("external_plugins"))],
        "callbacks": ["save_on_stop", *_words(args.get("callbacks"))],
    }
    total = total_steps(settings, data.rows, processes)
    settings.setdefault("save_steps", safe_save_steps(total))
    settings.setdefault("logging_steps", max(1, min(5, (total or 100) // 20)))
    if resume_from is not None:
        settings["resume_from_checkpoint"] = resume_from
    return Plan(
        kind="train",
        argv=(*swift(python), spec.command, *catalogue.to_argv(settings)),
        env={**training_environment(strategy, processes, device, args), **spec.env},
        files=data.files,
        output_dir=settings["output_dir"],
        total_steps=total,
        processes=processes,
        **needs(device, spec.devices, processes if strategy not in ("device_map", "ddp+device_map") else None),
    )


def _words(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)] if value else []


def strategy_of(spec: TrainSpec, args: Mapping[str, Any], device: Device) -> tuple[str, int]:
    """The strategy and number of ranks that ``spec`` comes to. Raises Refused with the arithmetic or the reason."""
    cards = len(chosen_cards(device, spec.devices))
    strategy: str = spec.strategy
    given = {"deepspeed": args.get("deepspeed"), "fsdp": args.get("fsdp")}
    implied = given["deepspeed"] if given["deepspeed"] in DEEPSPEED else "fsdp2" if given["fsdp"] else None
    if strategy == "auto":
        strategy = implied or ("ddp" if (spec.processes or max(cards, 1)) > 1 else "single")
    elif (given["deepspeed"] or given["fsdp"]) and strategy != implied:
        raise Refused("strategy_contradicts", strategy=strategy, given=given["deepspeed"] or given["fsdp"])
    processes = spec.processes or (1 if strategy in ("single", "device_map") else max(cards, 1))
    if strategy == "single" and processes > 1:
        raise Refused("single_needs_one", processes=processes)
    if strategy in device.impossible:
        reason = Key(f"training.reason.{device.impossible[strategy]}")
        raise Refused("strategy_impossible", strategy=strategy, reason=reason)
    if device.on_cpu:
        if processes > device.cores:
            raise Refused("more_processes_than_cores", processes=processes, cores=device.cores)
    elif processes > cards:
        raise Refused("more_processes_than_cards", processes=processes, cards=cards)
    return strategy, processes


def training_defaults(source: Source, device: Device, args: Mapping[str, Any]) -> dict[str, Any]:
    """What TuneDesk sets where the spec says nothing."""
    tuner = args.get("tuner_type", "lora")
    lora = {"lora_rank": 8, "lora_alpha": 32, "target_modules": ["all-linear"]} if tuner == "lora" else {}
    return {
        "tuner_type": tuner,
        **lora,
        "num_train_epochs": 1.0,
        "per_device_train_batch_size": 4 if device.on_cpu else 1,
        "gradient_accumulation_steps": 1 if device.on_cpu else 16,
        "learning_rate": 1e-3 if tuner == "lora" and source.small else 1e-4 if tuner == "lora" else 1e-5,
        "max_length": 512 if device.on_cpu else 2048,
        "gradient_checkpointing": not source.small,
        "save_total_limit": CHECKPOINTS_KEPT,
        "dataloader_num_workers": 0 if device.on_cpu else 2,
        **cpu_precision(device),
        **({"use_cpu": True, "fp16": False, "bf16": False} if device.on_cpu else {}),
    }


def cpu_precision(device: Device) -> dict[str, Any]:
    """bf16 without special instructions is more than ten times slower on a CPU, and config.json often asks for it."""
    return {"torch_dtype": "float32"} if device.on_cpu else {}


def strategy_arguments(strategy: str, processes: int, device: Device, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a strategy adds. On a CPU the ranks average their gradients only over gloo."""
    added: dict[str, Any] = {}
    if strategy in DEEPSPEED and "deepspeed" not in args:
        added["deepspeed"] = strategy
    if strategy == "fsdp2":
        added["gradient_checkpointing"] = False
        if "fsdp" not in args:
            added["fsdp"] = "fsdp2"
    if device.on_cpu and uses_torchrun(strategy, processes, args):
        added["ddp_backend"] = "gloo"
    return added


def uses_torchrun(strategy: str, processes: int, args: Mapping[str, Any]) -> bool:
    """DeepSpeed and FSDP need a process group even for one rank, also with a configuration of the person's own."""
    own = bool(args.get("deepspeed") or args.get("fsdp"))
    return processes > 1 or strategy in DEEPSPEED or strategy == "fsdp2" or own


def training_environment(strategy: str, processes: int, device: Device, args: Mapping[str, Any]) -> dict[str, str]:
    """The variables that make ``swift`` start torchrun, and each rank take its share of the machine."""
    env: dict[str, str] = {}
    if uses_torchrun(strategy, processes, args):
        env |= {"NPROC_PER_NODE": str(processes), "MASTER_PORT": Slot("{port}")}
        if device.on_cpu:
            env |= {
                "OMP_NUM_THREADS": str(max(1, device.cores // processes)),
                "GLOO_SOCKET_IFNAME": "lo",
            }
    if not device.on_cpu:
        env[device.visible_variable] = Slot("{devices}")
    return env


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


def total_batch(settings: Mapping[str, Any], processes: int) -> int:
    """Rows an optimizer step learns from: per device x accumulation x ranks."""
    return (
        int(settings.get("per_device_train_batch_size") or 1)
        * int(settings.get("gradient_accumulation_steps") or 1)
        * processes
    )


def total_steps(settings: Mapping[str, Any], rows: int | None, processes: int) -> int | None:
    """Optimizer steps, as transformers' Trainer counts them; None where the rows are not known."""
    if int(settings.get("max_steps") or -1) > 0:
        return int(settings["max_steps"])
    if not rows:
        return None
    epochs = float(settings.get("num_train_epochs") or 1)
    if not math.isfinite(epochs):
        return None
    batches = math.ceil(rows / (int(settings.get("per_device_train_batch_size") or 1) * processes))
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
