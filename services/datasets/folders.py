"""Which files of a folder ms-swift trains on, by the datasets library's own rule (``data_files.py``, ``load.py``).

A card (README.md) that names data files decides. Else the files of the split "train" win: by the folder they lie in,
then by their own names; where no name speaks of a split, all of them. Of those the most common kind is read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from services.datasets.rows import Fault
from services.paths import printable

KINDS = {
    "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "json", "ndjson": "json",
    "parquet": "parquet", "geoparquet": "parquet", "gpq": "parquet", "arrow": "arrow", "txt": "text",
}  # fmt: skip
"""File ending -> the reader that the datasets library takes for it inside a folder."""
_MEDIA = frozenset(
    {"jpg", "jpeg", "png", "gif", "bmp", "webp", "tif", "tiff", "wav", "mp3", "flac", "ogg", "m4a", "opus", "mp4",
     "avi", "mov", "mkv", "webm", "pdf", "nii", "xml", "tar", "h5", "hdf5"}
)  # fmt: skip
_NO_DATA = {"README.md", "config.json", "dataset_info.json", "dataset_infos.json", "dummy_data.zip",
            "dataset_dict.json", "state.json"}  # fmt: skip
_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_SEPARATOR = r"[-._ 0-9]"
_SHARD = re.compile(r"data/(\w+(?:\.\w+)*)-\d{5}-of-\d{5}[^/]*\..*")
_PREFERRED = ("parquet", "jsonl", "json", "csv")
_MOST_FILES = 20_000
LARGEST_CARD = 1 << 20
"""Bytes of a card that are read."""


@dataclass(frozen=True)
class Folder:
    """What of a folder is read for training."""

    files: tuple[Path, ...]
    kind: str
    """json, csv, parquet, arrow, text; empty: none."""
    delimiter: str = ","
    ignored: tuple[Path, ...] = ()
    faults: tuple[Fault, ...] = ()


def read_folder(path: Path, split: str = "train") -> Folder:
    """The files of ``path`` that make up ``split``. Raises OSError where the folder cannot be read."""
    names = sorted(islice(_names(path), _MOST_FILES))
    splits = next(iter(subsets_of(names, _card(path)).values()), {})
    chosen = splits.get(split, [])
    ending, files, more = data_among(chosen)
    ignored = [name for name in names if name not in files]
    faults = list(_faults(splits, split, chosen, files, ignored))
    if more and files:
        faults.append(Fault("folder_mixed_kinds", values={"names": _shown(more), "ending": ending}))
    return Folder(
        files=tuple(path / name for name in files),
        kind=KINDS.get(ending, ""),
        delimiter="\t" if ending == "tsv" else ",",
        ignored=tuple(path / name for name in ignored),
        faults=tuple(faults),
    )


def subsets_of(names: Sequence[str], card: str) -> dict[str, dict[str, list[str]]]:
    """Subset -> split -> files, of all the files ``names`` of a folder or repository; the default subset comes first.

    ``card``: the text of its README.md, empty where there is none.
    """
    names = [name for name in names if not _is_hidden(name)]
    configs = _configs(card)
    found = {str(config.get("config_name") or "default"): _by_card(config, names) for config in configs}
    found = {subset: splits for subset, splits in found.items() if splits}
    return found or {"default": _by_names(names)}


def data_among(names: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """(the most common ending of data, the files of its kind, data files of other kinds)."""
    ending, more = _kind(names)
    kind = KINDS.get(ending)
    files = [name for name in names if (own := _ending(name, KINDS)) and KINDS[own] == kind]
    return ending, files, more


def _faults(
    splits: Mapping[str, Sequence[str]], split: str, chosen: Sequence[str], files: Sequence[str], ignored: Sequence[str]
) -> Iterator[Fault]:
    if splits and not chosen:
        others = [name for names in splits.values() for name in names]
        yield Fault("folder_no_split", values={"split": split, "names": _shown(others)})
    elif not files:
        media = [name for name in chosen if _ending(name, _MEDIA)]
        yield Fault("folder_media" if media else "folder_no_data", values={"names": _shown(media or ignored)})
    elif data := [name for name in ignored if _ending(name, KINDS)]:
        yield Fault("folder_ignored", values={"names": _shown(data), "files": _shown(files)})


def _names(path: Path) -> Iterator[str]:
    """Names below ``path``, hidden ones left out as the datasets library does."""
    for parent, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        for name in files:
            if not _is_hidden(name):
                yield (Path(parent) / name).relative_to(path).as_posix()


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith((".", "__")) for part in parts) or parts[-1] in _NO_DATA


def _by_names(names: Sequence[str]) -> dict[str, list[str]]:
    shards: dict[str, list[str]] = {}
    for name in names:
        if match := _SHARD.fullmatch(name):
            shards.setdefault(match[1], []).append(name)
    if shards:
        return shards
    for part in ("folder", "name"):
        found = {split: [name for name in names if _speaks_of(name, split, part)] for split in _SPLITS}
        if any(found.values()):
            return {split: files for split, files in found.items() if files}
    return {"train": list(names)} if names else {}


def _speaks_of(name: str, split: str, part: str) -> bool:
    word = "|".join(_SPLITS[split])
    if part == "folder":
        pattern = re.compile(rf"(.*{_SEPARATOR})?({word})({_SEPARATOR}.*)?")
        return any(pattern.fullmatch(folder) for folder in PurePosixPath(name).parts[:-1])
    return re.fullmatch(rf"(.*{_SEPARATOR})?({word}){_SEPARATOR}.*", PurePosixPath(name).name) is not None


def _kind(names: Sequence[str]) -> tuple[str, list[str]]:
    """The most common ending of data, and the files of other kinds."""
    counts: Counter[str] = Counter()
    for name in names:
        counts.update(part.lower() for part in PurePosixPath(name).name.split(".")[1:])
    known = [ending for ending in counts if ending in KINDS or ending in _MEDIA]
    if not known:
        return "", []
    best = max(known, key=lambda ending: (counts[ending], *(ending == word for word in _PREFERRED), ending))
    others = [name for name in names if (own := _ending(name, KINDS)) and KINDS[own] != KINDS.get(best)]
    return best, others


def _ending(name: str, endings: Mapping[str, str] | frozenset[str]) -> str:
    """The ending by which the datasets library would take ``name``, compressed or not; empty: none."""
    return next((part for part in PurePosixPath(name).name.split(".")[1:] if part in endings), "")


def _configs(card: str) -> list[Mapping[str, Any]]:
    """The configurations that a card's front matter lists, the default one first."""
    match = re.match(r"---\n(.*?)\n---", card.replace("\r\n", "\n"), re.DOTALL)
    try:
        value = yaml.load(match[1], _CardReader) if match else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    listed = value.get("configs") if isinstance(value, dict) else None
    configs = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return sorted(configs, key=lambda one: not (one.get("config_name") == "default" or one.get("default")))


