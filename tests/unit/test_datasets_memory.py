"""A file that was edited without a new date is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.datasets import memory
from services.datasets.memory import stale_name
from services.settings import Settings


def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", starter=tmp_path, roots=(tmp_path,))


def write(path: Path, text: str, modified: float = 1_700_000_000) -> None:
    path.write_text(text)
    os.utime(path, (modified, modified))


def test_the_same_date_with_other_content_gives_another_name(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, "old")
    assert stale_name(path, settings(tmp_path)) is None
    write(path, "new")
    changed = stale_name(path, settings(tmp_path))
    assert changed and changed == stale_name(path, settings(tmp_path))
    write(path, "even newer")
    assert stale_name(path, settings(tmp_path)) not in (None, changed)
    write(path, "old")
    assert stale_name(path, settings(tmp_path)) is None


def test_a_new_date_needs_no_name(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, "old")
    stale_name(path, settings(tmp_path))
    write(path, "new", 1_700_000_001)
    assert stale_name(path, settings(tmp_path)) is None


def test_of_a_large_file_pieces_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_WHOLE_BYTES", 10)
    monkeypatch.setattr(memory, "_PIECE", 4)
    path = tmp_path / "a.jsonl"
    write(path, "a" * 5_000)
    first = memory.digest(path)
    write(path, "a" * 4_999 + "b")
    assert memory.digest(path) != first


def test_folders_and_files_that_are_gone_need_no_name(tmp_path: Path) -> None:
    assert stale_name(tmp_path, settings(tmp_path)) is None
    assert stale_name(tmp_path / "gone.jsonl", settings(tmp_path)) is None
