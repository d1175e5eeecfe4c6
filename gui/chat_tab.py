"""The Chat tab: load a model, see which one answers, talk to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import gradio as gr

from gui.chat_view import ENGINES, messages, model_choices, status_html
from gui.words import PRIVATE, card, error_card, lang_of, model_label, t
from services.bootstrap import Services
from services.chat import loaded, server
from services.chat.conversation import Conversation, growing
from services.errors import TuneDeskError
from services.runs.folder import Record, RunState
from services.specs import STARTER, ServeSpec
from services.text import explain, say

MAX_TOKENS = 512
LATEX: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": r"\[", "right": r"\]", "display": True},
    {"left": r"\(", "right": r"\)", "display": False},
]


@dataclass(frozen=True)
class Shown:
    """What a session's screen shows, so that nothing is sent twice; ``run`` is the server it talks to."""

    run: str = ""
    status: str = ""
    buttons: tuple[bool, bool] = (True, False)
    """Whether Load and Unload can be pressed."""
    runs: tuple[tuple[str, str], ...] = ()
    """Id and state of those that the offered models depend on."""


@dataclass(frozen=True)
class ChatTab:
    """What the window connects to other rooms, and what the callbacks fill."""

    model: gr.Dropdown
    engine: gr.Radio
    tensor_parallel: gr.Dropdown
    load: gr.Button
    unload: gr.Button
    refused: gr.HTML
    settings: tuple[gr.Textbox, gr.Slider, gr.Slider, gr.Number]
    """System prompt, temperature, top-p, max tokens."""
    status: gr.HTML
    window: gr.Chatbot
    notice: gr.HTML
    question: gr.Textbox
    send: gr.Button
    stop: gr.Button
    retry: gr.Button
    clear: gr.Button
    shown: gr.State
    talk: gr.State
    stopping: gr.State
    """The Event that ends the answer under way."""


def chat_tab(services: Services, tick: gr.Timer) -> ChatTab:
    """Lay out the tab and connect it; ``tick`` keeps its status true."""
    tab = _layout(services)
    _wire_loading(tab, services, tick)
    _wire_talking(tab, services)
    return tab


def _layout(services: Services) -> ChatTab:
    with gr.Row(elem_id="chat"):
        with gr.Column(scale=2, min_width=300, elem_id="chat-form"):
            with gr.Group():
                model = gr.Dropdown(
                    [(t("training.starter"), STARTER)], value=STARTER, label=t("chat.model"), info=t("chat.model_info"),
                    allow_custom_value=True, elem_id="chat-model",
                )  # fmt: skip
                engine = gr.Radio([(name, key) for key, name in ENGINES.items()], value="transformers",
                                  label=t("chat.engine"), elem_id="chat-engine")  # fmt: skip
                tensor_parallel = gr.Dropdown(
                    [1], value=1, label=t("chat.tensor_parallel"), info=t("chat.tensor_parallel_info"), visible=False,
                    elem_id="chat-tensor-parallel",
                )  # fmt: skip
            with gr.Row(elem_id="chat-load-row"):
                load = gr.Button(t("chat.load"), variant="primary", elem_id="chat-load", min_width=120)
                unload = gr.Button(t("chat.unload"), interactive=False, elem_id="chat-unload", min_width=90)
            refused = gr.HTML(elem_id="chat-refused", padding=False)
            if services.settings.vllm_python is None:  # its choice is disabled: gui/choices.py
                gr.Markdown(t("error.vllm_missing"), elem_id="chat-vllm-reason", elem_classes="td-small")
            settings = _settings()
        with gr.Column(scale=5, min_width=400, elem_id="chat-talk"):
            status = gr.HTML(elem_id="chat-status", padding=False)
            window = gr.Chatbot(
                show_label=False, container=False, height="100%", layout="bubble", sanitize_html=True, allow_tags=False,
                latex_delimiters=LATEX, buttons=["copy"], placeholder=t("chat.placeholder"), feedback_options=None,
                group_consecutive_messages=False,
                elem_id="chat-window",
            )  # fmt: skip
            notice = gr.HTML(elem_id="chat-notice", padding=False)
            with gr.Row(elem_id="chat-ask"):
                question = gr.Textbox(
                    show_label=False, label=t("chat.question"), container=False, placeholder=t("chat.question"),
                    lines=1, max_lines=8, scale=8, min_width=200, elem_id="chat-question",
                )  # fmt: skip
                send = gr.Button(t("chat.send"), variant="primary", scale=1, min_width=96, elem_id="chat-send")
                stop = gr.Button(t("chat.stop"), variant="stop", scale=1, min_width=96, visible=False,
                                 elem_id="chat-stop")  # fmt: skip
            with gr.Row(elem_id="chat-again"):
                retry = gr.Button(t("chat.retry"), size="sm", interactive=False, scale=0, min_width=90,
                                  elem_id="chat-retry")  # fmt: skip
                clear = gr.Button(t("chat.clear"), size="sm", interactive=False, scale=0, min_width=90,
                                  elem_id="chat-clear")  # fmt: skip
    return ChatTab(
        model, engine, tensor_parallel, load, unload, refused, settings, status, window, notice, question,
        send, stop, retry, clear, gr.State(Shown()), gr.State(Conversation()), gr.State(None),
    )  # fmt: skip


