"""What the Chat tab shows: the models to choose from, which one answers, and the conversation itself."""

from __future__ import annotations

import re
import time
from html import escape
from typing import Any

from gui.charts import progress_bar
from gui.words import card, model_label, note
from services.bootstrap import Services
from services.chat import loaded
from services.chat.conversation import Conversation
from services.errors import TuneDeskError
from services.runs.diagnosis import failure
from services.runs.folder import Record, RunState
from services.specs import STARTER
from services.text import say
from services.units import human_seconds

ENGINES = {"transformers": "Transformers", "vllm": "vLLM"}
LOG_LINES = 40
_MARKUP = re.compile(r"[&<>*_`\[\]#+=~|\\!${}^-]|(?<=\d)[.)](?=\s)")
_CODE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?<!`)`[^`\n]+`(?!`))", re.DOTALL)
_TAG = re.compile(r"<(?=[a-zA-Z/!?])(?!/?(?:br|b|i|u|em|strong|sub|sup|kbd)\s*/?>|https?://)")


def model_choices(services: Services, lang: str) -> list[tuple[str, str]]:
    """The models that can be loaded by name, as a dropdown takes them."""

    def label(offer: loaded.Offer) -> str:
        if offer.value == STARTER:
            return say("training.starter", lang)
        if offer.step is None:
            return offer.name
        return say("chat.checkpoint", lang, name=offer.name, step=offer.step)

    return [(label(offer), offer.value) for offer in loaded.offers(services.runs)]


def status_html(services: Services, record: Record | None, lang: str) -> str:
    """Which model answers, or what is happening to it, or why there is none."""
    if record is None or record.state is RunState.STOPPED or record.state is RunState.SUCCEEDED:
        return note("chat.nothing", lang)
    model, engine = model_label(record, lang), ENGINES.get(str(record.about.get("engine")), "")
    if record.state is RunState.READY:
        told = say("chat.ready", lang, engine=engine, address=f"127.0.0.1:{record.port}")
        name = f'<i class="td-dot"></i><strong>{escape(model)}</strong>'
        return f'<div class="td-answers">{name}<span class="td-muted">{escape(told)}</span></div>'
    if record.state is RunState.LOST:
        return card("note", say("chat.lost", lang, model=model))
    if record.state is RunState.FAILED:
        return _failure(services, record, lang)
    phase = record.state.value if record.state is not RunState.RUNNING else "starting"
    seconds = human_seconds(max(0, int(time.time() - (record.started or record.queued))), lang)
    return progress_bar(None, say(f"chat.{phase}", lang, model=model, engine=engine, time=seconds))


def _failure(services: Services, record: Record, lang: str) -> str:
    why = failure(record)
    try:
        tail = services.runs.snapshot(record.id).log_tail
    except TuneDeskError:  # deleted meanwhile
        tail = ""
    key = "chat.failed" if record.ready_at is None else "chat.ended"
    text = say(key, lang, model=model_label(record, lang)) + "\n" + (say(why, lang, **why.values) if why else "")
    return card("error", text, "\n".join(tail.rstrip().split("\n")[-LOG_LINES:]), lang)


def messages(talk: Conversation, lang: str, *, writing: bool = False) -> list[dict[str, Any]]:
    """The conversation as the Chatbot takes it; ``writing``: its last answer is still coming."""
    shown: list[dict[str, Any]] = []
    before = None
    for exchange in talk.exchanges:
        if before is not None and before != exchange.model:
            shown.append(_said("assistant", f"*{literal(say('chat.changed', lang, model=exchange.model))}*"))
        before = exchange.model
        shown.append(_said("user", literal(exchange.question)))
        thought, answer = exchange.thought, exchange.answer
        if thought:
            under_way = writing and not answer and exchange is talk.exchanges[-1]
            key, status = ("chat.thinking", "pending") if under_way else ("chat.thought", "done")
            shown.append(_said("assistant", tame(thought)) | {"metadata": {"title": say(key, lang), "status": status}})
        if answer:
            shown.append(_said("assistant", tame(answer)))
    return shown


def _said(role: str, text: str) -> dict[str, Any]:
    # as a bare string Gradio would strip the indentation of code
    return {"role": role, "content": {"type": "text", "text": text}}


def literal(text: str) -> str:
    """Markdown that shows ``text`` as it was typed: signs, blanks at the beginning of lines and all."""
    lines = _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", text).split("\n")
    return "\n".join("\N{NO-BREAK SPACE}" * (len(line) - len(line.lstrip(" "))) + line.lstrip(" ") for line in lines)


def tame(markdown: str) -> str:
    """A model's Markdown with its HTML shown as text, but for a few tags that only set type."""
    parts = _CODE.split(markdown)
    return "".join(part if index % 2 else _TAG.sub("&lt;", part) for index, part in enumerate(parts))
