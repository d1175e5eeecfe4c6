"""The facts of a model on a hub: from this machine's copy of it, from an earlier look, or over the hub's API."""

from __future__ import annotations

import dataclasses
import re
import struct
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson

from services.models.facts import MAX_HEADER, ModelFacts, Tensor, facts_of, header_of, read_facts
from services.settings import Hub, Settings
from services.swift.checkpoints import read_json

TIMEOUT_S = 5.0
"""For one request."""
WHOLE_TIMEOUT_S = 12.0
"""For all headers of a model; then its config.json alone has to do."""
FIRST_BYTES = 64 * 1024
"""Of a safetensors file: holds the whole header of most."""
PARALLEL = 8
FORGET_FAILURE_S = 60.0
"""How long an unreachable hub is not asked again: a form looks at every keystroke."""
INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
_VERSION = 1
_failures: dict[tuple[str, str], float] = {}


def fetch_facts(model_id: str, settings: Settings, use_hf: bool = False) -> ModelFacts | None:
    """The facts of ``model_id`` ("owner/name") on Hugging Face or, the default, ModelScope.

    None where the hub cannot be reached, does not know the model or will not show it: a plan is possible without
    them, it only cannot say what will fit. Computed from config.json (``exact`` False) where that is all it shows.
    """
    hub = settings.hugging_face if use_hf else settings.modelscope
    if (facts := downloaded(model_id, hub)) is not None and facts.exact:
        return facts
    kept = _cache_file(model_id, settings, use_hf)
    if (known := _read(kept)) is not None:
        return known
    failed = _failures.get((hub.endpoint, model_id))
    if hub.offline or (failed is not None and time.monotonic() - failed < FORGET_FAILURE_S):
        return facts
    fetched = _fetch(_Remote(hub, model_id, use_hf))
    if fetched is None:
        _failures[hub.endpoint, model_id] = time.monotonic()
        return facts
    if fetched.exact:
        _write(kept, fetched)
    return fetched


def downloaded(model_id: str, hub: Hub) -> ModelFacts | None:
    """The facts of the copy that the hub's own tools have left on this machine."""
    owner, _, name = model_id.partition("/")
    for root in hub.folders:
        places = [root / owner / name, root / owner / name.replace(".", "___")]
        for stem in (f"models--{owner}--{name}", f"{owner}--{name}"):
            places += sorted((root / stem / "snapshots").glob("*"), reverse=True)
        for place in places:
            if (place / "config.json").is_file() and (facts := read_facts(place)) is not None:
                return facts
    return None


@dataclass
class _Remote:
    """One model on a hub, file by file. Its methods raise httpx.HTTPError where the hub does not answer well."""

    hub: Hub
    model_id: str
    is_hf: bool
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=TIMEOUT_S, follow_redirects=True))

    def get(self, name: str, first: int | None = None, after: int = 0) -> bytes:
        """A file, or ``first`` bytes of it from ``after`` on."""
        if self.is_hf:
            url, query = f"{self.hub.endpoint}/{self.model_id}/resolve/main/{name}", None
        else:
            url = f"{self.hub.endpoint}/api/v1/models/{self.model_id}/repo"
            query = {"Revision": "master", "FilePath": name}
        headers = dict(self._credentials())
        if first is not None:
            headers["Range"] = f"bytes={after}-{after + first - 1}"
        with self.client.stream("GET", url, params=query, headers=headers) as response:
            response.raise_for_status()
            data = bytearray()
            skip = after if first is not None and response.status_code == 200 else 0  # the range was ignored
            for chunk in response.iter_bytes():
                data += chunk
                if first is not None and len(data) >= skip + first:
                    break
        return bytes(data[skip:] if first is None else data[skip : skip + first])

    def _credentials(self) -> Mapping[str, str]:
        token = self.hub.token or _token_in(self.hub.token_file)
        if not token:
            return {}
        return {"Authorization": f"Bearer {token}"} if self.is_hf else {"Cookie": f"m_session_id={token}"}

    def json(self, name: str) -> dict[str, Any]:
        try:
            value = orjson.loads(self.get(name))
        except ValueError as error:
            raise httpx.DecodingError(f"{name} is not JSON") from error
        return value if isinstance(value, dict) else {}

    def header(self, name: str) -> dict[str, Tensor]:
        """The header of a safetensors file: its first bytes, and more where it is longer."""
        start = self.get(name, FIRST_BYTES)
        if len(start) < 8:
            raise httpx.DecodingError(f"{name} is too short")
        (length,) = struct.unpack("<Q", start[:8])
        if length > MAX_HEADER:
            raise httpx.DecodingError(f"{name} is not a safetensors file")
        missing = 8 + length - len(start)
        data = start + (self.get(name, missing, after=len(start)) if missing > 0 else b"")
        header = header_of(data[8 : 8 + length])
        if header is None:
            raise httpx.DecodingError(f"{name} is damaged")
        return header

    def files(self) -> list[str]:
        """The names of its safetensors files."""
        try:
            index = self.json(INDEX)
        except httpx.HTTPStatusError:
            return [SINGLE]
        named = index.get("weight_map")
        return sorted({str(name) for name in named.values()}) if isinstance(named, dict) else [SINGLE]


def _fetch(remote: _Remote) -> ModelFacts | None:
    with remote.client:
        try:
            config = remote.json("config.json")
        except (httpx.HTTPError, httpx.InvalidURL):
            return None
        return facts_of(config, _headers(remote)) or facts_of(config)


def _headers(remote: _Remote) -> dict[str, Tensor] | None:
    """All tensors of all its files; None where the hub does not show all of them in time."""
    pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="headers")
    tensors: dict[str, Tensor] = {}
    try:
        for header in pool.map(remote.header, remote.files(), timeout=WHOLE_TIMEOUT_S):
            tensors |= header
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, RuntimeError):
        return None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return tensors


def _token_in(path: Path | None) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() if path is not None else None
    except (OSError, UnicodeDecodeError):
        return None


def _cache_file(model_id: str, settings: Settings, use_hf: bool) -> Path:
    name = re.sub(r"[^\w.-]", "--", model_id)
    return settings.cache / "models" / ("hf" if use_hf else "ms") / f"{name}.json"


def _read(path: Path) -> ModelFacts | None:
    value = read_json(path)
    if not value or value.pop("version", None) != _VERSION:
        return None
    try:
        value["linears"] = tuple((int(rows), int(columns)) for rows, columns in value["linears"])
        value["linear_names"] = tuple(value["linear_names"])
        return ModelFacts(**value)
    except (KeyError, TypeError, ValueError):
        return None


def _write(path: Path, facts: ModelFacts) -> None:
    """Keep ``facts`` for the next time; where the disk refuses, they are simply fetched again."""
    partial = path.with_suffix(f".{time.time_ns()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(orjson.dumps({"version": _VERSION, **dataclasses.asdict(facts)}))
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
