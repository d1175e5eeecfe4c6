"""These tests start daemons, so they run only where they are named: not in a plain ``pytest`` over everything."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """True: leave it out; None: no opinion."""
    return None if any("cluster" in argument for argument in config.args) else True
