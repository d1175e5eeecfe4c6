"""``python -m tests.bench [part …] [--pairs N]``: what TuneDesk costs, as one table.

The exit code is 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time

from tests.bench import beside, check, idle, memory, snapshot, speed, start
from tests.bench.figures import Figure, table
from tests.bench.settings import Settings, note

PARTS = {
    "snapshot": snapshot.measure,
    "check": check.measure,
    "start": start.measure,
    "idle": idle.measure,
    "beside": beside.measure_alone,
    "page": beside.measure_page,
    "memory": memory.measure,
    "speed": speed.measure,
}


def main(words: list[str] | None = None) -> int:
    """Measure the parts (default: all) and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="What TuneDesk costs on this machine.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"one or more of: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--pairs", type=int, help="how many alternating pairs (default: 5, of trainings 3)")
    parser.add_argument("--rehearsal", action="store_true", help="as short as can be: the figures say nothing")
    asked = parser.parse_args(words)
    if unknown := [part for part in asked.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; the parts are: {', '.join(PARTS)}")
    settings = Settings(pairs=asked.pairs or (1 if asked.rehearsal else None), rehearsal=asked.rehearsal)
    figures: list[Figure] = []
    for name, measure in PARTS.items():
        if name in (asked.parts or PARTS):
            note(f"── {name} ──")
            began = time.monotonic()
            figures += measure(settings)
            note(f"{name} took {time.monotonic() - began:.0f} s")
    print("\n".join([f"{os.cpu_count()} cores", *table(figures)]), flush=True)
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)  # so that what was started is ended
    sys.exit(main())
