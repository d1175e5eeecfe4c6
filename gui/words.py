"""The texts of services/text on the screen.

Static labels are markers that the browser translates (``t``); what a callback makes is rendered here, in
the language of the session (``lang_of``). Both go by the language the browser asks for, unless the server
was told one.
"""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr

from services.errors import TuneDeskError
from services.runs.folder import Record
from services.specs import STARTER
from services.text import WORDS, explain, say

PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "show_progress_on": []}
"""For every callback: not listed as an endpoint, and no flicker."""
SEVERAL: dict[str, Any] = {**PRIVATE, "concurrency_limit": None, "trigger_mode": "always_last"}
"""For what goes on for a while and may be asked again meanwhile, by any number of sessions."""
CHINESE_LOCALES = ("zh", "zh-CN", "zh-TW", "zh-HK", "zh-SG")
_forced: list[str] = []


def translations(lang: str | None) -> gr.I18n:
    """The table for the browser; with ``lang`` every browser gets that language."""
    _forced[:] = [lang] if lang else []
    table = {code: {key: pair[index] for key, pair in WORDS.items()} for index, code in enumerate(("en", "zh"))}
    english, chinese = (table[lang], table[lang]) if lang else (table["en"], table["zh"])
    return gr.I18n(en=english, **dict.fromkeys(CHINESE_LOCALES, chinese))


def t(key: str) -> gr.I18nData:  # type: ignore[name-defined]
    """A static label. Raises KeyError for a text that does not exist."""
    WORDS[key]
    return _marker(key)


_marker = gr.I18n()


def lang_of(request: gr.Request | None) -> str:
    """The language of a session: the server's if it was told one, else the browser's first choice."""
    if _forced:
        return _forced[0]
    header = request.headers.get("accept-language", "") if request is not None and request.headers else ""
    return "zh" if header.strip().lower().startswith("zh") else "en"


def card(kind: str, text: str, details: str = "", lang: str = "en") -> str:
    """A message as HTML: ``kind`` is error, warning, ok or note; the details are folded."""
    lines = "<br>".join(escape(line) for line in text.split("\n"))
    title = escape(say("window.details", lang))
    folded = f"<details><summary>{title}</summary><pre>{escape(details)}</pre></details>" if details else ""
    role = "alert" if kind == "error" else "status"
    return f'<div class="td-card td-{kind}" role="{role}">{lines}{folded}</div>'


def error_card(error: TuneDeskError, lang: str) -> str:
    """What happened, why, and what to do next."""
    return card("error", explain(error, lang), error.details, lang)


def run_name(record: Record, lang: str) -> str:
    """What a run is called wherever it is shown: by its own name, a chat server by its model's."""
    return say("runs.chat_with", lang, model=model_label(record, lang)) if record.kind == "serve" else record.name


def model_label(record: Record, lang: str) -> str:
    """The model that a chat server serves, as the list of models calls it."""
    label = str(record.about.get("model") or record.name)
    name, checkpoint, step = label.rpartition(":checkpoint-")
    if label == STARTER:
        return say("training.starter", lang)
    return say("chat.checkpoint", lang, name=name, step=step) if checkpoint else label


def note(key: str, lang: str, **values: object) -> str:
    """A quiet sentence, as an empty pane shows it."""
    return f'<div class="td-empty">{escape(say(key, lang, **values))}</div>'
