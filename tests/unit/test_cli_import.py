"""``tunedesk import`` and ``tunedesk export-command``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from services import cli
from services.bootstrap import Services
from services.errors import Refused
from services.specs import as_yaml, train_spec

COMMANDS = Path(__file__).parents[1] / "data" / "commands"


@pytest.fixture
def run(services: Services, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(cli.context, "_services", services)
    monkeypatch.setattr(cli.context, "lang", "en")

    def invoke(*words: str, text: str | None = None) -> Result:
        return CliRunner().invoke(cli.app, list(words), input=text)

    return invoke


def test_import_answers_in_json_for_scripts_and_for_standard_input(run: object, tmp_path: Path) -> None:
    text = (COMMANDS / "two_cards_one_process.sh").read_text("utf-8")
    path = tmp_path / "a.sh"
    path.write_text(text, encoding="utf-8")
    by_file = run("import", str(path), "--json")  # type: ignore[operator]
    by_hand = run("import", "-", "--json", text=text)  # type: ignore[operator]
    assert by_file.exit_code == by_hand.exit_code == 0
    value = json.loads(by_file.stdout)
    assert value == json.loads(by_hand.stdout)
    assert {"spec", "argv", "env", "translated", "refused", "notes"} <= set(value)
    assert value["spec"]["strategy"] == "device_map"
    assert any("not DDP" in note for note in value["notes"])


def test_import_prints_a_spec_that_can_be_trained_and_says_the_rest_beside_it(run: object) -> None:
    shown = run("import", "-", "--lang", "zh", text="swift sft --model m --dataset d --train_type lora --lrr 1")  # type: ignore[operator]
    assert shown.exit_code == 0
    assert "model: m" in shown.stdout
    assert "已转换：--train_type lora → --tuner_type lora" in shown.stderr
    assert "未采用：--lrr 1" in shown.stderr
    merged = run("import", "-", text="swift eval --model 'a b'")  # type: ignore[operator]
    assert merged.stdout == "swift eval --model 'a b'\n"


def test_what_cannot_be_read_is_refused(run: object, tmp_path: Path) -> None:
    for words, text in ((("import", "-"), "ls"), (("import", str(tmp_path / "none")), "")):
        with pytest.raises(Refused):
            raise run(*words, text=text).exception  # type: ignore[operator]


def test_a_spec_goes_out_in_three_forms_and_in_again(
    run: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = train_spec({"lora_rank": 4, "processes": 2, "name": "mine"})
    (tmp_path / "s.yaml").write_text(as_yaml(spec.flat()), encoding="utf-8")
    for form in ("shell", "yaml", "python"):
        shown = run("export-command", "s.yaml", "--as", form)  # type: ignore[operator]
        assert shown.exit_code == 0, shown.exception
        path = tmp_path / f"out.{form.replace('shell', 'sh').replace('python', 'py')}"
        path.write_text(shown.stdout, encoding="utf-8")
        value = json.loads(run("import", str(path), "--json").stdout)  # type: ignore[operator]
        assert train_spec(value["spec"]) == spec
    assert (tmp_path / "mine" / "sample.jsonl").is_file()  # the YAML names it, and cannot hold it
    with pytest.raises(Refused, match="export_which"):
        raise run("export-command", "s.yaml", "--as", "toml").exception  # type: ignore[operator]
