"""What a person may call a model: the starter, a folder, a hub id, or a run and one of its checkpoints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from services.errors import Refused
from services.models import starter
from services.models.facts import ModelFacts, read_facts
from services.paths import resolve
from services.runs.folder import Record
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import STARTER
from services.swift.checkpoints import adapter_base, is_adapter, is_model, plain_adapter, torn_file
from services.swift.commands import Source
from services.swift.models import kept_flags, loading_flags

_HUB_ID = re.compile(r"(?:(hf|ms)::)?([\w.-]+/[\w.-]+)")


_NAME = re.compile(r"\w[\w.:+ -]{0,99}")
"""What looks like the name of a run, and like no path."""


@dataclass(frozen=True)
class Model:
    """A model as a person means it, found."""

    label: str
    source: Source
    facts: ModelFacts | None = None
    """Of its base; None for a model on a hub."""


@dataclass(frozen=True)
class Models:
    """Finds models on this machine."""

    settings: Settings
    runs: Runs

    def find(self, text: str, base: str | None = None, *, weights: bool = True) -> Model:
        """The model meant by ``text``; ``base`` overrides the base that an adapter names. Without ``weights`` a folder
        with nothing but a config.json will do.

        Raises Refused with what is missing: "starter_missing", "model_unknown", "model_not_there",
        "model_only_config",
        "adapter_needs_base", "no_checkpoint", "run_not_found".
        """
        text = text.strip()
        if text == STARTER:
            return self._starter()
        if (run := self._run_of(text, base)) is not None:
            return run
        if _NAME.fullmatch(text) and not _is_folder(text):
            raise Refused("model_unknown", model=text)
        hub = _HUB_ID.fullmatch(text)
        if hub is None or text.startswith(("~", "./", "../")) or _is_folder(text):
            return self._folder_or_config(resolve(text, self.settings, must_be="folder"), base, weights)
        return Model(hub[2], Source(hub[2], local=False, use_hf=hub[1] == "hf"))

    def _folder_or_config(self, path: Path, base: str | None, weights: bool) -> Model:
        only_config = (path / "config.json").is_file() and not is_adapter(path) and not is_model(path)
        if not only_config or any(path.glob("*.safetensors*")):
            return self.folder(path, base=base)
        if weights:
            raise Refused("model_only_config", path=str(path))
        return Model(path.name, Source(str(path), None, loading_flags(path)), read_facts(path))

    def _starter(self) -> Model:
        folder = starter.find(self.settings)
        if folder is None:
            raise Refused("starter_missing", folder=str(self.settings.starter))
        return self.folder(folder, label=STARTER)

    def folder(self, path: Path, label: str = "", base: str | None = None) -> Model:
        """The model or adapter in a folder on this machine."""
        try:
            return self._adapter(path, label, base) if is_adapter(path) else self._whole(path, label)
        except PermissionError as error:
            raise Refused("path_not_found", path=str(path)) from error

    def _whole(self, path: Path, label: str) -> Model:
        if not is_model(path):
            raise Refused("model_not_there", path=str(path))
        if (file := torn_file(path)) is not None:
            raise Refused("model_torn", path=str(path), file=file)
        facts = read_facts(path)
        return Model(label or path.name, Source(str(path), None, loading_flags(path)), facts)

    def _adapter(self, path: Path, label: str, base: str | None) -> Model:
        named = base or adapter_base(path)
        if not named:
            raise Refused("adapter_needs_base", path=str(path))
        if is_adapter(Path(named).expanduser()):  # it may name itself
            raise Refused("base_is_adapter", base=named)
        try:
            found = self.folder(Path(named)) if Path(named).is_absolute() else self.find(named)
        except Refused as error:
            raise Refused("adapter_base_gone", path=str(path), base=named) from error
        if found.source.adapter is not None:
            raise Refused("base_is_adapter", base=named)
        flags: Mapping[str, str] = loading_flags(path) or found.source.flags
        if (plain := plain_adapter(path)) != path:
            flags = {**flags, **kept_flags(path)}
        source = replace(found.source, adapter=str(plain), flags=flags)
        return Model(label or path.name, source, found.facts)

    def _run_of(self, text: str, base: str | None) -> Model | None:
        """The model of RUN, RUN:checkpoint-N or RUN:merged; None when no run is meant."""
        head, _, part = text.rpartition(":")
        if part != "merged" and not part.startswith("checkpoint-"):
            head, part = text, ""
        try:
            record = self.runs.find(head)
        except Refused:
            if part:
                raise
            return None
        if part == "merged" or (record.kind == "merge" and not part):
            return self.folder(self.merged_folder(record))
        return self.checkpoint(record, part, base)

    def checkpoint(self, record: Record, name: str = "", base: str | None = None) -> Model:
        """A checkpoint of a training run, its last one unless ``name`` says which."""
        checkpoints = self.runs.snapshot(record.id).checkpoints
        chosen = [item for item in checkpoints if not name or item.path.name == name]
        if not chosen:
            raise Refused("no_checkpoint", name=record.name, checkpoint=name or "–")
        path = chosen[-1].path
        label = f"{record.name}:{path.name}"
        return self.folder(path, label=label, base=base or record.about.get("base"))

    def merged_folder(self, record: Record) -> Path:
        """Where a run's merged model lies. Raises Refused("not_merged")."""
        for other in self.runs.list():
            belongs = other.id == record.id or other.about.get("of") == record.id
            if other.kind == "merge" and belongs and other.state.value == "succeeded":
                path = Path(other.output_dir)
                if is_model(path):
                    return path
        raise Refused("not_merged", name=record.name)


def _is_folder(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except OSError:  # too long for a name
        return False
