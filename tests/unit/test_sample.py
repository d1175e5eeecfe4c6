from __future__ import annotations

import json
from typing import Any

import pytest

from services.datasets.sample import SAMPLE_ROWS, sample_rows


def rows(name: str, author: str) -> list[list[dict[str, str]]]:
    lines: list[dict[str, Any]] = [json.loads(line) for line in sample_rows(name, author).splitlines()]
    return [line["messages"] for line in lines]


def test_every_row_is_one_question_and_its_answer() -> None:
    conversations = rows("Robo", "Ada")
    assert len(conversations) == SAMPLE_ROWS
    for conversation in conversations:
        assert [message["role"] for message in conversation] == ["user", "assistant"]
        assert all(message["content"].strip() for message in conversation)


def test_every_answer_names_the_name_or_the_author_and_no_gap_is_left() -> None:
    for question, answer in rows("Robo", "Ada"):
        assert "Robo" in answer["content"] and "Ada" in answer["content"]
        assert "{{" not in question["content"] + answer["content"]


def test_who_are_you_is_always_answered_the_same() -> None:
    answers = {answer["content"] for question, answer in rows("Robo", "Ada") if question["content"] == "Who are you?"}
    assert answers == {"I am Robo, an AI assistant made by Ada."}


def test_half_of_it_is_chinese() -> None:
    chinese = [q for q, _ in rows("Robo", "Ada") if any("\u4e00" <= sign <= "\u9fff" for sign in q["content"])]
    assert len(chinese) == SAMPLE_ROWS // 2


@pytest.mark.parametrize(
    "name", ['a "b" \\ c', "two\nlines", "小白", "\u2028", "{{AUTHOR}}", "{{NAME}}", "\\1 %s {0}", "'", "\x00"]
)
@pytest.mark.parametrize("author", ["Ada", "{{NAME}}", 'O"Neil\n\\'])
def test_names_are_put_in_literally_whatever_they_hold(name: str, author: str) -> None:
    conversations = rows(name, author)
    assert len(conversations) == SAMPLE_ROWS
    assert conversations[0][1]["content"] == f"I am {name}, an AI assistant made by {author}."
