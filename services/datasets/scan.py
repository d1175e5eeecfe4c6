"""Every row of a file, read with all cores: JSON lines are cut at line ends and counted in child processes.

As a child, ``python -P -m services.datasets.scan FOLDER`` reads one part: the job lies in ``job.pickle``, the answer
goes to ``counts.pickle``, and the bytes read so far to standard output, ten times a second. A child whose parent is
gone ends at its next line of output.
"""

from __future__ import annotations

import io
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import IO

import orjson

from services.datasets import json_rows, shape
from services.datasets.files import DataFile, unreadable
from services.datasets.formats import Task
from services.datasets.rows import Fault, Row
from services.datasets.tally import PREVIEWED, Counts, Look, Tally
from services.errors import Failed
from services.runs import process

Progress = Callable[[float], None]
Stop = Callable[[], bool]

_BETWEEN_LOOKS = 500
"""Rows between two looks at the clock, at ``stop`` and at ``progress``."""
_EVERY_S = 0.1
ALONE_BYTES = 12 << 20
"""A smaller file is read before a child process has even started."""


class Stopped(Exception):
    """The person did not want to wait for the end."""


@dataclass(frozen=True)
class Job:
    """A part of a file for one child: bytes ``start`` to ``end`` of JSON lines, or all of it."""

    seen: Look
    task: Task
    start: int = 0
    end: int | None = None
    total: int = 0
    """Rows to read at most; 0: all."""


def scan(
    seen: Look, task: Task, *, limit: int | None = None, progress: Progress | None = None, stop: Stop | None = None
) -> tuple[Counts, bool]:
    """The counts of all rows (or the first ``limit``), and whether all of it was read.

    Raises Refused("dataset_unreadable") and Failed("check_failed"). With ``stop()`` true it ends within a fraction
    of a second: what was read until then is counted where one process read it, and dropped where several did.
    """
    if limit is not None or seen.file.size <= ALONE_BYTES:
        return _alone(seen, task, limit, progress, stop)
    return _in_children(seen, task, progress, stop)


def _alone(
    seen: Look, task: Task, limit: int | None, progress: Progress | None, stop: Stop | None
) -> tuple[Counts, bool]:
    tally = Tally(seen, task)
    start = 0
    for number, item in seen.file.rows():
        if number % _BETWEEN_LOOKS == 0:
            if progress is not None:
                progress(seen.file.fraction())
            if stop is not None and stop():
                return tally.counts, False
        if limit is not None and number > limit:
            return tally.counts, False
        tally.add(number, item, late=past_beginning(seen.file, number, start))
        start = seen.file.consumed
    if progress is not None:
        progress(1.0)
    return tally.counts, True


def past_beginning(file: DataFile, number: int, start: int) -> bool:
    """Whether a row lies behind the part that fixes columns and types (for arrays and Parquet: what we look at)."""
    if file.reader == "json":
        return start >= shape.FIRST_BYTES
    return number > shape.FIRST_ROWS


def _in_children(
    seen: Look, task: Task, progress: Progress | None, stop: Stop | None
) -> tuple[Counts, bool]:
    jobs = _parts(seen, task)
    done = [0.0] * len(jobs)
    lock = Lock()

    def heard(place: int, line: str) -> None:
        with lock:
            done[place] = float(line)
            if progress is not None:
                progress(sum(done) / len(done))

    def one(place: int) -> Counts:
        return _in_child(jobs[place], lambda line: heard(place, line), stop)

    try:
        with ThreadPoolExecutor(len(jobs), thread_name_prefix="dataset-scan") as pool:
            parts = list(pool.map(one, range(len(jobs))))
    except Stopped:
        return _alone(seen, task, PREVIEWED, None, None)[0], False
    counts = parts[0]
    for part in parts[1:]:
        counts.append(part)
    if progress is not None:
        progress(1.0)
    return counts, True


