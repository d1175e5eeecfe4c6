"""A Plan: exactly what will run. What is previewed is the object that is launched."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


class Slot(str):
    """Text with gaps that are chosen when the run starts.

    ``{run}`` is the run's folder, ``{id}`` its id, ``{port}`` a free port, ``{devices}`` the cards it was given.
    Only a Slot is ever filled: the same characters in what a person typed stay as they are.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Plan:
    """One command, its environment, and the files it reads from the run's folder."""

    kind: str
    """train, merge or serve."""
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """File name inside the run's folder -> its text."""
    then: tuple[str, ...] = ()
    """A second command, run only after the first has succeeded (a merge's verification)."""
    ready_url: str | None = None
    """For a server: the address that answers 200 once it is ready."""
    output_dir: str = Slot("{run}/output")
    total_steps: int | None = None
    processes: int = 1
    devices: tuple[str, ...] = ()
    """The cards it may run on, by their physical numbers; none on a CPU."""
    device_count: int = 0
    """How many of them it takes."""
    needs: str = "cpu"
    """What it waits for: "cpu" (a slot), "cards" (its devices), "nothing"."""
    max_restarts: int = 0
    """How often its keeper tries again, from the last whole checkpoint, after it failed."""

    def filled(self, values: Mapping[str, str]) -> Plan:
        """The same plan with every Slot's gaps filled from ``values``."""

        def fill(text: str) -> str:
            if not isinstance(text, Slot):
                return text
            return re.sub(r"\{(\w+)\}", lambda gap: values.get(gap[1], gap[0]), text)

        return replace(
            self,
            argv=tuple(fill(word) for word in self.argv),
            env={name: fill(value) for name, value in self.env.items()},
            then=tuple(fill(word) for word in self.then),
            ready_url=None if self.ready_url is None else fill(self.ready_url),
            output_dir=fill(self.output_dir),
        )

    def __str__(self) -> str:
        """The command as a person can paste it into a shell."""
        env = [f"{name}={shlex.quote(value)}" for name, value in sorted(self.env.items())]
        commands = [" \\\n".join([*env, wrapped(argv)]) for argv in (self.argv, self.then) if argv]
        return " \\\n&& ".join(commands)

    def as_json(self) -> dict[str, Any]:
        """A JSON value from which ``plan_from_json`` makes the same plan, slots included."""

        def mark(text: str | None) -> Any:
            return {"slot": str(text)} if isinstance(text, Slot) else text

        return {
            "kind": self.kind,
            "argv": [mark(word) for word in self.argv],
            "env": {name: mark(value) for name, value in self.env.items()},
            "files": dict(self.files),
            "then": [mark(word) for word in self.then],
            "ready_url": mark(self.ready_url),
            "output_dir": mark(self.output_dir),
            "total_steps": self.total_steps,
            "processes": self.processes,
            "devices": list(self.devices),
            "device_count": self.device_count,
            "needs": self.needs,
            "max_restarts": self.max_restarts,
        }


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """The inverse of ``Plan.as_json``."""

    def unmark(text: Any) -> Any:
        return Slot(text["slot"]) if isinstance(text, dict) else text

    return Plan(
        kind=value["kind"],
        argv=tuple(unmark(word) for word in value["argv"]),
        env={name: unmark(text) for name, text in value["env"].items()},
        files=value["files"],
        then=tuple(unmark(word) for word in value["then"]),
        ready_url=unmark(value["ready_url"]),
        output_dir=unmark(value["output_dir"]),
        total_steps=value["total_steps"],
        processes=value["processes"],
        devices=tuple(value["devices"]),
        device_count=value["device_count"],
        needs=value["needs"],
        max_restarts=value.get("max_restarts", 0),
    )


def wrapped(argv: tuple[str, ...]) -> str:
    """Quoted for a shell, one flag with its values a line."""
    lines: list[str] = []
    for word in argv:
        quoted = shlex.quote(word)
        if word.startswith("--") or not lines:
            lines.append(quoted)
        else:
            lines[-1] += " " + quoted
    return " \\\n  ".join(lines)


def partial_of(output_dir: str) -> str:
    """Where a merge writes until its model has been checked and gets its name."""
    return output_dir + ".partial"
