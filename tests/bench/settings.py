"""How much is measured, where, and what is said on the way."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """``rehearsal`` makes everything short: it shows that the measuring works, its figures say nothing."""

    pairs: int | None = None
    """Default: what the part thinks is enough."""
    rehearsal: bool = False


def note(text: str) -> None:
    """Progress, with what else the machine is doing: a pair measured beside other work is worth little."""
    print(f"{text}  (load {os.getloadavg()[0]:.1f})", file=sys.stderr, flush=True)


@contextmanager
def own_folder() -> Iterator[Path]:
    """An empty data folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tunedesk-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
