"""The data sets that ms-swift knows by name. ``registry.json`` is generated (``read_registry.py``) and committed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

_FILE = Path(__file__).with_name("registry.json")


@dataclass(frozen=True)
class Known:
    """One data set of ms-swift's registry."""

    ms: str = ""
    """Its id on ModelScope; empty: it is not there."""
    hf: str = ""
    """Its id on Hugging Face."""
    subsets: tuple[str, ...] = ()
    """Empty: only the default one."""
    split: tuple[str, ...] = ("train",)
    """The splits ms-swift trains on."""
    tags: tuple[str, ...] = ()
    help: str = ""
    huge: bool = False
    special: bool = False
    """ms-swift reads its columns in a way made for it, so that a copy of its files trains on something else."""

    @property
    def id(self) -> str:
        """As a person writes it: ModelScope's where there is one."""
        return self.ms or f"hf::{self.hf}"

    @property
    def sources(self) -> tuple[str, ...]:
        """What can be trained on: the id, with each of its subsets where there are several."""
        return tuple(f"{self.id}:{subset}" for subset in self.subsets) or (self.id,)


@cache
def known() -> tuple[Known, ...]:
    """All of them, by id."""
    entries = orjson.loads(_FILE.read_bytes())["datasets"]
    return tuple(_known(entry) for entry in entries if entry.get("ms") or entry.get("hf"))


def _known(entry: dict[str, Any]) -> Known:
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    return Known(**plain)


def search(text: str, limit: int = 50) -> list[Known]:
    """Those whose id, tags, subsets or help hold every word of ``text``; ids that begin with it come first."""
    words = text.lower().replace("::", " ").split()
    words = [word for word in words if word not in ("hf", "ms")] if len(words) > 1 else words
    found = [(one, _place(one, words)) for one in known() if all(word in _all_of(one) for word in words)]
    return [one for one, _ in sorted(found, key=lambda pair: pair[1])][:limit]


def find(identity: str) -> Known | None:
    """The entry of an id ``owner/name``, of either hub."""
    return _by_id().get(identity)


def is_special(identity: str) -> bool:
    """Whether ms-swift has a way of its own to read this data set."""
    entry = find(identity)
    return entry is not None and entry.special


def has_name(name: str) -> bool:
    """Whether ms-swift takes a folder of this name for a data set it knows."""
    return name in _names()


def _place(one: Known, words: list[str]) -> tuple[int, str]:
    names = [part for identity in (one.ms, one.hf) for part in identity.lower().split("/")]
    first = bool(words) and any(name.startswith(words[0]) for name in names)
    within = bool(words) and any(words[0] in name for name in names)
    return 0 if first else 1 if within else 2, one.id.lower()


@cache
def _all_of(one: Known) -> str:
    return " ".join((one.ms, one.hf, *one.tags, *one.subsets, one.help)).lower()


@cache
def _by_id() -> dict[str, Known]:
    return {identity: one for one in known() for identity in (one.ms, one.hf) if identity}


@cache
def _names() -> frozenset[str]:
    return frozenset(identity.rpartition("/")[2] for identity in _by_id())
