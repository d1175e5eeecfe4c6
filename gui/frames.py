"""The scripts that run before Gradio's own: see assets/*.js."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.settings import ASSETS


class FewFrames:
    """ASGI middleware for ``/``. ``launch(head=…)`` would come too late: Gradio's scripts have run by then."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        scripts = [path.read_bytes() for path in sorted(ASSETS.glob("*.js"))]
        self.script = b"<head><script>" + b"".join(scripts) + b"</script>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
            return await self.app(scope, receive, send)
        start: Message = {}
        page = b""

        async def send_with_script(message: Message) -> None:
            nonlocal start, page
            if message["type"] == "http.response.start":
                start = message
                return
            page += message.get("body", b"")
            if not message.get("more_body"):
                page = page.replace(b"<head>", self.script, 1)
                MutableHeaders(raw=start["headers"])["content-length"] = str(len(page))
                await send(start)
                await send({"type": "http.response.body", "body": page})

        await self.app(scope, receive, send_with_script)
        return None
