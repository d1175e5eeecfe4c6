"""How the window is opened: where it listens, and what else may listen there."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import gui.__main__ as window
from services.errors import Refused
from services.text import explain


@contextmanager
def answering(page: str) -> Iterator[int]:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ports at which windows would have been opened."""
    ports: list[int] = []

    def serve(_services: object, *, port: int, **_: Any) -> None:
        ports.append(port)

    monkeypatch.setattr(window, "serve", serve)
    monkeypatch.setattr(window.starter, "prepare", lambda *_: None)
    return ports


@pytest.mark.parametrize(
    ("page", "told"),
    [('<meta property="og:title" content="TuneDesk" />', "TuneDesk is open already, at http://127.0.0.1:{port}."),
     ("<title>Something else</title>", "Port {port} is taken by another program")],
)  # fmt: skip
def test_what_has_the_port_is_called_by_its_name(
    opened: list[int], capsys: pytest.CaptureFixture[str], page: str, told: str
) -> None:
    with answering(page) as port:
        window.open_window(port=port, lang="en")
    assert told.format(port=port) in capsys.readouterr().out
    assert len(opened) == 1 and opened[0] > port


def test_an_address_of_another_machine_is_refused_with_what_to_use(opened: list[int]) -> None:
    with pytest.raises(Refused) as caught:
        window.open_window(host="192.0.2.1", port=7860, lang="en")
    assert "192.0.2.1" in explain(caught.value, "en") and "0.0.0.0" in explain(caught.value, "en")
    assert opened == []


@pytest.mark.parametrize(
    ("host", "address"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("box", "box")]
)
def test_a_window_at_all_addresses_is_looked_for_on_this_machine(host: str, address: str) -> None:
    assert window.reached_at(host) == address
