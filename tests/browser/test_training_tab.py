"""The Training tab: a form that can be trusted."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.server import Server

NASTY_NAME = '\'; touch x; # $(touch x) `touch x` "q" {port} 诺瓦'
NASTY_AUTHOR = "--author && touch x <b>"
NASTY_RUN = "--name; $(touch x) `touch x` 名"
NASTY_TEXT = "'; touch x; # $(touch x)\n`touch x` {run}"


def plan_of(server: Server, attempt: int = 1) -> dict[str, Any]:
    """The plan of the newest run as it lies on disk."""
    folder = server.runs.folder(server.newest().id)
    plan: dict[str, Any] = json.loads(folder.plan(attempt).read_text("utf-8"))
    return plan


def shell_words(command: str) -> list[str]:
    """The words that a shell makes of a command that is shown, without the variables it is given."""
    words = shlex.split(command.replace("\\\n", " "))
    return list(itertools.dropwhile(lambda word: re.match(r"[A-Z_]+=", word), words))


def test_a_first_visitor_sees_what_to_press_and_what_it_comes_to(desk: Desk) -> None:
    expect(desk.page.get_by_role("button", name="Start training")).to_be_in_viewport()
    assert "Starter model" in desk.page.locator("#train-model input").input_value()
    desk.see("train-dataset", "Sample: who am I")
    assert desk.page.locator("#train-name input, #train-name textarea").input_value() == "TuneBot"
    desk.see("train-summary", "4 rows a step")
    desk.see("train-summary", re.compile(r"Steps\s*25"))
    desk.see("train-summary", re.compile(r"of .* free"))
    desk.see("train-summary", str(desk.server.home))


def test_what_cannot_run_here_is_disabled_and_says_why(desk: Desk) -> None:
    if "No GPU" not in desk.text("machine"):
        pytest.skip("this machine has a card: all of it can run")
    qlora = desk.page.get_by_label("QLoRA", exact=True)
    expect(qlora).to_be_disabled()
    desk.see("choices", "only works on an NVIDIA GPU")
    desk.unfold("train-processes-box")
    expect(desk.page.get_by_label("ZeRO-3", exact=True)).to_be_disabled()
    expect(desk.page.get_by_label("ZeRO-2", exact=True)).to_be_enabled()
    desk.see("train-processes-box", "ZeRO-3 cannot start without a GPU or NPU")


def test_looking_into_every_folded_part_changes_nothing_of_what_will_run(desk: Desk) -> None:
    desk.unfold("train-preview-box")
    desk.wait_for(lambda: "--model" in desk.code("train-preview"), 10)
    shown = desk.code("train-preview")
    for box in ("train-tuner-box", "train-evaluation-box", "train-speed-box", "train-processes-box", "train-target-box",
                "train-advanced", "train-bring-box"):  # fmt: skip
        desk.unfold(box)
    desk.type("train-run-name", "a name alone")
    desk.page.wait_for_timeout(1500)
    assert desk.code("train-preview") == shown
    expect(desk.page.locator("#train-message .td-card")).to_have_count(0)


@pytest.mark.parametrize(
    "typed, said",
    [
        ("--train_type lora", "Write --tuner_type instead"),
        ("--lerning_rate 1", "The closest ones are --learning_rate"),
        ("--learning_rate 1e-4", "has a field of its own"),
        ("--adalora_target_r much", "adalora_target_r cannot be much"),
        ("--model_type llama --ignore_args_error true", "would make ms-swift drop a misspelt"),
        ("--system 'no end", "Line 1 of the further arguments cannot be read"),
    ],
)
def test_a_further_argument_that_ms_swift_would_not_take_is_refused_with_the_right_one(
    typed: str, said: str, desk: Desk
) -> None:
    before = len(desk.server.runs.list())
    desk.unfold("train-advanced")
    desk.type("train-extra", typed)
    desk.see("train-message", said)
    desk.press("Start training")
    desk.page.wait_for_timeout(500)
    desk.see("train-message", said)
    assert len(desk.server.runs.list()) == before
    desk.type("train-extra", "--lora_bias all")
    expect(desk.page.locator("#train-message .td-card")).to_have_count(0)


def test_a_failed_start_says_why_keeps_the_form_and_can_be_started_again_with_whatever_was_typed(
    desk: Desk, server: Server, tiny: Path
) -> None:
    desk.type("train-name", NASTY_NAME)
    desk.type("train-author", NASTY_AUTHOR)
    desk.unfold("train-advanced")
    desk.type("train-run-name", NASTY_RUN)
    desk.type("train-system", NASTY_TEXT)
    desk.choose("train-model", "/nowhere/at all")
    desk.press("Start training")
    desk.see("train-message", "/nowhere/at all")
    assert "Traceback" not in desk.text("desk")
    assert desk.page.locator("#train-name").locator("input, textarea").input_value() == NASTY_NAME
    assert desk.page.locator("#train-run-name").locator("input, textarea").input_value() == NASTY_RUN

    desk.choose("train-model", str(tiny))
    expect(desk.page.locator("#train-message .td-card")).to_have_count(0)
    desk.unfold("train-preview-box")
    desk.wait_for(lambda: str(tiny) in desk.code("train-preview"), 10)
    previewed = shell_words(desk.code("train-preview"))
    desk.start()
    desk.see_state("running")
    plan = plan_of(server)
    gaps = {"{run}": str(server.runs.folder(server.newest().id).path)}
    filled = [re.sub(r"^\{run\}", lambda gap: gaps[gap[0]], word) for word in previewed]
    assert filled == plan["argv"], "what was shown is what ran"
    assert NASTY_TEXT in plan["argv"]
    rows = "".join(plan["files"].values())
    assert json.dumps(NASTY_NAME)[1:-1] in rows
    assert NASTY_AUTHOR in rows
    assert server.newest().name == NASTY_RUN
    desk.unfold("run-command-box")
    desk.wait_for(lambda: shell_words(desk.code("run-command")) == plan["argv"], 10)
    desk.see_state("finished")
    folder = server.runs.folder(server.newest().id).path
    assert not [path for place in (folder, Path.cwd()) for path in place.rglob("x") if path.is_file()]


def test_a_run_that_fails_at_once_says_what_why_and_what_next_within_two_seconds(desk: Desk, server: Server) -> None:
    desk.type("train-name", "Nova")
    desk.unfold("train-tuner-box")
    desk.type("train-target-modules", "nonsense")
    desk.start()
    desk.see_state("failed")
    seen = time.time()
    record = server.newest()
    assert record.ended is not None
    assert seen - record.ended < 2
    card = desk.page.locator("#run-header .td-error")
    expect(card).to_contain_text("nonsense")
    expect(card).to_contain_text("start it as a new run")
    without_log = desk.text("choices") + desk.text("run-header") + desk.text("run-message")
    assert "Traceback" not in without_log
    assert desk.page.locator("#train-name").locator("input, textarea").input_value() == "Nova"
    desk.see("runs", "failed")
    expect(desk.page.get_by_role("button", name="Resume")).to_be_visible()
    expect(desk.page.get_by_role("button", name=re.compile("^Delete"))).to_be_visible()


def test_the_keyboard_alone_reaches_start_and_starts(desk: Desk, server: Server) -> None:
    before = len(server.runs.list())
    desk.page.locator("#train-model input").focus()
    for _ in range(60):
        desk.page.keyboard.press("Tab")
        if desk.page.evaluate("document.activeElement.id") == "train-start":
            break
    else:
        pytest.fail("sixty Tabs did not reach Start")
    expect(desk.page.locator("#train-start")).to_be_in_viewport()
    desk.page.keyboard.press("Enter")
    desk.wait_for(lambda: len(server.runs.list()) == before + 1, 10)
    desk.wait_for(lambda: desk.state in ("queued", "starting", "running"), 5)


def test_a_second_run_waits_for_its_turn_and_can_be_stopped_and_deleted(
    server: Server, open_desk: Callable[..., Desk]
) -> None:
    desk = open_desk(server)
    desk.unfold("train-advanced")
    desk.type("train-run-name", "first in line")
    desk.start()
    desk.wait_for(lambda: desk.state in ("starting", "running"), 15)
    desk.type("train-run-name", "second in line")
    desk.start()
    desk.see_state("queued", 5)
    desk.see("run-header", "Waiting for its turn, after first in line")
    desk.press("Remove from the queue")
    desk.see_state("stopped", 5)
    before = len(server.runs.list())
    desk.page.get_by_role("button", name=re.compile("^Delete")).click()
    desk.press("Yes, delete it for good")
    desk.wait_for(lambda: "second in line" not in desk.text("runs"), 5)
    assert len(server.runs.list()) == before - 1


def test_what_is_chosen_fits_or_does_not_and_says_why(desk: Desk) -> None:
    desk.see("train-fit", "Fits this machine")
    desk.see("train-fit", re.compile(r"[\d.]+ of [\d.]+ GiB"))
    assert desk.page.locator("#train-fit .td-fit-bar i").count() >= 2
    desk.unfold("train-processes-box")
    desk.page.locator("#train-strategy").get_by_text("DDP", exact=True).click()
    desk.see("train-fit", "You asked for DDP")


def test_a_task_brings_its_own_fields_and_a_missing_reward_is_refused(desk: Desk) -> None:
    expect(desk.page.locator("#train-task-box")).to_be_hidden()
    desk.page.locator("#train-task input").click()
    desk.page.get_by_role("option", name=re.compile("GRPO")).click()
    expect(desk.page.locator("#train-reward-funcs")).to_be_visible()
    expect(desk.page.locator("#train-rpo-alpha")).to_be_hidden()
    desk.see("train-message", "reward")
    desk.page.locator("#train-task input").click()
    desk.page.get_by_role("option", name=re.compile("DPO")).first.click()
    expect(desk.page.locator("#train-rpo-alpha")).to_be_visible()
    expect(desk.page.locator("#train-reward-funcs")).to_be_hidden()


def test_a_preset_fills_the_form_and_settings_are_kept_under_a_name(desk: Desk, server: Server) -> None:
    field = desk.page.locator("#train-preset input")
    field.click()
    desk.page.get_by_role("option", name=re.compile("rsLoRA")).first.click()
    desk.see("train-preset-evidence", "GiB")
    desk.unfold("train-tuner-box")
    expect(desk.page.locator("#train-use-rslora input")).to_have_value("on")
    desk.choose("train-model", str(server.env["TUNEDESK_STARTER"]))
    desk.unfold("train-bring-box")
    desk.type("train-preset-name", "mine 我的")
    desk.press("Keep")
    desk.see("train-preset-message", "mine 我的")
    desk.page.reload()
    desk.wait_until_filled()
    desk.forgive_lost_server()  # what was asked when the page was left
    desk.page.locator("#train-preset input").click()
    expect(desk.page.get_by_role("option", name="★ mine 我的")).to_be_visible()


def test_a_pasted_command_fills_the_form_and_says_what_became_of_every_flag(desk: Desk) -> None:
    desk.unfold("train-bring-box")
    desk.type(
        "train-pasted",
        "export NPROC_PER_NODE=2\nswift sft --model starter --train_type lora --lora_rank 4 \\\n"
        "  --dataset sample --learning_rate 5e-5 --gradient_clipping 1.0 --max_length 256",
    )
    desk.press("Fill the form from it")
    desk.see("train-brought", "--train_type lora → --tuner_type lora")
    desk.see("train-brought", "--gradient_clipping")
    expect(desk.page.locator("#train-lora-rank").locator("input, textarea")).to_have_value("4")
    expect(desk.page.locator("#train-learning-rate").locator("input, textarea")).to_have_value("5e-5")
    desk.unfold("train-preview-box")
    desk.wait_for(lambda: "--max_length 256" in desk.code("train-preview"), 10)
    desk.page.locator("#train-preview-as").get_by_text("Python", exact=True).click()
    desk.wait_for(lambda: "sft_main(" in desk.code("train-preview"), 10)
    desk.type("train-pasted", "$(touch x)")
    desk.press("Fill the form from it")
    expect(desk.page.locator("#train-brought .td-card")).to_be_visible()
    assert not Path("x").exists()
