"""The script that runs before Gradio's own."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from gui.frames import FewFrames

PAGE = "<!doctype html><html><head><title>页</title></head></html>"


@pytest.fixture
def client() -> TestClient:
    async def answer(request: Request) -> Response:
        return HTMLResponse(PAGE)

    routes = [Route("/", answer), Route("/other", answer)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(FewFrames)]))


def test_the_page_begins_with_the_script_and_is_whole(client: TestClient) -> None:
    reply = client.get("/")
    before, _, after = reply.text.partition("</script>")
    assert "<head><script>" in before
    assert "requestAnimationFrame" in before
    assert after == "<title>页</title></head></html>"
    assert int(reply.headers["content-length"]) == len(reply.content)


def test_nothing_else_is_touched(client: TestClient) -> None:
    assert client.get("/other").text == PAGE
    assert client.head("/").status_code == 200
