from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from services.runs import process
from services.settings import PROJECT

PYTHON = """#!/bin/bash
# Stands in for an interpreter: notes each call, and copies itself where it is asked for a .venv.
case "$*" in
  *version_info\\ \\<*) exit {too_old} ;;
  *import\\ venv,\\ ensurepip*) exit {no_venv} ;;
  *version_info*) echo 3.12; exit ;;
  --version) echo "Python 3.12.9"; exit ;;
esac
printf '%s|' "$@" >> "{log}"; echo >> "{log}"
case "$*" in
  "-m venv --clear .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  "-m pip install"*) echo "Collecting torch"; echo "  Downloading torch.whl (531.2 MB)"; {pip} ;;
esac
"""
OUTSIDE = {"MAKEFLAGS": "", "MAKELEVEL": "", "MFLAGS": "", "HOST": "", "PORT": "", "SHARE": "", "PYTHON": ""}


class Clone(NamedTuple):
    """A clone on a machine whose PATH holds a stand-in for Python and little else."""

    folder: Path
    programs: Path
    log: Path

    def python(self, name: str = "python3", *, too_old: int = 0, no_venv: int = 0, pip: str = "true") -> Path:
        program = self.programs / name
        text = PYTHON.replace("{log}", str(self.log)).replace("{pip}", pip)
        program.write_text(text.replace("{too_old}", str(too_old)).replace("{no_venv}", str(no_venv)))
        program.chmod(0o755)
        return program

    def make(self, *words: str, **env: str) -> process.Result:
        make = shutil.which("make")
        assert make is not None, "make is needed"
        return process.run([make, *words], cwd=self.folder, env={**OUTSIDE, "PATH": str(self.programs), **env})

    def calls(self) -> list[str]:
        """What the stand-ins were asked for since the last look, less the checks."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line for line in lines if line != "-m|pip|--version|"]


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    folder = tmp_path / "a clone, of 我的 (1)"
    programs = tmp_path / "bin"
    for made in (folder, programs):
        made.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(PROJECT / name, folder)
    for name in ("bash", "cp", "grep", "mkdir", "tail", "tee", "touch"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    return Clone(folder, programs, tmp_path / "calls")


INSTALLED = [
    "-m|venv|--clear|.venv|",
    "-m|pip|install|--no-input|--progress-bar|off|--editable|.|",
    "-P|-m|services.models.starter|",
    "-P|-m|services.swift.read_arguments|--help-to-cache|",
]


def test_make_alone_lists_the_verbs(clone: Clone) -> None:
    result = clone.make()
    assert result.returncode == 0
    for verb in ("run", "install", "test", "check", "bench"):
        assert f"make {verb} " in result.output


def test_install_makes_the_environment_installs_and_prepares_the_starter_model(clone: Clone) -> None:
    clone.python()
    result = clone.make("install")
    assert result.returncode == 0, result.output
    assert clone.calls() == INSTALLED
    assert "Downloading torch.whl (531.2 MB)" in result.output
    assert "g++" in result.output


def test_a_second_install_touches_no_network(clone: Clone) -> None:
    clone.python()
    clone.make("install")
    clone.calls()
    assert clone.make("install").returncode == 0
    assert clone.calls() == INSTALLED[2:]


def test_changed_dependencies_are_installed(clone: Clone) -> None:
    clone.python()
    clone.make("install")
    clone.calls()
    (clone.folder / ".venv" / "installed").touch()
    process.run(["touch", "-d", "1 hour", "pyproject.toml"], cwd=clone.folder)
    clone.make("install")
    assert clone.calls() == INSTALLED[1:]


def test_a_moved_clone_is_installed_again(clone: Clone) -> None:
    clone.python()
    clone.make("install")
    clone.calls()
    moved = clone._replace(folder=clone.folder.rename(clone.folder.with_name("elsewhere")))
    moved.make("install")
    assert moved.calls() == INSTALLED[1:]


def test_a_failed_install_says_why_and_is_done_again(clone: Clone) -> None:
    clone.python(pip="echo 'ERROR: no such index'; exit 1")
    result = clone.make("install")
    assert result.returncode == 2
    assert "ERROR: no such index" in result.output
    assert "Run make again" in result.output
    clone.calls()
    shutil.copy(clone.python(), clone.folder / ".venv" / "bin" / "python")
    assert clone.make("install").returncode == 0
    assert clone.calls() == INSTALLED[1:]


def test_a_half_made_environment_is_made_again(clone: Clone) -> None:
    (clone.folder / ".venv" / "bin").mkdir(parents=True)
    clone.python()
    clone.make("install")
    assert clone.calls() == INSTALLED


@pytest.mark.parametrize("too_old", [None, 1])
def test_without_a_new_enough_python_one_sentence_says_so(clone: Clone, too_old: int | None) -> None:
    if too_old is not None:
        clone.python(too_old=too_old)
    result = clone.make("install")
    assert result.returncode == 2
    assert "needs Python 3.11 or newer" in result.output
    assert not (clone.folder / ".venv").exists()


def test_without_the_venv_package_its_name_is_given(clone: Clone) -> None:
    clone.python(no_venv=1)
    result = clone.make("install")
    assert result.returncode == 2
    assert "apt install python3.12-venv" in result.output


def test_a_python_that_can_make_environments_is_preferred(clone: Clone) -> None:
    clone.python("python3.11", no_venv=1)
    clone.python("python3.12")
    assert clone.make("install").returncode == 0


def test_the_interpreter_can_be_named_by_a_path_with_spaces(clone: Clone) -> None:
    (clone.programs / "my tools").mkdir()
    assert clone.make("install", f"PYTHON={clone.python('my tools/python')}").returncode == 0


def test_run_passes_host_port_and_share_on_literally(clone: Clone) -> None:
    clone.python()
    clone.make("run", "HOST=a 'b' $$(x)", SHARE="1", PORT="7999")
    assert clone.calls()[-1] == "-P|-m|gui|--host|a 'b' $(x)|--port|7999|--share|"


@pytest.mark.parametrize("share", ["", "0"])
def test_run_alone_passes_nothing(clone: Clone, share: str) -> None:
    clone.python()
    clone.make("run", f"SHARE={share}")
    assert clone.calls()[-1] == "-P|-m|gui|"


def test_the_tests_install_what_they_need_once(clone: Clone) -> None:
    clone.python()
    clone.make("test")
    assert clone.calls()[-3:] == [*INSTALLED[-2:], "-m|tests|"]
    clone.make("check")
    assert [call.split("|")[1] for call in clone.calls() if call.startswith("-m|")] == ["ruff", "mypy", "pytest"]
