"""The Dataset tab: a file is looked at before it is trained on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.server import Server

HTML = "<img src=x onerror=\"document.title='pwned'\"><b id=planted>bold</b>"


def row(question: str, answer: str) -> str:
    return json.dumps({"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]})


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Twelve good rows, the third holding HTML, and the fifth without an answer."""
    lines = [row(f"What is {n}?", f"It is {n}.") for n in range(12)]
    lines[2] = row(HTML, "It is <script>document.title = 'pwned'</script> shown as text.")
    lines[4] = json.dumps({"messages": [{"role": "user", "content": "Nobody answers"}]})
    path = tmp_path / "mine 我的.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_an_uploaded_file_is_judged_row_by_row_shown_as_text_and_trained_on(
    desk: Desk, server: Server, mixed: Path
) -> None:
    desk.tab("Dataset")
    desk.see("dataset-verdict", "100 of 100 rows can be trained on.")
    desk.page.locator("#dataset-upload input[type=file]").set_input_files(mixed)
    desk.see("dataset-verdict", "11 of 12 rows can be trained on.")
    desk.see("dataset-findings", re.compile(r"\b5\b"))
    desk.see("dataset-preview", HTML)
    expect(desk.page.locator("#planted")).to_have_count(0)
    expect(desk.page.locator("#dataset-preview img")).to_have_count(0)
    assert desk.page.title() == "TuneDesk"

    desk.press("Use for training")
    expect(desk.page.get_by_role("tab", name="Training", exact=True)).to_have_attribute("aria-selected", "true")
    desk.see("train-dataset", mixed.name)
    expect(desk.page.locator("#train-name")).to_be_hidden()
    desk.see("train-summary", re.compile(r"Rows\s*1[12]"))
    desk.start()
    desk.see_state("running")
    folder = server.runs.folder(server.newest().id)
    dataset = next(word for word in folder.read_plan(1).argv if mixed.name in word)
    assert str(server.home / "datasets") in dataset
    desk.see_state("finished")


def test_what_is_no_data_is_refused_in_a_sentence(desk: Desk, tmp_path: Path) -> None:
    page = tmp_path / "page.jsonl"
    page.write_text("<!doctype html><html><title>Sign in</title></html>", encoding="utf-8")
    desk.tab("Dataset")
    desk.see("dataset-verdict", "Ready to train")
    desk.page.locator("#dataset-upload input[type=file]").set_input_files(page)
    desk.see("dataset-verdict", "Cannot be trained on as it is")
    desk.see("dataset-findings", "This is a web page")
    expect(desk.page.get_by_role("button", name="Use for training")).to_be_disabled()
    desk.choose("dataset-source", "/etc/passwd")
    desk.see("dataset-verdict", "neither a file TuneDesk may read")
