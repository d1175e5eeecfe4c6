"""The top of the run view as HTML: a run's state, its progress and figures, and what to do next."""

from __future__ import annotations

from html import escape
from pathlib import Path

from gui.charts import progress_bar
from gui.words import card, run_name
from services.bootstrap import Services
from services.errors import TuneDeskError
from services.runs.diagnosis import failure
from services.runs.folder import Record, RunState
from services.runs.snapshot import Snapshot
from services.text import say
from services.units import human_bytes, human_seconds

ICONS = {
    RunState.QUEUED: "○", RunState.STARTING: "◔", RunState.RUNNING: "●", RunState.READY: "●", RunState.STOPPING: "◑",
    RunState.SUCCEEDED: "✓", RunState.FAILED: "✗", RunState.STOPPED: "■", RunState.LOST: "?",
}  # fmt: skip


def header_html(services: Services, snapshot: Snapshot, loss: str, lang: str) -> str:
    """State, name, progress and figures, and for a failure what to do next; ``loss`` is the charts' newest."""
    record = snapshot.record
    state = say(f"runs.state.{record.state}", lang)
    kind = say(f"runs.kind.{record.kind}", lang)
    figures = " · ".join(part for part in _figures(snapshot, loss, lang) if part)
    progress = progress_bar(_fraction(snapshot), _progress_label(services, snapshot, lang))
    parts = [
        f'<div class="td-run-title"><span class="td-state td-{record.state}">{ICONS[record.state]} {escape(state)}'
        f"</span><strong>{escape(run_name(record, lang))}</strong><span class='td-muted'>{escape(kind)}</span></div>",
        progress if _has_progress(snapshot) else "",
        f'<div class="td-figures">{escape(figures)}</div>' if figures else "",
        _verdict(record, snapshot, lang),
    ]
    return "".join(parts)


def _has_progress(snapshot: Snapshot) -> bool:
    record = snapshot.record
    return not record.state.final or (record.kind == "train" and snapshot.step is not None)


def _fraction(snapshot: Snapshot) -> float | None:
    if snapshot.record.state in (RunState.QUEUED, RunState.READY):
        return 0.0 if snapshot.record.state is RunState.QUEUED else 1.0
    if snapshot.fraction is None and snapshot.record.state.final:
        return 0.0
    return snapshot.fraction


def _progress_label(services: Services, snapshot: Snapshot, lang: str) -> str:
    """The phase, then how far it is and how long it will take."""
    record = snapshot.record
    parts = [say(f"runs.phase.{snapshot.phase}", lang)]
    if record.state is RunState.QUEUED and (ahead := services.runs.waits_for(record)):
        parts = [say("runs.waits_for", lang, names=", ".join(run_name(one, lang) for one in ahead))]
    if record.state is RunState.STOPPING and snapshot.stopping_left_s is not None and record.kind == "train":
        parts = [say("runs.stopping_left", lang, seconds=round(snapshot.stopping_left_s))]
    if snapshot.step is not None and snapshot.total_steps:
        parts.append(say("runs.step", lang, step=snapshot.step, total=snapshot.total_steps))
    if snapshot.eta_s is not None:
        parts.append(say("runs.eta", lang, time=human_seconds(snapshot.eta_s, lang)))
    return " · ".join(parts)


def _figures(snapshot: Snapshot, loss: str, lang: str) -> list[str]:
    record = snapshot.record
    batch = record.about.get("total_batch")
    pace = snapshot.seconds_per_step
    elapsed = "runs.figure_took" if record.state.final else "runs.figure_elapsed"
    return [
        say(elapsed, lang, time=human_seconds(snapshot.elapsed_s, lang)) if snapshot.elapsed_s else "",
        say("runs.figure_loss", lang, loss=loss) if loss else "",
        say("runs.figure_rate", lang, rate=f"{batch / pace:.2f}") if pace and isinstance(batch, int) else "",
        say("runs.figure_memory", lang, size=human_bytes(snapshot.memory_bytes)) if snapshot.memory_bytes else "",
        say("runs.figure_attempt", lang, number=record.attempt) if record.attempt > 1 else "",
        say("runs.figure_address", lang, address=f"127.0.0.1:{record.port}") if record.state is RunState.READY else "",
    ]


def _verdict(record: Record, snapshot: Snapshot, lang: str) -> str:
    if record.state is RunState.FAILED and record.error is not None and (told := failure(record)) is not None:
        return card("error", say(told, lang, **told.values), record.error.get("line", ""), lang)
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
        return _where(record, str(last.path) if last else "", lang)
    return ""


def _where(record: Record, checkpoint: str, lang: str) -> str:
    """Where a run that ended well left its model."""
    if record.kind != "merge":
        return card("ok", say("runs.saved_in", lang, path=checkpoint)) if checkpoint else ""
    there = Path(record.output_dir).is_dir()
    text = say("runs.merged_into" if there else "runs.merged_gone", lang, path=record.output_dir)
    return card("ok" if there else "note", text)


def delete_question(services: Services, run_id: str, lang: str) -> str:
    """What deleting a run takes with it, and what stays."""
    try:
        record = services.runs.record(run_id)
    except TuneDeskError:
        return ""
    size = human_bytes(services.runs.size_bytes(record))
    lines = [say("runs.delete_question", lang, name=run_name(record, lang), size=size)]
    if record.kind == "merge" and not services.runs.kept(record):
        lines.append(say("runs.delete_model", lang, path=record.output_dir))
    if kept := services.runs.kept(record):
        lines.append(say("runs.delete_keeps", lang, path=kept))
    return card("warning", "\n".join(lines))
