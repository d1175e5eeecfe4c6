"""The window's process stays light."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("torch", "transformers", "swift", "peft", "vllm", "deepspeed")


def test_building_the_window_loads_none_of_the_trainers_libraries() -> None:
    code = (
        "import sys; from services.settings import read_settings; from services.bootstrap import build;"
        "from gui.app import build_app; build_app(build(read_settings()));"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip().endswith("[]"), done.stdout
