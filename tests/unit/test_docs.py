"""The documents speak of what is there: links, paths, commands, variables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from services.cli import app
from services.settings import PROJECT
from services.specs import train_spec

DOCUMENTS = [PROJECT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in DOCUMENTS}
ROOMS = ("gui/", "services/", "presets/", "assets/", "tests/")


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_leads_to_a_file(name: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXTS[name]):
        assert target.startswith("https://") or (PROJECT / target).is_file(), target


@pytest.mark.parametrize("name", TEXTS)
def test_every_path_that_is_named_exists(name: str) -> None:
    for path in re.findall(r"`([\w./-]+)`", TEXTS[name]):
        if path.startswith(ROOMS):
            assert (PROJECT / path).exists(), path


def test_every_file_named_in_the_rooms_of_the_architecture_exists() -> None:
    for line in TEXTS["ARCHITECTURE.md"].split("\n- `")[1:]:
        room, _, rest = line.partition("`")
        if room.startswith(ROOMS):
            for name in re.findall(r"`([\w/]+\.py)`", rest.split("\n\n")[0]):
                assert any((PROJECT / place / name).is_file() for place in (room, "services")), name


@pytest.mark.parametrize("name", TEXTS)
def test_every_make_verb_exists(name: str) -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    for verb in re.findall(r"\bmake ([a-z]+)\b(?=[`\s]*(?:#|`|\n|$))", TEXTS[name]):
        assert re.search(rf"^{verb}:", makefile, re.MULTILINE), verb


def test_every_command_of_tunedesk_that_is_named_exists() -> None:
    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"(?:tunedesk|services\.cli) ([a-z-]+)", "\n".join(TEXTS.values())))
    assert named <= known
    listed = re.search(r"\*\*Command line\*\* \|(.+?), with", TEXTS["README.md"])
    assert listed is not None
    assert set(re.findall(r"`(?:tunedesk )?([a-z-]+)`", listed[1])) == known


def test_every_variable_that_is_named_is_read() -> None:
    settings = (PROJECT / "services" / "settings.py").read_text(encoding="utf-8")
    for variable in set(re.findall(r"TUNEDESK_[A-Z_]+", "\n".join(TEXTS.values()))):
        assert variable in settings, variable
    told = set(re.findall(r"`(TUNEDESK_\w+)`", TEXTS["README.md"]))
    assert set(re.findall(r'"(TUNEDESK_[A-Z_]+)"', settings)) <= told


def test_the_spec_in_the_readme_is_one(tmp_path: Path) -> None:
    import yaml

    block = re.search(r"```yaml\n(.+?)```", TEXTS["README.md"], re.DOTALL)
    assert block is not None
    spec = train_spec(yaml.safe_load(block[1]))
    assert spec.strategy == "ddp"
    assert spec.model_name == "Nova"
