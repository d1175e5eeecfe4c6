"""From the command to a page that answers: TuneDesk's window against a one-button Gradio app."""

from __future__ import annotations

from tests.bench import pages
from tests.bench.figures import Figure, ratios
from tests.bench.settings import Settings, note, own_folder

BOUND = 1.4
PAIRS = 5


def measure(settings: Settings) -> list[Figure]:
    """Alternating pairs, after one of each that only warms the disk's cache."""
    pairs: list[tuple[float, float]] = []
    for number in range((settings.pairs or PAIRS) + 1):
        ours, theirs = once(pages.window), once(pages.one_button)
        if number:
            pairs.append((ours, theirs))
            note(f"start {number}: {ours:.2f} s against {theirs:.2f} s")
    return [ratios("from the command to a page that answers", "a one-button Gradio app", pairs, BOUND)]


def once(command: pages.Command) -> float:
    """Seconds to the first answer."""
    with own_folder() as home, pages.serving(command, home) as server:
        return server.started_in_s
