"""What came of a command that somebody brought along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from services.errors import Key
from services.specs import MergeSpec, ServeSpec, TrainSpec
from services.swift.importer.text import Said
from services.swift.importer.translation import Rejected, Translated
from services.text import say


@dataclass(frozen=True)
class Imported:
    """One ms-swift command as TuneDesk understands it.

    ``spec`` is what the form takes; None for a command that TuneDesk has no form for. ``argv`` is the same
    command for the installed ms-swift, ``env`` the environment the script gave it. Each flag of the input is in
    exactly one of: the spec (or, without one, argv), ``translated``, ``refused``, ``notes``.
    """

    command: str = ""
    spec: TrainSpec | MergeSpec | ServeSpec | None = None
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    translated: tuple[Translated, ...] = ()
    refused: tuple[Rejected, ...] = ()
    notes: tuple[Said, ...] = ()
    line: int = 1
    others: tuple[Imported, ...] = ()
    """The further ms-swift commands of the same text."""

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """Everything as JSON, sentences in ``lang``."""
        return {
            "command": self.command,
            "line": self.line,
            "spec": spec_json(self.spec),
            "argv": list(self.argv),
            "env": dict(self.env),
            "translated": [
                {"from": one.old, "to": one.new, "version": one.version, "why": _say(one.why, lang)}
                for one in self.translated
            ],
            "refused": [
                {"flag": one.flag, "value": one.value, "why": _say(one.why, lang), "instead": one.instead}
                for one in self.refused
            ],
            "notes": [_say(one.text, lang) for one in self.notes],
            "others": [one.as_json(lang) for one in self.others],
        }


def spec_json(spec: TrainSpec | MergeSpec | ServeSpec | None) -> dict[str, Any] | None:
    """A spec as a mapping; a training's can be written as YAML and trained."""
    if spec is None:
        return None
    if isinstance(spec, TrainSpec):
        return {"command": spec.command, **spec.flat()}
    kind = "merge" if isinstance(spec, MergeSpec) else "serve"
    return {"kind": kind, **spec.model_dump(mode="json", exclude_defaults=True)}


def _say(key: Key, lang: str) -> str:
    return say(key, lang, **key.values)
