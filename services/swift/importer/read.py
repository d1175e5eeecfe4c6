"""A text or file -> what it would start -> Imported."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from services.errors import Key, Refused
from services.settings import Settings
from services.specs import TrainSpec, train_spec
from services.swift import catalogue
from services.swift.importer import assemble, files, launchers, own_script, python_form, shell
from services.swift.importer.as_spec import TRAINING_COMMANDS
from services.swift.importer.expansion import Scope
from services.swift.importer.facts import slurm
from services.swift.importer.files import Files
from services.swift.importer.imported import Imported
from services.swift.importer.launchers import Launch
from services.swift.importer.text import Call, Said

DEEPEST_NESTING = 4
MOST_COMMANDS = 40
LARGEST_INPUT = 1 << 18
LARGEST_MAPPING = 1 << 16
"""Characters of a text that may be tried as YAML without its name saying so."""
OURS = tuple(set(TrainSpec.model_fields) - {"command", "model", "dataset", "model_name", "model_author", "args"})


@dataclass
class _Found:
    """What has been found so far."""

    files: Files
    launches: list[Launch] = field(default_factory=list)
    others: list[Call] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    torn: list[tuple[int, int]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    """Of a job script for Slurm."""


def import_file(path: Path, settings: Settings) -> Imported:
    """Read a file. Raises Refused as ``import_text`` does, and OSError where it cannot be read."""
    with path.open("rb") as file:
        data = file.read(LARGEST_INPUT + 1)
    return import_text(data.decode("utf-8", "replace"), path.resolve().parent, settings, name=path.name)


def import_text(text: str, folder: Path | None, settings: Settings, *, name: str = "") -> Imported:
    """What the command in ``text`` is for TuneDesk; configuration files it names are read below ``folder``.

    ``name`` is the file it came from, whose ending says what it is; without one the text itself does.
    Raises Refused("import_line") with the line that cannot be understood and why, Refused("import_too_large").
    """
    if len(text) > LARGEST_INPUT:
        raise Refused("import_too_large", limit=f"{LARGEST_INPUT >> 10} KiB")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise Refused("import_line", line=1, why=Key("importing.empty"))
    found = _Found(Files(settings, folder))
    mark = own_script.mark_of(text)
    kind = _kind(text, name)
    if kind in ("yaml", "json"):
        return _config(files.mapping(text, json_text=kind == "json"), found, mark)
    if kind == "python":
        _python(found, text, (), 0)
    else:
        scope = Scope(base=str(folder.resolve()) if folder is not None else "")
        _shell(found, _fenced(text), scope, (), 0)
    return _imported(found, mark)


def _kind(text: str, name: str) -> str:
    """shell, python, yaml or json."""
    ending = name.rpartition(".")[2].lower()
    known = {"sh": "shell", "bash": "shell", "py": "python", "yaml": "yaml", "yml": "yaml", "json": "json"}
    if ending in known:
        return known[ending]
    if text.lstrip().startswith("{"):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return "json"
    if re.search(r"\b\w+(_main|Arguments)\s*\(", text) or text.lstrip().startswith(("import ", "from ")):
        return "python"
    return "yaml" if _is_mapping(text) else "shell"


def _is_mapping(text: str) -> bool:
    if len(text) > LARGEST_MAPPING:
        return False
    try:
        found = files.mapping(text)
    except Refused:
        return False
    return len(found) > 0 and all(key.replace("-", "_").isidentifier() for key in found)


def _fenced(text: str) -> str:
    """Of a page with code between lines of three back-ticks only the code, on its lines."""
    lines = text.split("\n")
    marks = [number for number, line in enumerate(lines) if line.lstrip().startswith("```")]
    inside = [number for start, end in zip(marks[::2], marks[1::2], strict=False) for number in range(start + 1, end)]
    if not any(lines[number].strip() for number in inside):
        inside = [number for number in range(len(lines)) if number not in marks]
    wanted = set(inside)
    return "\n".join(line if number in wanted else "" for number, line in enumerate(lines))


def _config(config: Mapping[str, Any], found: _Found, mark: own_script.Mark | None) -> Imported:
    """A configuration file by itself, as ``swift sft file.yaml`` would take it."""
    inner = config.get("spec")  # a preset
    given = {str(key): value for key, value in (inner if isinstance(inner, dict) else config).items()}
    marked = mark.command if mark is not None else None
    named = given.pop("command", None) or marked
    ours: dict[str, Any] = {key: given.pop(key) for key in OURS if key in given}
    command = named or _likely("rlhf" if "rlhf_type" in given else "sft", given)
    call = Call((), 1, {})
    launch = Launch(call, [], {}, command=str(command))
    if str(command) not in (*launchers.COMMANDS, *(f"megatron {one}" for one in launchers.COMMANDS)):
        raise Refused("import_line", line=1, why=Key("importing.no_such_command", command=str(command)[:100]))
    flags = assemble.config_flags(given, launch, launch.said)
    launch.words = [word for flag in flags for word in flag.words()]
    result = assemble.assemble(launch, found.files, mark)
    if ours and mark is None and isinstance(result.spec, TrainSpec):  # a spec of TuneDesk's own
        fields = train_spec({**ours, "command": command})
        result = replace(result, spec=result.spec.model_copy(update={name: getattr(fields, name) for name in ours}))
    return result


def _likely(command: str, given: Mapping[str, Any]) -> str:
    """Of the commands that a file without one may be for, the first that takes most of its settings."""
    names = {name.partition("=")[0].replace("-", "_") for name in given} - {"ENV"}
    others = (f"megatron {command}", "infer", "export", "sample")
    return max((command, *others), key=lambda one: len(names & catalogue.arguments(one).keys()))


def _shell(found: _Found, text: str, scope: Scope, around: tuple[str, ...], depth: int) -> None:
    script = shell.read(text, scope, around)
    found.said += script.said
    found.torn += script.torn
    found.headers += script.headers
    found.files = replace(found.files, written={**found.files.written, **script.written})
    for call in script.calls:
        _call(found, call, depth)


def _call(found: _Found, call: Call, depth: int) -> None:
    launch = launchers.launch(call)
    if launch.command and [word.value for word in launch.words] in (["--help"], ["-h"]):
        found.others.append(call)
    elif launch.command:
        if len(found.launches) >= MOST_COMMANDS:
            raise Refused("import_line", line=call.line, why=Key("importing.too_many"))
        found.launches.append(launch)
    elif launch.script_file in found.files.written and depth < DEEPEST_NESTING:
        launch.script = found.files.written[launch.script_file].value
        _nested(found, launch, depth)
    elif launch.script is not None and depth < DEEPEST_NESTING:
        _nested(found, launch, depth)
    elif launch.python is not None and depth < DEEPEST_NESTING:
        inner = _Found(found.files)
        _python(inner, launch.python, launch.around, depth + 1)
        _take_over(found, inner, launch)
    elif launch.python_file and depth < DEEPEST_NESTING and _python_file(found, launch, depth):
        return
    else:
        found.others.append(call)
        found.said += launch.said


def _nested(found: _Found, launch: Launch, depth: int) -> None:
    inner = _Found(found.files)
    scope = Scope(variables=dict(launch.env), exported=set(launch.env))
    _shell(inner, str(launch.script), scope, launch.around, depth + 1)
    _take_over(found, inner, launch)


def _take_over(found: _Found, inner: _Found, outer: Launch) -> None:
    """Commands inside another one: they stand in its line and have its launcher's facts."""
    for one in inner.launches:
        one.call = replace(one.call, line=outer.call.line)
        one.env = {**outer.env, **one.env}
        one.nodes, one.launcher = one.nodes or outer.nodes, one.launcher or outer.launcher
        one.gpus, one.target = one.gpus or outer.gpus, one.target or outer.target
        one.said = [*outer.said, *one.said]
        found.launches.append(one)
    if not inner.launches:
        found.others.append(outer.call)
        found.said += outer.said
    found.said += inner.said
    found.headers += inner.headers
    found.torn += [(outer.call.line, outer.call.line) for _ in inner.torn]
    found.files = inner.files


