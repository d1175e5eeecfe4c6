from __future__ import annotations

from pathlib import Path

import pytest

from services.errors import Refused
from services.paths import printable, resolve
from services.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    root = tmp_path / "root"
    root.mkdir()
    (root / "in.jsonl").write_text("{}")
    (tmp_path / "out.jsonl").write_text("{}")
    return Settings(home=root, starter=root / "starter", roots=(root,))


def test_a_file_inside_a_root_is_found(settings: Settings) -> None:
    assert resolve(str(settings.home / "in.jsonl"), settings, must_be="file") == settings.home / "in.jsonl"


def test_dots_are_fine_as_long_as_they_end_inside(settings: Settings) -> None:
    (settings.home / "sub").mkdir()
    assert resolve(str(settings.home / "sub" / ".." / "in.jsonl"), settings).name == "in.jsonl"


def test_tilde_and_relative_paths_are_understood(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(settings.home))
    monkeypatch.chdir(settings.home)
    assert resolve("~/in.jsonl", settings) == resolve("in.jsonl", settings)


@pytest.mark.parametrize("must_be", ["file", "folder"])
def test_a_thing_of_the_wrong_kind_is_not_found(settings: Settings, must_be: str) -> None:
    wrong = settings.home if must_be == "file" else settings.home / "in.jsonl"
    with pytest.raises(Refused):
        resolve(str(wrong), settings, must_be=must_be)  # type: ignore[arg-type]


def test_missing_and_forbidden_paths_get_the_same_answer(settings: Settings) -> None:
    (settings.home / "leads_out").symlink_to(settings.home.parent / "out.jsonl")
    (settings.home / "loop").symlink_to(settings.home / "loop")
    answers = set()
    for text in (
        str(settings.home / "missing"), str(settings.home.parent / "out.jsonl"), "/etc/passwd",
        str(settings.home / "leads_out"), str(settings.home / ".." / "out.jsonl"), "../../etc/passwd",
        str(settings.home / "loop"), "a\0b", "x" * 100_000, "~nobody_of_that_name/x", "", "   ", "\ud800", "\n",
        str(settings.home / "in.jsonl" / "deeper"), "/dev/null",
    ):  # fmt: skip
        with pytest.raises(Refused) as refused:
            resolve(text, settings)
        answers.add(refused.value.code)
        assert set(refused.value.values) == {"path"}
    assert answers == {"path_not_found"}


def test_a_path_in_a_sentence_is_one_short_printable_line() -> None:
    assert printable("a\nb\0c") == "a\ufffdb\ufffdc"
    assert len(printable("x" * 5_000)) == 200
