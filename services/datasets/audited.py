"""What an audit adds to the report of a check: rows too long, rows without a trained token, rows nearly the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import orjson

from services.datasets.audit import Audit
from services.datasets.check import Checked
from services.datasets.duplicates import similar
from services.datasets.lengths import Cut, Strategy
from services.datasets.report import ORDER, ROWS_NAMED, AfterFix, Finding, Report, Stage, verdict_of
from services.datasets.turns import Unusable, turns_of

_NAMED = 8
"""Rows named with their lengths."""


@dataclass(frozen=True)
class Outcome:
    """All that is known of a file after its check."""

    report: Report
    audit: Audit | None = None
    """None: there was no model, the file is blocked, or the person did not want to wait."""


def add_audit(
    checked: Checked, audit: Audit, max_length: int, strategy: Strategy = "delete", *, seconds: float = 0.0
) -> Report:
    """The report with what follows from the tokens at ``max_length``; a ``seconds`` long stage."""
    report, began = checked.report, time.monotonic()
    cut = audit.lengths.cut(max_length, strategy)
    known = set(checked.counts.lost)
    fresh = ({row for row, _ in audit.dropped} | set(cut.lost)) - known
    learnt = audit.audited - sum(row in known for row in _looked_at(audit))
    none_left = bool(learnt) and len(fresh) >= learnt
    findings = [finding for finding in report.findings if finding.code != "nothing_usable"]
    findings += _of_lengths(audit, cut, none_left)
    told = {row for one in findings if one.code == "row_control_tokens" for row in one.rows}
    findings += _of_rows(audit, known, told)
    findings += _repeats(checked, similar(_texts(checked)))
    findings.sort(key=lambda finding: ORDER.index(finding.level))
    blocked = report.verdict == "blocked" or any(finding.level == "blocked" for finding in findings)
    lost = round(len(fresh) * report.rows / max(1, audit.audited)) if not audit.complete else len(fresh)
    stage = Stage("audit", round(seconds + time.monotonic() - began, 3), audit.audited)
    return replace(
        report,
        usable=0 if blocked else max(0, report.usable - lost),
        after_fix=_after_fix(report, findings),
        findings=tuple(findings),
        stages=(*report.stages, stage),
    )


def _after_fix(report: Report, findings: Sequence[Finding]) -> AfterFix:
    """What was foreseen without the tokens, and what they add to it: no copy makes rows shorter."""
    left = [one for one in findings if one.fix is None and one not in report.findings]
    worst = max(report.after_fix.verdict, verdict_of(left), key=("ok", "ok-with-warnings", "blocked").index)
    return AfterFix(worst, 0 if worst == "blocked" else report.after_fix.usable)


def _looked_at(audit: Audit) -> Iterable[int]:
    return {*audit.lengths.numbers, *(row for row, _ in audit.dropped)}


def _of_lengths(audit: Audit, cut: Cut, none_left: bool) -> list[Finding]:
    lengths = audit.lengths
    values: dict[str, object] = {
        "total": audit.audited, "max_length": cut.max_length, "needed": f"{cut.needed}", "strategy": cut.strategy,
        "cut": len(cut.cut), "empty": len(cut.empty), "rows_audited": f"{lengths.rows:,}",
        "tokens": f"{lengths.sum:,}", "mean": lengths.mean or 0, "longest": f"{lengths.longest:,}",
        "audited": f"{audit.audited:,}",
        "words": ", ".join(f"{row} ({tokens})" for row, tokens in cut.over[:_NAMED])
        + (" …" if len(cut.over) > _NAMED else ""),
    }  # fmt: skip
    over = tuple(row for row, _ in cut.over[:ROWS_NAMED])
    empty = cut.empty[:ROWS_NAMED]
    found = []
    if none_left and cut.over:
        found.append(Finding("length_none_left", len(cut.lost), cut.lost[:ROWS_NAMED], values=values))
    elif cut.over and cut.strategy == "delete":
        found.append(Finding("length_over", len(cut.over), over, values=values))
    elif cut.over:
        found.append(Finding("length_cut", len(cut.over), over, values=values))
        if cut.empty:
            found.append(Finding("length_no_trained", len(cut.empty), empty, values=values))
    if lengths.rows:
        found.append(Finding("lengths", lengths.rows, values=values))
    if not audit.complete:
        found.append(Finding("audit_sample", audit.audited, values=values | {"total": f"{audit.total:,}"}))
    return found


def _of_rows(audit: Audit, known: set[int], told: set[int]) -> list[Finding]:
    """Rows ms-swift drops for other reasons, marks inside text (but for rows ``told`` of), answers without an end."""
    found = []
    dropped = [(row, why) for row, why in audit.dropped if row not in known]
    if dropped:
        reasons = Counter(why for _, why in dropped if why)
        words = "; ".join(f"{why} ({times})" for why, times in reasons.most_common(3)) or "–"
        code = "audit_nothing" if len(dropped) >= audit.audited else "audit_dropped"
        rows = tuple(row for row, _ in dropped[:ROWS_NAMED])
        found.append(Finding(code, len(dropped), rows, values={"words": words, "total": audit.audited}))
    if {row for row, _ in audit.special} - told:
        marks = Counter(mark for _, mark in audit.special)
        words = ", ".join(f"{mark} ({times})" for mark, times in marks.most_common(6))
        rows = tuple(row for row, _ in audit.special[:ROWS_NAMED])
        values = {"words": words, "total": audit.audited}
        found.append(Finding("special_tokens", len(audit.special), rows, values=values))
    lengths = audit.lengths
    endless = sum(first >= 0 and not end for first, end in zip(lengths.firsts, lengths.ends, strict=True))
    if endless:
        found.append(Finding("end_not_trained", endless, values={"total": audit.audited}))
    return found


def _texts(checked: Checked) -> list[tuple[int, str]]:
    """The sampled rows as text, for comparing."""
    texts = []
    for number, line in checked.counts.sample.chosen():
        try:
            turns = turns_of(orjson.loads(line), checked.form)
        except Unusable:
            continue
        texts.append((number, "\n".join(str(turn.content) for turn in turns)))
    return texts


def _repeats(checked: Checked, pairs: Sequence[tuple[int, int]]) -> list[Finding]:
    """Rows nearly the same, without those that are the same word for word."""
    hashes = checked.counts.hashes
    near = [(row, first) for row, first in pairs if hashes[row - 1] != hashes[first - 1]]
    if not near:
        return []
    words = ", ".join(f"{row} ≈ {first}" for row, first in near[:_NAMED]) + (" …" if len(near) > _NAMED else "")
    rows = tuple(row for row, _ in near[:ROWS_NAMED])
    total = len(checked.counts.sample.chosen())
    return [Finding("rows_similar", len(near), rows, values={"words": words, "total": total})]
