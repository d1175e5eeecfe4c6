"""From what was found to what is said: the Report of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from services.datasets.duplicates import repeated
from services.datasets.formats import PROMPTED, Task, listed
from services.datasets.labels import weights
from services.datasets.report import OPTIONAL, ORDER, AfterFix, Finding, Report, Stage, after_fix
from services.datasets.tally import Count, Counts, Look

AGENT_TEMPLATE = "hermes"
"""For models whose own template has none; of all it is the one most models were made with."""
TEMPLATES_WITHOUT_AGENT = {"chatml", "dummy", "default"}
KTO_ACCUMULATION = 4
"""ms-swift stops at KTO unless it is given, and learns nothing from batches of one."""
REPEATS_SHOWN = 20
_OF_COPIES = {"kto_batch", "kto_labels", "kto_one_kind", "kto_unbalanced", "rows_repeated"}
"""Findings that a mended copy may have where the file has none, or the other way round."""


def make_report(
    seen: Look, counts: Counts, task: Task, *, complete: bool, template: str | None, stages: tuple[Stage, ...]
) -> Report:
    """The report on what ``counts`` hold; ``template`` is the model's chat template, where it is known."""
    form = seen.form
    findings = _whole_file(seen, counts, complete)
    findings += [_finding(code, one, seen, counts) for code, one in counts.found.items()]
    findings += _extras(seen, counts, task, template)
    blocked = any(finding.level == "blocked" for finding in findings)
    if not blocked and not counts.usable and complete:
        findings.append(Finding("nothing_usable", values={"total": counts.rows}))
        blocked = True
    findings.sort(key=lambda finding: ORDER.index(finding.level))
    return Report(
        path=seen.file.path,
        task=task,
        format="mixed" if "row_other_format" in counts.found else form.name,
        rows=counts.rows,
        usable=0 if blocked else counts.usable,
        after_fix=_after_fix(findings, seen, counts, task),
        mapping=form.mapping,
        columns=seen.columns,
        settings=_settings(seen, counts, task, template),
        findings=tuple(findings),
        preview=tuple(counts.preview),
        complete=complete,
        confidence=_confidence(seen),
        env=_environment(counts),
        stages=stages,
    )


def _after_fix(findings: list[Finding], seen: Look, counts: Counts, task: Task) -> AfterFix:
    """The verdict on a copy in which everything that needs it is mended, and how many of its rows teach something."""
    findings = [one for one in findings if one.code != "nothing_usable"]
    fixes = {one.fix for one in findings} - {None} - OPTIONAL
    if not fixes:
        return after_fix(findings, counts.usable)
    stays = {*OPTIONAL, None}
    left = [one for one in findings if one.fix in stays and one.code not in {*counts.found, *_OF_COPIES}]
    left += [Finding(code) for code in counts.left if f"drop:{code}" not in fixes]
    if task == "kto" and seen.form.problem is None:
        words = {*counts.labels, *counts.relabelled}
        left += _labels(Counter({word: counts.labels[word] + counts.relabelled[word] for word in words}))
    if repeated(counts.mended):
        left.append(Finding("rows_repeated"))
    return after_fix(left, sum(map(bool, counts.mended)))


def _settings(seen: Look, counts: Counts, task: Task, template: str | None) -> dict[str, Any]:
    """What ms-swift has to be told so that it reads this file as it is meant."""
    settings: dict[str, Any] = {"columns": dict(seen.form.columns)} if seen.form.columns else {}
    if counts.tools and task != "pt" and template in TEMPLATES_WITHOUT_AGENT:
        settings["agent_template"] = AGENT_TEMPLATE
    if task == "kto":
        settings["gradient_accumulation_steps"] = KTO_ACCUMULATION
    return settings


def _environment(counts: Counts) -> dict[str, str]:
    return {"ROOT_IMAGE_DIR": str(counts.media.folder)} if counts.media.relative else {}


def _confidence(seen: Look) -> float:
    if seen.form.kind == "none" or not seen.sampled:
        return 0.0
    return round(seen.form.confidence * seen.read / seen.sampled, 2)


def _finding(code: str, one: Count, seen: Look, counts: Counts) -> Finding:
    words = ", ".join(f"{word} ({times})" for word, times in one.words.most_common(8))
    values: dict[str, object] = {"words": words, "total": counts.rows, "format": seen.form.name}
    values |= {"line": one.lines[0]} if one.lines else {}
    values |= {"rows_left": counts.rows - one.count}
    return Finding(code, one.count, tuple(one.rows), tuple(one.lines), values | one.values, one.example)