def _settings() -> tuple[gr.Textbox, gr.Slider, gr.Slider, gr.Number]:
    with gr.Accordion(t("chat.settings"), open=False, elem_id="chat-settings"):
        system = gr.Textbox("", label=t("chat.system"), placeholder=t("chat.system_example"), lines=2, max_lines=10,
                            elem_id="chat-system")  # fmt: skip
        temperature = gr.Slider(0, 2, value=0.2, step=0.05, label=t("chat.temperature"),
                                info=t("chat.temperature_info"), elem_id="chat-temperature")  # fmt: skip
        top_p = gr.Slider(0.05, 1, value=0.9, step=0.05, label=t("chat.top_p"), info=t("chat.top_p_info"),
                          elem_id="chat-top-p")  # fmt: skip
        max_tokens = gr.Number(MAX_TOKENS, minimum=1, maximum=1_000_000, precision=0, label=t("chat.max_tokens"),
                               info=t("chat.max_tokens_info"), elem_id="chat-max-tokens")  # fmt: skip
    return system, temperature, top_p, max_tokens


def _wire_loading(tab: ChatTab, services: Services, tick: gr.Timer) -> None:
    def on_tick(shown: Shown, request: gr.Request) -> dict[Any, Any]:
        return refresh(tab, services, shown, lang_of(request))

    def on_focus(request: gr.Request) -> gr.Dropdown:
        return gr.Dropdown(choices=model_choices(services, lang_of(request)))

    def on_engine(engine: str, model: str | None, request: gr.Request) -> tuple[str, gr.Dropdown]:
        return _engine_note(services, engine, lang_of(request)), _parallel(services, engine, model)

    def on_load(model: str | None, engine: Any, parallel: Any, shown: Shown, request: gr.Request) -> dict[Any, Any]:
        lang = lang_of(request)
        if not (model or "").strip():
            return {tab.refused: card("note", say("chat.choose_model", lang))}
        spec = ServeSpec(model=str(model), engine=engine, tensor_parallel=parallel if engine == "vllm" else 1)
        try:
            record = loaded.load(services.chats, spec, shown.run)
        except TuneDeskError as error:
            return {tab.refused: error_card(error, lang)}
        return {tab.refused: "", **refresh(tab, services, replace(shown, run=record.id), lang)}

    def on_unload(shown: Shown, request: gr.Request) -> dict[Any, Any]:
        loaded.unload(services.runs, shown.run)
        return refresh(tab, services, shown, lang_of(request))

    screen = [tab.shown, tab.status, tab.load, tab.unload, tab.model]
    tick.tick(on_tick, tab.shown, screen, **PRIVATE)
    tab.model.focus(on_focus, None, tab.model, **PRIVATE)
    gr.on([tab.engine.change, tab.model.change], on_engine, [tab.engine, tab.model],
          [tab.refused, tab.tensor_parallel], trigger_mode="always_last", **PRIVATE)  # fmt: skip
    choice = [tab.model, tab.engine, tab.tensor_parallel, tab.shown]
    tab.load.click(on_load, choice, [tab.refused, *screen], **PRIVATE)
    tab.unload.click(on_unload, tab.shown, screen, **PRIVATE)


