"""What a person gives as a dataset: the sample, a file or folder of their own, or a data set of a hub."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

from services.datasets import hub, registry
from services.datasets.files import LOOKALIKES, stamp
from services.datasets.folders import read_folder
from services.datasets.memory import stale_name
from services.errors import Failed, Refused
from services.paths import printable, resolve
from services.settings import Settings
from services.specs import SAMPLE

_COUNT = re.compile(r"(?P<path>.+)#(?P<count>-?\d+)", re.DOTALL)
_FILE_ENDINGS = {*LOOKALIKES, "gz", "zst", "zip", "xlsx", "xls", "yaml", "yml", "md"}
_AWKWARD = re.compile(r"[\[\]*?]|::|\$[\w{]")
"""ms-swift stops at brackets and "::" in a path, reads * and ? as a pattern and $NAME as a variable."""
_RENAMED = "dataset_infos.json"
"""ms-swift renames this file in a folder it is given; what is a person's own is never written, so it gets links."""


@dataclass(frozen=True)
class Source:
    """One data set to train on."""

    kind: Literal["sample", "file", "hub"]
    text: str
    """As the person wrote it."""
    path: Path | None = None
    """The file or folder: absolute, its links followed unless the link alone has the right ending. For kind "hub"
    the downloaded copy, where it is whole."""
    count: int | None = None
    """How many rows to take (``#N`` behind it)."""
    hub: hub.HubId | None = None


def parse_source(text: str, settings: Settings) -> Source:
    """``sample``, a path (``~`` allowed) or a hub id ``[hf::|ms::]owner/name[:subset][:split]``, each with ``#N``.

    A path that exists wins over a hub id, and what looks like a file is never looked up on a hub. Raises
    Refused: dataset_not_found, dataset_count.
    """
    wanted = text.strip()
    if match := re.fullmatch(rf"{SAMPLE}(?:#(-?\d+))?", wanted):
        return Source("sample", wanted, count=_counted(wanted, match[1]))
    path, count = _existing(wanted, settings)
    if path is not None and not _leads_out(path, settings):
        return Source("file", wanted, path, count)
    named = hub.parse_hub_id(wanted)
    if named is not None and not _looks_like_file(named.id):
        _counted(wanted, None if named.count is None else str(named.count))
        copy = hub.downloaded(named, settings)
        there = copy.path if copy is not None and copy.complete else None
        return Source("hub", wanted, there, named.count, named)
    raise Refused("dataset_not_found", text=printable(wanted))


def argument_for(source: Source, settings: Settings) -> str:
    """The word for ms-swift's ``--dataset``: an absolute path, or a hub id.

    A name that ms-swift cannot open or would take for something else is given a link with a plain name in
    ``settings.cache``; so is a file whose old content it would remember. A hub's data set that was downloaded is
    read from its copy, unless ms-swift has a way of its own for it. Raises Refused: dataset_name_awkward (that
    folder's own name has such a sign), dataset_incomplete, dataset_split_needs_download.
    """
    if source.hub is not None:
        return _hub_argument(source, source.hub, settings)
    if source.path is None:
        return source.text
    return _counted_word(_plain_path(source.path, settings), source.count)


def read_here(source: Source) -> Path | None:
    """What can be looked at and checked before a training starts: a file, a folder, a whole downloaded copy."""
    return source.path


def _hub_argument(source: Source, named: hub.HubId, settings: Settings) -> str:
    special = registry.is_special(named.id)
    if source.path is not None and not special:
        return _counted_word(_plain_path(source.path, settings), source.count)
    if source.path is None and hub.downloaded(named, settings) is not None:
        raise Refused("dataset_incomplete", id=named.id)
    if named.split != "train":
        raise Refused("dataset_split_needs_download", id=named.id, split=named.split)
    return source.text


def _counted_word(path: Path, count: int | None) -> str:
    return str(path) if count is None else f"{path}#{count}"


def _plain_path(path: Path, settings: Settings) -> Path:
    """``path``, or a link to it that ms-swift reads as what it is."""
    awkward = _AWKWARD.search(str(path)) is not None
    if path.is_dir():
        own = awkward or registry.has_name(path.name) or (path / _RENAMED).exists()
        return _linked_folder(path, settings) if own else path
    fresh = stale_name(path, settings)
    if awkward or fresh is not None or path.suffix != path.suffix.strip():
        return _linked(path, settings, fresh or "")
    return path


def _counted(text: str, count: str | None) -> int | None:
    if count is not None and int(count) < 1:
        raise Refused("dataset_count", text=printable(text))
    return None if count is None else int(count)


def _existing(text: str, settings: Settings) -> tuple[Path | None, int | None]:
    """The file or folder that ``text`` names, as ms-swift looks for it: first as it stands, then without #N."""
    try:
        return _named(text, resolve(text, settings)), None
    except Refused:
        pass
    match = _COUNT.fullmatch(text)
    if match is None:
        return None, None
    try:
        path = _named(match["path"], resolve(match["path"], settings))
    except Refused:
        return None, None
    return path, _counted(text, match["count"])


def _leads_out(path: Path, settings: Settings) -> bool:
    """Whether a file of a folder is a link to a place that may not be read."""
    files = read_folder(path).files if path.is_dir() else ()
    return not all(any(file.resolve().is_relative_to(root) for root in settings.roots) for file in files)


def _named(text: str, real: Path) -> Path:
    """``real``, or the link to it where only the link's name says what kind of file it is (a hub's cache)."""
    given = Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100 - resolve() would follow the link
    return given if given.suffix != real.suffix and given.exists() and given.samefile(real) else real


def _looks_like_file(identity: str) -> bool:
    _, dot, ending = identity.rpartition("/")[2].rpartition(".")
    return bool(dot) and ending.lower() in _FILE_ENDINGS


def _links(settings: Settings, path: Path) -> Path:
    folder = settings.cache / "links"
    if _AWKWARD.search(str(folder)):
        raise Refused("dataset_name_awkward", path=printable(str(path)), home=printable(str(settings.home)))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _link_name(path: Path, more: str = "") -> str:
    stem = re.sub(r"[^\w-]+", "_", path.stem)[:40]
    return f"{stem}-{hashlib.sha256(os.fsencode(path) + more.encode()).hexdigest()[:12]}"


def _linked(path: Path, settings: Settings, fresh: str) -> Path:
    """A link to ``path`` under a plain name; the same path and content always give the same link."""
    link = _links(settings, path) / f"{_link_name(path, fresh)}{path.suffix.strip()}"
    with contextlib.suppress(FileExistsError):
        link.symlink_to(path)
    return link


def _linked_folder(path: Path, settings: Settings) -> Path:
    """A folder of links to the files of ``path`` that are trained on, under names that all are taken."""
    files = read_folder(path).files
    links = _links(settings, path)
    target = links / _link_name(path, f"{stamp(path)} {[str(file) for file in files]}")
    if target.exists():
        return target
    part = links / f".{uuid4().hex}"
    try:
        part.mkdir()
        for number, file in enumerate(files, 1):
            (part / f"data-{number:05d}{''.join(file.suffixes[-2:])}").symlink_to(file)
        part.rename(target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        if not target.exists():
            raise Failed("cannot_write", what=str(links), details=str(error)) from error
    return target
