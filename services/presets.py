"""Presets: specs as data. TuneDesk's own lie in ``presets/train``, a person's in TUNEDESK_HOME."""

from __future__ import annotations

import contextlib
import datetime
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from services.errors import Refused
from services.settings import PRESETS, Settings
from services.specs import TrainSpec, as_yaml, read_yaml, train_spec

SHIPPED = PRESETS / "train"
FIRST_JOURNEY = "self-cognition"
LONGEST_NAME = 80
"""Characters; a name of as many Chinese ones still fits a file system's 255 bytes."""


@dataclass(frozen=True)
class Evidence:
    """What a preset was found to take."""

    kind: str
    """``estimated`` by services/planning, or ``measured``."""
    memory_gib: float
    """A card's (on a CPU: a rank's) memory with every row as long as max_length; measured: the peak."""
    date: datetime.date
    seconds: float | None = None
    """Measured: how long it trained."""
    measured_on: str | None = None
    """Measured: the machine."""


@dataclass(frozen=True)
class Preset:
    """A spec with a name, and for a shipped one where it runs and what it takes there."""

    name: str
    titles: Mapping[str, str]
    """Language -> one line."""
    spec: TrainSpec
    machine: str | None = None
    """A name of ``machines()``; None for a person's own."""
    evidence: Evidence | None = None
    personal: bool = False

    def title(self, lang: str) -> str:
        """One line in ``lang``: en or zh."""
        return self.titles.get(lang) or self.titles.get("en") or self.name


@cache
def presets() -> tuple[Preset, ...]:
    """The shipped presets: the first journey first, then by machine from small to large."""
    order = list(machines())
    found = [_read(path) for path in SHIPPED.glob("*.yaml")]
    return tuple(
        sorted(found, key=lambda one: (one.name != FIRST_JOURNEY, order.index(one.machine or order[0]), one.name))
    )


@cache
def machines() -> Mapping[str, Mapping[str, Any]]:
    """Name -> the machine a shipped preset is meant for, described as ``tunedesk plan --machine`` reads it."""
    return MappingProxyType(read_yaml(PRESETS / "machines.yaml"))


@cache
def first_journey() -> TrainSpec:
    """What the demo trains and an untouched form holds: the starter model learns a name."""
    return _read(SHIPPED / f"{FIRST_JOURNEY}.yaml").spec


def preset(name: str, settings: Settings | None = None) -> Preset:
    """The preset called ``name``, a person's own before a shipped one. Raises Refused("preset_not_found")."""
    own = personal(settings) if settings is not None else ()
    for one in (*own, *presets()):
        if one.name == name:
            return one
    raise Refused("preset_not_found", name=name[:LONGEST_NAME])


def personal(settings: Settings) -> tuple[Preset, ...]:
    """A person's own presets by name; a file that is not one is passed over."""
    found = []
    with contextlib.suppress(OSError):
        for path in sorted(settings.presets.glob("*.yaml")):
            with contextlib.suppress(Refused):
                found.append(_read(path, personal=True))
    return tuple(found)


def save_preset(name: str, spec: TrainSpec, settings: Settings) -> Preset:
    """Keep ``spec`` under ``name``, over a preset of the person's own that has it.

    Raises Refused("preset_name") for a name that cannot be a file's here, "preset_shipped" for that of a shipped
    one, and "cannot_write" where the folder does not take it.
    """
    path = _file_of(name, settings)
    if any(one.name == path.stem for one in presets()):
        raise Refused("preset_shipped", name=path.stem)
    made = Preset(path.stem, {"en": path.stem}, spec, personal=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as folder:  # renamed whole, or not at all
            partial = Path(folder) / path.name
            partial.write_text(as_yaml({"title": dict(made.titles), "spec": spec.flat()}), "utf-8")
            partial.replace(path)
    except OSError as error:
        raise Refused("cannot_write", what=str(path.parent), details=str(error)) from error
    return made


def delete_preset(name: str, settings: Settings) -> None:
    """Forget one of the person's own presets. Raises Refused("preset_name") and "preset_not_found"."""
    try:
        _file_of(name, settings).unlink()
    except FileNotFoundError:
        raise Refused("preset_not_found", name=name) from None
    except OSError as error:
        raise Refused("cannot_write", what=str(settings.presets), details=str(error)) from error


def _file_of(name: str, settings: Settings) -> Path:
    """The file of a person's preset: always one right inside its folder."""
    stem = name.strip()
    hidden = stem.startswith((".", "-")) or stem.endswith(".")
    if not stem or hidden or len(stem) > LONGEST_NAME or re.search(r'[/\\:*?"<>|\x00-\x1f\x7f]|\.\.', stem):
        raise Refused("preset_name", name=stem[:LONGEST_NAME])
    return settings.presets / f"{stem}.yaml"


def _read(path: Path, personal: bool = False) -> Preset:
    """The preset in a file. Raises Refused("spec_unreadable" or "spec_field")."""
    value = read_yaml(path)
    if not isinstance(value.get("spec"), dict):  # a plain spec that somebody put there
        value = {"spec": value}
    titles = value.get("title")
    return Preset(
        path.stem,
        {str(lang): str(text) for lang, text in titles.items()} if isinstance(titles, dict) else {"en": path.stem},
        train_spec(value["spec"]),
        None if personal else value["machine"],
        None if personal else Evidence(**value["evidence"]),
        personal,
    )
