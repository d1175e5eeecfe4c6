"""Data sets of ModelScope and Hugging Face: how one is named, what it holds, and where a downloaded one lies.

    <home>/datasets/hub/<hf|ms>/<owner>/<name>/<subset>/<split>/data*.parquet   whole files only
                                                               /.download.json  what is to be there, and whether it is
                                                               /.partial/       files under way
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import httpx
import orjson

from services.datasets.folders import LARGEST_CARD, data_among, subsets_of
from services.errors import Refused
from services.paths import printable
from services.settings import Hub as HubSettings
from services.settings import Settings

Hub = Literal["hf", "ms"]

MANIFEST = ".download.json"
PARTIAL = ".partial"
LISTING_TIMEOUT_S = 6.0
_MOST_LISTED = 20
"""Pages of a listing that are asked for before the names seen so far must do."""
_ID = re.compile(
    r"(?:(?P<hub>hf|ms)::)?(?P<id>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)"
    r"(?::(?P<subset>[\w./+-]+))?(?::(?P<split>[\w.+-]+))?(?:#(?P<count>\d+))?",
    re.ASCII,
)


@dataclass(frozen=True)
class HubId:
    """``[hf::|ms::]owner/name[:subset][:split][#N]``; without a prefix it is ModelScope, as for ms-swift."""

    hub: Hub
    id: str
    subset: str = ""
    """Empty: the default one."""
    split: str = "train"
    count: int | None = None

    def __str__(self) -> str:
        split = "" if self.split == "train" else f":{self.split}"
        subset = f":{self.subset or 'default'}" if self.subset or split else ""
        count = "" if self.count is None else f"#{self.count}"
        return f"{self.hub}::{self.id}{subset}{split}{count}"

    def folder(self, settings: Settings) -> Path:
        """Where it lies once it is downloaded."""
        return settings.datasets / "hub" / self.hub / self.id / _safe(self.subset or "default") / _safe(self.split)


def parse_hub_id(text: str) -> HubId | None:
    """The data set that ``text`` names; None where it is no hub id."""
    match = _ID.fullmatch(text.strip())
    if match is None:
        return None
    hub: Hub = "hf" if match["hub"] == "hf" else "ms"
    subset = "" if match["subset"] in (None, "default") else match["subset"]
    count = None if match["count"] is None else int(match["count"])
    return HubId(hub, match["id"], subset, match["split"] or "train", count)


@dataclass(frozen=True)
class RemoteFile:
    """One file of a repository, and under which name it is kept here. Sizes are in bytes."""

    path: str
    size: int
    sha256: str = ""
    git_sha1: str = ""
    """Git's own hash of a small file's bytes."""
    name: str = ""


@dataclass(frozen=True)
class Manifest:
    """What a download is to bring. ``complete``: all of it is there."""

    hub: Hub
    id: str
    subset: str
    split: str
    revision: str
    files: tuple[RemoteFile, ...]
    complete: bool = False

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Downloaded:
    """A downloaded split as it lies on disk now."""

    source: HubId
    folder: Path
    manifest: Manifest
    bytes_here: int

    @property
    def complete(self) -> bool:
        return self.manifest.complete and self.bytes_here == self.manifest.size

    @property
    def path(self) -> Path:
        """What to train on: the one file, or the folder of several."""
        names = [file.name for file in self.manifest.files]
        return self.folder / names[0] if len(names) == 1 else self.folder


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in ``folder``; None where there is none that can be read."""
    try:
        value = orjson.loads((folder / MANIFEST).read_bytes())
        return Manifest(**{**value, "files": tuple(RemoteFile(**file) for file in value["files"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write it whole. Raises OSError."""
    part = folder / (MANIFEST + ".new")
    part.write_bytes(orjson.dumps(asdict(manifest), option=orjson.OPT_INDENT_2))
    part.replace(folder / MANIFEST)


def downloaded(source: HubId, settings: Settings) -> Downloaded | None:
    """The downloaded copy of ``source``, whole or not; None where nothing was fetched yet."""
    return _read(source.folder(settings))


def all_downloaded(settings: Settings) -> list[Downloaded]:
    """All that was downloaded, incomplete ones too, by name."""
    found = (_read(path.parent) for path in sorted((settings.datasets / "hub").glob(f"*/*/*/*/*/{MANIFEST}")))
    return [one for one in found if one is not None]


def _read(folder: Path) -> Downloaded | None:
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    source = HubId(manifest.hub, manifest.id, manifest.subset, manifest.split)
    return Downloaded(source, folder, manifest, sum(size_here(folder, file) for file in manifest.files))


def size_here(folder: Path, file: RemoteFile) -> int:
    for path in (folder / file.name, folder / PARTIAL / file.name):
        try:
            return min(path.stat().st_size, file.size)
        except OSError:
            continue
    return 0


def chosen_files(files: Sequence[RemoteFile], card: str, subset: str, split: str) -> tuple[RemoteFile, ...]:
    """The data files of one split, each with its name here.

    Raises Refused: hub_no_subset, hub_no_split, hub_no_data.
    """
    subsets = subsets_of(sorted(file.path for file in files), card)
    splits = next(iter(subsets.values())) if not subset else subsets.get(subset)
    if splits is None:
        inside = [file.path for file in files if file.path.startswith(subset.strip("/") + "/")]
        splits = next(iter(subsets_of(inside, "").values())) if inside else None
    if splits is None:
        raise Refused("hub_no_subset", subset=printable(subset), subsets=", ".join(subsets))
    if splits and split not in splits:
        raise Refused("hub_no_split", split=printable(split), splits=", ".join(splits))
    _, names, _ = data_among(splits.get(split, []))
    if not names:
        raise Refused("hub_no_data")
    by_path = {file.path: file for file in files}
    return tuple(
        replace(by_path[name], name=_local_name(name, number, len(names))) for number, name in enumerate(names, 1)
    )


def _local_name(path: str, number: int, count: int) -> str:
    """A name that speaks of no split, so that the folder's rule takes every file."""
    name = PurePosixPath(path).name
    endings = [part for part in PurePosixPath(name).suffixes if len(part) < 10]
    ending = "".join(endings[-2:] if endings and endings[-1] in (".gz", ".zst") else endings[-1:])
    return f"data{ending}" if count == 1 else f"data-{number:05d}{ending}"


@dataclass(frozen=True)
class Subset:
    """One subset of a hub's data set and the splits it has."""

    name: str
    splits: tuple[str, ...]


def list_subsets(source: HubId, settings: Settings, timeout_s: float = LISTING_TIMEOUT_S) -> list[Subset]:
    """The subsets of ``source``, the default one first, asked of its hub.

    Raises Refused: hub_unreachable, dataset_not_on_hub (there is none, or it is private).
    """
    there = settings.hugging_face if source.hub == "hf" else settings.modelscope
    try:
        with httpx.Client(timeout=timeout_s, follow_redirects=True, headers=_access(there)) as client:
            names, card = (_ask_hf if source.hub == "hf" else _ask_ms)(client, there.endpoint, source.id)
    except httpx.HTTPStatusError as error:
        raise Refused("dataset_not_on_hub", id=source.id, status=error.response.status_code) from error
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise Refused("hub_unreachable", details=repr(error), address=there.endpoint) from error
    return [Subset(name, tuple(splits)) for name, splits in subsets_of(sorted(names), card).items() if splits]


def _access(there: HubSettings) -> dict[str, str]:
    token = there.token
    if token is None and there.token_file is not None:
        with contextlib.suppress(OSError, ValueError):
            token = there.token_file.read_text(encoding="ascii").strip()
    return {"Authorization": f"Bearer {token}"} if token else {}


def _ask_hf(client: httpx.Client, address: str, identity: str) -> tuple[list[str], str]:
    """(names of all files, text of the card)"""
    url: str | None = f"{address}/api/datasets/{identity}/tree/main?recursive=true"
    names: list[str] = []
    for _ in range(_MOST_LISTED):
        if url is None:
            break
        reply = client.get(url).raise_for_status()
        names += [entry["path"] for entry in reply.json() if entry.get("type") == "file"]
        url = reply.links.get("next", {}).get("url")
    return names, _card(client, f"{address}/datasets/{identity}/resolve/main/README.md")


def _ask_ms(client: httpx.Client, address: str, identity: str) -> tuple[list[str], str]:
    repository = f"{address}/api/v1/datasets/{identity}/repo"
    names: list[str] = []
    for page in range(1, _MOST_LISTED + 1):
        asked: Mapping[str, Any] = {"Revision": "master", "Recursive": "True", "PageNumber": page, "PageSize": 200}
        data = client.get(f"{repository}/tree", params=asked).raise_for_status().json()["Data"]
        entries = data if isinstance(data, list) else data.get("Files") or []
        names += [entry["Path"] for entry in entries if entry.get("Type") != "tree"]
        if len(entries) < asked["PageSize"]:
            break
    return names, _card(client, f"{repository}?Revision=master&FilePath=README.md")


def _card(client: httpx.Client, url: str) -> str:
    text = b""
    with client.stream("GET", url) as reply:
        if reply.status_code == httpx.codes.OK:
            for block in reply.iter_bytes():
                text += block
                if len(text) > LARGEST_CARD:
                    break
    return text[:LARGEST_CARD].decode("utf-8", errors="replace")


def _safe(text: str) -> str:
    return re.sub(r"[^\w.+-]", "_", text).strip(".") or "_"
