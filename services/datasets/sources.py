"""What a person gives as a dataset: the sample, a file of their own, or a data set of a hub."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from services.datasets.files import LOOKALIKES
from services.errors import Refused
from services.paths import printable, resolve
from services.settings import Settings
from services.specs import SAMPLE

_HUB_ID = re.compile(
    r"(?:(?:hf|ms)::)?(?P<owner>[A-Za-z0-9][\w.-]*)/(?P<name>[A-Za-z0-9][\w.-]*)(?::[\w./-]+)?(?:#\d+)?", re.ASCII
)
_COUNT = re.compile(r"(?P<path>.+)#(?P<count>-?\d+)", re.DOTALL)
_FILE_ENDINGS = {*LOOKALIKES, "gz", "zip", "xlsx", "xls", "arrow", "yaml", "yml", "md"}
_AWKWARD = re.compile(r"[\[\]*?]|::|\$[\w{]")
"""ms-swift stops at brackets and "::" in a path, reads * and ? as a pattern and $NAME as a variable."""


@dataclass(frozen=True)
class Source:
    """One data set to train on."""

    kind: Literal["sample", "file", "hub"]
    text: str
    """As the person wrote it."""
    path: Path | None = None
    """The file, for kind "file": absolute, its links followed unless the link alone has the right ending."""
    count: int | None = None
    """For kind "file": how many rows to take (``#N`` behind the path)."""


def parse_source(text: str, settings: Settings) -> Source:
    """``sample``, a path (``~`` and ``#N`` allowed) or a hub id ``[hf::|ms::]owner/name[:subset][#N]``.

    A path that exists wins over a hub id, and what looks like a file is never looked up on a hub. Raises
    Refused: dataset_not_found, dataset_is_folder, dataset_count.
    """
    wanted = text.strip()
    if wanted == SAMPLE:
        return Source("sample", SAMPLE)
    path, count = _existing(wanted, settings)
    if path is not None:
        if path.is_dir():
            raise Refused("dataset_is_folder", path=printable(wanted))
        return Source("file", wanted, path, count)
    if _is_hub_id(wanted):
        if wanted.rpartition("#")[2] == "0":
            raise Refused("dataset_count", text=printable(wanted))
        return Source("hub", wanted)
    raise Refused("dataset_not_found", text=printable(wanted))


def argument_for(source: Source, settings: Settings) -> str:
    """The word for ms-swift's ``--dataset``; for a file its absolute path, for the others their text.

    A name that ms-swift cannot open (brackets, ``*``, ``?``, ``::``, ``$NAME``) is given a link with a plain name in
    ``settings.cache``. Raises Refused("dataset_name_awkward") when that folder's own name has such a sign.
    """
    if source.path is None:
        return source.text
    path = source.path
    if _AWKWARD.search(str(path)) or path.suffix != path.suffix.strip():
        path = _linked(path, settings)
    return str(path) if source.count is None else f"{path}#{source.count}"


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
    if int(match["count"]) < 1:
        raise Refused("dataset_count", text=printable(text))
    return path, int(match["count"])


def _named(text: str, real: Path) -> Path:
    """``real``, or the link to it where only the link's name says what kind of file it is (a hub's cache)."""
    given = Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100 - resolve() would follow the link
    return given if given.suffix != real.suffix and given.exists() and given.samefile(real) else real


def _is_hub_id(text: str) -> bool:
    match = _HUB_ID.fullmatch(text)
    if match is None:
        return False
    return match["name"].rpartition(".")[2].lower() not in _FILE_ENDINGS or "." not in match["name"]


def _linked(path: Path, settings: Settings) -> Path:
    """A link to ``path`` under a plain name; the same path always gives the same link."""
    folder = settings.cache / "links"
    if _AWKWARD.search(str(folder)):
        raise Refused("dataset_name_awkward", path=printable(str(path)), home=printable(str(settings.home)))
    stem = re.sub(r"[^\w-]+", "_", path.stem)[:40]
    link = folder / f"{stem}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}{path.suffix.strip()}"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        link.symlink_to(path)
    return link
