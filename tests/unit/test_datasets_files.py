from __future__ import annotations

import gzip
import hashlib
import json
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from services.datasets.files import open_file, read_rows
from services.datasets.rows import Fault, Row

DATA = Path(__file__).parents[1] / "data"


def read(path: Path) -> tuple[list[Row], list[Fault]]:
    rows: list[Row] = []
    faults: list[Fault] = []
    for _, item in read_rows(path):
        if isinstance(item, Fault):
            faults.append(item)
        else:
            rows.append(item)
    return rows, faults


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lines.jsonl", '{"q": 1}\n\n{"q": 2}\n'),
        ("bom.jsonl", b'\xef\xbb\xbf{"q": 1}\n{"q": 2}'),
        ("crlf.jsonl", '{"q": 1}\r\n{"q": 2}\r\n'),
        ("one_line.jsonl", '{"q": 1}{"q": 2}'),
        ("pretty.json", '{\n "q": 1\n}\n{\n "q": 2\n}\n'),
        ("array.json", '[{"q": 1}, {"q": 2}]'),
        ("array_under_jsonl.jsonl", '[\n{"q": 1},\n{"q": 2}\n]\n'),
        ("packed.jsonl", gzip.compress(b'{"q": 1}\n{"q": 2}\n')),
    ],
)
def test_every_way_to_write_json_rows_is_read(tmp_path: Path, name: str, content: str | bytes) -> None:
    rows, faults = read(written(tmp_path, name, content))
    assert rows == [{"q": 1}, {"q": 2}]
    assert faults == []


@pytest.mark.parametrize(
    ("name", "content", "code", "line"),
    [
        ("a.jsonl", '{"q": 1}\n{"q": }\n{"q": 3}\n', "json_broken", 2),
        ("a.jsonl", "{'q': 1}\n", "json_broken", 1),
        ("a.jsonl", '{"q": 1}\n5\n', "json_no_object", 2),
        ("a.jsonl", '{"q": 1}\n\n{"q": "cut', "json_cut", 3),
        ("a.jsonl", '{"q": "caf\xe9"}\n'.encode("latin-1"), "not_utf8", 1),
        ("a.json", '[{"q": 1}, {"q": "cut', "json_cut", 1),
        ("a.json", '[{"q": 1},\n{"q": 2}', "json_cut", 2),
        ("a.json", '[{"q": 1},]', "json_broken", 1),
        ("a.json", '[{"q": 1}] 7', "json_broken", 1),
        ("a.json", '[{"q": 1},\n7]', "json_no_object", 2),
        ("a.json", b'\xef\xbb\xbf[{"q": 1}]', "json_array_start", 1),
        ("a.json", '\n[{"q": 1}]', "json_array_start", 1),
        ("a.json", "[" * 100_000, "json_broken", 1),
        ("a.csv", 'q,a\n"x,1\ny,2\n', "csv_quote_open", 2),
        ("a.csv", "q,a\nx,1,2\ny,1,2\n", "csv_shifted", 2),
        ("a.csv", "q,a\nx,1\ny,1,2\n", "csv_long", 3),
        ("a.csv", "q,a\nx,1\ny\n", "csv_short", 3),
        ("a.csv", "q;a\nx;1\n", "csv_delimiter", 1),
        ("a.csv", "sep=;\nq;a\nx;1\n", "csv_delimiter", 1),
        ("a.csv", "q\ta\nx\t1\n", "csv_delimiter", 1),
        ("a.csv", "q,a\nx,1\n".encode("utf-16"), "not_utf8", 1),
        ("a.csv", b"q,a\nx,1\ny,\xff\xfe\n", "not_utf8_unknown", 3),
        ("a.csv", b"PK\x03\x04 an xlsx", "file_is_binary", 1),
        ("a.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "file_is_pointer", 1),
        ("a.jsonl", "", "file_empty", 0),
        ("a.jsonl", "\n \n", "file_empty", 0),
        ("a.parquet", b"PAR1 broken", "parquet_broken", 0),
        ("a.tsv", "q\ta\nx\t1\n", "file_ending", 0),
        ("a.JSONL", '{"q": 1}\n', "file_ending", 0),
        ("a.jsonl.gz", gzip.compress(b'{"q": 1}\n'), "file_ending", 0),
        ("a.xlsx", b"PK\x03\x04", "file_ending", 0),
        ("noending", '{"q": 1}\n', "file_no_ending", 0),
    ],
)
def test_a_fault_is_a_value_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, code: str, line: int
) -> None:
    _, faults = read(written(tmp_path, name, content))
    assert (faults[0].code, faults[0].line) == (code, line)


