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


@pytest.fixture
def mine(server: Server) -> Path:
    """A folder that the window may read."""
    folder = server.home / "mine 我的"
    folder.mkdir(exist_ok=True)
    return folder


def test_rows_can_be_leafed_through_searched_and_jumped_to(desk: Desk, mine: Path) -> None:
    path = mine / "many.jsonl"
    needle = {700: " The needle.", 2500: " The needle."}
    lines = [row(f"Question {n}?", f"Answer {n}.{needle.get(n, '')}") for n in range(1, 3001)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    desk.tab("Dataset")
    desk.choose("dataset-source", str(path))
    desk.see("dataset-place", "Rows 1–10 of 3,000")
    desk.page.locator("#dataset-next").click()
    desk.see("dataset-preview", "Answer 11.")
    box = desk.page.locator("#dataset-number").locator("input, textarea").first
    box.fill("2000")
    box.press("Enter")
    desk.see("dataset-preview", "Question 2000?")
    search = desk.page.locator("#dataset-search").locator("input, textarea").first
    search.fill("the needle")
    search.press("Enter")
    desk.see("dataset-preview", "Answer 2500. The needle.")
    search.press("Enter")
    desk.see("dataset-preview", "Answer 700. The needle.")
    desk.page.locator("#dataset-preview summary").first.click()
    expect(desk.page.locator("#dataset-preview details[open] pre").first).to_contain_text('"content": "Question 700?"')


def test_faults_are_mended_in_a_copy_with_one_click_and_the_source_stays_as_it_was(
    desk: Desk, server: Server, mine: Path
) -> None:
    path = mine / "faulty.jsonl"
    lines = [row(f"Which is {n}?", f"This is {n}.") for n in range(8)]
    lines[2] = row("Blank?", "  ")
    lines[5] = json.dumps({"messages": [{"role": "user", "content": "Alone"}]})
    lines[7] = lines[0]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    before = path.read_bytes()
    desk.tab("Dataset")
    desk.choose("dataset-source", str(path))
    desk.see("dataset-verdict", "6 of 8 rows can be trained on.")
    desk.see("dataset-fixes", "Leave out rows 3")
    desk.press("Write a mended copy")
    desk.see("dataset-mended", "faulty-clean.jsonl (5 rows; 3 left out)")
    desk.see("dataset-verdict", "5 of 5 rows can be trained on.", 30)
    assert path.read_bytes() == before
    assert len((server.home / "datasets" / "faulty-clean.jsonl").read_text("utf-8").splitlines()) == 5


def test_columns_are_given_their_meaning_in_the_header_and_it_goes_into_the_plan(desk: Desk, mine: Path) -> None:
    path = mine / "odd.csv"
    path.write_text("frage,antwort\n" + "".join(f"Was ist {n}?,Das ist {n}.\n" for n in range(5)), encoding="utf-8")
    desk.tab("Dataset")
    desk.choose("dataset-source", str(path))
    desk.see("dataset-verdict", "Cannot be trained on as it is")
    for column, role in (("frage", "question"), ("antwort", "answer")):
        desk.page.locator("#dataset-roles").get_by_label(column, exact=True).click()
        desk.page.get_by_role("option", name=role, exact=True).click()
        desk.page.wait_for_timeout(1500)
    desk.see("dataset-verdict", "5 of 5 rows can be trained on.")
    desk.press("Use for training")
    desk.unfold("train-preview-box")
    desk.wait_for(lambda: '"antwort": "response"' in desk.code("train-preview"), 15)


def test_the_tokens_of_the_rows_are_counted_and_the_trained_ones_marked(desk: Desk) -> None:
    desk.tab("Dataset")
    desk.see("dataset-verdict", "100 of 100 rows can be trained on.", 60)
    desk.page.get_by_role("tab", name="Tokens", exact=True).click()
    desk.see("dataset-tokens", re.compile(r"Tokens in all\s*[\d,]+"), 60)
    trained = desk.page.locator("#dataset-tokens .td-trained").all_inner_texts()
    assert "TuneBot" in "".join(trained)
    assert "Who are you?" not in "".join(trained)


def test_a_data_set_is_found_in_ms_swifts_own_list(desk: Desk) -> None:
    desk.tab("Dataset")
    desk.unfold("dataset-find-box")
    desk.type("dataset-find", "alpaca gpt4 zh")
    desk.page.locator("#dataset-found label").first.click()
    desk.see("dataset-verdict", "alpaca-gpt4-data-zh")
    expect(desk.page.get_by_role("button", name="Download", exact=True)).to_be_visible()
