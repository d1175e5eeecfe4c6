"""Mended copies: of every shape of fault, checked again afterwards."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from services.datasets.check import check
from services.datasets.digests import Digests
from services.datasets.formats import Task
from services.datasets.mend import Mended, clean_name, mend
from services.errors import Refused

DATA = Path(__file__).parents[1] / "data"
TIDY = ("lower_roles", "join_turns", "trim_turns")
PAIRS = ({"question": "What?", "answer": "This"}, {"question": "Who?", "answer": "Me"})
CHAT = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]}


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def rows_of(made: Mended) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.path.read_text("utf-8").splitlines()]


def mended(tmp_path: Path, name: str, content: str | bytes, *fixes: str, **options: Any) -> list[dict[str, Any]]:
    return rows_of(mend(written(tmp_path, name, content), fixes, tmp_path / "out", **options))


TABLE = "question,answer\nWhat?,This\nWho?,Me\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", TABLE.replace(",", "\t")),
        ("a.csv", TABLE.replace(",", ";")),
        ("a.csv", TABLE.replace(",", "|").encode("utf-16")),
        ("a.csv", "sep=;\n" + TABLE.replace(",", ";")),
        ("a.csv", b"\xef\xbb\xbf" + TABLE.encode()),
        ("a.csv", TABLE.replace("\n", "\r")),
        ("a.CSV", TABLE),
        ("a.csv.gz", gzip.compress(TABLE.encode())),
        ("a.csv.zst", zstandard.compress(TABLE.encode())),
        ("a.jsonl.zst", zstandard.compress(lines(*PAIRS).encode())),
        ("a.ndjson", lines(*PAIRS)),
        ("a.json", ' [{"question": "What?", "answer": "This"}, {"question": "Who?", "answer": "Me"}]'),
        ("a.json", '{"question": ["What?", "Who?"], "answer": ["This", "Me"]}'),
        ("a.json", '{"question": {"0": "What?", "1": "Who?"}, "answer": {"0": "This", "1": "Me"}}'),
        ("a.json", '{\n"question": "What?", "answer": "This"}\n{"question": "Who?",\n"answer": "Me"}'),
        ("a.jsonl", lines(*PAIRS).encode("utf-16-le")),
    ],
)  # fmt: skip
def test_whatever_holds_the_rows_becomes_json_lines(tmp_path: Path, name: str, content: str | bytes) -> None:
    made = mend(written(tmp_path, name, content), ["convert"], tmp_path / "out")
    assert rows_of(made) == list(PAIRS)
    report = check(made.path)
    assert (report.verdict, report.usable, made.path.name) == ("ok", 2, "a-clean.jsonl")


@pytest.mark.parametrize(
    ("encoding", "question"), [("gb18030", "怎么给自行车打气？"), ("cp1252", "Où est “l’été” à Orléans?")]
)
def test_other_encodings_become_utf_8(tmp_path: Path, encoding: str, question: str) -> None:
    text = f"question,answer\n{question},Là\n" if encoding == "cp1252" else f"问题,回答\n{question},用打气筒。\n"
    made = mended(tmp_path, "a.csv", text.encode(encoding), "convert", "rename_columns")
    assert made[0]["query"] == question


def test_tables_lose_nothing(tmp_path: Path) -> None:
    table = pyarrow.table({"query": ["a", "b"], "response": ["c", "d"], "when": [None, b"x"]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pyarrow.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    for name in ("a.parquet", "a.arrow"):
        made = mend(tmp_path / name, ["convert"], tmp_path / "out")
        assert rows_of(made)[1] == {"query": "b", "response": "d", "when": "x"}


def test_a_line_with_too_many_fields_is_joined_where_that_is_clear_and_left_out_where_not(tmp_path: Path) -> None:
    text = "question,answer\nWhat?,Leaves, grass, and more\nHow, now,Like this\na,b,c\nIs it?\nfine,ok\nend,stop,,\n"
    made = mend(written(tmp_path, "a.csv", text), ["join_ragged", "drop_unusable"], tmp_path / "out")
    assert [row["answer"] for row in rows_of(made)] == ["Leaves, grass, and more", "Like this", "ok", "stop"]
    assert rows_of(made)[1]["question"] == "How, now"
    assert (made.rows_dropped, dict(made.reasons)) == (2, {"csv_shifted": 1, "row_blank_answer": 1})


def test_broken_lines_stop_the_copy_unless_they_are_to_be_left_out(tmp_path: Path) -> None:
    text = lines(CHAT) + "{broken\n" + lines({"messages": turns("And?", "So.")}) + '{"messages": [{"role": "us'
    path = written(tmp_path, "a.jsonl", text)
    with pytest.raises(Refused) as refused:
        mend(path, ["convert"], tmp_path / "out")
    assert (refused.value.code, refused.value.values["line"]) == ("mend_row_broken", 2)
    assert list((tmp_path / "out").iterdir()) == []
    made = mend(path, ["drop_broken"], tmp_path / "out")
    assert (made.rows_written, dict(made.reasons)) == (2, {"json_broken": 1, "json_cut": 1})
    assert check(made.path).verdict == "ok"


def test_numbers_and_dates_become_text_that_ms_swift_keeps_as_text(tmp_path: Path) -> None:
    rows = mended(tmp_path, "n.csv", "question,answer\n40+3?,43\n1/2?,0.5\n", "text_cells")
    assert [row["answer"] for row in rows] == ["43", "0.5"]
    made = mend(written(tmp_path, "d.jsonl", lines(
        {"question": "When?", "answer": "2024-01-01"}, {"question": "And then?", "answer": "2024-02-01"},
    )), ["text_cells"], tmp_path / "out")  # fmt: skip
    assert rows_of(made)[0]["messages"][1]["content"] == "2024-01-01"
    assert check(made.path).verdict == "ok"
    text = lines({"query": "?", "response": True}, {"query": 1, "response": 2.5})
    rows = mended(tmp_path, "b.jsonl", text, "text_cells")
    assert rows == [{"query": "?", "response": "true"}, {"query": "1", "response": "2.5"}]


def test_mixed_formats_become_one(tmp_path: Path) -> None:
    rows = [
        CHAT,
        {"instruction": "Add", "input": "1 2", "output": "3"},
        {"query": "q", "response": "a", "history": [["b", "c"]], "system": "s"},
        {"conversations": [{"from": "human", "value": "x"}, {"from": "gpt", "value": "y"}]},
        {"prompt": "p", "completion": "c", "text": "t"},
    ]
    made = mend(written(tmp_path, "a.jsonl", lines(*rows)), ["to_messages"], tmp_path / "out")
    assert [[turn["content"] for turn in row["messages"]] for row in rows_of(made)] == [
        ["Hi", "Hello."], ["Add\n1 2", "3"], ["s", "b", "c", "q", "a"], ["x", "y"], ["p", "c"],
    ]  # fmt: skip
    report = check(made.path)
    assert (report.verdict, report.usable) == ("ok", 5)


@pytest.mark.parametrize(
    "value",
    [
        "[{'role': 'user', 'content': 'x'}, {'role': 'assistant', 'content': 'y'}]",
        '[{"from": "human", "value": "x"}, {"from": "gpt", "value": "y"}]',
        [{"from": "Human", "value": "x"}, {"from": "ChatGPT", "value": "y"}],
        [{"human": "x", "assistant": "y"}],
        [["x", "y"]],
        ["x", "y"],
        "\n\nHuman: x\n\nAssistant: y",
        {"messages": [{"speaker": "user", "text": "x"}, {"speaker": "bot", "text": "y"}]},
        [{"role": "USER", "content": "x"}, {"role": "Assistant ", "content": "y"}],
        [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "content": "y"}],
    ],
)
def test_every_spelling_of_a_conversation_is_understood(tmp_path: Path, value: Any) -> None:
    assert mended(tmp_path, "a.jsonl", lines({"messages": value}), "to_messages") == [{"messages": turns("x", "y")}]


def test_tool_calls_and_pictures_survive_the_rewriting(tmp_path: Path) -> None:
    call = {"id": "2", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    other = {"id": "1", "type": "function", "function": {"name": "g", "arguments": {}}}
    (tmp_path / "img").mkdir()
    written(tmp_path, "img/a.png", b"")
    rows = [
        {"messages": [
            {"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [call, other]},
            {"role": "tool", "tool_call_id": "1", "content": "one"},
            {"role": "tool", "tool_call_id": "2", "content": "two"},
            {"role": "assistant", "content": "done", "loss": False}], "tools": "[{}]", "unused": 1},
        {"messages": [{"role": "user", "content": "<image>what?"}, {"role": "assistant", "content": "fern"}],
         "images": ["img/a.png", "img/none.png"]},
    ]  # fmt: skip
    first, second = mended(tmp_path, "a.jsonl", lines(*rows), "to_messages")
    assert [(turn["role"], turn["content"]) for turn in first["messages"]] == [
        ("user", "go"), ("tool_call", '{"name":"f","arguments":{"a":1}}'), ("tool_call", '{"name":"g","arguments":{}}'),
        ("tool", "two"), ("tool", "one"), ("assistant", "done"),
    ]  # fmt: skip
    assert first["messages"][-1]["loss"] is False and first["tools"] == "[{}]" and "unused" not in first
    assert second["images"] == [str(tmp_path / "img/a.png"), "img/none.png"]


ASKED, BETTER, WORSE = turns("x"), turns("x", "good"), turns("x", "bad")


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "x", "chosen": "good", "rejected": "bad"},
        {"prompt": ASKED, "chosen": "good", "rejected": "bad"},
        {"prompt": "x", "chosen": BETTER[1:], "rejected": WORSE[1:]},
        {"prompt": "x", "chosen": BETTER, "rejected": WORSE},
        {"chosen": BETTER, "rejected": WORSE},
        {"chosen": json.dumps(BETTER), "rejected": str(WORSE)},
        {"chosen": "\n\nHuman: x\n\nAssistant: good", "rejected": "\n\nHuman: x\n\nAssistant: bad"},
        {"chosen": [["x", "good"]], "rejected": [["x", "bad"]]},
        {"conversations": [{"from": "human", "value": "x"}], "chosen": {"from": "gpt", "value": "good"},
         "rejected": {"from": "gpt", "value": "bad"}},
        {"question": "x", "response_chosen": "good", "response_rejected": "bad"},
        {"messages": BETTER, "chosen": "good", "rejected_response": "bad"},
        {"Prompt": "x", "Chosen": "good", "Rejected": "bad", "score": 3},
    ],
)  # fmt: skip
def test_pairs_in_every_shape_become_messages_and_a_rejected_answer(tmp_path: Path, row: dict[str, Any]) -> None:
    made = mend(written(tmp_path, "a.jsonl", lines(row)), ["to_preference"], tmp_path / "out", task="dpo")
    assert rows_of(made) == [{"messages": BETTER, "rejected_response": "bad"}]
    report = check(made.path, task="dpo")
    assert (report.verdict, report.usable) == ("ok", 1)


def test_pairs_that_differ_earlier_keep_both_conversations(tmp_path: Path) -> None:
    longer = [*turns("x", "worse"), *turns("why?", "because")]
    row = {"chosen": [*turns("x", "better"), *turns("how?", "so")], "rejected": longer}
    (made,) = mended(tmp_path, "a.jsonl", lines(row), "to_preference", task="dpo")
    assert made["rejected_messages"] == longer


def test_plain_pairs_without_a_prompt_keep_what_they_share_as_the_prompt(tmp_path: Path) -> None:
    rows = [
        {"chosen": "What is 2+2? It is four.", "rejected": "What is 2+2? It is five."},
        {"chosen": "nothing", "rejected": "shared"},
        {"prompt": "x", "chosen": "good"},
    ]
    path = written(tmp_path, "a.jsonl", lines(*rows))
    made = mend(path, ["to_preference", "drop_unusable"], tmp_path / "out", task="dpo")
    (row,) = rows_of(made)
    assert [turn["content"] for turn in row["messages"]] == ["What is 2+2? It is", "four."]
    assert row["rejected_response"] == "five."
    assert made.rows_dropped == 2


def test_labels_for_kto_become_truth_values(tmp_path: Path) -> None:
    labels = ["true", "no", 1, 0, -1, "👍", "Bad", True, "maybe", None]
    rows = [{"prompt": "p", "completion": f"c{n}", "label": label} for n, label in enumerate(labels)]
    made = mend(written(tmp_path, "a.jsonl", lines(*rows)), ["kto_labels"], tmp_path / "out", task="kto")
    assert [row["label"] for row in rows_of(made)] == [True, False, True, False, False, True, False, True]
    assert dict(made.reasons) == {"row_label_unknown": 2}


def test_turns_are_put_right(tmp_path: Path) -> None:
    messages = [
        {"role": "System", "content": "s"}, {"role": "assistant", "content": "hello"},
        {"role": "User", "content": "one"},
        {"role": "user", "content": "two"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "bye"},
    ]  # fmt: skip
    (row,) = mended(tmp_path, "a.jsonl", lines({"messages": messages}), *TIDY)
    assert [(turn["role"], turn["content"]) for turn in row["messages"]] == [
        ("system", "s"), ("user", "one\n\ntwo"), ("assistant", "a"),
    ]  # fmt: skip


def test_duplicates_go_but_the_first_and_columns_that_are_not_used_do_not_matter(tmp_path: Path) -> None:
    rows = [
        {"query": "q", "response": "a", "id": 1},
        {"response": "a", "query": "q", "id": 2},
        {"query": "q", "response": "b", "id": 1},
    ]
    made = mend(written(tmp_path, "a.jsonl", lines(*rows)), ["drop_duplicates"], tmp_path / "out")
    assert (made.rows_written, dict(made.reasons)) == (2, {"duplicate": 1})


def test_pairs_with_another_rejected_answer_are_no_duplicates(tmp_path: Path) -> None:
    rows = [{"messages": BETTER, "rejected_response": text} for text in ("bad", "worse", "bad")]
    made = mend(written(tmp_path, "a.jsonl", lines(*rows)), ["drop_duplicates"], tmp_path / "out", task="dpo")
    assert [row["rejected_response"] for row in rows_of(made)] == ["bad", "worse"]


def test_the_set_of_digests_grows_and_never_confuses(tmp_path: Path) -> None:
    digests = Digests()
    assert all(digests.add(str(number).encode()) for number in range(20_000))
    assert not any(digests.add(str(number).encode()) for number in range(20_000))
    assert len(digests) == 20_000


@pytest.mark.parametrize("token", ["<|im_end|>", "<|endoftext|>", "</s>", "[INST]", "<｜end▁of▁sentence｜>"])
def test_control_tokens_are_broken_up_and_ordinary_text_is_left_alone(tmp_path: Path, token: str) -> None:
    row = {"query": f"a {token} b", "response": "<b> [x] <| 5 |> ok"}
    (made,) = mended(tmp_path, "a.jsonl", lines(row), "neutral_tokens")
    assert token not in made["query"] and made["query"].replace("\u200b", "") == row["query"]
    assert made["response"] == row["response"]


def test_rows_go_by_number_by_finding_or_because_nothing_is_learnt_from_them(tmp_path: Path) -> None:
    rows = [
        CHAT,
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": None}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": " "}]},
        {"messages": [{"role": "user", "content": "<|im_end|>"}, {"role": "assistant", "content": "y"}]},
        {"messages": [{"role": "moderator", "content": "x"}, {"role": "assistant", "content": "y"}]},
        CHAT,
    ]
    path = written(tmp_path, "a.jsonl", lines(*rows))
    made = mend(path, ["drop_unusable"], tmp_path / "out")
    assert (made.rows_written, made.reasons["row_null_content"], made.reasons["row_unknown_role"]) == (3, 1, 1)
    made = mend(path, ["drop:row_control_tokens", "drop_unusable"], tmp_path / "out", drop={6})
    assert (made.rows_written, made.reasons["by_number"]) == (1, 1)
    with pytest.raises(Refused) as refused:
        mend(path, ["drop_unusable"], tmp_path / "out", drop=range(1, 7))
    assert refused.value.code == "mend_nothing_left"


def test_columns_get_the_meaning_that_a_person_gave_them(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", lines({"question": "q", "answer": "a", "text": "t"}))
    made = mend(path, ["rename_columns"], tmp_path / "out", columns={"question": "query", "text": "response"})
    assert rows_of(made) == [{"query": "q", "response": "t"}]


def test_pairs_without_use_go_by_their_finding(tmp_path: Path) -> None:
    rows = [
        {"messages": BETTER, "rejected_response": "bad"},
        {"messages": BETTER, "rejected_response": "good"},
        {"messages": BETTER, "rejected_response": "good "},
        {"messages": BETTER, "rejected_response": None},
        {"messages": BETTER},
    ]
    fixes = ["drop:row_rejected_same", "drop:row_rejected_spaces", "drop:row_rejected_missing"]
    made = mend(written(tmp_path, "a.jsonl", lines(*rows)), fixes, tmp_path / "out", task="dpo")
    assert rows_of(made) == rows[:1]
    assert dict(made.reasons) == {
        "row_rejected_same": 1, "row_rejected_spaces": 1, "row_rejected_missing": 2,
    }  # fmt: skip


def test_a_role_that_is_none_in_any_spelling_goes(tmp_path: Path) -> None:
    odd = [{"role": "moderator", "content": "x"}, {"role": "assistant", "content": "y"}]
    upper = [{"role": "USER", "content": "x"}, {"role": "AI", "content": "y"}]
    made = mend(written(tmp_path, "a.jsonl", lines({"messages": odd}, {"messages": upper})), ["lower_roles"], tmp_path)
    assert rows_of(made) == [{"messages": turns("x", "y")}]


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.*")))
def test_the_repairs_that_the_check_names_do_away_with_what_it_named(tmp_path: Path, name: str) -> None:
    task: Task = "dpo" if name == "preference.jsonl" else "sft"
    before = check(DATA / name, task=task)
    fixes = {finding.fix for finding in before.findings if finding.fix is not None}
    if not fixes:
        assert before.verdict != "blocked" or not before.after_fix.usable
        return
    made = mend(DATA / name, fixes, tmp_path, task=task)
    after = check(made.path, task=task)
    assert after.verdict != "blocked"
    assert after.usable == made.rows_written
    codes = {finding.code for finding in before.findings if finding.fix is not None}
    assert codes.isdisjoint(finding.code for finding in after.findings)


def test_the_source_is_never_written_and_no_copy_overwrites_another(tmp_path: Path) -> None:
    path = written(tmp_path, "a b,c#1.jsonl", lines(CHAT))
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    names = [mend(path, ["convert"], tmp_path).path.name for _ in range(3)]
    assert names == ["a b,c_1-clean.jsonl", "a b,c_1-clean-2.jsonl", "a b,c_1-clean-3.jsonl"]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert not list(tmp_path.glob(".mend-*"))


def test_a_stopped_copy_leaves_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", lines(*[CHAT] * 2_000))
    seen: list[float] = []
    with pytest.raises(Refused) as refused:
        mend(path, ["convert"], tmp_path / "out", progress=seen.append, stop=lambda: len(seen) > 2)
    assert refused.value.code == "mend_stopped"
    assert list((tmp_path / "out").iterdir()) == []
    assert seen == sorted(seen)


def test_an_unknown_fix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        mend(written(tmp_path, "a.jsonl", lines(CHAT)), ["polish"], tmp_path / "out")
    assert refused.value.code == "mend_unknown_fix"


def test_rows_with_a_column_that_comes_late_are_brought_to_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.datasets.copies.FIRST_BYTES", 500)
    rows = [CHAT] * 20 + [{**CHAT, "images": ["a.png"]}] + [CHAT] * 3 + [{**CHAT, "tools": "[]"}]
    made = mend(written(tmp_path, "a.jsonl", lines(*rows)), ["to_messages"], tmp_path / "out")
    columns = [sorted(row) for row in rows_of(made)]
    assert columns[:2] == [["images", "messages"], ["messages", "tools"]]
    assert len(columns) == 25 and columns[2:] == [["messages"]] * 23


@pytest.mark.parametrize(
    ("name", "clean"),
    [("a.jsonl.gz", "a-clean.jsonl"), ("a.b.csv", "a.b-clean.jsonl"), ("数据.tsv", "数据-clean.jsonl"),
     (".jsonl", "jsonl-clean.jsonl"),
     ("x[1]*.json", "x_1_-clean.jsonl")],
)  # fmt: skip
def test_the_copy_is_named_after_its_source(name: str, clean: str) -> None:
    assert clean_name(Path(name)) == clean


@pytest.mark.parametrize(
    ("name", "fixes", "task"),
    [
        ("chinese_gbk.csv", ["convert", "rename_columns"], "sft"),
        ("semicolon.csv", ["convert"], "sft"),
        ("ragged.csv", ["join_ragged", "drop_unusable"], "sft"),
        ("cut_download.jsonl", ["drop_broken"], "sft"),
        ("three_formats.jsonl", ["to_messages"], "sft"),
        ("numbers.csv", ["text_cells"], "sft"),
        ("preference.jsonl", ["to_preference", "drop_unusable"], "dpo"),
        ("chat_odd.jsonl", ["drop_unusable", *TIDY, "drop:row_blank_question"], "sft"),
    ],
)  # fmt: skip
def test_what_the_check_blocks_checks_as_ok_once_it_is_mended(
    tmp_path: Path, name: str, fixes: list[str], task: Task
) -> None:
    made = mend(DATA / name, fixes, tmp_path, task=task)
    report = check(made.path, task=task)
    assert report.verdict == "ok", report.findings
    assert report.usable == made.rows_written > 0
