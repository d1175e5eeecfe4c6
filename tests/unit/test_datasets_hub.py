from __future__ import annotations

import pytest

from services.datasets.download import Bar
from services.datasets.hub import HubId, RemoteFile, chosen_files, parse_hub_id
from services.errors import Refused
from services.settings import Settings
from services.swift.log import last_bar


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("owner/name", HubId("ms", "owner/name")),
        ("ms::owner/name", HubId("ms", "owner/name")),
        ("hf::owner/na.me-1:en", HubId("hf", "owner/na.me-1", "en")),
        ("hf::owner/name:en:test#50", HubId("hf", "owner/name", "en", "test", 50)),
        ("owner/name:default:validation", HubId("ms", "owner/name", "", "validation")),
        ("owner/name#7", HubId("ms", "owner/name", count=7)),
    ],
)
def test_hub_ids_are_taken_apart_and_put_together_again(text: str, named: HubId) -> None:
    assert parse_hub_id(text) == named
    assert parse_hub_id(str(named)) == named


@pytest.mark.parametrize(
    "text", ["name", "a/b/c", "hf::", "../x", "owner/..", "x::a/b", "a/b:", "a/b c", "a/b#x", "-a/b"]
)
def test_what_is_no_hub_id_is_none(text: str) -> None:
    assert parse_hub_id(text) is None


@pytest.mark.parametrize("subset", ["..", "../../../..", "a/b", "..."])
def test_no_subset_leads_out_of_the_data_folder(settings: Settings, subset: str) -> None:
    folder = HubId("hf", "owner/name", subset, "..").folder(settings)
    base = settings.datasets / "hub/hf/owner/name"
    assert folder.resolve().is_relative_to(base) and len(folder.relative_to(base).parts) == 2


def files(*names: str) -> list[RemoteFile]:
    return [RemoteFile(name, 1) for name in names]


def test_names_here_speak_of_no_split_and_keep_their_kind() -> None:
    tests = [f"data/test-0000{number}-of-00002.jsonl.gz" for number in range(2)]
    listed = files(*tests, "data/train-00000-of-00001.csv")
    assert [one.name for one in chosen_files(listed, "", "", "test")] == ["data-00001.jsonl.gz", "data-00002.jsonl.gz"]
    assert [one.name for one in chosen_files(listed, "", "", "train")] == ["data.csv"]


@pytest.mark.parametrize(
    ("names", "subset", "split", "code"),
    [
        (["train.jsonl"], "", "dev", "hub_no_split"),
        (["train.jsonl"], "zh", "train", "hub_no_subset"),
        (["loader.py", "1.png"], "", "train", "hub_no_data"),
        ([], "", "train", "hub_no_data"),
    ],
)
def test_what_the_hub_does_not_have_is_refused(names: list[str], subset: str, split: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        chosen_files(files(*names), "", subset, split)
    assert refused.value.code == code


def test_a_folder_of_the_repository_is_a_subset() -> None:
    assert [one.path for one in chosen_files(files("zh/a.jsonl", "en/a.jsonl"), "", "zh", "train")] == ["zh/a.jsonl"]


def test_the_run_view_reads_the_progress_and_the_pace(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    bar = Bar(200_000_000, clock=lambda: now[0])
    now[0] = 10.0
    bar.add(50_000_000)
    found = last_bar(capsys.readouterr().out)
    assert found is not None and (found.step, found.total_steps, found.seconds_per_step) == (50, 200, 0.2)
