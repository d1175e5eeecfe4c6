"""Reads the data sets that the installed ms-swift knows and writes registry.json's text to stdout.

Run as a child, because it imports the trainer:
``python -P -m services.datasets.read_registry > services/datasets/registry.json``
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from typing import Any

PLAIN = ("AutoPreprocessor", "MessagesPreprocessor")
"""How ms-swift reads any file; the other ways are made for one data set each."""


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        entries, version = _read()
    sys.stdout.write(_text(entries, version))


def _read() -> tuple[list[dict[str, Any]], str]:
    swift = importlib.import_module("swift")
    known = importlib.import_module("swift.dataset").DATASET_MAPPING
    return sorted((_entry(meta) for meta in known.values()), key=_key), swift.__version__


def _entry(meta: Any) -> dict[str, Any]:
    """Only what is set: ``ms``, ``hf``, ``subsets``, ``split``, ``tags``, ``help``, ``huge``, ``special``."""
    subsets = [subset.name for subset in meta.subsets]
    ways = {type(way).__name__ for way in (meta.preprocess_func, *(one.preprocess_func for one in meta.subsets)) if way}
    columns = getattr(meta.preprocess_func, "columns", None) or {}
    entry = {
        "ms": meta.ms_dataset_id,
        "hf": meta.hf_dataset_id,
        "subsets": subsets if subsets != ["default"] else None,
        "split": meta.split if meta.split != ["train"] else None,
        "tags": sorted(meta.tags),
        "help": meta.help if isinstance(meta.help, str) else " ".join(meta.help or ()),
        "huge": meta.huge_dataset,
        "special": not ways <= set(PLAIN) or bool(columns) or any(one.split for one in meta.subsets),
    }
    return {name: value for name, value in entry.items() if value}


def _key(entry: dict[str, Any]) -> str:
    return str(entry.get("ms") or entry.get("hf") or "").lower()


def _text(entries: list[dict[str, Any]], version: str) -> str:
    """One data set a line, sorted, so that the next ms-swift is a readable diff."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    lines = ",\n".join(map(compact, entries))
    return f'{{"ms_swift":{compact(version)},"datasets":[\n{lines}\n]}}\n'


if __name__ == "__main__":
    main()
