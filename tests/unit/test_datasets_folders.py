"""Which files of a folder are the data; test_datasets_as_ms_swift_reads_them.py asks ms-swift itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.datasets.check import check
from services.datasets.files import open_file
from services.datasets.folders import read_folder, subsets_of
from services.datasets.rows import Fault

ROW = '{"query": "q", "response": "a"}\n'


def folder(tmp_path: Path, *names: str, **texts: str) -> Path:
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.get(path.stem, ROW))
    return tmp_path


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["train.jsonl", "manifest.json"], ["train.jsonl"]),
        (["a.jsonl", "b.jsonl"], ["a.jsonl", "b.jsonl"]),
        (["my-train.jsonl", "my-test.jsonl", "other.jsonl"], ["my-train.jsonl"]),
        (["training_1.jsonl", "eval.jsonl"], ["training_1.jsonl"]),
        (["train/a.jsonl", "test/b.jsonl", "train.jsonl"], ["train/a.jsonl"]),
        (["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl", "train.csv"],
         ["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl"]),
        (["constraint.jsonl", "trainer.jsonl"], ["constraint.jsonl", "trainer.jsonl"]),
        (["a.csv", "b.csv", "c.jsonl"], ["a.csv", "b.csv"]),
        (["a.csv", "c.jsonl"], ["c.jsonl"]),
        (["rows.jsonl.gz"], ["rows.jsonl.gz"]),
        (["table.tsv"], ["table.tsv"]),
        ([".hidden.jsonl", "__old/a.jsonl", "a.jsonl", "README.md", "config.json"], ["a.jsonl"]),
        (["a b, c#1.jsonl", "数据.jsonl"], ["a b, c#1.jsonl", "数据.jsonl"]),
    ],
)  # fmt: skip
def test_the_files_ms_swift_trains_on_are_chosen(tmp_path: Path, names: list[str], chosen: list[str]) -> None:
    found = read_folder(folder(tmp_path, *names))
    assert [str(file.relative_to(tmp_path)) for file in found.files] == chosen
    assert [fault.code for fault in found.faults if fault.code in ("folder_no_split", "folder_no_data")] == []


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["test.jsonl"], "folder_no_split"),
        (["validation/a.jsonl"], "folder_no_split"),
        (["a.docx"], "folder_no_data"),
        ([], "folder_no_data"),
        (["a.jsonl", "1.png", "2.png"], "folder_media"),
        (["a.csv", "b.csv", "c.jsonl"], "folder_mixed_kinds"),
        (["train.jsonl", "manifest.json"], "folder_ignored"),
    ],
)
def test_what_is_odd_about_a_folder_is_said(tmp_path: Path, names: list[str], code: str) -> None:
    assert code in [fault.code for fault in read_folder(folder(tmp_path, *names)).faults]


def test_a_folder_is_read_as_one_stream_of_numbered_rows(tmp_path: Path) -> None:
    opened = open_file(folder(tmp_path, "a.jsonl", "b.jsonl", a=ROW * 2, b=ROW))
    assert [number for number, item in opened.rows() if not isinstance(item, Fault)] == [1, 2, 3]
    assert opened.consumed == len(ROW) * 3
    assert [part.path.name for part in opened.parts] == ["a.jsonl", "b.jsonl"]


def test_a_folder_whose_train_file_is_whole_checks_as_ok(tmp_path: Path) -> None:
    report = check(folder(tmp_path, "train.jsonl", "manifest.json", manifest='{"made": 1}'))
    assert (report.verdict, report.usable, report.rows) == ("ok", 1, 1)
    assert "train.jsonl" in str([finding.gaps() for finding in report.findings])


def test_a_sidecar_beside_data_that_names_no_split_stops_ms_swift_and_is_named(tmp_path: Path) -> None:
    report = check(folder(tmp_path, "data.jsonl", "z.json", z='{"made": 1}'))
    assert report.verdict == "blocked"
    assert "folder_columns_differ" in [finding.code for finding in report.findings]


CARD = """---
configs:
- config_name: zh
  data_files: zh/*.jsonl
- config_name: en
  default: true
  data_files:
  - split: train
    path: [en/a.jsonl, "en/b*.jsonl"]
  - split: test
    path: en/test.jsonl
---
"""


def test_a_card_decides_and_its_default_subset_comes_first() -> None:
    names = ["en/a.jsonl", "en/b1.jsonl", "en/test.jsonl", "zh/one.jsonl", "zh/deep/two.jsonl", "train.jsonl"]
    assert subsets_of(names, CARD) == {
        "en": {"train": ["en/a.jsonl", "en/b1.jsonl"], "test": ["en/test.jsonl"]},
        "zh": {"train": ["zh/one.jsonl"]},
    }


@pytest.mark.parametrize("card", ["---\nconfigs: [*a]\n---", "---\n: :\n---", "---\nconfigs: 5\n---", "no front", ""])
def test_a_card_that_cannot_be_read_leaves_the_names_to_decide(card: str) -> None:
    assert subsets_of(["train.jsonl"], card) == {"default": {"train": ["train.jsonl"]}}
