"""ms-swift's own traces: its metrics file, its progress bar, its folders."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from services.swift import log
from services.swift.log import Metric, MetricsReader

FIRST = b'{"loss": 3.5, "learning_rate": 0.001, "epoch": 0.1, "global_step/max_steps": "1/10", "elapsed_time": "2s"}\n'
SECOND = b'{"loss": 2.5, "global_step/max_steps": "2/10", "train_speed(s/it)": 1.9}\n'
CLOSING = b'{"train_runtime": 36.9, "train_loss": 0.7, "global_step/max_steps": "10/10", "train_speed(s/it)": 1.4}\n'


def summary(step: int) -> bytes:
    history = '[{"loss": NaN, "step": 1}]'
    return f'{{"last_model_checkpoint": "/c-{step}", "global_step": {step}, "log_history": {history}}}\n'.encode()


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def reader(tmp_path: Path) -> MetricsReader:
    return MetricsReader(tmp_path / "logging.jsonl")


def test_a_file_that_is_not_there_yet_is_no_error(reader: MetricsReader) -> None:
    assert not reader.read() and reader.metrics == [] and reader.step is None


def test_a_half_written_line_gives_its_point_once_it_is_whole(reader: MetricsReader) -> None:
    append(reader.path, FIRST + SECOND[:20])
    assert reader.read() and reader.step == 1
    assert reader.metrics == [Metric(1, "loss", 3.5), Metric(1, "learning_rate", 0.001)]
    append(reader.path, SECOND[20:])
    assert reader.read() and (reader.step, reader.total_steps) == (2, 10)
    assert reader.metrics[2:] == [Metric(2, "loss", 2.5), Metric(2, "seconds_per_step", 1.9)]
    assert not reader.read() and len(reader.metrics) == 4


def test_reading_costs_what_is_new(reader: MetricsReader, monkeypatch: pytest.MonkeyPatch) -> None:
    append(reader.path, FIRST * 1000)
    reader.read()
    taken: list[bytes] = []
    monkeypatch.setattr(MetricsReader, "_take", lambda self, line: taken.append(line))
    append(reader.path, SECOND)
    reader.read()
    assert taken == [SECOND[:-1]]


@pytest.mark.parametrize(("text", "value"), [("NaN", math.nan), ("Infinity", math.inf), ("-Infinity", -math.inf)])
def test_figures_that_json_does_not_have_are_read(reader: MetricsReader, text: str, value: float) -> None:
    append(reader.path, f'{{"loss": {text}, "grad_norm":{text}, "global_step/max_steps": "1/2"}}\n'.encode())
    reader.read()
    found = [metric.value for metric in reader.metrics]
    assert len(found) == 2 and all(one == value or (math.isnan(one) and math.isnan(value)) for one in found)


@pytest.mark.parametrize(
    "line",
    [b"", b"not json", b"[1, 2]", b'"text"', b'{"loss": 1}', b'{"loss": 1, "global_step/max_steps": "a/b"}',
     b'{"loss": null, "global_step/max_steps": 3}', b"\xff\xfe", b'{"loss": 1'],
)  # fmt: skip
def test_lines_that_say_nothing_are_passed_over(reader: MetricsReader, line: bytes) -> None:
    append(reader.path, line + b"\n" + FIRST)
    reader.read()
    assert reader.step == 1 and len(reader.metrics) == 2


def test_odd_values_are_no_points(reader: MetricsReader) -> None:
    append(reader.path, b'{"loss": true, "grad_norm": "x", "token_acc": null, "global_step/max_steps": "1/2"}\n')
    reader.read()
    assert reader.metrics == [] and reader.step == 1


def test_the_closing_line_is_no_point_of_the_charts(reader: MetricsReader) -> None:
    append(reader.path, FIRST + CLOSING)
    reader.read()
    assert len(reader.metrics) == 2 and reader.step == 10


@pytest.mark.parametrize(
    ("data", "finished"),
    [
        (FIRST + CLOSING + summary(10), True),
        (FIRST + SECOND + summary(2), False),  # stopped, or an error: ms-swift writes its summary all the same
        (summary(0), False),
        (FIRST + CLOSING, False),
    ],
)
def test_training_is_finished_when_the_summary_comes_after_the_last_step(
    reader: MetricsReader, data: bytes, finished: bool
) -> None:
    version = reader.path.parent / "v0-20260101-000000"
    version.mkdir()
    append(version / "logging.jsonl", data)
    assert log.finished(reader.path.parent, since=None) is finished


def test_the_summary_of_an_earlier_attempt_says_nothing_of_this_one(tmp_path: Path) -> None:
    folder = tmp_path / "v0-20260101-000000"
    folder.mkdir()
    append(folder / "logging.jsonl", FIRST + CLOSING + summary(10))
    os.utime(folder / "logging.jsonl", (1000, 1000))
    assert log.finished(tmp_path, since=900) and not log.finished(tmp_path, since=2000)


@pytest.mark.parametrize(
    ("text", "bar"),
    [
        ("Train:  12%|█▎        | 3/25 [00:04<00:33,  1.51s/it]", (3, 25, 1.51)),
        ("Train:   4%|▍         | 1/25 [00:01<00:24,  2.00it/s]", (1, 25, 0.5)),
        ("Train:   0%|          | 0/25 [00:00<?, ?it/s]", (0, 25, None)),
        ("Train:  8%|█| 2/25 [1:00:04<2:00:33, 30.5s/it]Train:  12%|█| 3/25 [1:00:34<2:00:33, 31s/it]", (3, 25, 31.0)),
    ],
)
def test_the_newest_progress_bar_is_read(text: str, bar: tuple[int, int, float | None]) -> None:
    found = log.last_bar("Map: 100%|██| 100/100 [00:00<00:00]\n" + text)
    assert found is not None and (found.step, found.total_steps, found.seconds_per_step) == bar


@pytest.mark.parametrize("text", ["", "Val: 50%|█| 1/2 [00:00<00:01, 1.0it/s]", "Train: soon"])
def test_no_progress_bar_is_none(text: str) -> None:
    assert log.last_bar(text) is None


@pytest.mark.parametrize(
    ("lines", "phase"),
    [
        ([], "starting"),
        (["run sh: `…`"], "starting"),
        (["rank: -1, local_rank: -1"], "loading"),
        (["rank: -1", "Map: 50%"], "reading_data"),
        (["rank: -1", "Map: 50%", "model_parameter_info: …"], "preparing"),
        (["Map: 50%", "model_parameter_info: …", "Train:   4%|"], "training"),
    ],
)
def test_the_phase_is_what_the_log_spoke_of_last(lines: list[str], phase: str) -> None:
    assert log.phase("\n".join(lines)) == phase


def test_a_readable_log_has_no_colours_and_one_state_of_each_bar() -> None:
    raw = "\x1b[32mok\x1b[0m\r\n0%|\r50%|\r100%|██|\nnext 你\r\n\nend".encode()
    assert log.readable(raw) == "ok\n100%|██|\nnext 你\n\nend"
    assert log.readable("你".encode()[1:] + b"a") == "��a"


def test_the_folder_is_the_one_that_ms_swift_names_and_not_one_that_a_person_wrote(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    path.write_text(
        "run sh: `--system [INFO:swift] output_dir: /etc`\n[INFO:swift] output_dir: /data/家 x/v0-1\nmore\n"
    )
    assert log.real_output_dir(path) == Path("/data/家 x/v0-1")
    assert log.real_output_dir(tmp_path / "none") is None
    path.write_text("nothing yet")
    assert log.real_output_dir(path) is None


def test_versions_are_sorted_by_number(tmp_path: Path) -> None:
    for name in ("v10-20260101", "v2-20260102", "v0-20260103", "other", "v1"):
        (tmp_path / name).mkdir()
    (tmp_path / "v3-file").touch()
    assert [path.name for path in log.versions(tmp_path)] == ["v0-20260103", "v2-20260102", "v10-20260101"]
    (tmp_path / "checkpoint-5").mkdir()
    assert log.versions(tmp_path)[0] == tmp_path
    assert log.versions(tmp_path / "none") == []


def test_a_real_summary_line_is_read_once_and_quickly(reader: MetricsReader) -> None:
    history = [{"loss": 1.0, "step": step} for step in range(20_000)]
    append(
        reader.path,
        CLOSING + json.dumps({"last_model_checkpoint": "c", "global_step": 10, "log_history": history}).encode(),
    )
    assert reader.read() and not reader.finished  # its line end is still to come
    append(reader.path, b"\n")
    assert reader.read() and reader.finished
