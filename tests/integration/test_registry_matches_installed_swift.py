"""registry.json is what the installed ms-swift knows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_registry_json_is_what_the_installed_swift_has() -> None:
    child = subprocess.run(
        [sys.executable, "-P", "-m", "services.datasets.read_registry"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert child.returncode == 0, child.stderr[-4000:]
    committed = (ROOT / "services/datasets/registry.json").read_text("utf-8")
    assert child.stdout.splitlines() == committed.splitlines()