def _wire_talking(tab: ChatTab, services: Services) -> None:
    def on_send(
        question: str, talk: Conversation, shown: Shown, system: str, temperature: float, top_p: float,
        max_tokens: int | None, request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        lang, record = lang_of(request), loaded.ready(services.runs, shown.run)
        if not question.strip():
            yield {tab.notice: ""}
        elif record is None:
            yield {tab.notice: card("note", say("chat.not_ready", lang))}
        else:
            options = _options(system, temperature, top_p, max_tokens)
            yield {tab.question: ""}
            yield from _answer(tab, services, record, talk.asked(question, model_label(record, lang)), options, lang)

    def on_retry(
        talk: Conversation, shown: Shown, system: str, temperature: float, top_p: float, max_tokens: int | None,
        request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        lang, record = lang_of(request), loaded.ready(services.runs, shown.run)
        if record is None or not talk.exchanges:
            yield {tab.notice: card("note", say("chat.not_ready", lang))}
        else:
            again = talk.without_last().asked(talk.exchanges[-1].question, model_label(record, lang))
            yield from _answer(tab, services, record, again, _options(system, temperature, top_p, max_tokens), lang)

    def on_stop(stopping: Event | None) -> None:
        if stopping is not None:
            stopping.set()

    def on_clear() -> tuple[Any, ...]:
        return Conversation(), [], "", gr.Button(interactive=False), gr.Button(interactive=False)

    several = {**PRIVATE, "concurrency_limit": None}  # one session does not wait for another's answer
    page = [tab.window, tab.talk, tab.stopping, tab.notice, tab.send, tab.stop, tab.retry, tab.clear]
    inputs = [tab.talk, tab.shown, *tab.settings]
    gr.on([tab.question.submit, tab.send.click], on_send, [tab.question, *inputs], [tab.question, *page], **several)
    tab.retry.click(on_retry, inputs, page, **several)
    tab.stop.click(on_stop, tab.stopping, None, **several)
    tab.clear.click(on_clear, None, [tab.talk, tab.window, tab.notice, tab.retry, tab.clear], **PRIVATE)


def _options(system: str, temperature: float, top_p: float, max_tokens: int | None) -> dict[str, Any]:
    return {
        "system": system.strip() and system,
        "temperature": float(temperature),
        "top_p": float(top_p),
        "max_tokens": int(max_tokens or MAX_TOKENS),
    }


def _answer(
    tab: ChatTab, services: Services, record: Record, talk: Conversation, options: dict[str, Any], lang: str
) -> Iterator[dict[Any, Any]]:
    """Ask, show the answer as it grows, and whatever happens end with a page that can be asked again."""
    stop, notice = Event(), ""
    yield {
        tab.window: messages(talk, lang), tab.talk: talk, tab.stopping: stop, tab.notice: "",
        tab.send: gr.Button(visible=False), tab.stop: gr.Button(visible=True),
        tab.retry: gr.Button(interactive=False), tab.clear: gr.Button(interactive=False),
    }  # fmt: skip
    deltas = server.ask(services.runs, record, talk.history(), stop=stop, **options)
    try:
        for written in growing(deltas):
            talk = talk.answered(written)
            yield {tab.window: messages(talk, lang, writing=True)}
        if not talk.exchanges[-1].written and not stop.is_set():
            notice = card("note", say("chat.empty_answer", lang))
    except TuneDeskError as error:
        unloaded = error.code == "chat_unloaded"  # by a person: no accident
        notice = card("note", explain(error, lang)) if unloaded else error_card(error, lang)
    finally:
        stop.set()  # a page that was closed reads no further
    yield {
        tab.window: messages(talk, lang), tab.talk: talk, tab.stopping: None, tab.notice: notice,
        tab.send: gr.Button(visible=True), tab.stop: gr.Button(visible=False),
        tab.retry: gr.Button(interactive=True), tab.clear: gr.Button(interactive=True),
    }  # fmt: skip


def refresh(tab: ChatTab, services: Services, shown: Shown, lang: str) -> dict[Any, Any]:
    """Updates of what has changed since ``shown``; at least ``tab.shown`` itself."""
    record = loaded.current(services.runs, shown.run)
    live = record is not None and not record.state.final
    now = Shown(
        run=record.id if record is not None else "",
        status=status_html(services, record, lang),
        buttons=(record is None or record.state.final or record.state is RunState.READY,
                 live and record is not None and record.state is not RunState.STOPPING),
        runs=tuple((run.id, run.state.value) for run in services.runs.list() if run.kind != "serve"),
    )  # fmt: skip
    updates: dict[Any, Any] = {tab.shown: now}
    if now.status != shown.status:
        updates[tab.status] = now.status
    if now.buttons != shown.buttons:
        updates[tab.load] = gr.Button(interactive=now.buttons[0])
        updates[tab.unload] = gr.Button(interactive=now.buttons[1])
    if now.runs != shown.runs or not shown.status:
        updates[tab.model] = gr.Dropdown(choices=model_choices(services, lang))
    return updates


def _engine_note(services: Services, engine: str, lang: str) -> str:
    """Why vLLM cannot be used here, if it cannot."""
    if engine == "vllm":
        try:
            services.chats.vllm_python()
        except TuneDeskError as error:
            return card("warning", explain(error, lang))
    return ""


def _parallel(services: Services, engine: str, model: str | None) -> gr.Dropdown:
    """The tensor-parallel sizes for ``model``, shown for vLLM alone."""
    if engine != "vllm":
        return gr.Dropdown(visible=False)
    try:
        sizes = services.chats.tensor_parallel_sizes(services.models.find(model or ""))
    except TuneDeskError:  # Load will say what is wrong with it
        sizes = [1]
    return gr.Dropdown(choices=[(str(size), size) for size in sizes], value=1, visible=True)
