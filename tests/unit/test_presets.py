"""Presets: what comes with TuneDesk is true, and a person's own stay where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.errors import Refused
from services.presets import (
    FIRST_JOURNEY,
    Preset,
    delete_preset,
    first_journey,
    machines,
    personal,
    preset,
    presets,
    save_preset,
)  # fmt: skip
from services.settings import Settings
from services.specs import SAMPLE, STARTER, TrainSpec, read_train_spec
from services.swift.methods import method_of
from services.text import explain
from tests import preset_table


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home 家", starter=tmp_path, roots=(tmp_path,))


def test_the_first_journey_is_the_first_preset() -> None:
    assert presets()[0].name == FIRST_JOURNEY
    assert (first_journey().model, first_journey().dataset) == (STARTER, (SAMPLE,))


def test_there_is_a_preset_for_every_machine_and_for_the_ways_of_training() -> None:
    assert len(presets()) >= 20
    assert {one.machine for one in presets()} == set(machines())
    methods = {method_of(one.spec.command, one.spec.args).name for one in presets()}
    assert methods >= {"sft", "pt", "dpo", "kto", "orpo", "rm", "grpo", "gkd"}
    assert any(one.spec.args.get("quant_method") for one in presets())
    assert any(one.spec.args.get("tuner_type") == "full" for one in presets())
    assert any(one.spec.strategy == "megatron" for one in presets())
    assert any(int(one.spec.args["max_length"]) >= 32768 for one in presets())


@pytest.mark.parametrize("one", presets(), ids=lambda one: one.name)
def test_a_preset_fits_its_machine_and_takes_there_what_it_states(one: Preset) -> None:
    advice, evidence = preset_table.planned(one), one.evidence
    assert evidence is not None and advice.worst is not None
    assert advice.fits, advice.worst
    assert not advice.changed
    if evidence.kind == "estimated":
        assert evidence.memory_gib == pytest.approx(advice.worst.total, rel=0.05)
    assert one.title("en") and one.title("zh") and one.title("en") != one.title("zh")


def test_the_table_of_presets_is_true() -> None:
    assert preset_table.README.read_text("utf-8") == preset_table.table(presets()), "python -m tests.preset_table"


def test_a_preset_is_read_as_a_spec() -> None:
    for one in presets():
        assert read_train_spec(preset_table.SHIPPED / f"{one.name}.yaml") == one.spec


def test_a_persons_own_preset_is_kept_by_its_name(settings: Settings) -> None:
    spec = TrainSpec(name="x", args={"tuner_type": "full", "system": "你好 'quoted'\nline"})
    assert personal(settings) == ()
    saved = save_preset(" 我的 preset ", spec, settings)
    assert [one.name for one in personal(settings)] == ["我的 preset"]
    assert preset("我的 preset", settings) == saved == personal(settings)[0]
    assert saved.spec == spec and saved.personal and saved.title("zh") == "我的 preset"
    other = save_preset("我的 preset", TrainSpec(), settings)
    assert personal(settings) == (other,)
    delete_preset("我的 preset", settings)
    assert personal(settings) == ()


def test_a_plain_spec_put_into_the_folder_is_a_preset_and_rubbish_is_passed_over(settings: Settings) -> None:
    settings.presets.mkdir(parents=True)
    (settings.presets / "plain.yaml").write_text("model: starter\nlora_rank: 4\n")
    (settings.presets / "rubbish.yaml").write_bytes(b"\xff\xfe[[[")
    (settings.presets / "wrong.yaml").write_text("title: {en: x}\nspec: {processes: many}\n")
    (settings.presets / "folder.yaml").mkdir()
    assert [(one.name, one.spec.args) for one in personal(settings)] == [("plain", {"lora_rank": 4})]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/x",
        "a\\b",
        "a..b",
        ".hidden",
        "-rf",
        "a\0b",
        "a\nb",
        "C:x",
        "x" * 81,
        "a.",
    ],
)
def test_a_name_that_could_lead_elsewhere_is_refused(settings: Settings, name: str) -> None:
    for act in (lambda: save_preset(name, TrainSpec(), settings), lambda: delete_preset(name, settings)):
        with pytest.raises(Refused) as caught:
            act()
        assert caught.value.code == "preset_name"
        assert explain(caught.value, "en") != explain(caught.value, "zh")
    assert not settings.presets.exists()


def test_a_link_in_the_folder_is_replaced_not_followed(settings: Settings, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("untouched")
    settings.presets.mkdir(parents=True)
    (settings.presets / "mine.yaml").symlink_to(outside)
    save_preset("mine", TrainSpec(), settings)
    assert outside.read_text() == "untouched"
    delete_preset("mine", settings)
    assert outside.exists() and personal(settings) == ()


def test_a_shipped_preset_cannot_be_overwritten_or_deleted(settings: Settings) -> None:
    for act, code in (
        (lambda: save_preset(FIRST_JOURNEY, TrainSpec(), settings), "preset_shipped"),
        (lambda: delete_preset(FIRST_JOURNEY, settings), "preset_not_found"),
        (lambda: preset("no such", settings), "preset_not_found"),
    ):
        with pytest.raises(Refused) as caught:
            act()
        assert caught.value.code == code
        assert explain(caught.value, "en") != explain(caught.value, "zh")


def test_a_folder_that_cannot_be_written_is_said(settings: Settings, tmp_path: Path) -> None:
    settings.home.mkdir()
    settings.presets.write_text("a file in the way")
    with pytest.raises(Refused) as caught:
        save_preset("mine", TrainSpec(), settings)
    assert caught.value.code == "cannot_write"
