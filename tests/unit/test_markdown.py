from __future__ import annotations

import pytest

from services.chat.markdown import split_thought


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("", "", ""),
        ("Hello", "", "Hello"),
        ("<think>Hm.</think>Hello", "Hm.", "Hello"),
        ("\n<think>\nHm.\n</think>\n\nHello\n", "Hm.", "Hello"),
        ("<think></think>Hello", "", "Hello"),
        ("Hm.</think>Hello", "Hm.", "Hello"),
        ("<think>Hm", "Hm", ""),
        ("<think>a<think>b</think>c</think>d", "abc", "d"),
        ("<think>a<think>b</think>d", "ab", "d"),
        ("<think>a</think><think>b</think>c", "a\n\nb", "c"),
        ("Write `<think>` and `</think>` around it", "", "Write `<think>` and `</think>` around it"),
        ("The tag <think> opens a thought", "", "The tag <think> opens a thought"),
        ("<think>a</think>x </think> y", "a", "x </think> y"),
        ("1 < 2", "", "1 < 2"),
    ],
)
def test_a_text_is_parted_into_thought_and_answer(text: str, thought: str, answer: str) -> None:
    assert split_thought(text) == (thought, answer)


def test_no_part_of_a_tag_is_ever_shown_while_the_text_arrives() -> None:
    whole = "<think>First this.</think>The answer"
    for end in range(len(whole) + 1):
        thought, answer = split_thought(whole[:end])
        assert "First this.".startswith(thought)
        assert "The answer".startswith(answer)
