from __future__ import annotations

import pytest

from services.datasets.formats import detect


@pytest.mark.parametrize(
    ("columns", "name", "mapping"),
    [
        ("messages", "messages", {"messages": "messages"}),
        ("conversations,system", "messages", {"conversations": "messages", "system": "system"}),
        ("question,answer", "question-answer", {"question": "user", "answer": "assistant"}),
        ("Question,Answer", "question-answer", {"Question": "user", "Answer": "assistant"}),
        ("instruction,input,output", "alpaca", {"instruction": "instruction", "input": "input", "output": "assistant"}),
        ("instruction,output", "instruction-output", {"instruction": "user", "output": "assistant"}),
        ("query,response,history", "query-response", {"query": "user", "response": "assistant", "history": "history"}),
        ("query,prompt,answer", "query-answer", {"query": "user", "answer": "assistant"}),
    ],
)
def test_names_ms_swift_knows_need_no_setting(columns: str, name: str, mapping: dict[str, str]) -> None:
    form = detect(columns.split(","))
    assert (form.name, form.mapping, form.columns, form.problem) == (name, mapping, {}, None)


@pytest.mark.parametrize(
    ("columns", "note", "setting"),
    [
        ("Messages", "columns_spelling", {"Messages": "messages"}),
        (
            "Instruction,Input,Output",
            "columns_spelling",
            {"Instruction": "instruction", "Input": "input", "Output": "output"},
        ),
        ("question, answer", "columns_spelling", {" answer": "answer"}),
        ("问题,回答", "columns_translated", {"问题": "query", "回答": "response"}),
        ("user,assistant", "columns_translated", {"user": "query", "assistant": "response"}),
        ("question,answer,text", "columns_chosen", {"question": "query", "answer": "response"}),
        ("problem,solution,answer", "columns_chosen", {"problem": "query", "solution": "response"}),
        ("prompt,completion,text", "columns_chosen", {"prompt": "query", "completion": "response"}),
    ],
)
def test_names_ms_swift_misreads_are_mended_by_a_setting(columns: str, note: str, setting: dict[str, str]) -> None:
    form = detect(columns.split(","))
    assert (form.note, form.columns, form.problem) == (note, setting, None)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("a,b", "columns_unknown"),
        ("conversation,conversations", "columns_clash"),
        ("question,prompt,output", "columns_clash"),
        ("answer,completion", "columns_clash"),
        ("title,content", "no_question_column"),
        ("context,question", "no_answer_column"),
        ("prompt,chosen,rejected", "preference_set"),
        ("chosen,rejected", "preference_set"),
        ("query,Query,response", "columns_twice"),
    ],
)
def test_names_that_cannot_be_trained_on_are_told(columns: str, problem: str) -> None:
    assert detect(columns.split(",")).problem == problem


def test_a_match_inside_another_word_is_no_match() -> None:
    form = detect(["context", "question", "answer"])
    assert form.mapping == {"question": "user", "answer": "assistant"}
    assert form.unused == ("context",)


def test_text_alone_is_fine_for_pretraining_only() -> None:
    assert detect(["text"], task="pt").mapping == {"text": "text"}
    assert detect(["text"], task="sft").problem == "no_question_column"


def test_the_shape_of_the_turns_names_the_format() -> None:
    assert detect(["conversations"], [{"conversations": [{"from": "human", "value": "a"}]}]).name == "sharegpt"
    assert detect(["messages", "tools"], [{"messages": [{"role": "user"}], "tools": [{}]}]).name == "messages+tools"


def test_rows_inside_one_field_are_noticed() -> None:
    assert detect(["data"], [{"data": [{"query": "a"}]}]).problem == "rows_nested"
