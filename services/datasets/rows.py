"""What a data file gives: rows, and faults where there should be one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """Something in a file that is not a row as it should be."""

    code: str
    """Names a ``finding.<code>`` of services/text/dataset.py."""
    line: int = 0
    """The physical line, 1-based; 0: the file as a whole."""
    values: Mapping[str, object] = field(default_factory=dict)
    row: Row | None = None
    """What could be read of the row all the same."""
    mended: Row | None = None
    """What the row was surely meant to be, where that is clear."""
