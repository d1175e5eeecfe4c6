"""``python -m gui``: flags -> services -> the window."""

from __future__ import annotations

import warnings
from typing import Any

import httpx

from services import cli
from services.bootstrap import Services, build
from services.errors import Refused
from services.models import starter
from services.paths import printable
from services.runs.queue import free_port
from services.settings import ASSETS, read_settings
from services.text import say

LOOPBACK = ("127.0.0.1", "localhost", "::1")
QUEUE_IDLE_S = 0.02
"""How often Gradio's queue looks for work; its own millisecond costs a tenth of a core."""
EVENTS_KEPT = 200
"""How many past events Gradio's queue keeps figures of; its own ten thousand grow by megabytes an hour."""


def open_window(
    *, host: str = "127.0.0.1", port: int = 7860, share: bool = False, lang: str | None = None, browser: bool = True
) -> None:
    """Open the window and serve it until Ctrl-C. Runs go on without it."""
    settings = read_settings()
    words = lang or settings.lang
    starter.prepare(settings, print)
    services = build(settings)
    try:
        free = free_port(set(), first=port, host=host)
    except OSError as error:
        raise Refused("host_not_here", host=printable(host), why=error.strerror) from error
    if free != port and is_tunedesk(address := f"http://{reached_at(host)}:{port}"):
        print(say("window.open_already", words, address=address, port=free), flush=True)
    elif free != port:
        print(say("window.port_moved", words, wanted=port, port=free), flush=True)
    serve(services, host=host, port=free, share=share, lang=lang, words=words, browser=browser)


def reached_at(host: str) -> str:
    """The address under which a program on this machine reaches what listens on ``host``."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


def is_tunedesk(address: str) -> bool:
    """Whether what answers at ``address`` is a TuneDesk."""
    try:
        page = httpx.get(address, timeout=2, trust_env=False, follow_redirects=True).text
    except (httpx.HTTPError, httpx.InvalidURL):
        return False
    return '<meta property="og:title" content="TuneDesk"' in page


def serve(
    services: Services, *, host: str, port: int, share: bool, lang: str | None, words: str, browser: bool
) -> None:
    """Launch Gradio and wait."""
    warnings.filterwarnings("ignore", module="gradio")
    from starlette.middleware import Middleware

    from gui.app import build_app
    from gui.frames import FewFrames
    from gui.share import USER, new_password, open_tunnel
    from gui.words import translations

    settings = services.settings
    password = settings.password
    if password is None and (share or host not in LOOPBACK):
        password = new_password()
        print(say("window.password", words, user=USER, password=password), flush=True)
    app = build_app(services)
    app.queue(default_concurrency_limit=8)
    app._queue.sleep_when_free = QUEUE_IDLE_S
    app._queue.ANALYTICS_MAX_EVENTS = EVENTS_KEPT
    forced = lang or settings.window_lang
    server, local, _ = app.launch(
        server_name=host, server_port=port, auth=(USER, password) if password else None, prevent_thread_lock=True,
        quiet=True, show_error=False, inbrowser=browser and settings.has_display, theme=theme(),
        css_paths=sorted(ASSETS.glob("*.css")), i18n=translations(forced), footer_links=[],
        favicon_path=ASSETS / "icon.svg", enable_monitoring=False,
        max_file_size="10gb", ssr_mode=False, pwa=False, app_kwargs={"middleware": [Middleware(FewFrames)]},
    )  # fmt: skip
    print(say("window.open", words, address=local), flush=True)
    if not settings.has_display:
        print(say("window.ssh", words, port=port), flush=True)
    if share:
        try:
            print(say("window.shared", words, link=open_tunnel(server, settings.share_server)), flush=True)
        except Exception as error:  # the tunnel program and its server fail in many ways, none of them ours
            print(say("window.share_unreachable", words, why=str(error).splitlines()[0]), flush=True)
    app.block_thread()


def theme() -> Any:
    """Calm and dense: system fonts, small radii, one accent; every text at least 4.5 to 1 against its ground."""
    import gradio as gr

    base = gr.themes.Base(
        primary_hue="teal",
        neutral_hue="slate",
        font=["system-ui", "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "sans-serif"],
        font_mono=["ui-monospace", "SFMono-Regular", "DejaVu Sans Mono", "monospace"],
        spacing_size="sm",
        radius_size="sm",
        text_size="md",
    )
    return base.set(
        button_primary_background_fill="*primary_700", button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_700", button_primary_background_fill_hover_dark="*primary_800",
        block_info_text_color="*neutral_500", input_placeholder_color="#5b6b82", input_placeholder_color_dark="#a3b1c4",
        button_cancel_background_fill="#fee2e2", button_cancel_background_fill_dark="#3b1518",
        button_cancel_background_fill_hover="#fecaca", button_cancel_background_fill_hover_dark="#551c20",
        button_cancel_text_color="#991b1b", button_cancel_text_color_dark="#fca5a5",
        button_cancel_text_color_hover="#991b1b", button_cancel_text_color_hover_dark="#fca5a5",
        checkbox_background_color_selected="*primary_700", checkbox_background_color_selected_dark="*primary_500",
    )  # fmt: skip


def main() -> None:
    """The console script: the command line, with the window behind it."""
    cli.main(open_window)


if __name__ == "__main__":
    main()
