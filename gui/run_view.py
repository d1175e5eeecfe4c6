"""The live panel: one run's state, progress, charts, log and next steps, whatever kind it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import gradio as gr

from gui.charts import line_chart
from gui.run_header import delete_question, header_html
from gui.words import PRIVATE, error_card, lang_of, note, t
from services.bootstrap import Services
from services.errors import TuneDeskError
from services.runs.folder import Record, RunState
from services.runs.snapshot import Snapshot
from services.text import say
from services.units import human_bytes, human_number

CHARTS_EVERY_S = 5.0
LOG_LINES = 200
CHARTS = (
    ("loss", "runs.chart_loss", ""),
    ("learning_rate", "runs.chart_learning_rate", ""),
    ("seconds_per_step", "runs.chart_speed", "s"),
    ("token_acc", "runs.chart_accuracy", ""),
)


@dataclass(frozen=True)
class Shown:
    """What a session's panel shows, so that nothing is sent twice."""

    run: str = ""
    header: str = ""
    charts: tuple[Any, ...] = ()
    charts_at: float = 0.0
    loss: str = ""
    """The newest in the chart."""
    log: str = ""
    buttons: tuple[Any, ...] = ()
    command: tuple[Any, ...] = ()


@dataclass(frozen=True)
class RunView:
    """The panel's components, in the order in which ``refresh`` returns their updates."""

    header: gr.HTML
    charts: gr.HTML
    log: gr.HTML
    command: gr.Code
    stop: gr.Button
    stop_now: gr.Button
    resume: gr.Button
    reuse: gr.Button
    merge: gr.Button
    chat: gr.Button
    delete: gr.Button
    asking: gr.Column
    """Whether to delete it, with its own two buttons."""
    log_box: gr.Accordion
    command_box: gr.Accordion
    question: gr.HTML
    confirm: gr.Button
    cancel: gr.Button
    message: gr.HTML
    shown: gr.State

    @property
    def refreshed(self) -> list[Any]:
        """The outputs of ``refresh``."""
        return [
            self.header, self.charts, self.log, self.command, self.stop, self.stop_now, self.resume, self.reuse,
            self.merge, self.chat, self.delete, self.asking, self.log_box, self.command_box, self.shown,
        ]  # fmt: skip


def run_view() -> RunView:
    """Lay the panel out; ``wire`` connects it."""
    header = gr.HTML(elem_id="run-header")
    with gr.Row(elem_id="run-buttons"):
        stop = gr.Button(t("runs.stop"), variant="stop", size="sm", visible=False, elem_id="run-stop")
        merge = gr.Button(t("runs.merge"), variant="primary", size="sm", visible=False, elem_id="run-merge")
        chat = gr.Button(t("runs.chat"), variant="primary", size="sm", visible=False, elem_id="run-chat")
        resume = gr.Button(t("runs.resume"), size="sm", visible=False, elem_id="run-resume")
        reuse = gr.Button(t("runs.reuse"), size="sm", visible=False, elem_id="run-reuse")
        delete = gr.Button("", variant="stop", size="sm", visible=False, elem_id="run-delete")
        stop_now = gr.Button(t("runs.stop_now"), variant="stop", size="sm", visible=False, elem_id="run-stop-now")
    with gr.Column(visible=False, elem_id="run-delete-box") as asking:
        question = gr.HTML(elem_id="run-delete-question", padding=False)
        with gr.Row(elem_id="run-delete-buttons"):
            confirm = gr.Button(t("runs.delete_confirm"), variant="stop", size="sm", elem_id="run-confirm")
            cancel = gr.Button(t("runs.delete_cancel"), size="sm", elem_id="run-delete-cancel")
    message = gr.HTML(elem_id="run-message")
    charts = gr.HTML(elem_id="run-charts")
    with gr.Accordion(t("runs.log"), open=True, visible=False, elem_id="run-log-box") as log_box:
        log = gr.HTML(elem_id="run-log")
    with gr.Accordion(t("runs.command"), open=False, visible=False, elem_id="run-command-box") as command_box:
        command = gr.Code(language="shell", interactive=False, show_label=False, show_line_numbers=False,
                          wrap_lines=True, elem_id="run-command", buttons=["copy"])  # fmt: skip
    return RunView(
        header, charts, log, command, stop, stop_now, resume, reuse, merge, chat, delete, asking, log_box, command_box,
        question, confirm, cancel, message, gr.State(Shown()),
    )  # fmt: skip


def wire(view: RunView, services: Services, runs: gr.Radio) -> None:
    """Connect the buttons that act on the selected run; merging and chatting belong to their tabs."""
    outputs = [*view.refreshed, view.message]

    def act(action: Any) -> Any:
        def on_click(run_id: str | None, shown: Shown, request: gr.Request) -> list[Any]:
            message = ""
            try:
                if run_id:
                    action(run_id)
            except TuneDeskError as error:
                message = error_card(error, lang_of(request))
            time.sleep(0.25)  # a keeper looks for requests five times a second: show its answer at once
            return [*refresh(services, run_id, shown, lang_of(request)), message]

        return on_click

    inputs = [runs, view.shown]
    view.stop.click(act(services.runs.stop), inputs, outputs, **PRIVATE)
    view.stop_now.click(act(lambda run_id: services.runs.stop(run_id, now=True)), inputs, outputs, **PRIVATE)
    view.resume.click(act(services.resume), inputs, outputs, **PRIVATE)

    def on_delete(run_id: str | None, request: gr.Request) -> tuple[Any, Any]:
        return gr.Column(visible=True), delete_question(services, run_id or "", lang_of(request))

    view.delete.click(on_delete, runs, [view.asking, view.question], **PRIVATE)
    view.cancel.click(lambda: gr.Column(visible=False), None, view.asking, **PRIVATE)
    view.confirm.click(act(services.runs.delete), inputs, outputs, **PRIVATE)