class _CardReader(yaml.SafeLoader):
    """Reads no references (``*name``): a few lines of them stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("a reference to another place")
        return super().compose_node(parent, index)


def _by_card(config: Mapping[str, Any], names: Sequence[str]) -> dict[str, list[str]]:
    """Split -> files, as a configuration lists them; empty where it lists none."""
    files = config.get("data_files")
    within = str(config.get("data_dir") or "").strip("./")
    if not files and within:
        return _by_names([name for name in names if name.startswith(within + "/")])
    entries = files if isinstance(files, list) else [files] if files else []
    found: dict[str, list[str]] = {}
    for entry in entries:
        split, globs = (entry.get("split"), entry.get("path")) if isinstance(entry, dict) else ("train", entry)
        for glob in globs if isinstance(globs, list) else [globs]:
            matching = [name for name in names if isinstance(glob, str) and _matches(name, glob)]
            found.setdefault(str(split), []).extend(matching)
    return {split: matching for split, matching in found.items() if matching}


def _card(path: Path) -> str:
    try:
        with (path / "README.md").open("rb") as file:
            return file.read(LARGEST_CARD).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _matches(name: str, glob: str) -> bool:
    if "**" in glob:
        return fnmatchcase(name, glob.replace("**/", "*").replace("**", "*"))
    return fnmatchcase(name, glob) and name.count("/") == glob.count("/")


def _shown(names: Sequence[str]) -> str:
    more = f" … (+{len(names) - 5})" if len(names) > 5 else ""
    return printable(", ".join(names[:5]), 160) + more