def _python(found: _Found, text: str, around: tuple[str, ...], depth: int) -> None:
    source = python_form.read(text)
    found.said += source.said
    for call in source.calls:
        _call(found, replace(call, conditions=around), depth)
    for script, line in source.scripts:
        inner = _Found(found.files)
        _shell(inner, script, Scope(), around, depth + 1)
        _take_over(found, inner, Launch(Call((), line, {}), [], {}))


def _python_file(found: _Found, launch: Launch, depth: int) -> bool:
    """A Python file of the person's own that a command starts, where it can be read and starts ms-swift itself."""
    name = str(launch.python_file)
    try:
        text = found.files.text(name, launch.call.folder)
        ast.parse(text)
    except (Refused, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    inner = _Found(found.files)
    _python(inner, text, launch.around, depth + 1)
    if not inner.launches:
        return False
    inner.said.append(Said(Key("importing.python_read", file=name)))
    _take_over(found, inner, launch)
    return True


def _imported(found: _Found, mark: own_script.Mark | None) -> Imported:
    said = [*found.said, *_other_commands(found.others)]
    if not found.launches:
        if not any(one.text.startswith("importing.docker") for one in found.said):
            raise _nothing(found)
        return Imported(notes=(Said(Key("importing.no_training")), *said))
    if found.headers:
        said.append(Said(Key("importing.slurm", options=" ".join(found.headers)[:400])))
    for launch in found.launches:
        if found.headers and not launch.target:
            launch.target = slurm(found.headers)
        lines = [word.line for word in launch.call.words]
        first, last = min([launch.call.line, *lines]), max([launch.call.line, *lines])
        for start, end in found.torn:
            if start <= last and end >= first:
                raise Refused("import_line", line=start, why=Key("importing.torn"))
    chosen = min(range(len(found.launches)), key=lambda number: _rank(found.launches[number], number))
    results = [assemble.assemble(one, found.files, mark) for one in found.launches]
    main = results.pop(chosen)
    if results:
        listed = ", ".join(f"{one.command} ({one.line})" for one in results)
        said.insert(0, Said(Key("importing.several", chosen=main.command, line=main.line, others=listed)))
    for start, end in found.torn:
        said.append(Said(Key("importing.torn_elsewhere", line=start, last=end)))
    return replace(main, notes=(*main.notes, *said), others=tuple(results))


def _rank(launch: Launch, number: int) -> tuple[bool, bool, int]:
    """The training comes first, then what is done in any case, then what stands first."""
    return launch.command not in TRAINING_COMMANDS, bool(launch.around), number


def _nothing(found: _Found) -> Refused:
    if found.torn:
        return Refused("import_line", line=min(found.torn)[0], why=Key("importing.torn"))
    if not found.others:
        return Refused("import_line", line=1, why=Key("importing.no_command"))
    names = ", ".join(dict.fromkeys(_name(call) for call in found.others))
    return Refused("import_line", line=found.others[0].line, why=Key("importing.no_swift", commands=names[:200]))


def _other_commands(calls: list[Call]) -> list[Said]:
    if not calls:
        return []
    listed = ", ".join(f"{_with_flags(call)} ({call.line})" for call in calls)
    flags = tuple(word.value.partition("=")[0] for call in calls for word in call.words if word.value.startswith("--"))
    return [Said(Key("importing.other_commands", commands=listed[:2000]), flags)]


def _name(call: Call) -> str:
    return " ".join(word.value for word in call.words[:2])[:60]


def _with_flags(call: Call) -> str:
    flags = [word.value.partition("=")[0] for word in call.words[2:] if word.value.startswith("--")]
    return " ".join([_name(call), *flags])[:200]
