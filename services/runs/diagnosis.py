"""Why a run failed, read from its log: a code of services/text with its values, and the telling line."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path
from typing import Any

from services.errors import Key
from services.paths import printable
from services.runs.folder import Record
from services.swift import log as swift_log
from services.swift.checkpoints import list_checkpoints
from services.text import WORDS

UNKNOWN = "exited"

_TAIL_BYTES = 1 << 19
SHOWN = 180
"""Characters of the trainer's own words in a sentence; the whole line is one click away."""
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("merge_lost_tuning", re.compile(r"MergeVerificationError.*")),
    ("disk_full", re.compile(r"No space left on device|Disk quota exceeded", re.I)),
    ("out_of_memory", re.compile(r"OutOfMemoryError|out of memory|DefaultCPUAllocator: can't allocate", re.I)),
    ("port_taken", re.compile(r"address already in use|EADDRINUSE|failed to listen on .*port", re.I)),
    ("argument_rejected", re.compile(r"remaining_argv: \[(?P<what>.*)\]|unrecognized arguments?: (?P<what2>.*)")),
    ("argument_rejected", re.compile(r"error: argument (?P<what>--?\S+.*)")),
    (
        "model_not_found",
        re.compile(
            r"(?:local path does not exist|Repo(?:sitory)? .*not (?:exist|found)|not a valid model identifier"
            r"|RepositoryNotFoundError|does not appear to have (?:a|files?) .*|NotExistError|HTTPError:? .*404).*",
            re.I,
        ),
    ),
    ("model_type_unknown", re.compile(r"Please explicitly pass the model_type|Failed to automatically match", re.I)),
    (
        "hub_unreachable",
        re.compile(r"(?:NameResolution|MaxRetry|ConnectionError|ConnectTimeout|ProxyError|LocalEntryNotFound).*"),
    ),
    ("dataset_empty", re.compile(r"integer division or modulo by zero|'NoneType' object is not iterable")),
    ("needs_compiler", re.compile(r"(?:c\+\+|g\+\+|ninja).*not found|CXX.*No such file", re.I)),
    ("module_missing", re.compile(r"ModuleNotFoundError: No module named '(?P<what>[^']+)'")),
    ("permission", re.compile(r"PermissionError: .*|Read-only file system.*")),
)  # fmt: skip
_ERROR_LINE = re.compile(r"^(?:\[rank\d+\]: ?)?(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt|Exit)\b:? ?.*)$", re.M)
_PREFIX = re.compile(r"^\[rank\d+\]: ?", re.M)
_NODE = re.compile(r"^\[node [^\]\n]+\] ", re.M)
_NODE_LOST = re.compile(r"^\[tunedesk\] node (.+?) lost: (.*)$", re.M)
_RANKED = re.compile(r"^\[rank(\d+)\]: ?(.*)$", re.M)
_ROOT_CAUSE = re.compile(r"^Root Cause.*?\brank\s*: (\d+)", re.M | re.S)


def diagnose(log: Path, exit_code: int) -> dict[str, Any]:
    """``{"code", "values", "line"}`` for a run that ended with ``exit_code`` and printed ``log``."""
    tail = _tail(log)
    if (lost := _NODE_LOST.search(tail)) is not None:  # all else then only complains that it is gone
        values = {"what": printable(lost[1], SHOWN), "why": printable(lost[2], SHOWN)}
        return {"code": "node_lost", "values": values, "line": lost[0]}
    tail = _NODE.sub("", tail)
    text = _PREFIX.sub("", tail)
    error = _error_of_first_rank(tail) or _closing_error(text)
    # the last error before the end first: warnings further up may speak of the same words
    for part in (error, text[-6000:]):
        for code, pattern in _RULES:
            found = pattern.search(part)
            if found is not None:
                groups = found.groupdict()
                what = next((value for value in groups.values() if value), found[0])
                values = {"what": printable(what.strip(), SHOWN)}
                return {"code": code, "values": values, "line": error or found[0].strip()}
    if exit_code in (-9, 137, 247):
        return {"code": "killed", "values": {}, "line": error}
    if error:
        values = {"what": printable(error, SHOWN).rstrip("."), "exit_code": str(exit_code)}
        return {"code": "trainer_error", "values": values, "line": error}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return {"code": "exited", "values": {"exit_code": exit_code}, "line": lines[-1][:300] if lines else ""}


def trained_nothing(output_dir: str, since: float | None) -> bool:
    """True where a training that began after ``since`` (epoch seconds) says at its end that it did no step."""
    for folder in reversed(swift_log.versions(Path(output_dir))):
        path = folder / swift_log.METRICS_FILE
        try:
            if path.stat().st_mtime >= (since or 0) - 1:
                return _closing_step(path) == 0 and not list_checkpoints([folder])
        except OSError:
            continue
    return False


def _closing_step(metrics: Path) -> int | None:
    """The ``global_step`` of the last line, where that is the trainer's summary."""
    lines = metrics.read_bytes().splitlines()
    try:
        value = json.loads(lines[-1]) if lines else None  # not orjson: the trainer writes NaN and Infinity
    except ValueError:
        return None
    step = value.get("global_step") if isinstance(value, dict) and "last_model_checkpoint" in value else None
    return step if isinstance(step, int) else None


def failure(record: Record) -> Key | None:
    """What happened to a failed run, why, and what to do next, which differs by its kind; None where nothing failed.

    The entry ``runs.failure.<code>`` speaks of a training, ``…_serve``, ``…_merge`` and ``…_other`` of the rest.
    """
    if record.error is None:
        return None
    plain = f"runs.failure.{record.error['code']}"
    wanted = [plain] if record.kind == "train" else [f"{plain}_{record.kind}", f"{plain}_other", plain]
    key = next((key for key in wanted if key in WORDS), f"runs.failure.{UNKNOWN}")
    return Key(key, **{"exit_code": record.exit_code, **record.error["values"]})


def from_start_error(error: OSError | ValueError) -> dict[str, Any]:
    """The same for a command that could not be started at all."""
    code, what = "cannot_start", str(error)
    if isinstance(error, OSError):
        what = f"{error.strerror}: {error.filename}"
        code = "disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else code
    return {"code": code, "values": {"what": what}, "line": what}


def _error_of_first_rank(text: str) -> str:
    """The closing error of the rank that failed first; the others then only complain that it is gone."""
    errors = [(rank, error) for rank, line in _RANKED.findall(text) if (error := _closing_error(line))]
    failed = [rank for rank, _ in errors]
    reported = [rank for rank in _ROOT_CAUSE.findall(text)[-1:] if rank in failed]
    return next((error for rank, error in reversed(errors) if rank == (reported or failed)[0]), "")


def _closing_error(text: str) -> str:
    """The closing line of the last traceback chain; torchrun's own report about a failed rank does not count."""
    lines = [
        match[1].strip()
        for match in _ERROR_LINE.finditer(text)
        if not match[1].startswith(("ChildFailedError", "SystemExit", "KeyboardInterrupt"))
    ]
    return lines[-1] if lines else ""


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            return file.read().decode("utf-8", errors="replace").replace("\r", "\n")
    except OSError:
        return ""
