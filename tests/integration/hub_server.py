"""A hub on this machine that speaks enough of Hugging Face's and ModelScope's protocols, and can be made to fail."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class HubServer:
    """``files``: path -> bytes of the one data set ``owner/name`` that this hub has."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: int | None = None
    """Bytes of a data file after which the connection is cut, each time one is asked for."""
    knows_ranges: bool = True
    spoil: bool = False
    """Send other bytes than those listed."""
    slow: threading.Event | None = None
    """While set, data files stop half way and wait for it to be cleared."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(path, Range) of every request for a data file."""

    def __enter__(self) -> HubServer:
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        path, query = unquote(url.path), parse_qs(url.query)
        hf, ms = "/api/datasets/owner/name", "/api/v1/datasets/owner/name/repo"
        if path in (hf, f"{hf}/revision/main"):
            self.say({"_id": "1", "id": "owner/name", "sha": COMMIT, "private": False, "tags": [], "siblings": []})
        elif path.startswith(f"{hf}/tree/"):
            self.say([hf_entry(name, data) for name, data in self.hub.files.items()])
        elif path.startswith("/datasets/owner/name/resolve/"):
            self.give(path.split("/resolve/")[1].partition("/")[2])
        elif path == f"{ms}/tree":
            page = int(query.get("PageNumber", ["1"])[0])
            entries = [ms_entry(name, data) for name, data in self.hub.files.items()]
            self.say({"Code": 200, "Success": True, "Data": {"Files": entries if page == 1 else []}})
        elif path == ms:
            self.give(query["FilePath"][0])
        else:
            self.say({"error": "Repository not found", "Code": 404, "Success": False}, status=404)

    def say(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 404:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()
        self.wfile.write(body)

    def give(self, name: str) -> None:
        if name not in self.hub.files:
            self.say({"error": "Entry not found"}, status=404)
            return
        data = self.hub.files[name]
        card = name == "README.md"
        asked = self.headers.get("Range", "")
        if not card:
            self.hub.asked.append((name, asked))
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.hub.knows_ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        body = data[start:]
        if not card and self.hub.spoil:
            body = bytes(len(body))
        if not card and self.hub.slow is not None:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.hub.slow.wait(20)
            body = body[len(body) // 2 :]
        elif not card and self.hub.cut_after is not None:
            self.wfile.write(body[: self.hub.cut_after])
            self.wfile.flush()
            self.close_connection = len(body) > self.hub.cut_after
            return
        self.wfile.write(body)


def hf_entry(name: str, data: bytes) -> dict[str, Any]:
    blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
    entry: dict[str, Any] = {"type": "file", "oid": blob, "size": len(data), "path": name}
    if len(data) > 10_000:  # as the hub keeps large files
        entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
    return entry


def ms_entry(name: str, data: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    return {"Path": name, "Name": name.rpartition("/")[2], "Size": len(data), "Sha256": digest, "Type": "blob"}
