"""What the run view says of a run, and which of its buttons can be pressed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from gui.export_tab import hint
from gui.run_header import delete_question, header_html
from gui.run_view import Shown, refresh
from gui.sidebar import RUNS_SHOWN, Sidebar, refresh_sidebar, run_label
from services.bootstrap import Services
from services.runs import process
from services.runs.folder import Record, RunFolder, RunState

BUTTONS = ("stop", "stop_now", "resume", "reuse", "merge", "chat", "delete")


def make(services: Services, name: str = "robot", losses: tuple[float, ...] = (), **values: Any) -> Record:
    folder = RunFolder(services.runs.root / f"1-{name}")
    output = folder.path / "output" / "v0-1"
    output.mkdir(parents=True)
    folder.attempt(1).mkdir(parents=True)
    folder.log(1).write_text(f"[INFO:swift] output_dir: {output}\n")
    lines = [
        json.dumps({"loss": loss, "global_step/max_steps": f"{number}/10"}) for number, loss in enumerate(losses, 1)
    ]
    (output / "logging.jsonl").write_text("\n".join([*lines, ""]))
    defaults = {"kind": "train", "keeper": process.me(), "queued": time.time(), "created": time.time()}
    record = Record(id=folder.id, name=name, **{**defaults, **values})
    folder.write(record)
    return record


def panel(services: Services, record: Record, shown: Shown | None = None) -> tuple[str, str, dict[str, dict[str, Any]]]:
    """Header, charts and the updates of the buttons."""
    header, charts, _log, _command, *rest, _shown = refresh(services, record.id, shown or Shown(), "en")
    return header, charts, {name: update.constructor_args for name, update in zip(BUTTONS, rest, strict=False)}


def visible(services: Services, record: Record) -> set[str]:
    return {name for name, update in panel(services, record)[2].items() if update["visible"]}


def test_stop_keeps_its_place_and_cannot_be_pressed_again_while_the_run_stops(services: Services) -> None:
    for state, may in ((RunState.RUNNING, True), (RunState.STOPPING, False)):
        stop = panel(services, make(services, state.value, state=state))[2]["stop"]
        assert (stop["visible"], stop["interactive"]) == (True, may)


def test_a_run_in_the_queue_has_one_way_out_and_names_what_it_waits_for(services: Services) -> None:
    make(services, "first", state=RunState.RUNNING)
    record = make(services, "second", state=RunState.QUEUED)
    header, _, buttons = panel(services, record)
    assert buttons["stop"]["value"] == "Remove from the queue" and not buttons["stop_now"]["visible"]
    assert "after first" in header


def test_only_a_training_saves_first(services: Services) -> None:
    labels = {}
    for kind in ("train", "merge", "serve"):
        record = make(services, kind, kind=kind, state=RunState.RUNNING)
        labels[kind] = panel(services, record)[2]["stop"]["value"]
    assert labels == {"train": "Stop (saves first)", "merge": "Stop", "serve": "Unload"}


def test_the_settings_of_a_training_can_be_used_again_whatever_came_of_it(services: Services) -> None:
    for state in (RunState.RUNNING, RunState.FAILED, RunState.SUCCEEDED):
        assert "reuse" in visible(services, make(services, state.value, state=state))
    assert "reuse" not in visible(services, make(services, "merge", kind="merge", state=RunState.FAILED))


def test_a_run_that_failed_before_it_trained_has_no_empty_charts_and_no_progress(services: Services) -> None:
    error = {"code": "killed", "values": {}, "line": ""}
    header, charts, _ = panel(services, make(services, state=RunState.FAILED, error=error))
    assert charts == "" and "progressbar" not in header
    assert "td-chart" in panel(services, make(services, "live", state=RunState.RUNNING))[1]


def test_the_figures_tell_the_loss_of_the_chart(services: Services) -> None:
    header, charts, _ = panel(services, make(services, losses=(4.0, 0.072849), state=RunState.SUCCEEDED))
    assert "loss 0.0728" in header and '"td-last">0.0728<' in charts


def test_a_run_that_is_over_took_its_time_and_one_under_way_takes_it(services: Services) -> None:
    over = make(services, state=RunState.STOPPED, started=100.0, ended=160.0, spent_s=60.0)
    assert "took 2 min" in panel(services, over)[0] and "so far" not in panel(services, over)[0]
    assert "so far" in panel(services, make(services, "live", state=RunState.RUNNING, started=time.time() - 5))[0]


def test_there_are_no_empty_boxes_before_the_first_run(services: Services) -> None:
    header, *rest = refresh(services, None, Shown(), "en")
    boxes = [update for update in rest if isinstance(update, gr.Accordion)]
    assert "no" in header and [box.constructor_args["visible"] for box in boxes] == [False, False]


def test_a_chat_server_is_called_by_its_model_in_every_list(services: Services) -> None:
    about = {"model": "Nova:checkpoint-25", "engine": "transformers"}
    record = make(services, "chat-Nova:checkpoint-25", kind="serve", state=RunState.READY, about=about, port=8000)
    assert run_label(services, record, "en") == "● Chat · Nova · step 25 · ready"
    assert "Chat · Nova · step 25" in header_html(services, services.runs.snapshot(record.id), "", "en")


def test_deleting_says_what_goes_and_what_stays(services: Services, tmp_path: Path) -> None:
    ours, theirs = services.settings.home / "models" / "a", tmp_path / "b"
    for folder in (ours, theirs):
        folder.mkdir(parents=True)
    end = {"kind": "merge", "state": RunState.SUCCEEDED}
    assert "goes with it" in delete_question(services, make(services, "a", output_dir=str(ours), **end).id, "en")
    assert "stays" in delete_question(services, make(services, "b", output_dir=str(theirs), **end).id, "en")
    assert delete_question(services, "gone", "en") == ""


@pytest.mark.parametrize("more", [0, 3])
def test_the_list_says_how_many_runs_it_has_no_room_for(services: Services, more: int) -> None:
    for number in range(RUNS_SHOWN + more):
        make(services, f"run-{number}", state=RunState.SUCCEEDED)
    _machine, radio, beside, seen = refresh_sidebar(services, Sidebar(), None, "en")
    assert len(radio.constructor_args["choices"]) == RUNS_SHOWN
    assert ("3 older" in beside) == bool(more)
    again = refresh_sidebar(services, seen, None, "en")
    assert [update.get("__type__") for update in again[1:3]] == ["update", "update"], "nothing is sent twice"


def test_an_export_tab_with_nothing_to_merge_says_what_to_do_first(services: Services) -> None:
    assert "Train something with LoRA first" in hint(services, "en")
    record = make(services, state=RunState.SUCCEEDED, about={"tuner": "lora"})
    checkpoint = services.runs.folder(record.id).path / "output" / "v0-1" / "checkpoint-2"
    checkpoint.mkdir()
    for name in ("adapter_model.safetensors", "trainer_state.json"):
        (checkpoint / name).write_text("{}")
    assert hint(services, "en") == gr.skip()
