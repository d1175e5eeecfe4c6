"""What a window that nobody looks at takes: memory after a page was open, and CPU."""

from __future__ import annotations

import time

from tests.bench import pages
from tests.bench.figures import Figure
from tests.bench.settings import Settings, note, own_folder

MEMORY_BOUND_MB = 260.0
CPU_BOUND_PERCENT = 3.0
SETTLE_S = 20.0
WATCH_S = 20.0


def measure(settings: Settings) -> list[Figure]:
    """TuneDesk's figures with their bounds, and the one-button app's beside them."""
    ours = once(pages.window, "#runs", settings)
    theirs = once(pages.one_button, "button", settings)
    note(f"idle: {ours[0]:.0f} MB and {ours[1]:.1f} % against {theirs[0]:.0f} MB and {theirs[1]:.1f} %")
    return [
        Figure("memory, 20 s after a page was closed", "", (ours[0],), MEMORY_BOUND_MB, "MB"),
        Figure("  a one-button Gradio app's", "", (theirs[0],), unit="MB"),
        Figure("CPU without a page", "one core", (ours[1],), CPU_BOUND_PERCENT, "%"),
        Figure("  a one-button Gradio app's", "one core", (theirs[1],), unit="%"),
    ]


def once(command: pages.Command, selector: str, settings: Settings) -> tuple[float, float]:
    """(resident MB, percent of a core) of a program whose page was opened and closed."""
    settle, watch = (1.0, 2.0) if settings.rehearsal else (SETTLE_S, WATCH_S)
    with own_folder() as home, pages.serving(command, home) as server:
        with pages.opened(server.address, selector):
            time.sleep(settle / 4)
        time.sleep(settle)
        return server.resident_mb(), server.cpu_percent(watch)
