"""Fetches one split of a hub's data set. Run as a child:

``python -P -m services.datasets.download --hub hf --id owner/name --subset S --split train --folder F``

The hubs' own libraries list the files and know tokens and mirrors; the bytes are fetched here, because those
libraries throw a torn file away when they are ended, and this one goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import httpx

from services.datasets import hub
from services.datasets.hub import Hub, Manifest, RemoteFile
from services.errors import Refused
from services.text import explain

TRIES = 6
"""Attempts in a row that bring nothing new before it gives up."""
WAIT_S = 0.5
"""Before the second attempt; doubled before each further one."""
_BLOCK = 1 << 20
_EVERY_S = 0.5
_BAR = 20


class Broken(Exception):
    """The download cannot go on; the text says why."""


def main(argv: list[str] | None = None) -> int:
    """Fetch what ``argv`` names; 0 when all of it is there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hub", choices=("hf", "ms"), required=True)
    for name in ("--id", "--split", "--folder"):
        parser.add_argument(name, required=True)
    parser.add_argument("--subset", default="")
    parser.add_argument("--revision", default="")
    asked = parser.parse_args(argv)
    try:
        folder = Path(asked.folder)
        repository = Repository(asked.hub, asked.id, asked.revision)
        fetch(repository, folder, asked.subset, asked.split)
    except (Broken, Refused) as error:
        print(f"Error: {explain(error, 'en') if isinstance(error, Refused) else error}", flush=True)
        return 1
    except OSError as error:
        print(f"Error: cannot write to {asked.folder}: {error}", flush=True)
        return 1
    return 0


class Repository:
    """One data set on its hub, seen through the hub's own library."""

    def __init__(self, where: Hub, identity: str, revision: str) -> None:
        self.hub, self.id = where, identity
        self.revision = revision or ("main" if where == "hf" else "master")
        self.cookies: dict[str, str] = {}
        try:
            self.files = self._list_hf() if where == "hf" else self._list_ms()
        except Exception as error:
            reason = str(error).strip().splitlines()
            raise Broken(f"{identity} cannot be listed: {reason[0] if reason else type(error).__name__}") from error

    def _list_hf(self) -> list[RemoteFile]:
        from huggingface_hub import HfApi

        api = HfApi()
        self.address, self.headers = api.endpoint, dict(api._build_hf_headers())
        self.revision = api.dataset_info(self.id, revision=self.revision).sha or self.revision
        tree = api.list_repo_tree(self.id, repo_type="dataset", revision=self.revision, recursive=True)
        return [
            RemoteFile(
                entry.path, entry.size, sha256=entry.lfs.sha256 if entry.lfs else "",
                git_sha1="" if entry.lfs else entry.blob_id,
            )
            for entry in cast("Iterator[Any]", tree)
            if hasattr(entry, "blob_id")
        ]  # fmt: skip

    def _list_ms(self) -> list[RemoteFile]:
        from modelscope_hub import HubApi
        from modelscope_hub.config import HubConfig

        config = HubConfig()
        self.address, self.headers = str(config.endpoint), {}
        if config.token:
            self.headers = {"Authorization": f"Bearer {config.token}"}
            self.cookies = {"m_session_id": config.token}
        listed = HubApi().list_repo_files(self.id, "dataset", revision=self.revision)
        return [RemoteFile(one.path, one.size, sha256=one.sha256 or "") for one in listed if one.type != "tree"]

    def url(self, path: str) -> str:
        """Where a file's bytes are."""
        if self.hub == "hf":
            return f"{self.address}/datasets/{self.id}/resolve/{quote(self.revision, safe='')}/{quote(path)}"
        asked = f"Revision={quote(self.revision)}&FilePath={quote(path, safe='')}"
        return f"{self.address}/api/v1/datasets/{self.id}/repo?{asked}"


def fetch(repository: Repository, folder: Path, subset: str, split: str) -> None:
    """Bring the split into ``folder``; its manifest says complete only when every file is whole.

    Raises Broken, Refused as ``hub.chosen_files`` does, OSError.
    """
    timeout = httpx.Timeout(30.0)
    headers, cookies = repository.headers, repository.cookies
    with httpx.Client(timeout=timeout, follow_redirects=True, headers=headers, cookies=cookies) as client:
        card = _card(client, repository)
        files = hub.chosen_files(repository.files, card, subset, split)
        manifest = Manifest(repository.hub, repository.id, subset, split, repository.revision, files)
        (folder / hub.PARTIAL).mkdir(parents=True, exist_ok=True)
        _forget_others(folder, manifest)
        hub.write_manifest(folder, manifest)
        _check_room(folder, manifest)
        print(f"{repository.id}: {len(files)} file(s), {manifest.size / 1e6:.1f} MB", flush=True)
        bar = Bar(manifest.size)
        for file in files:
            _bring(client, repository, file, folder, bar)
            print(f"\n{file.path}: complete", flush=True)
    shutil.rmtree(folder / hub.PARTIAL, ignore_errors=True)
    hub.write_manifest(folder, replace(manifest, complete=True))
    print(f"Saved to {folder}", flush=True)


