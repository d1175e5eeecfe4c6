"""Talks to the server of a loaded model: the OpenAI-compatible HTTP of ``swift deploy`` and vLLM."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Event, Thread
from typing import Any

import httpx

from services.errors import Failed

CONNECT_S = 5.0
READ_S = 300.0
"""The longest silence between two pieces of an answer; the first piece waits for the whole prompt."""
_STOP_CHECK_S = 0.1
_REASON_CHARS = 500


def stream(
    base_url: str,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    system: str | None = None,
    temperature: float = 0.0,
    top_p: float = 1.0,
    max_tokens: int = 512,
    stop: Event | None = None,
) -> Iterator[str]:
    """The answer to ``messages`` in pieces as the model writes it; ``system`` goes in front of them.

    Temperature 0 is greedy. When ``stop`` is set, from any thread, the connection is closed within
    0.1 s, so that the server stops generating, and the answer ends where it is; so does closing the
    iterator. Raises Failed: chat_refused, chat_lost, chat_silent, chat_server_error.
    """
    body = {
        "model": model,
        "messages": [*([{"role": "system", "content": system}] if system else []), *messages],
        "stream": True,
        "temperature": temperature,
        "top_p": top_p if temperature > 0 else 1.0,
        "max_tokens": max_tokens,
    }
    stop = stop or Event()
    if stop.is_set():
        return
    try:
        with _answer(base_url, "chat/completions", body, stop) as response:
            for delta in _deltas(_payloads(response)):
                if stop.is_set():
                    return
                yield delta
    except Failed:
        if not stop.is_set():  # else it is our own closing that broke it off
            raise


def models(base_url: str) -> list[str]:
    """The names the server answers to, the base model first. Raises Failed as ``stream`` does."""
    with _answer(base_url, "models", None, Event(), read_s=10) as response:
        listed = _json(response.read())
    return [str(entry["id"]) for entry in listed.get("data", []) if isinstance(entry, dict) and "id" in entry]


@contextlib.contextmanager
def _answer(
    base_url: str, path: str, body: Mapping[str, Any] | None, stop: Event, read_s: float | None = None
) -> Iterator[httpx.Response]:
    """An open response with status 200; what goes wrong inside the block is told in our own codes."""
    url = f"{base_url.rstrip('/').removesuffix('/v1')}/v1/{path}"
    read_s = read_s or READ_S
    sockets: list[socket.socket] = []

    def trace(event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            sockets.append(info["return_value"].get_extra_info("socket"))

    timeout = httpx.Timeout(read_s, connect=CONNECT_S)
    try:
        # loopback and plain HTTP: without verify=False every client would first read the CA bundle (20-40 ms)
        with (
            httpx.Client(trust_env=False, verify=False, timeout=timeout) as client,
            _closing(sockets, stop),
            client.stream("GET" if body is None else "POST", url, json=body, extensions={"trace": trace}) as response,
        ):
            if response.status_code != 200:
                raise _server_error(_reason(response.read()) or f"HTTP {response.status_code}")
            yield response
    except httpx.ReadTimeout as error:
        raise Failed("chat_silent", str(error), seconds=round(read_s)) from error
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
        raise Failed("chat_refused", str(error), url=base_url) from error
    except httpx.HTTPError as error:
        raise Failed("chat_lost", str(error), url=base_url) from error


@contextlib.contextmanager
def _closing(sockets: list[socket.socket], stop: Event) -> Iterator[None]:
    """Shuts the connection as soon as ``stop`` is set, also while the block waits for the server."""
    done = Event()

    def watch() -> None:
        while not done.wait(_STOP_CHECK_S):
            if stop.is_set() and sockets:
                with contextlib.suppress(OSError):  # closed already
                    sockets[-1].shutdown(socket.SHUT_RDWR)
                return

    watcher = Thread(target=watch, name="chat-stop", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()


def _payloads(response: httpx.Response) -> Iterator[str]:
    """The ``data:`` of each event, or the whole body of an answer that is no event stream."""
    if "event-stream" not in response.headers.get("content-type", "event-stream"):
        yield response.read().decode("utf-8", "replace")
        return
    data: list[str] = []
    for line in _lines(response.iter_bytes()):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Whole lines, decoded whole: a chunk may end inside a character.

    httpx's own ``iter_lines`` also ends a line at U+2028 and U+0085, which JSON text may hold as they are.
    """
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


def _deltas(payloads: Iterable[str]) -> Iterator[str]:
    """The text in the payloads. Raises Failed for an error among them, or when the end is missing."""
    finished = thinking = False
    for payload in payloads:
        if payload.strip() == "[DONE]":
            finished = True
            break
        value = _json(payload)
        _raise_told_error(value)
        for choice in value.get("choices") or []:
            delta = choice.get("delta") or choice.get("message") or {}
            # some servers part the reasoning from the answer; put it back where models write it
            thought = delta.get("reasoning_content") or delta.get("reasoning") or ""
            text = delta.get("content") or ""
            if thought and not thinking:
                thought, thinking = "<think>" + thought, True
            if text and thinking:
                text, thinking = "</think>" + text, False
            if thought or text:
                yield _printable(thought + text)
            finished = finished or bool(choice.get("finish_reason"))
    if not finished:
        raise Failed("chat_lost", "the stream ended without its end mark")


def _raise_told_error(value: Mapping[str, Any]) -> None:
    if "error" in value or value.get("object") == "error":
        raise _server_error(_message(value) or json.dumps(value, ensure_ascii=False))


def _json(text: str | bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise _server_error(text.decode("utf-8", "replace") if isinstance(text, bytes) else text) from error
    return value if isinstance(value, dict) else {}


def _reason(body: bytes) -> str:
    """The sentence in an error's body, whichever server wrote it; the body itself when it is not JSON."""
    try:
        return _message(json.loads(body))
    except ValueError:
        return body.decode("utf-8", "replace").strip()


def _message(value: Any) -> str:
    """``error.message`` is OpenAI's place, ``message`` ms-swift's, ``detail`` (or a list) FastAPI's."""
    if isinstance(value, dict):
        found = next((value[key] for key in ("error", "message", "detail", "msg") if value.get(key)), "")
        return _message(found)
    if isinstance(value, list):
        return "; ".join(filter(None, map(_message, value)))
    return str(value)


def _server_error(reason: str) -> Failed:
    short = " ".join(reason.split())
    short = short if len(short) <= _REASON_CHARS else short[:_REASON_CHARS] + "…"
    return Failed("chat_server_error", reason, reason=short)


def _printable(text: str) -> str:
    """Without lone halves of surrogate pairs, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
