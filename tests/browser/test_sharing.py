"""Whoever is not at this machine needs the password, and is told so beforehand."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.server import Server, free_port

TUNNEL = """#!/bin/sh
# Stands in for the tunnel program: the link it gives leads straight to the window.
while [ $# -gt 0 ]; do case $1 in -l) port=$2;; --server_addr) server=$2;; esac; shift; done
[ "$server" = 127.0.0.1:7000 ] || { echo "login to server failed: $server"; exit 1; }
sleep 3  # as a real one: longer than it takes a page to ask the server again
echo "start proxy success: http://localhost:$port"
while kill -0 $PPID 2> /dev/null; do sleep 1; done
"""
SHUT = "401|Unauthorized|Could not parse server response|Not authenticated|AbortError|Connection errored out"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "分享 shared"
    made.mkdir()
    return made


@pytest.fixture
def hub(folder: Path) -> Path:
    """An own HF_HOME, in which Gradio looks for its tunnel program; the stand-in lies there."""
    from gradio.tunneling import BINARY_PATH

    program = folder / "hub" / "gradio" / "frpc" / Path(BINARY_PATH).name
    program.parent.mkdir(parents=True)
    program.write_text(TUNNEL)
    program.chmod(0o755)
    return folder / "hub"


def tunnelled(hub: Path) -> dict[str, str]:
    """The environment of a server that finds the stand-in."""
    return {"HF_HOME": str(hub), "GRADIO_SHARE_SERVER_ADDRESS": "127.0.0.1:7000"}


@pytest.fixture
def shared(folder: Path, hub: Path, tiny: Path) -> Iterator[Server]:
    server = Server(folder, tiny, env=tunnelled(hub))
    try:
        yield server.start()
    finally:
        server.clean_up()


def refuses_strangers(address: str) -> None:
    """Every way to what the window can do answers 401 to someone without the password."""
    with httpx.Client(base_url=address, trust_env=False) as stranger:
        told = {
            path: stranger.get(path).status_code
            for path in ("/config", "/gradio_api/info", "/gradio_api/queue/data?session_hash=x",
                         "/gradio_api/file=/etc/hostname")
        } | {
            path: stranger.post(path, json={"data": [], "fn_index": 0, "session_hash": "x"}).status_code
            for path in ("/gradio_api/call/on_start", "/gradio_api/queue/join", "/gradio_api/run/predict",
                         "/gradio_api/upload")
        }  # fmt: skip
        wrong = stranger.post("/login", data={"username": "tunedesk", "password": "guess"}).status_code
    assert set(told.values()) == {401}, told
    assert wrong in (400, 401)


def log_in(desk: Desk, password: str) -> None:
    """Fill Gradio's login page."""
    desk.page.get_by_label("username").fill("tunedesk")
    desk.page.get_by_label("password").fill(password)
    desk.page.get_by_role("button", name="Login").click()
    desk.wait_until_filled()


def make_link(desk: Desk) -> None:
    """Read what will happen, then press the button."""
    desk.unfold("share")
    desk.see("share", "First a password is set")
    desk.see("share", "every session has to log in")
    desk.press("Set a password and make the link")


def test_a_link_comes_with_a_password_that_every_session_then_needs(
    shared: Server, open_desk: Callable[..., Desk]
) -> None:
    desk = open_desk(shared)
    assert httpx.get(f"{shared.url}/config", trust_env=False).status_code == 200
    make_link(desk)
    desk.see("share-result", f"http://localhost:{shared.port}", 40)
    password = re.search(r"password (\S+)", desk.text("share-result"))
    assert password is not None and len(password[1]) >= 12
    refuses_strangers(f"http://localhost:{shared.port}")
    refuses_strangers(shared.url)

    desk.page.wait_for_timeout(2500)
    desk.see("share-result", password[1])
    desk.page.reload()
    desk.wait_until_filled()
    desk.forgive(SHUT)  # what was asked when the page was left
    assert password[1] not in desk.page.content(), "the password is shown once"

    guest = open_desk(shared, None)
    guest.page.goto(f"http://localhost:{shared.port}")
    log_in(guest, password[1])
    expect(guest.page.get_by_role("button", name="Start training")).to_be_visible()
    guest.forgive(SHUT)


def test_without_a_tunnel_a_sentence_says_why_and_the_local_address_goes_on_behind_the_password(
    shared: Server, hub: Path, open_desk: Callable[..., Desk]
) -> None:
    for program in (hub / "gradio" / "frpc").iterdir():
        program.write_text("#!/bin/sh\nsleep 3; echo 'login to server failed: no such host'\n")
    desk = open_desk(shared)
    make_link(desk)
    desk.see("share-result", "The public link could not be made", 40)
    password = re.search(r"password (\S+)", desk.text("share-result"))
    assert password is not None
    assert "Traceback" not in desk.text("share-result")
    refuses_strangers(shared.url)
    desk.page.wait_for_timeout(2500)
    desk.see("share-result", password[1])
    later = open_desk(shared, None)
    later.page.goto(shared.url)
    log_in(later, password[1])
    for one in (desk, later):
        one.forgive(SHUT)


def test_an_address_for_other_machines_and_a_link_at_the_start_get_a_password_and_a_busy_port_moves_on(
    folder: Path, hub: Path, tiny: Path, open_desk: Callable[..., Desk]
) -> None:
    server = Server(folder, tiny, "--host", "0.0.0.0", "--share", env=tunnelled(hub))
    try:
        with socket.socket() as busy:
            busy.bind(("0.0.0.0", free_port()))
            busy.listen()
            server.port = wanted = busy.getsockname()[1]
            server.start()
        assert f"Port {wanted} is taken by another program, so TuneDesk uses {server.port}." in server.said()
        assert server.port != wanted
        password = re.search(r"user tunedesk, password (\S+)", server.said())
        assert password is not None
        refuses_strangers(server.url)
        desk = open_desk(server, None)
        desk.page.goto(server.url)
        log_in(desk, password[1])
        desk.forgive(SHUT)
        desk.wait_for(lambda: f"Public link: http://localhost:{server.port}" in server.said(), 20, server.said())
    finally:
        server.clean_up()