def refresh(services: Services, run_id: str | None, shown: Shown, lang: str) -> list[Any]:
    """Updates for ``RunView.refreshed``: only what has changed since ``shown``."""
    if not run_id:
        return _empty(shown, lang)
    try:
        snapshot = services.runs.snapshot(run_id)
    except TuneDeskError:
        return _empty(shown, lang)
    if shown.run != run_id:
        shown = Shown(run=run_id)
    charts, shown = _charts(snapshot, shown, lang)
    header = header_html(services, snapshot, shown.loss, lang)
    log = log_html(snapshot.log_tail)
    key = (snapshot.record.attempt, snapshot.record.state is RunState.QUEUED)
    command = gr.skip() if key == shown.command else _command(services, snapshot.record)
    buttons = _buttons_key(snapshot)
    updates = [
        gr.skip() if header == shown.header else header,
        charts,
        gr.skip() if log == shown.log else log,
        command,
        *([gr.skip()] * 10 if buttons == shown.buttons else _buttons(services, snapshot, buttons, lang)),
    ]
    return [*updates, replace(shown, header=header, log=log, buttons=buttons, command=key)]


def _empty(shown: Shown, lang: str) -> list[Any]:
    if shown.run == "" and shown.header:
        return [gr.skip()] * 15
    header = note("runs.empty", lang)
    hidden = [*[gr.Button(visible=False)] * 7, gr.Column(visible=False), *[gr.Accordion(visible=False)] * 2]
    return [header, "", "", "", *hidden, Shown(header=header)]


def _charts(snapshot: Snapshot, shown: Shown, lang: str) -> tuple[Any, Shown]:
    """New charts when there are new points, and not more often than every few seconds."""
    state = snapshot.record.state
    never = not snapshot.metrics and (state.final or state is RunState.QUEUED)  # as when it failed before it trained
    if snapshot.record.kind != "train" or never:
        return ("" if shown.charts != ("none",) else gr.skip()), replace(shown, charts=("none",), loss="")
    key = (snapshot.record.id, len(snapshot.metrics), snapshot.record.attempt, lang)
    recent = time.monotonic() - shown.charts_at < CHARTS_EVERY_S and not snapshot.record.state.final
    if key == shown.charts or (recent and shown.charts):
        return gr.skip(), shown
    empty = say("runs.chart_empty", lang)
    pictures = [
        line_chart(
            snapshot.series(name),
            title=say(title, lang),
            unit=unit,
            empty=empty,
            from_zero=name == "learning_rate",
            lang=lang,
        )
        for name, title, unit in CHARTS
    ]
    html = f'<div class="td-charts">{"".join(pictures)}</div>'
    losses = snapshot.series("loss")
    loss = human_number(losses[-1][1]) if losses else ""
    return html, replace(shown, charts=key, charts_at=time.monotonic(), loss=loss)


def log_html(text: str) -> str:
    """The end of the log as text; the style keeps its last line in sight."""
    lines = [line for line in text.rstrip("\n").split("\n") if line.strip()][-LOG_LINES:]
    body = escape("\n".join(lines))
    return f'<div class="td-log" tabindex="0"><pre>{body}</pre></div>'


def _command(services: Services, record: Record) -> str:
    try:
        return str(services.runs.folder(record.id).read_plan(record.attempt))
    except (OSError, ValueError):
        return ""


def _buttons_key(snapshot: Snapshot) -> tuple[Any, ...]:
    record = snapshot.record
    done = bool(snapshot.checkpoints and snapshot.total_steps
                and snapshot.checkpoints[-1].step >= snapshot.total_steps)  # fmt: skip
    orphan = record.state is RunState.LOST and record.child is not None and record.child.alive()
    return (record.state, record.kind, bool(snapshot.checkpoints), done, orphan)


def _buttons(services: Services, snapshot: Snapshot, key: tuple[Any, ...], lang: str) -> list[Any]:
    """Stop, Stop now, Resume, reuse, Merge, Chat, Delete: those that can be pressed now; then the boxes below.

    Stop keeps its place while the run stops, so that nothing slides under a pointer that is about to click.
    """
    state, kind, saved, done, orphan = key
    record = snapshot.record
    live = not state.final
    training = kind == "train"
    adapter = record.about.get("tuner") != "full"
    made = kind == "merge" and state is RunState.SUCCEEDED
    size = human_bytes(services.runs.size_bytes(record)) if state.final else ""
    return [
        gr.Button(_stop_label(state, kind, lang), visible=live, interactive=state is not RunState.STOPPING),
        gr.Button(visible=(live and training and state is not RunState.QUEUED) or orphan),
        gr.Button(visible=state.final and training and not done),
        gr.Button(visible=training),
        gr.Button(visible=state.final and training and saved and adapter),
        gr.Button(visible=(training and saved and state.final) or made),
        gr.Button(say("runs.delete", lang, size=size), visible=state.final),
        gr.Column(visible=False),
        gr.Accordion(visible=state is not RunState.QUEUED),
        gr.Accordion(visible=True),
    ]


def _stop_label(state: RunState, kind: str, lang: str) -> str:
    if state is RunState.QUEUED:
        return say("runs.stop_queued", lang)
    return say({"train": "runs.stop", "serve": "runs.stop_unload"}.get(kind, "runs.stop_plain"), lang)
