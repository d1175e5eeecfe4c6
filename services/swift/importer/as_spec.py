"""The settings of one command as the spec of the form that takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.errors import Key, Refused
from services.specs import MergeSpec, ServeSpec, TrainSpec, train_spec
from services.swift.commands import DEEPSPEED
from services.swift.importer import facts as facts_room
from services.swift.importer.facts import LAUNCH_ENV, Facts
from services.swift.importer.launch import TRAININGS
from services.swift.importer.text import Said
from services.swift.importer.translation import Rejected, Translation

TRAINING_COMMANDS = (*TRAININGS, *(f"megatron {name}" for name in TRAININGS))


def spec_of(
    command: str, settings: Mapping[str, Any], facts: Facts, translation: Translation
) -> TrainSpec | MergeSpec | ServeSpec | None:
    if command in TRAINING_COMMANDS:
        return training(command, settings, facts, translation)
    if command == "export" and settings.get("merge_lora") and settings.get("adapters"):
        return _merge(settings, facts, translation)
    if command in ("infer", "deploy", "app") and (settings.get("adapters") or settings.get("model")):
        return _serve(command, settings, facts, translation)
    translation.said.append(Said(Key("importing.no_form", command=command)))
    return None


def training(command: str, settings: Mapping[str, Any], facts: Facts, translation: Translation) -> TrainSpec | None:
    args = dict(settings)
    flat: dict[str, Any] = {"command": command}
    for name in ("model", "dataset"):
        if name in args:
            flat[name] = args.pop(name)
        elif name == "dataset" and args.get("cached_dataset"):
            flat[name] = []
        else:
            translation.said.append(_nothing_named(name, args))
    for name in ("model_name", "model_author"):
        if name in args:
            names = args.pop(name)
            flat[name] = names[0] if isinstance(names, list) else names
            if isinstance(names, list) and len(names) > 1:
                key = Key("importing.one_name", flag=f"--{name}", taken=names[0], left=" ".join(names[1:]))
                translation.said.append(Said(key, (f"--{name}",)))
    strategy = facts_room.strategy_of(facts, args, command.startswith("megatron"))
    if args.get("deepspeed") in DEEPSPEED:
        args.pop("deepspeed")
    if args.get("fsdp") == "fsdp2":
        args.pop("fsdp")
    processes = facts.processes or (1 if strategy in ("single", "device_map") else None)
    flat |= {"strategy": strategy, "processes": processes}
    flat |= {"devices": list(facts.cards)} if facts.cards else {}
    flat |= {"env": {name: value for name, value in facts.env.items() if name not in LAUNCH_ENV}} if facts.env else {}
    if facts.target:
        flat["target"] = facts.target
    return _valid({name: value for name, value in flat.items() if value is not None}, args, translation)


def _nothing_named(name: str, args: Mapping[str, Any]) -> Said:
    if name == "model" and "mcore_model" in args:
        return Said(Key("importing.mcore_model_alone"), ("--mcore_model",))
    return Said(Key("importing.no_model" if name == "model" else "importing.no_dataset"))


def _valid(flat: dict[str, Any], args: Mapping[str, Any], translation: Translation) -> TrainSpec | None:
    """The spec, without what its own rules refuse, which is said."""
    for _ in range(len(flat) + 1):
        try:
            return train_spec(flat).model_copy(update={"args": dict(args)})
        except Refused as refusal:
            why = Key(f"error.{refusal.code}", **refusal.values)
            name = str(refusal.values.get("field", "target")).split(".")[0]
            name = name if name in flat else "target"
            value = flat.pop(name, None)
            translation.refused.append(Rejected(name, str(value)[:200], why))
    return None


def _merge(settings: Mapping[str, Any], facts: Facts, translation: Translation) -> MergeSpec:
    adapters = _paths(settings["adapters"])
    _left_over(settings, ("adapters", "model", "merge_lora"), "merge", translation)
    if len(adapters) > 1:
        translation.said.append(Said(Key("importing.one_adapter", taken=adapters[0]), ("--adapters",)))
    return MergeSpec(adapter=adapters[0], base=settings.get("model"), devices=facts.cards or None)


def _serve(command: str, settings: Mapping[str, Any], facts: Facts, translation: Translation) -> ServeSpec:
    adapters = _paths(settings.get("adapters") or [])
    engine = "vllm" if settings.get("infer_backend") == "vllm" else "transformers"
    parallel = settings.get("vllm_tensor_parallel_size")
    taken = ["adapters" if adapters else "model", "infer_backend", "vllm_tensor_parallel_size"]
    if settings.get("infer_backend") in ("sglang", "lmdeploy"):
        translation.said.append(Said(Key("importing.engine", engine=settings["infer_backend"]), ("--infer_backend",)))
    if settings.get("val_dataset") or settings.get("load_data_args"):
        translation.said.append(Said(Key("importing.batch_inference"), ("--val_dataset", "--load_data_args")))
    _left_over(settings, taken, command, translation)
    return ServeSpec(
        model=adapters[0] if adapters else settings["model"],
        engine=engine,  # type: ignore[arg-type]
        tensor_parallel=parallel if isinstance(parallel, int) and parallel > 0 else 1,
        devices=facts.cards or None,
    )


def _paths(adapters: list[str]) -> list[str]:
    """The adapters themselves of ``name=adapter``, as a server may call them."""
    return [one.partition("=")[2] or one for one in adapters]


def _left_over(settings: Mapping[str, Any], taken: tuple[str, ...] | list[str], what: str, found: Translation) -> None:
    rest = [f"--{name}" for name in settings if name not in taken]
    if rest:
        found.said.append(Said(Key("importing.left_over", flags=", ".join(rest), command=what), tuple(rest)))
