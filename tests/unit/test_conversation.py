"""What a model is told of a conversation, and how an answer grows on the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.chat.conversation import Conversation, growing
from services.errors import Failed


def talk(*exchanges: tuple[str, str, str]) -> Conversation:
    conversation = Conversation()
    for question, model, written in exchanges:
        conversation = conversation.asked(question, model).answered(written)
    return conversation


def test_the_model_is_told_its_answers_and_the_last_question() -> None:
    assert talk(("a", "m", "A")).asked("b", "m").history() == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "b"},
    ]


def test_thoughts_are_not_told_again() -> None:
    history = talk(("a", "m", "<think>hm</think>A")).asked("b", "m").history()
    assert [message["content"] for message in history] == ["a", "A", "b"]


def test_a_question_without_an_answer_is_not_told() -> None:
    history = talk(("a", "m", ""), ("b", "m", "<think>only thoughts")).asked("c", "m").history()
    assert [message["content"] for message in history] == ["c"]


def test_what_another_model_answered_is_not_told() -> None:
    history = talk(("a", "base", "A"), ("b", "tuned", "B")).asked("c", "tuned").history()
    assert [message["content"] for message in history] == ["b", "B", "c"]


def test_a_question_is_told_exactly_as_it_was_typed() -> None:
    assert Conversation().asked("  <b>\n\tx ", "m").history() == [{"role": "user", "content": "  <b>\n\tx "}]


def test_a_retry_forgets_the_last_answer() -> None:
    again = talk(("a", "m", "A"), ("b", "m", "B")).without_last().asked("b", "m")
    assert [message["content"] for message in again.history()] == ["a", "A", "b"]


def test_many_pieces_come_as_few_looks_and_the_last_look_has_all() -> None:
    now = iter(range(10_000))
    looks = list(growing(("x" for _ in range(1000)), clock=lambda: next(now) / 1000))
    assert looks[-1] == "x" * 1000
    assert len(looks) < 30


def test_a_long_answer_is_looked_at_less_often() -> None:
    def looks_of(piece: str) -> int:
        now = iter(range(10_000))
        return len(list(growing((piece for _ in range(1000)), clock=lambda: next(now) / 100)))

    assert looks_of("x" * 60) < looks_of("x")


def test_what_arrived_before_an_error_is_shown_before_it_is_raised() -> None:
    def deltas() -> Iterator[str]:
        yield "one "
        yield "two"
        raise Failed("chat_lost", url="")

    seen = []
    with pytest.raises(Failed):
        for text in growing(deltas(), clock=lambda: 0.0):
            seen.append(text)
    assert seen[-1] == "one two"
