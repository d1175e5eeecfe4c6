"""What the Dataset tab shows: the verdict on a file, what was found in it, and its first rows as conversations."""

from __future__ import annotations

from html import escape

from gui.words import card
from services.datasets.report import Finding, Preview, Report, Turn
from services.text import WORDS, say

ROWS_SHOWN = 12
TURNS_SHOWN = 12
SHORT_CHARS, SHORT_LINES = 400, 8
"""Of one turn; the rest is a click away."""
KINDS = {"ok": "ok", "ok-with-warnings": "warning", "blocked": "error"}


def verdict_html(report: Report, lang: str) -> str:
    """Whether the file can be trained on, with how many rows, and how its columns are read."""
    lines = [say(f"dataset.verdict.{report.verdict}", lang)]
    if report.rows:
        lines.append(say("dataset.summary", lang, usable=f"{report.usable:,}", rows=f"{report.rows:,}"))
    if report.verdict == "blocked" and report.after_fix.usable:
        lines.append(say("dataset.after_fix", lang, after_fix=f"{report.after_fix.usable:,}"))
    if report.mapping:
        pairs = ", ".join(f"{column} → {_role(role, lang)}" for column, role in report.mapping.items())
        lines.append(say("dataset.mapping", lang, mapping=pairs))
    return f'<div class="td-verdict">{card(KINDS[report.verdict], chr(10).join(lines))}</div>'


def repairs(report: Report, lang: str) -> list[tuple[str, str]]:
    """What can be mended in a copy, as choices: the sentence, and the repair's code."""
    found: dict[str, str] = {}
    for finding in report.findings:
        fix = finding.fix
        if fix is None or fix in found:
            continue
        kind = "drop" if fix.startswith("drop:") else fix
        rows = finding.gaps()["rows"] or finding.gaps()["lines"] or "–"
        found[fix] = say(f"dataset.fix.{kind}", lang, rows=rows, count=finding.count)
    return [(sentence, fix) for fix, sentence in found.items()]


def findings_html(report: Report, lang: str) -> str:
    """What was found, the worst first; the first row it is about is a click away where the preview has it."""
    shown = {preview.row: preview for preview in report.preview}
    return "".join(_finding(finding, shown, lang) for finding in report.findings)


def _finding(finding: Finding, shown: dict[int, Preview], lang: str) -> str:
    sentence = say(f"dataset.finding.{finding.code}", lang, **finding.gaps())
    example = next((shown[row] for row in finding.rows if row in shown), None)
    detail = ""
    if example is not None:
        name = escape(say("dataset.row", lang, row=example.row))
        detail = f"<details><summary>{name}</summary>{_turns(example, lang)}</details>"
    level = escape(say(f"dataset.level.{finding.level}", lang))
    return (
        f'<div class="td-finding td-{finding.level}"><span class="td-level">{level}</span>'
        f"<p>{escape(sentence)}</p>{detail}</div>"
    )


def preview_html(report: Report, lang: str) -> str:
    """The first rows as conversations; everything in them is shown as text."""
    rows = "".join(_row(preview, lang) for preview in report.preview[:ROWS_SHOWN])
    name = escape(say("dataset.preview", lang))
    return f'<div class="td-rows" role="region" tabindex="0" aria-label="{name}">{rows}</div>'


def _row(preview: Preview, lang: str) -> str:
    name = escape(say("dataset.row", lang, row=preview.row))
    if preview.codes:
        levels = [Finding(code).level for code in preview.codes]
        level = next(level for level in ("blocked", "warning", "info") if level in levels)
        name += f' <span class="td-level">{escape(say(f"dataset.level.{level}", lang))}</span>'
        return f'<article class="td-row td-{level}"><header>{name}</header>{_turns(preview, lang)}</article>'
    return f'<article class="td-row"><header>{name}</header>{_turns(preview, lang)}</article>'


def _turns(preview: Preview, lang: str) -> str:
    if not preview.turns:
        label = escape(say("dataset.raw", lang))
        return f'<div class="td-turn"><span class="td-role">{label}</span>{text_html(preview.raw, lang)}</div>'
    html = "".join(turn_html(turn, lang) for turn in preview.turns[:TURNS_SHOWN])
    left = len(preview.turns) - TURNS_SHOWN
    if left > 0:
        html += f'<div class="td-turn td-muted">{escape(say("dataset.more_turns", lang, count=left))}</div>'
    return html


def turn_html(turn: Turn, lang: str) -> str:
    """One turn, with who says it."""
    kind = turn.role if f"dataset.role.{turn.role}" in WORDS else "other"
    return (
        f'<div class="td-turn td-by-{kind}"><span class="td-role">{escape(_role(turn.role, lang))}</span>'
        f"{text_html(turn.content, lang)}</div>"
    )


def text_html(text: str, lang: str) -> str:
    """A text as it stands; of a long one the beginning, the rest a click away."""
    if not text.strip():
        return f'<div class="td-said td-muted">{escape(say("dataset.no_text", lang))}</div>'
    start = "\n".join(text[:SHORT_CHARS].split("\n")[:SHORT_LINES])
    if len(start) == len(text):
        return f'<div class="td-said">{escape(text)}</div>'
    more, less = (escape(say(f"dataset.{key}", lang)) for key in ("more", "less"))
    return (
        f'<details class="td-said td-long"><summary><span class="td-start">{escape(start)}… </span>'
        f'<b class="td-more">{more}</b><b class="td-less">{less}</b></summary>{escape(text)}</details>'
    )


def _role(role: str, lang: str) -> str:
    key = f"dataset.role.{role}"
    return say(key, lang) if key in WORDS else role
