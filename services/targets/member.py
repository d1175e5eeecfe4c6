"""A node of a run, as its lead sees it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from services.target_specs import Node
from services.targets.messages import Message, Outbox
from services.targets.pulse import Pulse


@dataclass
class Member:
    """A node of this run, as the lead sees it."""

    node: Node
    rank: int
    pulse: Pulse
    pipe: subprocess.Popen[bytes] | None = None
    outbox: Outbox | None = None
    ready: Message | None = None
    exit_code: int | None = None
    state: str = "starting"
    """starting, running, ended, failed or lost."""
    last: bytes = b""
    """The end of its output, where it is not the first one."""
    progress_at: float = float("-inf")
    """When it last took a file."""

    @property
    def ended(self) -> bool:
        return self.state in ("ended", "failed", "lost")

    def tell(self, message: Message) -> None:
        if self.outbox is not None and not self.ended:
            self.outbox.put(message)
