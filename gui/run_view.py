"""The live panel: one run's state, progress, charts, log and next steps, whatever kind it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import gradio as gr

from gui.charts import line_chart, progress_bar
from gui.sidebar import ICONS
from gui.words import PRIVATE, card, error_card, lang_of, note, t
from services.bootstrap import Services
from services.errors import TuneDeskError
from services.runs.folder import Record, RunState
from services.runs.snapshot import Snapshot
from services.text import say
from services.units import human_bytes, human_seconds

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
    merge: gr.Button
    chat: gr.Button
    delete: gr.Button
    confirm: gr.Button
    message: gr.HTML
    shown: gr.State

    @property
    def refreshed(self) -> list[Any]:
        """The outputs of ``refresh``."""
        return [
            self.header, self.charts, self.log, self.command, self.stop, self.stop_now, self.resume, self.merge,
            self.chat, self.delete, self.confirm, self.shown,
        ]  # fmt: skip


def run_view() -> RunView:
    """Lay the panel out; ``wire`` connects it."""
    header = gr.HTML(elem_id="run-header")
    with gr.Row(elem_id="run-buttons"):
        stop = gr.Button(t("runs.stop"), variant="stop", size="sm", visible=False, elem_id="run-stop")
        stop_now = gr.Button(t("runs.stop_now"), size="sm", visible=False, elem_id="run-stop-now")
        merge = gr.Button(t("runs.merge"), variant="primary", size="sm", visible=False, elem_id="run-merge")
        chat = gr.Button(t("runs.chat"), variant="primary", size="sm", visible=False, elem_id="run-chat")
        resume = gr.Button(t("runs.resume"), size="sm", visible=False, elem_id="run-resume")
        delete = gr.Button("", size="sm", visible=False, elem_id="run-delete")
        confirm = gr.Button(t("runs.delete_confirm"), variant="stop", size="sm", visible=False, elem_id="run-confirm")
    message = gr.HTML(elem_id="run-message")
    charts = gr.HTML(elem_id="run-charts")
    with gr.Accordion(t("runs.log"), open=True, elem_id="run-log-box"):
        log = gr.HTML(elem_id="run-log")
    with gr.Accordion(t("runs.command"), open=False, elem_id="run-command-box"):
        command = gr.Code(language="shell", interactive=False, show_label=False, show_line_numbers=False,
                          wrap_lines=True, elem_id="run-command", buttons=["copy"])  # fmt: skip
    return RunView(
        header, charts, log, command, stop, stop_now, resume, merge, chat, delete, confirm, message, gr.State(Shown())
    )


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
    view.resume.click(act(services.trainings.resume), inputs, outputs, **PRIVATE)
    view.delete.click(lambda: gr.Button(visible=True), None, view.confirm, **PRIVATE)
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
    updates: list[Any] = []
    header = header_html(services, snapshot, lang)
    updates.append(gr.skip() if header == shown.header else header)
    charts, shown = _charts(snapshot, shown, lang)
    log = log_html(snapshot.log_tail)
    key = (snapshot.record.attempt, snapshot.record.state is RunState.QUEUED)
    command = gr.skip() if key == shown.command else _command(services, snapshot.record)
    buttons = _buttons_key(snapshot)
    updates += [charts, gr.skip() if log == shown.log else log, command]
    if buttons == shown.buttons:
        updates += [gr.skip()] * 7
    else:
        updates += _buttons(services, snapshot, buttons, lang)
    return [*updates, replace(shown, header=header, log=log, buttons=buttons, command=key)]


def _empty(shown: Shown, lang: str) -> list[Any]:
    if shown.run == "" and shown.header:
        return [gr.skip()] * 12
    header = note("runs.empty", lang)
    hidden = [gr.Button(visible=False)] * 7
    return [header, "", "", "", *hidden, Shown(header=header)]


def header_html(services: Services, snapshot: Snapshot, lang: str) -> str:
    """State, name, progress and figures, and for a failure what to do next."""
    record = snapshot.record
    state = say(f"runs.state.{record.state}", lang)
    kind = say(f"runs.kind.{record.kind}", lang)
    figures = " · ".join(part for part in _figures(services, snapshot, lang) if part)
    parts = [
        f'<div class="td-run-title"><span class="td-state td-{record.state}">{ICONS[record.state]} {escape(state)}'
        f"</span><strong>{escape(record.name)}</strong><span class='td-muted'>{escape(kind)}</span></div>",
        progress_bar(_fraction(snapshot), _progress_label(snapshot, lang)) if _has_progress(record) else "",
        f'<div class="td-figures">{escape(figures)}</div>' if figures else "",
        _verdict(record, snapshot, lang),
    ]
    return "".join(parts)


def _has_progress(record: Record) -> bool:
    return record.kind == "train" or not record.state.final


def _fraction(snapshot: Snapshot) -> float | None:
    if snapshot.record.state in (RunState.QUEUED, RunState.READY):
        return 0.0 if snapshot.record.state is RunState.QUEUED else 1.0
    if snapshot.fraction is None and snapshot.record.state.final:
        return 0.0
    return snapshot.fraction


def _progress_label(snapshot: Snapshot, lang: str) -> str:
    """The phase, then how far it is and how long it will take."""
    record = snapshot.record
    parts = [say(f"runs.phase.{snapshot.phase}", lang)]
    if record.state is RunState.STOPPING and snapshot.stopping_left_s is not None:
        parts = [say("runs.stopping_left", lang, seconds=round(snapshot.stopping_left_s))]
    if snapshot.step is not None and snapshot.total_steps:
        parts.append(say("runs.step", lang, step=snapshot.step, total=snapshot.total_steps))
    if snapshot.eta_s is not None:
        parts.append(say("runs.eta", lang, time=human_seconds(snapshot.eta_s, lang)))
    return " · ".join(parts)


def _figures(services: Services, snapshot: Snapshot, lang: str) -> list[str]:
    record = snapshot.record
    batch = record.about.get("total_batch")
    pace = snapshot.seconds_per_step
    loss = snapshot.series("loss")
    return [
        say("runs.figure_elapsed", lang, time=human_seconds(snapshot.elapsed_s, lang)) if snapshot.elapsed_s else "",
        say("runs.figure_loss", lang, loss=f"{loss[-1][1]:.4g}") if loss else "",
        say("runs.figure_rate", lang, rate=f"{batch / pace:.2f}") if pace and isinstance(batch, int) else "",
        say("runs.figure_memory", lang, size=human_bytes(snapshot.memory_bytes)) if snapshot.memory_bytes else "",
        say("runs.figure_attempt", lang, number=record.attempt) if record.attempt > 1 else "",
        say("runs.figure_address", lang, address=f"127.0.0.1:{record.port}") if record.state is RunState.READY else "",
    ]


def _verdict(record: Record, snapshot: Snapshot, lang: str) -> str:
    if record.state is RunState.FAILED and record.error is not None:
        text = say(f"runs.failure.{record.error['code']}", lang, **record.error["values"])
        return card("error", text, record.error.get("line", ""))
    if record.warning:
        return card("warning", say(f"runs.warning.{record.warning}", lang))
    last = snapshot.checkpoints[-1] if snapshot.checkpoints else None
    if record.state in (RunState.STOPPED, RunState.LOST):
        key = "runs.ended_with_checkpoint" if last else "runs.ended_without_checkpoint"
        if record.kind != "train":
            key = "runs.ended_other"
        if record.state is RunState.LOST and record.child is not None and record.child.alive():
            key = "runs.lost_alive"
        kind = "warning" if record.state is RunState.LOST else "note"
        return card(kind, say(key, lang, state=say(f"runs.state.{record.state}", lang), step=last.step if last else 0))
    if record.state is RunState.SUCCEEDED:
        where = record.output_dir if record.kind == "merge" else str(last.path) if last else ""
        key = "runs.merged_into" if record.kind == "merge" else "runs.saved_in"
        return card("ok", say(key, lang, path=where)) if where else ""
    return ""


def _charts(snapshot: Snapshot, shown: Shown, lang: str) -> tuple[Any, Shown]:
    """New charts when there are new points, and not more often than every few seconds."""
    if snapshot.record.kind != "train":
        return ("" if shown.charts != ("none",) else gr.skip()), replace(shown, charts=("none",))
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
    return html, replace(shown, charts=key, charts_at=time.monotonic())


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


def _buttons(services: Services, snapshot: Snapshot, key: tuple[Any, ...], lang: str) -> list[gr.Button]:
    """Stop, Stop now, Resume, Merge, Chat, Delete, confirm: those that can be pressed now."""
    state, kind, saved, done, orphan = key
    live = not state.final
    adapter = snapshot.record.about.get("tuner") != "full"
    size = human_bytes(services.runs.folder(snapshot.record.id).size_bytes()) if state.final else ""
    return [
        gr.Button(visible=live and state is not RunState.STOPPING),
        gr.Button(visible=(live and kind == "train") or orphan),
        gr.Button(visible=state.final and kind == "train" and not done),
        gr.Button(visible=state.final and kind == "train" and saved and adapter),
        gr.Button(visible=(kind == "train" and saved and state.final)
                  or (kind == "merge" and state is RunState.SUCCEEDED)),
        gr.Button(say("runs.delete", lang, size=size), visible=state.final),
        gr.Button(visible=False),
    ]  # fmt: skip
