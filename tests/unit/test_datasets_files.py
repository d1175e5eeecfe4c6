from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

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
        ("a.jsonl", '{"q": "caf\xe9"}\n'.encode("latin-1"), "not_utf8_unknown", 1),
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
