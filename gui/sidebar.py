"""The sidebar: the machine and the list of runs, whatever tab is open."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import gradio as gr

from gui.charts import meter
from gui.run_header import ICONS
from gui.words import run_name
from services.bootstrap import Services
from services.errors import TuneDeskError
from services.runs.folder import Record, RunState
from services.text import say
from services.units import human_bytes

MACHINE_EVERY_S = 3.0
RUNS_SHOWN = 100


@dataclass(frozen=True)
class Sidebar:
    """What a session's sidebar shows, so that nothing is sent twice."""

    machine: str = ""
    machine_at: float = 0.0
    runs: tuple[tuple[str, str], ...] = ()
    older: int = 0
    """Runs that the list has no room for."""


def refresh_sidebar(services: Services, seen: Sidebar, run_id: str | None, lang: str) -> list[Any]:
    """Updates for the machine, the list of runs and its empty sentence: only what has changed."""
    now = time.monotonic()
    first = not seen.machine
    updates: list[Any] = [gr.skip()]
    if now - seen.machine_at >= MACHINE_EVERY_S:
        html = machine_html(services, lang)
        updates = [gr.skip() if html == seen.machine else html]
        seen = replace(seen, machine=html, machine_at=now)
    everything = services.runs.list()
    records, older = everything[:RUNS_SHOWN], len(everything[RUNS_SHOWN:])
    choices = tuple((run_label(services, record, lang), record.id) for record in records)
    if (choices, older) == (seen.runs, seen.older) and not first:
        return [*updates, gr.skip(), gr.skip(), seen]
    known = {record.id for record in records}
    radio = gr.Radio(choices=list(choices), value=run_id if run_id in known else first_run(records))
    if run_id in known and not first:  # another may have been chosen meanwhile: leave the choice alone
        radio = gr.Radio(choices=list(choices))
    return [*updates, radio, _beside_list(len(choices), older, lang), replace(seen, runs=choices, older=older)]


def _beside_list(shown: int, older: int, lang: str) -> str:
    """What stands below the list: that there are no runs, or how many more there are."""
    if not shown:
        return f'<div class="td-empty">{escape(say("runs.none", lang))}</div>'
    return f'<div class="td-older">{escape(say("runs.older", lang, count=older))}</div>' if older else ""


def selected(services: Services, run_id: str, lang: str) -> gr.Radio:
    """The list of runs with ``run_id`` selected: a new run has to be in the list to be chosen from it."""
    records = services.runs.list()[:RUNS_SHOWN]
    return gr.Radio(choices=[(run_label(services, record, lang), record.id) for record in records], value=run_id)


def run_label(services: Services, record: Record, lang: str) -> str:
    """``● my-robot  45 %``, as the list shows a run."""
    state = say(f"runs.state.{record.state}", lang)
    if record.state is RunState.RUNNING and record.kind == "train":
        try:
            fraction = services.runs.snapshot(record.id).fraction
        except TuneDeskError:
            fraction = None
        state = f"{fraction:.0%}" if fraction is not None else state
    return f"{ICONS[record.state]} {run_name(record, lang)} · {state}"


def first_run(records: list[Record]) -> str | None:
    """The run a new session looks at: the newest that is under way, else the newest."""
    shown = [record for record in records if record.kind != "serve"]
    live = [record.id for record in shown if not record.state.final]
    return next(iter([*live, *(record.id for record in shown)]), None)


def machine_html(services: Services, lang: str) -> str:
    """Cores, memory, disk and each card, with use and size."""
    machine = services.machine()
    used = machine.disk_total - machine.disk_free
    rows = [
        meter(say("window.cpu", lang), machine.cpu_percent, 100,
              say("window.cpu_value", lang, percent=round(machine.cpu_percent), cores=machine.cores), warns=False),
        meter(say("window.memory", lang), machine.memory_used, machine.memory_total,
              f"{human_bytes(machine.memory_used)} / {human_bytes(machine.memory_total)}"),
        meter(say("window.disk", lang), used, machine.disk_total,
              say("window.disk_value", lang, free=human_bytes(machine.disk_free))),
    ]  # fmt: skip
    for card in machine.cards:
        name = f"{card.kind.upper()} {card.index}"
        text = f"{human_bytes(card.memory_used)} / {human_bytes(card.memory_total)} · {round(card.used_percent or 0)} %"
        rows.append(meter(name, card.memory_used, card.memory_total, text))
    if not machine.cards:
        rows.append(f'<div class="td-muted td-small">{escape(say("window.no_gpu", lang))}</div>')
    return f'<section aria-label="{escape(say("window.machine", lang))}">{"".join(rows)}</section>'