def _card(client: httpx.Client, repository: Repository) -> str:
    if all(file.path != "README.md" for file in repository.files):
        return ""
    try:
        reply = client.get(repository.url("README.md"))
    except httpx.HTTPError as error:
        raise Broken(f"the card of {repository.id} cannot be read: {error!r}") from error
    return reply.text if reply.status_code == httpx.codes.OK else ""


def _forget_others(folder: Path, manifest: Manifest) -> None:
    """Delete what belongs to another state of the data set: its bytes would be mixed with the new ones."""
    old = hub.read_manifest(folder)
    kept = {(file.name, file.size, file.sha256, file.git_sha1) for file in manifest.files}
    for file in old.files if old is not None else ():
        if (file.name, file.size, file.sha256, file.git_sha1) not in kept:
            for path in (folder / file.name, folder / hub.PARTIAL / file.name):
                path.unlink(missing_ok=True)


def _check_room(folder: Path, manifest: Manifest) -> None:
    missing = manifest.size - sum(hub.size_here(folder, file) for file in manifest.files)
    free = shutil.disk_usage(folder).free
    if missing > free:
        raise Broken(f"the disk has {free / 1e6:.0f} MB left, and {missing / 1e6:.0f} MB are still to come")


def _bring(client: httpx.Client, repository: Repository, file: RemoteFile, folder: Path, bar: Bar) -> None:
    """Fetch one file to its end, over as many attempts as bring something, and give it its name."""
    target, part = folder / file.name, folder / hub.PARTIAL / file.name
    if target.exists() and target.stat().st_size == file.size:
        bar.add(file.size)
        return
    here = part.stat().st_size if part.exists() else 0
    bar.add(here)
    fruitless, checked = 0, False
    while True:
        before, why = here, ""
        if here < file.size or not part.exists():
            try:
                _stream(client, repository.url(file.path), part, here, bar)
            except httpx.HTTPError as error:
                why = repr(error)
        here = part.stat().st_size if part.exists() else 0
        if here == file.size and _is_right(part, file):
            part.replace(target)
            return
        if here >= file.size and part.exists():
            bar.add(-here)
            part.unlink()
            here, why = 0, "its bytes are not those the hub lists"
            if checked:
                raise Broken(f"{file.path}: {why}")
            checked = True
        fruitless = 0 if here > before else fruitless + 1
        if fruitless >= TRIES:
            raise Broken(f"{file.path} is incomplete ({here} of {file.size} bytes): {why or 'the connection ended'}")
        time.sleep(WAIT_S * 2 ** max(0, fruitless - 1) if fruitless else 0)


def _stream(client: httpx.Client, url: str, part: Path, start: int, bar: Bar) -> None:
    """Append what comes from byte ``start`` on; from the beginning where the server knows no ranges."""
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with client.stream("GET", url, headers=headers) as reply:
        if reply.status_code in (401, 403, 404):
            raise Broken(f"{url}: the hub answers {reply.status_code} (gone, private, or its terms must be accepted)")
        reply.raise_for_status()
        begins = f"bytes {start}-"
        goes_on = reply.status_code == 206 and reply.headers.get("Content-Range", begins).startswith(begins)
        if start and not goes_on:
            bar.add(-start)
        with part.open("ab" if start and goes_on else "wb") as file:
            for block in reply.iter_raw():  # as it comes: a cut would lose what a larger block still waits for
                file.write(block)
                bar.add(len(block))


def _is_right(path: Path, file: RemoteFile) -> bool:
    """Whether the bytes are those the hub lists."""
    if not file.sha256 and not file.git_sha1:
        return True
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest() == (file.sha256 or file.git_sha1)


class Bar:
    """One line of progress, in the form the run view reads: megabytes done of all, and the pace."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._clock = total, clock
        self._done = self._fresh = 0
        self._began, self._shown = clock(), -1.0

    def add(self, count: int) -> None:
        """``count`` more bytes are here."""
        self._done += count
        now = self._clock()
        if now - self._began > 0.05:
            self._fresh += count
        if now - self._shown >= _EVERY_S or self._done >= self._total:
            self._shown = now
            print(f"\r{self.line(now)}", end="", flush=True)

    def line(self, now: float) -> str:
        """``Download:  40%|████████            | 41/100 [00:12<00:17, 0.30s/it]``"""
        part = min(1.0, self._done / self._total) if self._total else 1.0
        elapsed = now - self._began
        pace = elapsed / (self._fresh / 1e6) if self._fresh > 0 else 0.0
        left = pace * (self._total - self._done) / 1e6
        total = max(1, round(self._total / 1e6))
        full = int(part * _BAR)
        bar = "█" * full + " " * (_BAR - full)
        times = f"{_clock_time(elapsed)}<{_clock_time(left)}, {pace:.2f}s/it"
        return f"Download: {int(part * 100):3d}%|{bar}| {int(part * total)}/{total} [{times}]"


def _clock_time(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


if __name__ == "__main__":
    sys.exit(main())
