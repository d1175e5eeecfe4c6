"""Commands out: a plan as a shell script, as YAML that ``swift`` itself reads, and as Python. Each gives ms-swift the
arguments of the plan; a comment in each holds the spec, so that TuneDesk can read it back.
"""

from __future__ import annotations

import math
import pprint
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from services.errors import Refused
from services.plan import Plan, Slot, wrapped
from services.specs import TrainSpec
from services.swift import catalogue
from services.swift.argument import Argument, typed
from services.swift.importer.flags import Flag, read_flags
from services.swift.importer.own_script import Mark, mark_line
from services.swift.importer.text import words
from services.swift.importer.translation import takes_many

Form = Literal["shell", "yaml", "python"]
FORMS: tuple[Form, ...] = ("shell", "yaml", "python")
MAINS = {"swift.cli.main": "swift", "swift.cli._megatron.main": "megatron"}
PYTHON_FORMS = {
    "sft": ("swift", "SftArguments", "sft_main"),
    "pt": ("swift", "PretrainArguments", "pretrain_main"),
    "rlhf": ("swift", "RLHFArguments", "rlhf_main"),
    "export": ("swift", "ExportArguments", "export_main"),
    "deploy": ("swift", "DeployArguments", "deploy_main"),
    "infer": ("swift", "InferArguments", "infer_main"),
    "megatron sft": ("swift.megatron", "MegatronSftArguments", "megatron_sft_main"),
    "megatron pt": ("swift.megatron", "MegatronPretrainArguments", "megatron_pretrain_main"),
    "megatron rlhf": ("swift.megatron", "MegatronRLHFArguments", "megatron_rlhf_main"),
}
"""Command -> module, class of its arguments, function that runs it."""
TORCHRUN = ("NPROC_PER_NODE", "NNODES", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT")
"""What ``swift`` passes on to torchrun, each as the option of the same name in lower case."""


@dataclass(frozen=True)
class Script:
    """A plan without gaps, to be written out."""

    plan: Plan
    folder: str
    """Where its files lie and it runs: the run's folder, absolute."""
    spec: TrainSpec | None = None
    name: str = ""

    @property
    def command(self) -> str:
        """sft, "megatron sft" … Raises Refused("export_form") for a plan that does not start ms-swift."""
        argv = self.plan.argv
        if not starts_swift(self.plan):
            raise Refused("export_form", command=" ".join(argv[:4]))
        return argv[4] if MAINS[argv[3]] == "swift" else f"megatron {argv[4]}"

    @property
    def flags(self) -> tuple[Flag, ...]:
        return read_flags(words(self.plan.argv[5:], 1), takes_many(self.command)).flags


def starts_swift(plan: Plan) -> bool:
    """Whether the plan's command is ms-swift itself, not something that starts it elsewhere."""
    return len(plan.argv) > 4 and plan.argv[3] in MAINS


def by_hand(plan: Plan, folder: str, name: str, port: int = 29500) -> Plan:
    """``plan`` with its gaps filled as a person would who starts it in ``folder`` (absolute)."""
    cards = plan.devices[: plan.device_count]
    return plan.filled({"run": folder, "id": name or "tunedesk", "port": str(port), "devices": ",".join(cards)})


def export(script: Script, form: Form) -> str:
    """``script`` as a text. Raises Refused("export_form") where this plan has no such form."""
    texts = [*script.plan.argv, *script.plan.env.values()]
    assert not any(isinstance(text, Slot) for text in texts), "the plan still has gaps"
    return {"shell": as_shell, "yaml": as_yaml, "python": as_python}[form](script)


def as_shell(script: Script) -> str:
    """A shell script that writes the plan's files and starts its command in the run's folder."""
    plan, folder = script.plan, shlex.quote(script.folder)
    lines = ["#!/usr/bin/env bash", *_head(script), "set -euo pipefail", "", f"mkdir -p {folder}", f"cd {folder}"]
    for name, text in plan.files.items():
        end = "END_OF_FILE"
        while end in text.split("\n"):
            end += "_"
        lines += ["", f"cat > {shlex.quote(name)} <<'{end}'", text.removesuffix("\n"), end]
    lines += ["", *(f"export {name}={shlex.quote(value)}" for name, value in sorted(plan.env.items()))]
    commands = [argv for argv in (plan.argv, plan.then) if argv]
    for argv in commands:
        lines += ["", wrapped(argv)]
    return "\n".join(lines) + "\n"


def as_yaml(script: Script) -> str:
    """A file for ``swift <command> file.yaml``: ms-swift makes the same words of it, and sets its ``ENV`` first.

    The plan's files are not in it; they must lie in the run's folder.
    """
    program = script.command if script.command.startswith("megatron") else f"swift {script.command}"
    value: dict[str, Any] = {}
    if script.plan.env:
        value["ENV"] = {name: _native(text) for name, text in sorted(script.plan.env.items())}
    for flag in script.flags:
        texts = [text.value for text in flag.values]
        if len(texts) == 1 and texts[0].startswith("-"):  # alone, argparse would take it for a flag
            value[f"{flag.name}={texts[0]}"] = []
        elif len(texts) == 1 and not takes_many(script.command)(flag.name):
            value[flag.name] = _native(texts[0])
        else:
            value[flag.name] = [_native(text) for text in texts]
    head = [*_head(script), f"# {program} this-file.yaml"]
    text = yaml.dump(value, Dumper=_Plain, allow_unicode=True, sort_keys=False, width=1000)
    return "\n".join(head) + "\n" + text


def as_python(script: Script) -> str:
    """Python that calls ms-swift with the same arguments; with several ranks it starts torchrun on itself."""
    plan, command = script.plan, script.command
    if command not in PYTHON_FORMS:
        raise Refused("export_form", command=command)
    module, class_name, main = PYTHON_FORMS[command]
    known = catalogue.arguments(command)
    given = [(flag.name, _argument(known.get(flag.name), flag)) for flag in script.flags]
    width = {"width": 110, "sort_dicts": False}
    lines = [
        *_head(script), "import os", "from pathlib import Path", "",
        f"folder = Path({script.folder!r})", "folder.mkdir(parents=True, exist_ok=True)",
        "this_file = os.path.abspath(__file__)",
        "os.chdir(folder)",
        *(f"Path({name!r}).write_text({text!r}, encoding='utf-8')" for name, text in plan.files.items()),
        *(f"os.environ[{name!r}] = {value!r}" for name, value in sorted(plan.env.items())),
        "",
    ]  # fmt: skip
    call = [f"from {module} import {class_name}, {main}", "", f"{main}({class_name}("]
    call += [f"    {name}={pprint.pformat(value, **width)}," for name, value in given]  # type: ignore[arg-type]
    call += ["))"]
    torchrun = [word for name in TORCHRUN if name in plan.env for word in (f"--{name.lower()}", plan.env[name])]
    if torchrun and command not in ("export", "deploy"):
        start = f"    main([{', '.join(repr(word) for word in torchrun)}, this_file])"
        lines += ['if "LOCAL_RANK" not in os.environ:  # start the ranks', "    from torch.distributed.run import main"]
        lines += ["", start, "else:", *("    " + line if line else "" for line in call)]
    else:
        lines += call
    return "\n".join(lines) + "\n"


def _head(script: Script) -> list[str]:
    name = " ".join(script.name.split()) or script.plan.kind
    lines = [f"# {name}: written by TuneDesk for ms-swift {catalogue.version()}."]
    marked = script.spec is not None and starts_swift(script.plan)
    return [*lines, mark_line(mark(script))] if marked else lines


def mark(script: Script) -> Mark:
    """The spec, and the words and variables as they are now: what is different later, somebody has changed."""
    assert script.spec is not None
    flat = {"command": script.spec.command, **script.spec.flat()}
    written = {flag.name: [text.value for text in flag.values] for flag in script.flags}
    return Mark(script.command, flat, written, dict(script.plan.env))


def _native(text: str) -> object:
    """A number where ms-swift makes the same word of it, else the text."""
    for read in (int, float):
        try:
            value = read(text)
        except ValueError:
            continue
        if str(value) == text and math.isfinite(value):
            return value
    return text


def _argument(argument: Argument | None, flag: Flag) -> object:
    """The value that ms-swift's parser makes of the flag's words."""
    texts = [text.value for text in flag.values]
    if argument is None:
        return texts[0] if len(texts) == 1 else texts
    many, kind = argument.type.startswith("list["), argument.type.removeprefix("list[").removesuffix("]")
    if argument.choices is not None:
        return typed(argument, texts if many else texts[0])
    readers: Mapping[str, Any] = {"int": int, "float": float, "bool": lambda text: text == "true"}
    read = readers.get(kind, str)
    return [read(text) for text in texts] if many else read(texts[0])


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True
