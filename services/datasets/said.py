"""What a check found, put into words: for a person at a terminal, and as JSON for a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.datasets.audit import Audit
from services.datasets.audited import Outcome
from services.datasets.report import Finding, Report
from services.text import say

_MARKS = {"blocked": "✗", "warning": "!", "info": "·"}


def sentence(finding: Finding, lang: str) -> str:
    """The finding as a person reads it."""
    return say(f"dataset.finding.{finding.code}", lang, **finding.gaps())


def summary(report: Report, lang: str) -> str:
    """How many rows can be trained on, as the verdict's second half."""
    return say("dataset.summary", lang, usable=f"{report.usable:,}", rows=f"{report.rows:,}")


def finding_as_json(finding: Finding, lang: str) -> dict[str, Any]:
    return {
        "code": finding.code, "level": finding.level, "message": sentence(finding, lang), "count": finding.count,
        "rows": list(finding.rows), "lines": list(finding.lines), "example": finding.example, "fix": finding.fix,
    }  # fmt: skip


def outcome_as_json(outcome: Outcome, lang: str) -> dict[str, Any]:
    """One value with all that ``tunedesk check --json`` promises."""
    report = outcome.report
    return {
        "path": str(report.path),
        "task": report.task,
        "verdict": report.verdict,
        "summary": summary(report, lang),
        "format": report.format,
        "confidence": report.confidence,
        "rows": report.rows,
        "usable": report.usable,
        "after_fix": {"verdict": report.after_fix.verdict, "usable": report.after_fix.usable},
        "mapping": dict(report.mapping) if report.format else None,
        "columns": list(report.columns),
        "settings": dict(report.settings),
        "env": dict(report.env),
        "findings": [finding_as_json(finding, lang) for finding in report.findings],
        "stages": [{"name": one.name, "seconds": one.seconds, "rows": one.rows} for one in report.stages],
        "complete": report.complete,
        "tokens": outcome.audit and _tokens(outcome.audit),
    }


def _tokens(audit: Audit) -> dict[str, Any]:
    lengths = audit.lengths
    return {
        "model": audit.model, "template": audit.template, "audited": audit.audited, "in_all": audit.tokens_in_all,
        "mean": lengths.mean, "longest": lengths.longest,
        "histogram": [{"from": start, "to": end, "rows": rows} for start, end, rows in lengths.histogram()],
    }  # fmt: skip


def finding_as_text(finding: Finding, lang: str) -> str:
    return f"  {_MARKS[finding.level]} {sentence(finding, lang)}"


def outcome_as_text(outcome: Outcome, lang: str) -> str:
    """A few lines: the verdict, how the columns are read, what is worth knowing."""
    report = outcome.report
    lines = [f"{report.path.name}: {say(f'dataset.verdict.{report.verdict}', lang)} · {summary(report, lang)}"]
    if report.format:
        pairs = ", ".join(f"{column} → {role}" for column, role in report.mapping.items())
        lines.append(f"  {report.format} ({report.confidence:.0%}) · {pairs}")
    for title, values in (("--", report.settings), ("", report.env)):
        lines += [f"  {title}{name} {_shown(value)}" for name, value in values.items()]
    lines += [finding_as_text(finding, lang) for finding in report.findings]
    if report.verdict == "blocked" and report.after_fix.usable:
        lines.append("  " + say("dataset.after_fix", lang, after_fix=f"{report.after_fix.usable:,}"))
    times = [f"{say(f'dataset.stage.{one.name}', lang)} {one.seconds:.1f} s" for one in report.stages]
    lines.append("  " + " · ".join(times))
    return "\n".join(lines)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f'"{name}": "{to}"' for name, to in value.items()) + "}"
    return str(value)
