"""Configuration files that a command names: read where they lie beside the script, and nowhere else."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from services.errors import Refused
from services.paths import resolve
from services.settings import Settings
from services.swift.importer.text import Text

LARGEST_FILE = 1 << 18
DEEPEST_VALUE = 40


@dataclass(frozen=True)
class Files:
    """The files that may be read: relative to ``folder`` (None: none at all), within the folders that ``settings``
    allow; and those that the script itself writes."""

    settings: Settings
    folder: Path | None = None
    written: Mapping[str, Text] = field(default_factory=dict)

    def text(self, name: str, where: str = "") -> str:
        """The text of ``name``, relative to ``where`` below the folder. Raises Refused("path_not_found")."""
        path = posixpath.normpath(posixpath.join(where, name))
        if path in self.written:
            return self.written[path].value
        if self.folder is None:
            raise Refused("path_not_found", path=name)
        real = resolve(str(self.folder / path), self.settings, must_be="file")
        with real.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise Refused("import_too_large", limit=f"{LARGEST_FILE >> 10} KiB")
        return data.decode("utf-8", "replace")

    def mapping(self, name: str, where: str = "") -> dict[str, Any]:
        """A YAML or JSON file as a mapping. Raises Refused("path_not_found", "import_line")."""
        return mapping(self.text(name, where), json_text=name.endswith(".json"))


def mapping(text: str, *, json_text: bool = False) -> dict[str, Any]:
    """A YAML or JSON text as a mapping with text keys. Raises Refused("import_line")."""
    from services.errors import Key

    try:
        found = json.loads(text) if json_text else yaml.load(text, _NoReferences)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Refused("import_line", line=line, why=str(error.problem or error.context or "YAML")) from None
    except json.JSONDecodeError as error:
        raise Refused("import_line", line=error.lineno, why=error.msg) from None
    except (ValueError, yaml.YAMLError, RecursionError):
        raise Refused("import_line", line=1, why=Key("importing.no_mapping")) from None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found) or not _shallow(found):
        raise Refused("import_line", line=1, why=Key("importing.no_mapping"))
    return found


class _NoReferences(yaml.SafeLoader):
    """Without ``*name``: a few lines of them stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("reference")
        return super().compose_node(parent, index)


def _shallow(value: object, depth: int = 0) -> bool:
    if depth > DEEPEST_VALUE:
        return False
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(_shallow(one, depth + 1) for one in inner)


def as_words(value: object) -> list[str]:
    """A value of a file as the words that ms-swift makes of it: a list is several, a mapping is JSON."""
    if isinstance(value, list | tuple):
        return [_word(one) for one in value]
    return [] if value is None else [_word(value)]


def _word(value: object) -> str:
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).lower() if isinstance(value, bool) else str(value)
