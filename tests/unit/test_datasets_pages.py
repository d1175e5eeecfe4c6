"""Leafing through data of any size: every reader gives the same rows under the same numbers from any start."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from services.datasets.files import open_file
from services.datasets.pages import Pages, pages_of
from services.datasets.rows import Fault
from services.errors import Refused

COUNT = 5_300
ROWS = [{"query": f"Question {n}?", "response": f"Answer “{n}”,\nnumber {n}."} for n in range(1, COUNT + 1)]


def lines(rows: list[dict[str, str]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def table() -> bytes:
    cells = [f'"{row["query"]}","{row["response"]}"' for row in ROWS]
    return ("query,response\n" + "\n".join(cells) + "\n").encode()


def made(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    content = {
        "a.jsonl": lines(ROWS),
        "bom.jsonl": b"\xef\xbb\xbf" + lines(ROWS),
        "blank.jsonl": lines(ROWS).replace(b"}\n", b"}\n\n  \n"),
        "packed.jsonl.gz": gzip.compress(lines(ROWS), 1),
        "array.json": json.dumps(ROWS).encode(),
        "a.csv": table(),
        "gbk.csv": table().decode().replace("“", "《书籍").encode("gb18030"),
    }
    if name in content:
        path.write_bytes(content[name])
    elif name == "a.parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path, row_group_size=1_500)
    elif name == "a.arrow":
        whole = pyarrow.Table.from_pylist(ROWS)
        with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, whole.schema) as writer:
            writer.write_table(whole, max_chunksize=700)
    else:
        path.mkdir()
        (path / "one.jsonl").write_bytes(lines(ROWS[:2_000]))
        (path / "two.jsonl").write_bytes(lines(ROWS[2_000:]))
    return path


NAMES = ["a.jsonl", "bom.jsonl", "blank.jsonl", "packed.jsonl.gz", "array.json", "a.csv", "gbk.csv", "a.parquet",
         "a.arrow", "folder"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_row_is_reached_from_anywhere_and_is_the_one_the_reader_numbers_so(tmp_path: Path, name: str) -> None:
    path = made(tmp_path, name)
    numbered = {number: item for number, item in open_file(path).rows() if not isinstance(item, Fault)}
    pages = Pages(path)
    for start in (1, 4_001, 2_000, 2_001, COUNT, 999, 1_000, 1_001, 5_290):
        page = pages.page(start, 3)
        assert [row.number for row in page.rows] == list(range(start, min(start + 3, COUNT + 1)))
        assert [json.loads(row.raw) for row in page.rows] == [numbered[row.number] for row in page.rows]
        assert page.rows[0].turns[0].content == f"Question {start}?"
        assert page.last == (start + 3 > COUNT)
    assert pages.page(COUNT + 1, 3).rows == ()
    assert pages.count() == pages.total == pages.page(1, 1).total == COUNT


@pytest.mark.parametrize("name", NAMES)
def test_a_search_names_the_rows_one_by_one(tmp_path: Path, name: str) -> None:
    pages = Pages(made(tmp_path, name))
    found = pages.search("QUESTION 51")
    assert [next(found) for _ in range(3)] == [51, 510, 511]
    assert list(pages.search("question 51", start=519)) == [519, *range(5_100, 5_200)]
    assert list(pages.search("no such text")) == []


def test_text_is_found_however_it_is_spelt_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"query": "caf\\u00e9 \\ud83d\\ude00"}\n{"query": "café 😀"}\n{"query": "say \\"x\\""}\n')
    pages = Pages(path)
    assert list(pages.search("é 😀")) == [1, 2]
    assert list(pages.search('"x"')) == [3]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "packed.jsonl.gz", "array.json"])
def test_looking_can_be_watched_and_stopped_at_once(tmp_path: Path, name: str) -> None:
    pages = Pages(made(tmp_path, name))
    seen: list[float] = []
    for ask in (lambda: pages.page(5_000, 1, progress=seen.append, stop=lambda: len(seen) >= 2),
                lambda: pages.count(progress=seen.append, stop=lambda: len(seen) >= 3),
                lambda: list(pages.search("zzz", progress=seen.append, stop=lambda: len(seen) >= 5))):  # fmt: skip
        with pytest.raises(Refused) as refused:
            ask()
        assert refused.value.code == "pages_stopped"
    assert all(0 <= part <= 1 for part in seen)
    assert pages.page(5_000, 1).rows[0].number == 5_000


def test_several_objects_on_a_line_are_rows_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"query": "a}{b", "response": "c"}\n' * 1_500 + '{"query": "x"}{"query": "y"}\n{"query": "z"}\n')
    pages = Pages(path)
    assert [json.loads(row.raw)["query"] for row in pages.page(1_500, 9).rows] == ["a}{b", "x", "y", "z"]


def test_a_broken_line_is_shown_with_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(ROWS[:3_000]) + b"\n{broken\n" + lines(ROWS[:2]))
    row = Pages(path).page(3_001, 1).rows[0]
    assert (row.fault, row.values["line"], row.raw) == ("json_broken", 3_002, "{broken")


def test_a_changed_file_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"query": "old", "response": "x"}\n')
    first = pages_of(path)
    assert pages_of(path) is first
    path.write_text('{"query": "newer", "response": "x"}\n')
    assert pages_of(path).page(1, 1).rows[0].turns[0].content == "newer"


def test_a_huge_record_is_shown_in_part(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"query": "x" * 1_000_000, "response": "y"}) + "\n")
    row = Pages(path).page(1, 1).rows[0]
    assert len(row.raw) < 30_000 and all(len(turn.content) < 10_000 for turn in row.turns)