def _whole_file(seen: Look, counts: Counts, complete: bool) -> list[Finding]:
    """Findings about the file and its columns."""
    form, file, rows = seen.form, seen.file, counts.rows
    found = [
        Finding(fault.code, lines=(fault.line,) if fault.line else (), values={"line": fault.line} | dict(fault.values))
        for fault in file.faults
    ]
    if not rows and not found:
        found.append(Finding("no_rows"))
    if rows and form.problem is not None and seen.columns:
        found.append(Finding(form.problem, rows, values=form.values))
    found += _cells(seen, rows)
    if form.note is not None:
        found.append(Finding(form.note, rows, values=form.values))
    if form.offered:
        found.append(Finding("columns_offered", rows, values={"columns": ", ".join(form.offered)}))
    if "#" in file.path.name:
        found.append(Finding("name_sign", values={"name": file.path.name}))
    if not complete:
        found.append(Finding("partial", rows))
    return found


def _cells(seen: Look, rows: int) -> list[Finding]:
    """Columns of text that the loader will not read as text."""
    typed: Mapping[str, str] = seen.shape.typed() if seen.shape is not None else {}
    by_kind: dict[str, list[str]] = {}
    for name, kind in typed.items():
        joined = kind == "number" and name in map(seen.form.roles.get, ("instruction", "input"))
        if name in seen.form.roles.values() and not joined and rows:
            by_kind.setdefault(kind, []).append(name)
    ending = seen.file.path.suffix.lstrip(".")
    return [
        Finding(f"cells_{kind}", rows, values={"columns": ", ".join(names), "ending": ending})
        for kind, names in by_kind.items()
    ]


def _extras(seen: Look, counts: Counts, task: Task, template: str | None) -> list[Finding]:
    """What lies beside the conversation and matters."""
    found: list[Finding] = []
    form, kept = seen.form, set(seen.form.kept.values())
    offered = set(form.offered)
    if unused := [name for name in form.unused if name not in offered]:
        code = "columns_for_rewards" if task in PROMPTED else "columns_unused"
        found.append(Finding(code, counts.rows, values={"columns": listed(unused)}))
    if counts.tools and task != "pt":
        known = template in TEMPLATES_WITHOUT_AGENT
        values = {"total": counts.rows, "agent_template": AGENT_TEMPLATE}
        found.append(Finding("tools_setting" if known else "tools_used", counts.tools, values=values))
    if counts.media.references:
        found += _media(counts)
    if task == "kto" and form.problem is None:
        found += _labels(counts.labels)
    elif task in ("sft", "pt", "gkd"):
        if form.problem is None and any(name.startswith("rejected") for name in kept):
            found.append(Finding("preference_ignored", counts.rows))
        if form.name == "kto":
            found.append(Finding("label_ignored", counts.rows))
    if pairs := repeated(counts.hashes):
        rows = tuple(row for row, _ in pairs[:REPEATS_SHOWN])
        shown = ", ".join(f"{row} = {first}" for row, first in pairs[:REPEATS_SHOWN])
        values = {"words": shown + (" …" if len(pairs) > REPEATS_SHOWN else ""), "total": counts.rows}
        found.append(Finding("rows_repeated", len(pairs), rows, values=values))
    return found


def _media(counts: Counts) -> list[Finding]:
    media = counts.media
    names = {"media": ", ".join(media.columns), "references": media.references, "files": len(media.names)}
    found = [Finding("media_used", media.rows, values=names)]
    if media.relative:
        found.append(Finding("media_folder", media.relative, values={"folder": str(media.folder)}))
    return found


def _labels(labels: Counter[str]) -> list[Finding]:
    """How many good and bad answers there are, and the weights that even them out."""
    good, bad = labels["good"], labels["bad"]
    found = [Finding("kto_batch", values={"steps": KTO_ACCUMULATION})]
    if +labels - Counter(good=good, bad=bad):
        return found
    values: dict[str, object] = {"good": good, "bad": bad}
    advice = weights(good, bad)
    if advice is None or not good or not bad:
        return [*found, Finding("kto_one_kind" if not good or not bad else "kto_labels", good + bad, values=values)]
    for name, (lowest, highest) in advice.items():
        values |= {f"{name}_low": f"{lowest:g}", f"{name}_high": f"{highest:g}"}
    return [*found, Finding("kto_unbalanced", good + bad, values=values)]

