"""Several data sets as one table: how many rows of each, what is kept for validation, and the totals."""

from __future__ import annotations

from html import escape

from services.bootstrap import Services
from services.datasets.data import checked
from services.datasets.formats import task_of
from services.datasets.mix import Mix, MixRow, mix
from services.datasets.report import Report
from services.datasets.sources import Source, parse_source
from services.errors import TuneDeskError
from services.specs import SAMPLE, TrainSpec
from services.text import explain, say


def mix_html(services: Services, spec: TrainSpec, lang: str) -> str:
    """The table, and what to know of a single file; nothing where there is nothing to tell."""
    found = mix(spec, services.settings, lambda source: _rows(source, spec))
    worth = len(found.rows) + len(found.validation) > 1 or found.validation_total or found.notes
    remarks = "".join(_remark(text, services, spec, lang) for text in spec.dataset if text != SAMPLE)
    return (_table(found, lang) if worth else "") + remarks


def _report(source: Source, spec: TrainSpec) -> Report | None:
    try:
        return checked(source.path, task_of(spec.command, spec.args)) if source.path is not None else None
    except TuneDeskError:
        return None


def _rows(source: Source, spec: TrainSpec) -> int | None:
    report = _report(source, spec)
    return report.rows if report is not None and report.complete else None


def _remark(text: str, services: Services, spec: TrainSpec, lang: str) -> str:
    """The verdict of the check, where it is not plainly good."""
    try:
        report = _report(parse_source(text, services.settings), spec)
    except TuneDeskError:
        return ""
    if report is None or report.verdict != "ok-with-warnings":
        return ""
    name = report.path.name
    said = say("training.data_remarks", lang, name=name, usable=f"{report.usable:,}", rows=f"{report.rows:,}")
    return f'<div class="td-card td-warning">{escape(said)}</div>'


def _table(found: Mix, lang: str) -> str:
    head = "".join(f"<th>{escape(say(f'dataset.mix.{name}', lang))}</th>"
                   for name in ("source", "rows", "taken", "held_out"))  # fmt: skip
    body = "".join(_line(row, lang) for row in found.rows)
    body += "".join(_line(row, lang, validation=True) for row in found.validation)
    total = _cells([say("dataset.mix.total", lang), "", _number(found.total), _number(found.validation_total)])
    notes = "".join(f"<li>{escape(say(note, lang, **note.values))}</li>" for note in found.notes)
    listed = f"<ul>{notes}</ul>" if notes else ""
    return f'<table class="td-mix"><tr>{head}</tr>{body}<tr class="td-total">{total}</tr></table>{listed}'


def _line(row: MixRow, lang: str, validation: bool = False) -> str:
    name = say("dataset.mix.for_validation", lang, source=row.source) if validation else row.source
    if row.problem is not None:
        return f'<tr><td>{escape(name)}</td><td colspan="3">{escape(explain(row.problem, lang))}</td></tr>'
    if row.state != "ready":
        state = say(f"dataset.mix.{row.state}", lang)
        return f'<tr><td>{escape(name)}</td><td colspan="3">{escape(state)}</td></tr>'
    taken, held_out = (None, row.taken) if validation else (row.taken, row.held_out)
    return f"<tr>{_cells([name, _number(row.rows), _number(taken), _number(held_out)])}</tr>"


def _cells(texts: list[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
