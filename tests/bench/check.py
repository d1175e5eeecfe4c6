"""Checking a data file of 1 GB and a million rows: the first look, every row, and the memory it takes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import psutil

from services.datasets.check import inspect, look
from services.datasets.scan import scan
from tests.bench.figures import Figure, ratios
from tests.bench.settings import Settings, note, own_folder

ROWS = 1_000_000
BYTES_A_ROW = 1_000
LOOK_BOUND_MS = 1_000.0
SCAN_BOUND = 1 / 0.3
"""Times as long as counting the lines and parsing each of them in one process."""
GROWTH_BOUND_MB = 300.0
STOP_BOUND_MS = 1_000.0
PAIRS = 3


def measure(settings: Settings) -> list[Figure]:
    """The file is made first and deleted at the end."""
    rows = 20_000 if settings.rehearsal else ROWS
    with own_folder() as folder:
        path = folder / "rows.jsonl"
        write_rows(path, rows)
        size = f"{path.stat().st_size / 1e9:.2f} GB, {rows:,} rows"
        note(f"check: {size}")
        looks, pairs = [], []
        for _ in range(settings.pairs or PAIRS):
            began = time.perf_counter()
            seen = look(path)
            looks.append(1_000 * (time.perf_counter() - began))
            plain = read_plainly(path)
            began = time.perf_counter()
            counts, complete = scan(seen, "sft")
            pairs.append((time.perf_counter() - began, plain))
            assert complete and (counts.rows, counts.usable) == (rows, rows)
            del counts
            note(f"check: look {looks[-1]:.0f} ms, scan {pairs[-1][0]:.1f} s, plainly {plain:.1f} s")
        with memory() as grown:
            inspect(path)
        stopped = stopped_after(path)
        theirs = load_dataset_s(path, folder / "cache")
    scans = tuple(ours for ours, _ in pairs)
    return [
        Figure(f"first look at {size}", "", tuple(looks), LOOK_BOUND_MS, "ms"),
        ratios("reading every row", "wc -l and one orjson parse a line", pairs, SCAN_BOUND),
        Figure("memory on top, all processes", "", (grown[0] / 1e6,), GROWTH_BOUND_MB, "MB"),
        Figure("from stop to the end of all its processes", "", (stopped * 1_000,), STOP_BOUND_MS, "ms"),
        Figure("reading every row", "", scans, unit="s"),
        Figure("datasets.load_dataset on the same file, without its import", "", (theirs,), unit="s"),
    ]


def write_rows(path: Path, rows: int) -> None:
    """Different conversations of two turns, each about BYTES_A_ROW long."""
    words = [f"word{number % 89}x{number * 7919 % 1009}" for number in range(BYTES_A_ROW // 24)]
    filling = " ".join(words)
    with path.open("wb", buffering=1 << 20) as file:
        for number in range(rows):
            turns = [
                {"role": "user", "content": f"Question {number}: {filling}?"},
                {"role": "assistant", "content": f"{filling} is answer {number * 104_729}."},
            ]
            file.write(orjson.dumps({"messages": turns, "id": number}) + b"\n")


def read_plainly(path: Path) -> float:
    """Seconds for ``wc -l`` and then one parse a line in this process."""
    began = time.perf_counter()
    wc = shutil.which("wc")
    assert wc is not None
    subprocess.run([wc, "-l", str(path)], check=True, stdout=subprocess.DEVNULL)
    loads = orjson.loads
    with path.open("rb", buffering=1 << 20) as file:
        for line in file:
            loads(line)
    return time.perf_counter() - began


@contextmanager
def memory() -> Iterator[list[int]]:
    """The most bytes this process and its children take on top of what they took before."""
    me = psutil.Process()
    before, grown, ended = me.memory_info().rss, [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            total = 0
            for one in [me, *me.children(recursive=True)]:
                try:
                    total += one.memory_info().rss
                except psutil.Error:
                    continue
            grown[0] = max(grown[0], total - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield grown
    finally:
        ended.set()
        watcher.join()


def stopped_after(path: Path) -> float:
    """Seconds from asking a check to stop until it has returned and none of its processes is left."""
    asked = time.perf_counter() + 0.5
    inspect(path, stop=lambda: time.perf_counter() > asked)
    while any(one.status() != psutil.STATUS_ZOMBIE for one in psutil.Process().children(recursive=True)):
        time.sleep(0.005)
    return max(0.0, time.perf_counter() - asked)


def load_dataset_s(path: Path, cache: Path) -> float:
    """Seconds the loader that ms-swift uses takes for the same file, in a process of its own."""
    code = (
        "import sys, time; from datasets import load_dataset; began = time.perf_counter(); "
        "load_dataset('json', data_files=sys.argv[1], split='train', cache_dir=sys.argv[2]); "
        "print(time.perf_counter() - began)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(path), str(cache)], check=True, capture_output=True, text=True
    )
    return float(done.stdout.split()[-1])