def test_rows_behind_a_broken_line_are_still_read(tmp_path: Path) -> None:
    rows, faults = read(written(tmp_path, "a.jsonl", '{"q": 1}\nbroken\n{"q": 3}\n'))
    assert rows == [{"q": 1}, {"q": 3}]
    assert len(faults) == 1


def test_csv_from_excel_reads_bom_crlf_and_line_breaks_in_quotes() -> None:
    rows, faults = read(DATA / "excel_export.csv")
    assert faults == []
    assert rows == [
        {"question": "Who keeps the keys?", "answer": "The warden.\r\nAsk at the gate."},
        {"question": "Is it free?", "answer": 'Yes, for "friends".'},
    ]


def test_gbk_is_named_and_read() -> None:
    rows, faults = read(DATA / "chinese_gbk.csv")
    assert faults[0].values == {"encoding": "GBK", "sample": "问题,回答"}
    assert rows[1] == {"问题": "什么时候开门？", "回答": "九点。"}


def test_a_web_page_is_named_by_its_title() -> None:
    rows, faults = read(DATA / "login_page.jsonl")
    assert rows == []
    assert faults[0].code == "file_is_page"


def test_columns_are_made_unique_as_pandas_does(tmp_path: Path) -> None:
    rows, _ = read(written(tmp_path, "a.csv", "q,q,\n1,2,3\n\n  \n"))
    assert rows == [{"q": "1", "q.1": "2", "Unnamed: 2": "3"}]


