"""What is typed is shown as typed, and a model's HTML is text."""

from __future__ import annotations

from html import unescape

import pytest

from gui.chat_view import literal, messages, model_choices, status_html, tame
from gui.words import model_label, run_name
from services.bootstrap import Services
from services.chat.conversation import Conversation
from services.runs.folder import Record, RunState


@pytest.mark.parametrize("typed", ["<b>x</b>", "*a* _b_ `c`", "# no title", "1. a\n- b", "a & b > c", "$$x$$ \\(y\\)"])
def test_what_was_typed_is_not_markup(typed: str) -> None:
    shown = literal(typed)
    assert unescape(shown) == typed
    assert not set("<>*_`$\\") & set(shown)


def test_indentation_that_was_typed_is_kept() -> None:
    assert literal("def f():\n    return 1") == "def f():\n" + "\N{NO-BREAK SPACE}" * 4 + "return 1"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("List<String> and 1 < 2", "List&lt;String> and 1 < 2"),
        ("one<br>two <b>bold</b>", "one<br>two <b>bold</b>"),
        ("`<p>` and <p>", "`<p>` and &lt;p>"),
        ("```\n<p>\n```\n<p>", "```\n<p>\n```\n&lt;p>"),
        ("```\n<p> not closed yet", "```\n<p> not closed yet"),
        ('<b onclick="x">', '&lt;b onclick="x">'),
        ("<https://example.org>", "<https://example.org>"),
    ],
)
def test_html_of_a_model_is_text_outside_of_code(written: str, shown: str) -> None:
    assert tame(written) == shown


def test_thoughts_are_folded_and_a_change_of_the_model_is_told() -> None:
    talk = Conversation().asked("a", "base").answered("<think>hm</think>A").asked("b", "tuned").answered("B")
    shown = messages(talk, "en")
    assert [message["role"][0] for message in shown] == ["u", "a", "a", "a", "u", "a"]
    assert shown[1]["metadata"] == {"title": "Thoughts", "status": "done"}
    assert "tuned" in shown[3]["content"]["text"]


@pytest.mark.parametrize(("ready_at", "told"), [(None, "could not be loaded"), (5.0, "answers no more")])
def test_a_server_that_fails_has_never_answered_or_answers_no_more(
    services: Services, ready_at: float | None, told: str
) -> None:
    error = {"code": "killed", "values": {}, "line": ""}
    about = {"model": "Nova:checkpoint-25"}
    record = Record("1", "x", "serve", RunState.FAILED, error=error, about=about, ready_at=ready_at)
    shown = status_html(services, record, "en")
    assert f"Nova · step 25 {told}" in shown and "Resume" not in shown and "batch size" not in shown


def test_a_model_has_one_name_in_the_list_in_the_status_and_in_the_list_of_runs(services: Services) -> None:
    for run_id, kind, name, about in (
        ("1", "train", "Nova", {"tuner": "lora"}),
        ("2", "merge", "Nova-merged", {"of": "1"}),
        ("3", "serve", "chat-Nova-merged", {"model": "Nova-merged"}),
    ):
        folder = services.runs.folder(run_id)
        folder.path.mkdir(parents=True)
        folder.write(Record(run_id, name, kind, RunState.SUCCEEDED, created=float(run_id), about=about))
    assert [label for label, _ in model_choices(services, "en")][1:] == ["Nova-merged"]
    serving = services.runs.record("3")
    assert model_label(serving, "en") == "Nova-merged" and run_name(serving, "en") == "Chat · Nova-merged"
