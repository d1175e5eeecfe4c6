"""What the window looks like: both languages, both themes, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.server import Server

TABS = ("Dataset", "Training", "Export", "Chat")
CHINESE_TABS = ("数据集", "训练", "导出", "对话")
MIN_CONTRAST, MIN_LARGE = 4.5, 3.0
"""WCAG 2.2, success criterion 1.4.3 (AA)."""

CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")
"""Every visible text with its contrast: ``[{text, ratio, large, where}]``; what is disabled is left out."""


def too_faint(desk: Desk) -> list[str]:
    found: list[dict[str, Any]] = desk.page.evaluate(CONTRAST)
    assert len(found) > 10
    faint = [one for one in found if one["ratio"] < (MIN_LARGE if one["large"] else MIN_CONTRAST)]
    return [f"{one['ratio']:.2f} {one['text']!r} ({one['where']})" for one in faint]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read_in_the_theme(theme: str, server: Server, open_desk: Callable[..., Desk]) -> None:
    desk = open_desk(server, f"/?__theme={theme}")
    desk.unfold("train-advanced")
    desk.type("train-extra", "--lerning_rate 1")
    desk.see("train-message", "The closest ones")
    faint = too_faint(desk)
    desk.type("train-extra", "")
    desk.start()
    desk.see_state("running")
    desk.unfold("train-preview-box")
    desk.unfold("run-command-box")
    desk.see("run-command", "--model", 20)
    faint += too_faint(desk)
    desk.press("Stop now")
    for tab in TABS:
        desk.tab(tab)
        desk.page.wait_for_timeout(600)
        faint += too_faint(desk)
    assert not faint, "\n".join(sorted(set(faint)))


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off_and_start_is_in_reach_at_a_width_of(
    width: int, server: Server, open_desk: Callable[..., Desk]
) -> None:
    desk = open_desk(server, viewport={"width": width, "height": 900})
    desk.start()
    desk.wait_for(lambda: len(desk.text("run-log")) > 40, 40, "no log")
    desk.press("Stop now")
    desk.see_state("stopped", 10)
    expect(desk.page.get_by_role("button", name="Start training")).to_be_in_viewport()
    for tab in TABS:
        desk.tab(tab)
        desk.page.wait_for_timeout(400)
        assert desk.page.evaluate("document.documentElement.scrollWidth") <= width, tab
        assert not desk.page.evaluate(BEYOND, width), tab


BEYOND = """(width) => [...document.querySelectorAll('button, input, textarea, label, [class^=td-]')]
  .filter((one) => one.checkVisibility() && !one.closest('[aria-hidden=true]'))
  .filter((one) => one.getBoundingClientRect().right > width + 1)
  .map((one) => one.outerHTML.slice(0, 120))"""


def test_a_chinese_browser_reads_chinese_labels_states_and_errors(
    server: Server, open_desk: Callable[..., Desk]
) -> None:
    desk = open_desk(server, locale="zh-CN")
    for tab in CHINESE_TABS:
        expect(desk.page.get_by_role("tab", name=tab, exact=True)).to_be_visible()
    desk.see("train-dataset", "示例：我是谁")
    desk.see("train-summary", "总批大小")
    desk.unfold("train-advanced")
    desk.type("train-extra", "--train_type lora")
    desk.see("train-message", "请改写为 --tuner_type")
    desk.type("train-extra", "")
    desk.type("train-run-name", "诺瓦")
    desk.start("开始训练")
    desk.wait_for(lambda: desk.state in ("启动中", "运行中"), 15)
    desk.press("立即停止")
    desk.wait_for(lambda: desk.state == "已停止", 15)
    desk.see("runs", "诺瓦 · 已停止")
    desk.see("run-header", re.compile("点击“继续”会从"))
    english = re.findall(r"[A-Za-z]{3,}(?: [a-z]{2,}){2,}", desk.text("sidebar") + desk.text("choices"))
    assert not english, "left in English"


def test_an_idle_page_asks_for_nothing_but_its_tick(desk: Desk) -> None:
    desk.page.wait_for_function("!document.querySelector('#dataset-verdict [role=progressbar]')", timeout=60_000)
    desk.page.wait_for_timeout(3000)
    asked: list[str] = []
    desk.page.on("request", lambda request: asked.append(request.url))
    desk.page.wait_for_timeout(5000)
    assert len(asked) <= 14, "two requests a second"
