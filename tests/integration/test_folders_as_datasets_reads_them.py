"""The files of a folder that we call its data are those that the installed datasets library loads."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from services.datasets.files import open_file
from services.datasets.folders import read_folder
from services.datasets.rows import Fault

FOLDERS = {
    "sidecar": ["train.jsonl", "manifest.json"],
    "all": ["a.jsonl", "b.jsonl"],
    "names": ["my-train.jsonl", "my_test.jsonl", "other.jsonl"],
    "numbers": ["train1.jsonl", "train 2.jsonl", "valid.jsonl"],
    "in folders": ["train/a.jsonl", "test/b.jsonl", "c.jsonl"],
    "deep": ["x/training-set/a.jsonl", "x/dev/b.jsonl"],
    "shards": ["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl", "train.csv"],
    "no word": ["constraint.jsonl", "retrain.jsonl", "tester.jsonl"],
    "kinds": ["a.csv", "b.csv", "c.jsonl"],
    "draw": ["a.csv", "c.jsonl"],
    "draw of json": ["a.json", "c.jsonl"],
    "tsv": ["a.tsv"],
    "packed": ["a.jsonl.gz", "b.jsonl.gz"],
    "hidden": [".a.jsonl", "__b/c.jsonl", "d.jsonl", "README.md", "config.json"],
    "only test": ["test.jsonl"],
    "capitals": ["Train.jsonl", "b.jsonl"],
    "empty": ["notes.docx"],
    "card": ["README.md", "en/a.jsonl", "en/b.jsonl", "zh/c.jsonl"],
}
CARD = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: en/*.jsonl\n---\n"
CHILD = """
import json, sys
import datasets
datasets.disable_progress_bars()
answers = []
for path in json.load(sys.stdin):
    try:
        rows = datasets.load_dataset(path, split="train", cache_dir=sys.argv[1])
        answers.append(sorted(rows["query"]))
    except Exception as error:
        print(path, error, file=sys.stderr)
        answers.append(None)
print(json.dumps(answers))
"""


def make(folder: Path, names: list[str]) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        row = json.dumps({"query": name, "response": "a"}) + "\n"
        if name == "README.md":
            path.write_text(CARD if folder.name == "card" else "# Nothing\n")
        elif name.endswith(".gz"):
            path.write_bytes(gzip.compress(row.encode()))
        elif name.endswith((".csv", ".tsv")):
            sign = "," if name.endswith("csv") else "\t"
            path.write_text(f"query{sign}response\n{name}{sign}a\n")
        else:
            path.write_text(row)


def test_the_same_rows_come_out_of_every_kind_of_folder(tmp_path: Path) -> None:
    for title, names in FOLDERS.items():
        make(tmp_path / title, names)
    child = subprocess.run(
        [sys.executable, "-P", "-c", CHILD, str(tmp_path / "cache")],
        input=json.dumps([str(tmp_path / title) for title in FOLDERS]),
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    theirs = dict(zip(FOLDERS, json.loads(child.stdout.splitlines()[-1]), strict=True))
    ours = {}
    for title in FOLDERS:
        rows = [item for _, item in open_file(tmp_path / title).rows() if not isinstance(item, Fault)]
        faults = {fault.code for fault in read_folder(tmp_path / title).faults}
        stops = faults & {"folder_no_split", "folder_no_data", "folder_media"}
        ours[title] = None if stops else sorted(str(row["query"]) for row in rows)
    assert ours == theirs
