"""A temporary public link, never without a password."""

from __future__ import annotations

import secrets
from typing import Any

import gradio as gr

from gui.words import PRIVATE, card, lang_of, t
from services.bootstrap import Services
from services.text import say

USER = "tunedesk"


def share_panel(services: Services) -> None:
    """The sidebar's panel: what will happen first, then the button, then the link and the password, once."""
    with gr.Accordion(t("window.share"), open=False, elem_id="share"):
        gr.Markdown(t("window.share_before"), elem_classes="td-small")
        result = gr.HTML(elem_id="share-result", padding=False)
        button = gr.Button(t("window.share_start"), size="sm", elem_id="share-start")
        ticket = gr.Textbox(visible="hidden", elem_id="share-ticket")

    def on_press(request: gr.Request) -> str:
        return login_cookie(request.request.app) if request.request is not None else ""

    def on_share(request: gr.Request) -> tuple[str, str]:
        lang = lang_of(request)
        if request.request is None:
            return "", ""
        app = request.request.app
        password = protect(app, services.settings.password)
        try:
            link = open_tunnel(app, services.settings.share_server)
        except Exception as error:  # the tunnel program and its server fail in many ways, none of them ours
            text = say("window.share_failed", lang, user=USER, password=password)
            return card("warning", text, str(error)), ""
        return card("ok", say("window.share_done", lang, link=link, user=USER, password=password)), ""

    press = button.click(on_press, None, ticket, **PRIVATE)
    inside = press.then(None, ticket, None, js="(cookie) => { if (cookie) document.cookie = cookie; }")
    inside.then(on_share, None, [result, ticket], api_visibility="private")


def login_cookie(app: Any) -> str:
    """The cookie with which the page that sets the password stays logged in: else it would be locked out
    within a second, before anyone could read the password. Empty where there is a password already."""
    if app.auth:
        return ""
    token = secrets.token_urlsafe(32)
    app.tokens[token] = USER
    return f"access-token-unsecure-{app.cookie_id}={token}; path=/; SameSite=Lax"


def protect(app: Any, password: str | None) -> str:
    """Make every session log in from now on, and return the password; an app that has one keeps it."""
    if app.auth:
        return str(next(iter(app.auth.values()))) if isinstance(app.auth, dict) else "•••"
    word = password or new_password()
    app.auth = {USER: word}
    app.blocks.auth = [(USER, word)]
    return word


def new_password() -> str:
    """Some 70 bits, easy to read out."""
    return "-".join(secrets.token_hex(3) for _ in range(3))


def open_tunnel(app: Any, share_server: str | None) -> str:
    """Gradio's own tunnel to this app. Raises whatever the tunnel program or its server raise."""
    from gradio.networking import setup_tunnel

    blocks = app.blocks
    if blocks.share_url is None:
        token = secrets.token_urlsafe(32)
        # blocks.share stays False: a shared page of Gradio's fetches its script from a server on the internet
        url = setup_tunnel("127.0.0.1", blocks.server_port, token, share_server, None)
        blocks.share_url = url.replace("http://", "https://", 1) if share_server is None else url
    return str(blocks.share_url)
