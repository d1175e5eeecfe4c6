"""Scripts that TuneDesk wrote itself. A line ``# tunedesk: {…}`` in them holds the spec and the words it became, so
that reading one back gives that spec, with whatever a person has changed in the command since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from services.errors import Key, Refused
from services.specs import TrainSpec, train_spec
from services.swift.importer.facts import LAUNCH_ENV
from services.swift.importer.flags import Flag, Flags
from services.swift.importer.text import Said, Text

BEGIN = "# tunedesk: "
PLACED = ("strategy", "processes", "devices")


@dataclass(frozen=True)
class Mark:
    """What TuneDesk noted when it wrote the script."""

    command: str
    """Of ms-swift; a spec for sft may be trained by megatron sft."""
    spec: Mapping[str, Any]
    """The spec as in its YAML."""
    written: Mapping[str, list[str]]
    """Each flag of the command -> its words."""
    env: Mapping[str, str]


def mark_line(mark: Mark) -> str:
    """The mark as one line of a comment."""
    value = {"command": mark.command, "spec": dict(mark.spec), "written": dict(mark.written), "env": dict(mark.env)}
    return BEGIN + json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)


def mark_of(text: str) -> Mark | None:
    """The mark that one of the first lines of ``text`` holds; None where there is none, or it is damaged."""
    for line in text.split("\n", 20)[:20]:
        if line.startswith(BEGIN):
            try:
                value = json.loads(line.removeprefix(BEGIN))
                written = {str(name): [str(word) for word in words] for name, words in value["written"].items()}
                env = {str(name): str(text) for name, text in value["env"].items()}
                train_spec(value["spec"])
                return Mark(str(value["command"]), value["spec"], written, env)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError, Refused):
                return None
    return None


def changed(flags: Flags, mark: Mark) -> Flags:
    """The flags that are not as TuneDesk wrote them."""
    return replace(flags, flags=tuple(flag for flag in flags.flags if not unchanged(flag, mark)))


def unchanged(flag: Flag, mark: Mark) -> bool:
    """Whether the flag is as TuneDesk wrote it; 2 and 2.0 are the same."""
    before, now = mark.written.get(flag.name), [value.value for value in flag.values]
    return before == now or (before is not None and list(map(_number, before)) == list(map(_number, now)))


def _number(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def added(flags: Flags, mark: Mark) -> list[Said]:
    """Says which flags TuneDesk put there by itself."""
    names = tuple(flag.written for flag in flags.flags if unchanged(flag, mark) and flag.name not in mark.spec)
    return [Said(Key("importing.added_by_tunedesk", flags=", ".join(names)), names)] if names else []


def restored(spec: TrainSpec, mark: Mark, flags: Flags, env: Mapping[str, Text]) -> TrainSpec:
    """The spec of the mark, with what is different in the command: ``spec`` holds the flags that were changed."""
    original = train_spec(mark.spec)
    here = {flag.name for flag in flags.flags}
    new = {flag.name for flag in changed(flags, mark).flags}
    gone = set(mark.written) - here
    args = {name: value for name, value in original.args.items() if name not in new | gone}
    kept: dict[str, Any] = {
        name: getattr(original, name)
        for name in TrainSpec.model_fields
        if name not in ("args", "env", *PLACED) and name not in new
    }
    given = {name: value.value for name, value in env.items() if value.known}
    same_launch = all(given.get(name) == mark.env.get(name) for name in LAUNCH_ENV if name != "MASTER_PORT")
    if same_launch and not {"deepspeed", "fsdp"} & (new | gone):
        kept |= {name: getattr(original, name) for name in PLACED}
    ours = {name for name in mark.env if name not in original.env and given.get(name) == mark.env[name]}
    kept["env"] = {name: value for name, value in given.items() if name not in ours and name not in LAUNCH_ENV}
    kept["env"] |= {name: value for name, value in original.env.items() if given.get(name) == value}
    return spec.model_copy(update={**kept, "args": args | spec.args})
