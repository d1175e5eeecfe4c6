"""Why a run failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.runs import diagnosis
from services.runs.folder import Record, RunState
from services.text import say

TRACEBACK = 'Traceback (most recent call last):\n  File "sft.py", line 1, in <module>\n    main()\n'
TORCHRUN = (
    "W1130 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 12 closing signal SIGTERM\n"
    + TRACEBACK
    + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============================================================\n/site/swift/cli/sft.py FAILED\nRoot Cause:\n"
)


def diagnose(tmp_path: Path, text: str, exit_code: int = 1) -> dict[str, object]:
    path = tmp_path / "output.log"
    path.write_text(text)
    return diagnosis.diagnose(path, exit_code)


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        ("OSError: [Errno 28] No space left on device: '/out'", "disk_full", "No space left on device"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "out_of_memory", "OutOfMemoryError"),
        (
            "RuntimeError: [enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried",
            "out_of_memory",
            "DefaultCPUAllocator: can't allocate",
        ),
        ("OSError: [Errno 98] Address already in use", "port_taken", "Address already in use"),
        ("ValueError: remaining_argv: ['--learning_rat', '1']", "argument_rejected", "'--learning_rat', '1'"),
        (
            "sft.py: error: argument --lora_rank: invalid int value: 'x'",
            "argument_rejected",
            "--lora_rank: invalid int value: 'x'",
        ),
        ("ModuleNotFoundError: No module named 'flash_attn'", "module_missing", "flash_attn"),
        (
            "PermissionError: [Errno 13] Permission denied: '/root/x'",
            "permission",
            "PermissionError: [Errno 13] Permission denied: '/root/x'",
        ),
        ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x'): Max retries", "hub_unreachable", None),
        ("ValueError: Please explicitly pass the model_type", "model_type_unknown", None),
        ("ZeroDivisionError: integer division or modulo by zero", "dataset_empty", None),
        ("MergeVerificationError: the merged model does not answer", "merge_lost_tuning", None),
    ],
)
@pytest.mark.parametrize(
    "frame", ["{}", "[rank1]: {}", TRACEBACK + "{}", "[rank0]: " + TRACEBACK + "[rank0]: {}\n" + TORCHRUN]
)
def test_a_known_error_is_recognised(tmp_path: Path, line: str, code: str, what: str | None, frame: str) -> None:
    found = diagnose(tmp_path, "loading\n" + frame.format(line) + "\n")
    assert found["code"] == code
    values = found["values"]
    assert isinstance(values, dict) and (what is None or values["what"] == what)
    for lang in ("en", "zh"):
        assert str(values["what"]) in say(f"runs.failure.{code}", lang, **values) or code in (
            "model_type_unknown",
            "dataset_empty",
            "merge_lost_tuning",
        )


def test_an_unknown_error_is_told_by_its_closing_line(tmp_path: Path) -> None:
    chain = "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n"
    found = diagnose(tmp_path, TRACEBACK + chain + TRACEBACK + "swift.errors.OddError: something odd\n" + TORCHRUN)
    assert (found["code"], found["line"]) == ("trainer_error", "OddError: something odd")
    assert "OddError: something odd" in say("runs.failure.trainer_error", "en", **found["values"])  # type: ignore[arg-type]


@pytest.mark.parametrize("first", [0, 1])
def test_of_several_ranks_the_one_that_failed_first_is_told(tmp_path: Path, first: int) -> None:
    text = (
        "[rank0]:[W1130 10:00:00 ProcessGroupGloo.cpp:1] Warning: something\n"
        "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: rank 1 met an odd row\n"
        "[rank0]: Traceback (most recent call last):\n[rank0]: RuntimeError: [gloo] Connection closed by peer\n"
    )
    report = f"Root Cause (first observed failure):\n[0]:\n  time : 2026\n  rank      : {first} (local_rank: {first})\n"
    lines = ["RuntimeError: [gloo] Connection closed by peer", "ValueError: rank 1 met an odd row"]
    assert diagnose(tmp_path, text + TORCHRUN)["line"] == lines[1]
    assert diagnose(tmp_path, text + TORCHRUN.removesuffix("Root Cause:\n") + report)["line"] == lines[first]


@pytest.mark.parametrize("exit_code", [-9, 137])
def test_a_process_that_was_killed_without_a_word_was_killed_by_the_system(tmp_path: Path, exit_code: int) -> None:
    assert diagnose(tmp_path, "Train: 5%\n", exit_code)["code"] == "killed"


def test_an_end_without_an_error_is_told_by_the_last_line_and_the_exit_code(tmp_path: Path) -> None:
    found = diagnose(tmp_path, "one\rtwo\nthree\n\n", 3)
    assert found == {"code": "exited", "values": {"exit_code": 3}, "line": "three"}
    assert diagnosis.diagnose(tmp_path / "none", 3)["code"] == "exited"


def test_a_warning_from_long_ago_is_not_the_reason(tmp_path: Path) -> None:
    text = "UserWarning: c++ not found\n" + "step\n" * 5000 + TRACEBACK + "ValueError: a new thing\n"
    assert diagnose(tmp_path, text)["code"] == "trainer_error"


def test_a_large_log_is_read_from_its_end(tmp_path: Path) -> None:
    text = "x" * 3_000_000 + "\n" + TRACEBACK + "OSError: [Errno 28] No space left on device\n"
    assert diagnose(tmp_path, text)["code"] == "disk_full"


@pytest.mark.parametrize(
    ("error", "code", "what"),
    [
        (
            FileNotFoundError(2, "No such file or directory", "/a 'b'/python"),
            "cannot_start",
            "No such file or directory: /a 'b'/python",
        ),
        (OSError(28, "No space left on device", "/r/plan.json"), "disk_full", "No space left on device: /r/plan.json"),
        (ValueError("embedded null byte"), "cannot_start", "embedded null byte"),
    ],
)
def test_a_command_that_cannot_be_started_has_a_reason(error: OSError | ValueError, code: str, what: str) -> None:
    found = diagnosis.from_start_error(error)
    assert (found["code"], found["values"]) == (code, {"what": what})


def told(kind: str, code: str) -> str:
    error = {"code": code, "values": {"what": "x", "exit_code": "1"}, "line": ""}
    key = diagnosis.failure(Record("1", "x", kind, RunState.FAILED, error=error))
    assert key is not None
    return say(key, "en", **key.values)


@pytest.mark.parametrize("code", ["killed", "disk_full", "out_of_memory", "trainer_error", "argument_rejected"])
@pytest.mark.parametrize("kind", ["serve", "merge", "audit", "download"])
def test_only_a_training_is_told_of_its_settings_and_of_resuming(kind: str, code: str) -> None:
    settings = ("Resume", "batch size", "Use these settings", "Further arguments")
    assert not any(word in told(kind, code) for word in settings)
    assert "Use these settings" in told("train", code), "a resumed run keeps its settings: a new one takes others"


def test_what_did_not_fail_has_no_reason_and_an_unknown_code_has_one() -> None:
    assert diagnosis.failure(Record("1", "x", "train")) is None
    assert "exit code" in told("train", "of_a_later_version")