def _parts(seen: Look, task: Task) -> list[Job]:
    file, number = seen.file, process.cores() if seen.file.plain else 1
    if number < 2:
        return [Job(seen, task)]
    edges = [file.size * place // number for place in range(number + 1)]
    return [Job(seen, task, start, end) for start, end in pairwise(edges)]


def _in_child(job: Job, heard: Callable[[str], None], stop: Stop | None) -> Counts:
    with tempfile.TemporaryDirectory(prefix="tunedesk-scan-") as name:
        folder = Path(name)
        (folder / "job.pickle").write_bytes(pickle.dumps(job))
        argv = (process.python(), "-P", "-m", "services.datasets.scan", name)
        result = process.run(
            argv, cwd=folder, stop=stop, on_line=lambda line: heard(line) if line[:1].isdigit() else None
        )
        if stop is not None and stop():
            raise Stopped
        answer = folder / "counts.pickle"
        if result.returncode != 0 or not answer.exists():
            raise Failed("check_failed", details=result.output[-3000:], path=job.seen.file.path.name)
        counts = pickle.loads(answer.read_bytes())  # our own child's, from a folder only we can read
        if isinstance(counts, OSError):
            raise unreadable(job.seen.file.path, counts)
        assert isinstance(counts, Counts)
        return counts


def read_part(job: Job, say: Callable[[float], None]) -> Counts:
    """Read one part; ``say`` hears how much of it is done, 0 to 1. Raises OSError."""
    tally = Tally(job.seen, job.task, previewed=0 if job.start else PREVIEWED)
    if job.end is None:
        for number, item, done in _whole(job.seen.file):
            tally.add(number, item, late=number > shape.FIRST_ROWS)
            if number % _BETWEEN_LOOKS == 0:
                say(done())
        return tally.counts
    with job.seen.file.path.open("rb", buffering=1 << 20) as raw:
        raw.seek(max(0, job.start - 1))
        if job.start:
            raw.readline()  # the rest of a line that begins before, or the end of one
        _add_lines(raw, job.start, job.end, tally, say)
    return tally.counts


def _add_lines(raw: IO[bytes], start: int, end: int, tally: Tally, say: Callable[[float], None]) -> None:
    """Add the lines that begin before byte ``end``. What orjson does not take goes the long way."""
    loads, readline, longest, add = orjson.loads, raw.readline, json_rows.LONGEST_LINE, tally.add
    at, number, line = raw.tell(), 0, 0
    while at < end and (text := readline(longest)):
        line += 1
        try:
            value = loads(text)
        except orjson.JSONDecodeError:
            value = None
        if type(value) is dict:
            number += 1
            add(number, value, late=at >= shape.FIRST_BYTES)
        else:
            for _, item in json_rows.lines(io.BytesIO(text)):
                number += 1
                add(number, replace(item, line=line) if isinstance(item, Fault) else item, late=at >= shape.FIRST_BYTES)
        at += len(text)
        if line % _BETWEEN_LOOKS == 0:
            say((at - start) / max(1, end - start))
    tally.counts.lines = line


def _whole(file: DataFile) -> Iterator[tuple[int, Row | Fault, Callable[[], float]]]:
    fresh = replace(file, consumed=0)
    for number, item in fresh.rows():
        yield number, item, fresh.fraction


def main(folder: Path) -> None:
    """The child: see the head of this module."""
    job = pickle.loads((folder / "job.pickle").read_bytes())
    said = 0.0

    def say(done: float) -> None:
        nonlocal said
        if (now := time.monotonic()) - said > _EVERY_S:
            said = now
            sys.stdout.write(f"{min(done, 1.0):.4f}\n")
            sys.stdout.flush()

    say(0.0)
    answer: Counts | OSError
    try:
        answer = read_part(job, say)
    except BrokenPipeError:  # nobody waits for it any more
        sys.exit(1)
    except OSError as error:
        answer = error
    partial = folder / "counts.partial"
    partial.write_bytes(pickle.dumps(answer))
    partial.rename(folder / "counts.pickle")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
