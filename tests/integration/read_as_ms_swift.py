"""A child of a test: load data files with ms-swift itself and print the conversations it makes of them.

``python read_as_ms_swift.py < [[path, columns or null], …] > [[[role, content], …] a row, or null a file that fails]``
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any


def main() -> None:
    from swift.dataset import load_dataset

    answers: list[Any] = []
    for path, columns in json.load(sys.stdin):
        try:
            rows, _ = load_dataset([path], num_proc=1, strict=False, load_from_cache_file=False, columns=columns)
            answers.append([[[turn["role"], turn["content"]] for turn in row["messages"]] for row in rows])
        except Exception as error:
            print(error, file=sys.stderr)
            answers.append(None)
    print(json.dumps(answers), file=sys.__stdout__)


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        main()