def test_parquet_rows_come_with_lists_and_nulls(tmp_path: Path) -> None:
    table = pyarrow.table({"query": ["a", "b"], "history": [[["x", "y"]], None]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    rows, faults = read(tmp_path / "a.parquet")
    assert faults == []
    assert rows == [{"query": "a", "history": [["x", "y"]]}, {"query": "b", "history": None}]


def test_text_lines_are_rows_also_the_empty_ones(tmp_path: Path) -> None:
    rows, _ = read(written(tmp_path, "a.txt", "one\r\n\n  \ntwo"))
    assert [row["text"] for row in rows] == ["one", "", "  ", "two"]


def test_a_large_array_is_read_in_pieces(tmp_path: Path) -> None:
    rows = [{"q": "x" * 5_000, "n": number} for number in range(1_000)]
    path = written(tmp_path, "a.json", json.dumps(rows, indent=1))
    assert [row["n"] for row in read(path)[0]] == list(range(1_000))


def test_progress_goes_from_nothing_to_all(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"q": 1}\n' * 400_000)
    file = open_file(path)
    seen = [file.fraction() for number, _ in file.rows() if number % 100_000 == 0]
    assert seen == sorted(seen)
    assert 0 < seen[0] < seen[-1] <= 1


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_arrow_is_read_as_a_stream_and_as_a_file(tmp_path: Path, kind: str) -> None:
    table = pyarrow.table({"query": ["a", "b"], "response": ["c", None]})
    make = pyarrow.ipc.new_stream if kind == "stream" else pyarrow.ipc.new_file
    with pyarrow.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, make(sink, table.schema) as writer:
        writer.write_table(table)
    assert read(tmp_path / "a.arrow") == ([{"query": "a", "response": "c"}, {"query": "b", "response": None}], [])


@pytest.mark.parametrize("packed", [gzip.compress, zstandard.compress])
def test_compressed_data_is_read_and_a_cut_one_says_so(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    lines = b"".join(b'{"q": "%d %s"}\n' % (n, hashlib.sha256(b"%d" % n).hexdigest().encode()) for n in range(9_000))
    whole = packed(lines)
    assert len(read(written(tmp_path, "a.jsonl", whole))[0]) == 9_000
    rows, faults = read(written(tmp_path, "b.jsonl", whole[: len(whole) // 2]))
    assert 0 < len(rows) < 9_000
    assert faults[-1].code in ("packed_broken", "json_cut")


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("问题,回答\n什么？,九点。\n".encode("gb18030"), "GBK"),
        ("问,答\n在吗,在\n".encode("gb18030"), "GBK"),
        ("q,a\nwas?,schöner Tag\n".encode("cp1252"), "Windows-1252"),
        ("q,a\nwhat?,“this”\n".encode("cp1252"), "Windows-1252"),
        ("q,a\n什么,九点\n".encode("utf-16"), "UTF-16"),
        ("question,answer\nwhat,that\n".encode("utf-16-le"), "UTF-16"),
        ("question,answer\nwhat,that\n".encode("utf-16-be"), "UTF-16"),
    ],
)
def test_other_encodings_are_named_and_read(tmp_path: Path, content: bytes, encoding: str) -> None:
    rows, faults = read(written(tmp_path, "a.csv", content))
    assert [(fault.code, fault.values["encoding"]) for fault in faults] == [("not_utf8", encoding)]
    assert len(rows) == 1 and "\ufffd" not in str(rows)


def test_one_bad_byte_in_a_file_of_utf_8_is_told_with_its_line_and_no_other_row_suffers(tmp_path: Path) -> None:
    rows, faults = read(written(tmp_path, "a.csv", "q,a\n什么,一\nx,é\ny,".encode() + b"\xe9\n" + "z,二\n".encode()))
    assert [(fault.code, fault.line) for fault in faults] == [("not_utf8_unknown", 4)]
    assert [row["a"] for row in rows] == ["一", "é", "二"]
    rows, faults = read(written(tmp_path, "a.txt", b"one\n\xff\nthree\n"))
    assert ([row["text"] for row in rows], faults[0].line) == (["one", "three"], 2)


@pytest.mark.parametrize(
    ("content", "by_columns"),
    [
        ('{"query": ["a", "b"], "response": ["c", "d"]}', True),
        ('{\n "query": ["a", "b"],\n "response": ["c", "d"]\n}', True),
        ('{"query": {"0": "a", "1": "b"}, "response": {"0": "c", "1": "d"}}', True),
        ('{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}', False),
        ('{"query": ["a", "b"], "response": ["c"]}', False),
        ('{"query": ["a"], "response": ["c"]}\n{"query": ["a"], "response": ["c"]}', False),
        ('{"query": ["a", "b"]}', False),
    ],
)
def test_json_by_columns_is_told_from_rows(tmp_path: Path, content: str, by_columns: bool) -> None:
    rows, faults = read(written(tmp_path, "a.json", content))
    assert ([fault.code for fault in faults] == ["json_columns"]) == by_columns
    if by_columns:
        assert rows == [{"query": "a", "response": "c"}, {"query": "b", "response": "d"}]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_a_line_without_end_is_no_reason_to_fill_the_memory(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("json_rows", "csv_rows", "text_rows"):
        monkeypatch.setattr(f"services.datasets.{module}.LONGEST_LINE", 1 << 16)
    bomb = gzip.compress(b'{"q": "' + b"x" * (1 << 20))
    _, faults = read(written(tmp_path, name, b"q,a\n" + b"x" * (1 << 20) if name == "a.csv" else bomb))
    assert [fault.code for fault in faults] == ["line_too_long"]


def test_a_small_file_that_unpacks_to_a_lot_is_read_in_little_memory(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", gzip.compress(b'{"query": "q", "response": "a"}\n' * 500_000))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        count = sum(1 for _ in islice(open_file(path).rows(), 100_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 100_000 and peak < 8_000_000


def test_a_broken_line_of_json_in_another_encoding_costs_no_other_row(tmp_path: Path) -> None:
    text = '{"q": "什么时候"}\n{broken\n{"q": "九点钟"}\n'
    rows, faults = read(written(tmp_path, "a.jsonl", text.encode("gb18030")))
    assert rows == [{"q": "什么时候"}, {"q": "九点钟"}]
    assert [fault.code for fault in faults] == ["not_utf8", "json_broken"]
