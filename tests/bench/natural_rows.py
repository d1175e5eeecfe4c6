"""Rows of natural text of very different lengths, the same at each call: what Python's functions say of themselves."""

from __future__ import annotations

import importlib
import inspect
import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULES = (
    "argparse", "asyncio", "base64", "bisect", "calendar", "cmd", "codecs", "collections", "configparser", "contextlib",
    "copy", "csv", "datetime", "decimal", "difflib", "dis", "email.utils", "fileinput", "fnmatch", "fractions",
    "functools", "getpass", "gettext", "glob", "gzip", "hashlib", "heapq", "html", "imaplib", "inspect", "ipaddress",
    "itertools", "json", "keyword", "linecache", "locale", "logging", "mailbox", "math", "mimetypes", "operator", "os",
    "pathlib", "pickle", "platform", "pprint", "queue", "random", "re", "sched", "shelve", "shlex", "shutil", "signal",
    "socket", "sqlite3", "ssl", "statistics", "string", "struct", "subprocess", "sysconfig", "tarfile", "tempfile",
    "textwrap", "threading", "time", "timeit", "token", "tokenize", "traceback", "types", "typing", "unicodedata",
    "urllib.parse", "urllib.request", "uuid", "weakref", "xml.sax", "zipfile",
)  # fmt: skip
SHORTEST, LONGEST = 40, 1500
"""Characters of an answer; none comes to 512 tokens."""


def write_rows(path: Path, count: int, start: int = 0) -> Path:
    """Write ``count`` rows in ms-swift's chat format from number ``start`` on. Raises ValueError past the end."""
    rows = _rows()[start : start + count]
    if len(rows) < count:
        raise ValueError(f"there are only {len(rows)} rows from {start} on")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _rows() -> list[dict[str, Any]]:
    texts: dict[str, str] = {}
    with warnings.catch_warnings(action="ignore"):  # to look at a deprecated name is not to use it
        for module in MODULES:
            for text, name in _texts(module):
                texts.setdefault(text, name)
    rows = [{"messages": [{"role": "user", "content": f"What does {name} do in Python?"},
                          {"role": "assistant", "content": text}]} for text, name in texts.items()]  # fmt: skip
    random.Random(7).shuffle(rows)
    return rows


def _texts(module: str) -> Iterator[tuple[str, str]]:
    """(What it says of itself, its name) for each function and class of a module."""
    for name, value in sorted(vars(importlib.import_module(module)).items()):
        text = inspect.getdoc(value) if callable(value) and not name.startswith("_") else None
        if text and SHORTEST <= len(text) <= LONGEST:
            yield text, f"{module}.{name}"
