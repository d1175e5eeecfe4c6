from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from services.chat import client
from services.chat.client import models, stream
from services.errors import Failed
from services.text import explain

ASK = [{"role": "user", "content": "你是谁？"}]


def complete(base_url: str, model: str, messages: Any, **options: Any) -> str:
    """The whole answer."""
    return "".join(stream(base_url, model, messages, **options))


class Handler(BaseHTTPRequestHandler):
    """Answers as the test's ``script`` says; keeps what it was asked."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, json.loads(body)))
        self.server.script(self)

    def do_GET(self) -> None:
        self.server.asked.append((self.path, None))
        self.server.script(self)

    def say(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def open_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, Any]] = []
        self.script: Callable[[Handler], None] = lambda handler: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that closes is what some tests are about


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n".encode()


def answering(*chunks: bytes, cut: bool = False) -> Callable[[Handler], None]:
    def script(handler: Handler) -> None:
        handler.open_stream()
        for data in chunks:
            handler.chunk(data)
            time.sleep(0.002)  # each its own read on the other side
        if cut:
            handler.close_connection = True
        else:
            handler.chunk(b"")

    return script


def test_the_answer_comes_in_the_pieces_the_server_sends(server: Server) -> None:
    server.script = answering(event("Hel"), event("lo"), event("", "stop"), b"data: [DONE]\n\n")
    assert list(stream(server.url, "starter", ASK)) == ["Hel", "lo"]


def test_the_request_holds_what_was_asked_and_the_system_prompt_in_front(server: Server) -> None:
    server.script = answering(b"data: [DONE]\n\n")
    complete(f"{server.url}/v1/", "mine", ASK, system="Be brief.", temperature=0.7, top_p=0.9, max_tokens=64)
    assert server.asked == [
        (
            "/v1/chat/completions",
            {
                "model": "mine",
                "messages": [{"role": "system", "content": "Be brief."}, *ASK],
                "stream": True,
                "temperature": 0.7,
                "top_p": 0.9,
                "max_tokens": 64,
            },
        )
    ]


def test_temperature_0_asks_for_the_likeliest_words_whatever_top_p_says(server: Server) -> None:
    server.script = answering(b"data: [DONE]\n\n")
    complete(server.url, "m", ASK, temperature=0, top_p=0.3)
    assert (server.asked[0][1]["temperature"], server.asked[0][1]["top_p"]) == (0, 1.0)


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_chunks_may_end_inside_a_character_and_inside_a_line(server: Server, size: int) -> None:
    data = event("我是小助手") + b": keep-alive\n\n" + event("🤖", "stop") + b"data: [DONE]\n\n"
    server.script = answering(*(data[i : i + size] for i in range(0, len(data), size)))
    assert complete(server.url, "m", ASK) == "我是小助手🤖"


def test_line_separators_inside_the_text_do_not_end_an_event(server: Server) -> None:
    server.script = answering(event("a\u2028b\u0085c", "stop"))
    assert complete(server.url, "m", ASK) == "a\u2028b\u0085c"


def test_carriage_returns_data_without_a_space_and_other_fields_are_understood(server: Server) -> None:
    data = event("a", "stop").replace(b"data: ", b"data:").replace(b"\n", b"\r\n")
    server.script = answering(b"event: message\r\nid: 1\r\n" + data + b"data: [DONE]\r\n\r\n")
    assert complete(server.url, "m", ASK) == "a"


def test_a_whole_answer_in_place_of_a_stream_is_taken(server: Server) -> None:
    body = json.dumps({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}).encode()
    server.script = lambda handler: handler.say(200, "application/json", body)
    assert complete(server.url, "m", ASK) == "whole"


def test_reasoning_sent_apart_is_put_back_as_a_thought(server: Server) -> None:
    thought = b'data: {"choices": [{"delta": {"reasoning_content": "hm"}}]}\n\n'
    server.script = answering(thought, thought, event("yes", "stop"))
    assert complete(server.url, "m", ASK) == "<think>hmhm</think>yes"


def test_half_of_a_surrogate_pair_does_not_spoil_the_text(server: Server) -> None:
    lone = b'data: {"choices": [{"delta": {"content": "a\\ud83d"}, "finish_reason": "stop"}]}\n\n'
    server.script = answering(lone)
    assert complete(server.url, "m", ASK).encode() == "a\ufffd".encode()


def test_a_stream_that_is_cut_off_is_lost_and_keeps_what_came(server: Server) -> None:
    server.script = answering(event("Hel"), cut=True)
    pieces = stream(server.url, "m", ASK)
    assert next(pieces) == "Hel"
    with pytest.raises(Failed) as failed:
        next(pieces)
    assert failed.value.code == "chat_lost"


def test_a_stream_that_ends_without_its_end_mark_is_lost(server: Server) -> None:
    server.script = answering(event("Hel"))
    with pytest.raises(Failed) as failed:
        complete(server.url, "m", ASK)
    assert failed.value.code == "chat_lost"


def test_a_server_that_dies_before_it_answers_is_lost(server: Server) -> None:
    def die(handler: Handler) -> None:
        handler.close_connection = True

    server.script = die
    with pytest.raises(Failed) as failed:
        complete(server.url, "m", ASK)
    assert failed.value.code == "chat_lost"


def test_nothing_listening_is_refused_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(Failed) as failed:
        complete(f"http://127.0.0.1:{port}", "m", ASK)
    assert failed.value.code == "chat_refused"
    assert f"127.0.0.1:{port}" in explain(failed.value, "en")
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (400, {"object": "error", "message": "`x` is not in the model_list"}, "`x` is not in the model_list"),
        (400, {"error": {"message": "maximum context length is 2048", "code": 400}}, "maximum context length is 2048"),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        (500, {"detail": "out of memory"}, "out of memory"),
        (503, "warming\nup", "warming up"),
        (500, "", "HTTP 500"),
    ],
)
def test_an_error_of_the_server_is_told_in_its_own_words(
    server: Server, status: int, body: object, reason: str
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    server.script = lambda handler: handler.say(status, "application/json", data)
    with pytest.raises(Failed) as failed:
        complete(server.url, "m", ASK)
    assert (failed.value.code, failed.value.values["reason"]) == ("chat_server_error", reason)
    assert reason in explain(failed.value, "zh")


@pytest.mark.parametrize(
    "told", [{"error": {"message": "CUDA out of memory"}}, {"object": "error", "message": "CUDA out of memory"}]
)
def test_an_error_in_the_middle_of_a_good_stream_is_an_error(server: Server, told: object) -> None:
    server.script = answering(event("Hel"), f"data: {json.dumps(told)}\n\n".encode(), b"data: [DONE]\n\n")
    with pytest.raises(Failed) as failed:
        complete(server.url, "m", ASK)
    assert failed.value.values["reason"] == "CUDA out of memory"


def test_what_is_not_json_is_an_error_with_the_text(server: Server) -> None:
    server.script = answering(b"data: Internal Server Error\n\n")
    with pytest.raises(Failed) as failed:
        complete(server.url, "m", ASK)
    assert failed.value.values["reason"] == "Internal Server Error"


def test_a_long_error_is_shortened_and_kept_whole_in_the_details(server: Server) -> None:
    server.script = lambda handler: handler.say(500, "text/plain", b"x" * 9000)
    with pytest.raises(Failed) as failed:
        complete(server.url, "m", ASK)
    assert len(str(failed.value.values["reason"])) < 600
    assert len(failed.value.details) == 9000


def test_silence_beyond_the_limit_is_told_as_silence(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def script(handler: Handler) -> None:
        handler.open_stream()
        over.wait(5)

    server.script = script
    monkeypatch.setattr(client, "READ_S", 0.2)
    with pytest.raises(Failed) as failed:
        complete(server.url, "m", ASK)
    over.set()
    assert failed.value.code == "chat_silent"


@pytest.mark.parametrize("phase", ["before the headers", "between two pieces"])
def test_stop_closes_the_connection_at_once_even_while_the_server_is_silent(server: Server, phase: str) -> None:
    closed_at: list[float] = []
    waiting = threading.Event()

    def script(handler: Handler) -> None:
        if phase == "between two pieces":
            handler.open_stream()
            handler.chunk(event("Hel"))
        waiting.set()
        handler.connection.settimeout(10)
        with contextlib.suppress(OSError):
            assert handler.connection.recv(1) == b""
        closed_at.append(time.monotonic())
        handler.close_connection = True

    server.script = script
    stop = threading.Event()
    pieces: list[str] = []

    def listen() -> None:
        pieces.extend(stream(server.url, "m", ASK, stop=stop))

    listener = threading.Thread(target=listen)
    listener.start()
    assert waiting.wait(10)
    time.sleep(0.2)
    stopped_at = time.monotonic()
    stop.set()
    listener.join(5)
    assert not listener.is_alive()
    assert time.monotonic() - stopped_at < 1
    server.shutdown()
    server.server_close()  # waits for the handler
    assert closed_at and closed_at[0] - stopped_at < 1
    assert pieces == (["Hel"] if phase == "between two pieces" else [])


def test_stop_set_beforehand_asks_nothing(server: Server) -> None:
    stop = threading.Event()
    stop.set()
    assert list(stream(server.url, "m", ASK, stop=stop)) == []
    assert server.asked == []


def test_an_abandoned_stream_closes_its_connection_and_leaves_no_thread(server: Server) -> None:
    closed = threading.Event()

    def script(handler: Handler) -> None:
        handler.open_stream()
        handler.chunk(event("Hel"))
        handler.connection.settimeout(10)
        with contextlib.suppress(OSError):
            handler.connection.recv(1)
        closed.set()
        handler.close_connection = True

    server.script = script
    pieces = stream(server.url, "m", ASK)
    next(pieces)
    pieces.close()
    assert closed.wait(2)
    time.sleep(0.3)
    assert not [thread for thread in threading.enumerate() if thread.name == "chat-stop"]


def test_a_proxy_in_the_environment_is_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"{server.url}/v1/models")  # the proxy is in force for others
    server.script = answering(event("hi", "stop"))
    assert complete(server.url, "m", ASK) == "hi"


def test_the_servers_models_are_listed_in_order(server: Server) -> None:
    body = json.dumps({"object": "list", "data": [{"id": "base"}, {"id": "mine"}]}).encode()
    server.script = lambda handler: handler.say(200, "application/json", body)
    assert models(server.url) == ["base", "mine"]
    assert server.asked == [("/v1/models", None)]
