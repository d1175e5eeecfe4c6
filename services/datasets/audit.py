"""How the rows of a checked file become tokens, by ms-swift's own template in a child process.

The child is services/swift/supervision.py. It encodes up to 2,000 rows spread over the file; all rows are a run of
their own (services/audits.py). What is kept of a row are places of tokens, so that any max_length can be judged
without encoding again.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from services.datasets.check import Checked
from services.datasets.files import stamp
from services.datasets.lengths import Lengths, Strategy
from services.datasets.scan import Stopped
from services.errors import Failed
from services.runs import process
from services.settings import Settings
from services.swift.commands import Source
from services.swift.log import last_bar

_LOADING = 0.7
"""The share of the time that goes into loading ms-swift and the tokenizer, for a sample."""
_KEPT = 200
"""Audits that are remembered."""
SHOWN = 8
"""Rows whose tokens are listed, the first ones of the sample."""
TEMPLATE_SETTINGS = ("agent_template", "loss_scale", "system", "use_chat_template", "response_prefix",
                     "enable_thinking", "add_non_thinking_prefix", "max_pixels")  # fmt: skip
"""Arguments of a training run that change its tokens."""


@dataclass(frozen=True)
class Audit:
    """What ms-swift makes of the rows of one file, with one model."""

    path: Path
    model: str
    task: str
    total: int
    """Rows in the file."""
    audited: int
    """Rows that were encoded, or tried."""
    lengths: Lengths
    dropped: tuple[tuple[int, str], ...]
    """(row, reason): rows ms-swift drops whatever the limit; no reason: it drops them without a word."""
    special: tuple[tuple[int, str], ...]
    """(row, token): rows whose text holds a special token of the model."""
    tokens: Mapping[int, tuple[tuple[str, bool], ...]]
    """Row -> (text, trained) of its tokens, for a few rows."""
    template: str
    model_max_length: int | None
    """The longest input the model was made for."""

    @property
    def complete(self) -> bool:
        return self.audited >= self.total

    @property
    def mean_tokens(self) -> int | None:
        return self.lengths.mean

    @property
    def tokens_in_all(self) -> int:
        """Tokens of the whole file; from a sample, as if the other rows were like those looked at."""
        return round(self.lengths.sum * self.total / max(1, self.audited))

    def rows_kept(self, max_length: int, strategy: Strategy) -> int:
        """Rows of the whole file that are trained on under this limit."""
        lost = len(self.lengths.cut(max_length, strategy).lost) + len(self.dropped)
        return round(max(0, self.audited - lost) * self.total / max(1, self.audited))

    def steps(self, max_length: int, strategy: Strategy, total_batch: int, *, packing: bool = False) -> int:
        """Optimizer steps of one epoch; ``total_batch`` rows (with packing: packs) a step."""
        units = self.rows_kept(max_length, strategy)
        if packing:
            units = math.ceil(self.lengths.packs(max_length, strategy) * self.total / max(1, self.audited))
        return math.ceil(units / total_batch)

    def as_json(self) -> dict[str, Any]:
        """For a file; the inverse is ``audit_from_json``."""
        return {
            "path": str(self.path), "model": self.model, "task": self.task, "total": self.total,
            "audited": self.audited, **self.lengths.as_json(), "dropped": self.dropped, "special": self.special,
            "tokens": {str(row): tokens for row, tokens in self.tokens.items()}, "template": self.template,
            "model_max_length": self.model_max_length,
        }  # fmt: skip


def audit_from_json(value: Mapping[str, Any]) -> Audit:
    """An audit as it was written. Raises KeyError, TypeError or ValueError for anything else."""
    return Audit(
        path=Path(value["path"]),
        model=value["model"],
        task=value["task"],
        total=int(value["total"]),
        audited=int(value["audited"]),
        lengths=Lengths.from_json(value),
        dropped=tuple((int(row), str(why)) for row, why in value["dropped"]),
        special=tuple((int(row), str(mark)) for row, mark in value["special"]),
        tokens={int(row): tuple((str(a), bool(b)) for a, b in tokens) for row, tokens in value["tokens"].items()},
        template=value["template"],
        model_max_length=value["model_max_length"],
    )


def audit(
    checked: Checked,
    source: Source,
    settings: Settings,
    *,
    template: Mapping[str, Any] | None = None,
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Audit:
    """Encode a sample of the rows with the tokenizer of ``source``, or take what was found before.

    ``template`` are arguments of the run (of TEMPLATE_SETTINGS) that change the tokens. Raises Stopped soon after
    ``stop()`` is true, and Failed("audit_failed") with the child's output.
    """
    job = job_for(checked, source, template or {})
    place = settings.cache / "audits" / f"{_file_key(checked.report.path, source)}-{_key(job)}.json"
    known = read_audit(place)
    if known is not None:
        return known
    sample = checked.counts.sample.chosen()
    with tempfile.TemporaryDirectory(prefix="tunedesk-audit-") as name:
        folder = Path(name)
        (folder / "rows.jsonl").write_bytes(b"".join(_typed(text, checked) + b"\n" for _, text in sample))
        numbers = [row for row, _ in sample]
        job |= {"path": str(folder / "rows.jsonl"), "numbers": numbers, "shown": numbers[:SHOWN]}
        (folder / "job.json").write_bytes(orjson.dumps(job))
        answer = _in_child(folder, source, checked, progress, stop)
    result = make_audit(answer, checked.report.path, source.model, str(job["task"]), checked.report.rows, len(sample))
    _keep(place, result)
    return result


def job_for(checked: Checked, source: Source, template: Mapping[str, Any]) -> dict[str, Any]:
    """The job for services/swift/supervision.py, without the rows."""
    report = checked.report
    chosen = {name: report.settings[name] for name in TEMPLATE_SETTINGS if name in report.settings}
    chosen |= {name: template[name] for name in TEMPLATE_SETTINGS if name in template}
    if "system" in chosen:
        chosen["default_system"] = chosen.pop("system")
    return {
        "model": source.model, "flags": dict(source.flags), "use_hf": source.use_hf, "task": report.task,
        "columns": dict(report.settings.get("columns", {})), "template": chosen,
    }  # fmt: skip


def make_audit(answer: Mapping[str, Any], path: Path, model: str, task: str, total: int, audited: int) -> Audit:
    """The audit from what the child wrote."""
    return audit_from_json(
        {**answer, "path": path, "model": model, "task": task, "total": total, "audited": audited}
    )


def expected_tokens(paths: Sequence[Path], source: Source, settings: Settings) -> int | None:
    """Mean tokens of a row that ms-swift keeps, over files audited with this model; None where one was not."""
    rows, tokens = 0.0, 0
    for path in paths:
        found = last_audit(path, source, settings)
        if found is None or not found.lengths.rows:
            return None
        rows += found.total * found.lengths.rows / max(1, found.audited)
        tokens += found.tokens_in_all
    return max(1, round(tokens / rows)) if rows else None


def last_audit(path: Path, source: Source, settings: Settings) -> Audit | None:
    """The newest audit of a file as it is now, with this model."""
    try:
        kept = sorted(
            (settings.cache / "audits").glob(f"{_file_key(path, source)}-*.json"), key=lambda one: one.stat().st_mtime
        )
    except OSError:
        return None
    return read_audit(kept[-1]) if kept else None


def read_audit(place: Path) -> Audit | None:
    """An audit that was kept, None where there is none that can be read."""
    try:
        return audit_from_json(orjson.loads(place.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _in_child(
    folder: Path,
    source: Source,
    checked: Checked,
    progress: Callable[[float], None] | None,
    stop: Callable[[], bool] | None,
) -> dict[str, Any]:
    began = time.monotonic()

    def heard(line: str) -> None:
        if progress is not None and (bar := last_bar(line)) is not None:
            progress(_LOADING + (1 - _LOADING) * bar.step / max(1, bar.total_steps))

    python = process.python()
    argv = (python, "-P", "-m", "services.swift.supervision", str(folder / "job.json"), str(folder / "result.json"))
    env = {**checked.report.env, "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""}
    if source.local:
        env |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    result = process.run(argv, cwd=folder, env=env, on_line=heard, stop=stop)
    if stop is not None and stop():
        raise Stopped
    answer = folder / "result.json"
    if result.returncode != 0 or not answer.exists():
        lines = result.output.strip().splitlines()
        why = lines[-1][:300] if lines else str(result.returncode)
        seconds = round(time.monotonic() - began)
        raise Failed("audit_failed", details=result.output[-5000:], why=why, seconds=seconds)
    value = orjson.loads(answer.read_bytes())
    assert isinstance(value, dict)
    return value


def _typed(text: bytes, checked: Checked) -> bytes:
    """A row with the values that the loader makes of text (a CSV's True and 1)."""
    typed = checked.typed
    if not typed:
        return text
    row = orjson.loads(text)
    for column, kind in typed.items():
        if isinstance(cell := row.get(column), str):
            row[column] = cell.lower() == "true" if kind == "bool" else float(cell) if kind == "number" else cell
    return orjson.dumps(row)


def _file_key(path: Path, source: Source) -> str:
    """Changes with the file's content, as far as its size and dates tell, and with the model."""
    config = Path(source.model) / "tokenizer.json"
    model = (config.stat().st_mtime_ns, config.stat().st_size) if source.local and config.is_file() else ()
    seen = (str(path), *stamp(path), path.stat().st_ctime_ns, source.model, *model)
    return hashlib.sha256(os.fsencode(repr(seen))).hexdigest()[:20]


def _key(job: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(job, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


def _keep(place: Path, result: Audit) -> None:
    """For the next time; a disk that is full is no reason to lose the result."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f"{place.name}.{os.getpid()}.partial")
        partial.write_bytes(orjson.dumps(result.as_json()))
        partial.replace(place)
        kept = sorted(place.parent.glob("*.json"), key=lambda one: one.stat().st_mtime)
        for old in kept[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return
