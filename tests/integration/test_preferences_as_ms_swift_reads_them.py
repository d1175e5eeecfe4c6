"""For DPO, KTO and GRPO too: the rows the check counts are those from which the installed ms-swift learns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from services.datasets.check import check
from services.datasets.report import columns_argument
from tests.trainable_model import make_trainable_model

FOLDER = Path(__file__).parents[1] / "data" / "check"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "expected.yaml").read_text("utf-8"))
NAMES = [name for name, wanted in EXPECTED.items() if wanted["task"] in ("dpo", "kto", "grpo") or "tools" in name]
NO_SIGNAL = {"pairs_lists.jsonl": 0, "pairs_messages.jsonl": 0}
STOPS = {"thumbs_text.jsonl", "thumbs_open_end.jsonl"}
"""Blocked because ms-swift stops; the other blocked files it would learn something else from than is meant."""


def test_the_rows_that_count_are_those_ms_swift_learns_from(tmp_path: Path) -> None:
    model = make_trainable_model(tmp_path / "model")
    reports = [check(FOLDER / name, task=EXPECTED[name]["task"], template="chatml") for name in NAMES]
    asked = [[str(report.path), columns_argument(report), report.task, str(model)] for report in reports]
    child = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("encode_as_ms_swift.py"))], input=json.dumps(asked),
        env={**os.environ, "MODELSCOPE_CACHE": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"},
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    answers = json.loads(child.stdout.splitlines()[-1])
    for name, report, answer in zip(NAMES, reports, answers, strict=True):
        if report.verdict == "blocked":
            assert name not in STOPS or answer["error"], name
            continue
        assert answer["error"] is None, (name, answer)
        learnt = sum(count > 0 for count in answer["trained"])
        assert learnt == report.usable, (name, answer, report.usable)
