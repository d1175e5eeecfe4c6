"""Downloads of hub data sets, with the hubs' real libraries in the child, from a hub on this machine."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.datasets.files import read_rows
from services.datasets.hub import HubId, list_subsets
from services.downloads import Downloads
from services.errors import Refused
from services.runs.folder import RunState
from services.runs.lifecycle import Runs
from services.settings import Hub, Settings
from services.specs import DownloadSpec
from tests.conftest import Watch
from tests.integration.hub_server import HubServer

ROWS = b"".join(json.dumps({"query": f"q{n}", "response": f"a{n}" * 40}).encode() + b"\n" for n in range(3_000))
FEW = b'{"query": "q", "response": "a"}\n'
CARD = b"""---
configs:
- config_name: small
  data_files:
  - split: train
    path: small/*.jsonl
- config_name: main
  default: true
  data_files:
  - split: train
    path: data/train.jsonl
  - split: test
    path: data/test.jsonl
---
# A data set
"""


@pytest.fixture
def hub() -> Iterator[HubServer]:
    files = {"README.md": CARD, "data/train.jsonl": ROWS, "data/test.jsonl": FEW, "small/one.jsonl": FEW}
    with HubServer(files) as server:
        yield server


@pytest.fixture
def downloads(hub: HubServer, settings: Settings, runs: Runs, monkeypatch: pytest.MonkeyPatch, home: Path) -> Downloads:
    for name in ("HF_ENDPOINT", "MODELSCOPE_ENDPOINT"):
        monkeypatch.setenv(name, hub.address)
    for name in ("HF_HOME", "MODELSCOPE_CACHE", "MODELSCOPE_HOME"):
        monkeypatch.setenv(name, str(home / "hub tools"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    near = replace(settings, hugging_face=Hub(hub.address), modelscope=Hub(hub.address))
    return Downloads(near, runs, sys.executable)


def started(downloads: Downloads, text: str) -> Watch:
    return Watch(downloads.runs, downloads.start(DownloadSpec(dataset=text)).id)


@pytest.mark.parametrize("prefix", ["hf::", "ms::", ""])
def test_a_split_is_fetched_with_progress_and_then_read_like_any_file(downloads: Downloads, prefix: str) -> None:
    watch = started(downloads, f"{prefix}owner/name")
    assert watch.ended().state is RunState.SUCCEEDED, watch.log()
    found = downloads.find(f"{prefix}owner/name")
    assert found is not None and found.complete
    assert found.path.name == "data.jsonl" and found.path.read_bytes() == ROWS
    assert sum(1 for _ in read_rows(found.path)) == 3_000
    snapshot = downloads.runs.snapshot(watch.id)
    assert snapshot.fraction == 1.0 and "data/train.jsonl: complete" in snapshot.log_tail
    assert sorted(path.name for path in found.folder.iterdir()) == [".download.json", "data.jsonl"]


def test_another_subset_and_another_split_lie_in_folders_of_their_own(downloads: Downloads) -> None:
    for text in ("hf::owner/name:small", "hf::owner/name:default:test"):
        watch = started(downloads, text)
        assert watch.ended().state is RunState.SUCCEEDED, watch.log()
    assert [str(one.source) for one in downloads.all()] == ["hf::owner/name:default:test", "hf::owner/name:small"]
    assert all(one.complete and one.path.read_bytes() == FEW for one in downloads.all())
    assert downloads.find("hf::owner/name") is None


def test_a_connection_that_is_cut_again_and_again_is_taken_up_where_it_was(
    hub: HubServer, downloads: Downloads
) -> None:
    hub.cut_after = len(ROWS) // 3
    watch = started(downloads, "hf::owner/name")
    assert watch.ended().state is RunState.SUCCEEDED, watch.log()
    found = downloads.find("hf::owner/name")
    assert found is not None and found.complete and found.path.read_bytes() == ROWS
    starts = [int(asked.removeprefix("bytes=").rstrip("-") or 0) for _, asked in hub.asked]
    assert starts == sorted(set(starts)) and len(starts) >= 3


def test_a_server_without_ranges_is_read_from_the_beginning(hub: HubServer, downloads: Downloads) -> None:
    part = downloads.find_folder("hf::owner/name") / ".partial"
    part.mkdir(parents=True)
    (part / "data.jsonl").write_bytes(ROWS[:1_000])
    hub.knows_ranges = False
    watch = started(downloads, "hf::owner/name")
    assert watch.ended().state is RunState.SUCCEEDED, watch.log()
    found = downloads.find("hf::owner/name")
    assert found is not None and found.path.read_bytes() == ROWS


def test_a_stopped_download_is_incomplete_until_it_is_gone_on_with(hub: HubServer, downloads: Downloads) -> None:
    hub.slow = threading.Event()
    watch = started(downloads, "ms::owner/name")
    deadline = time.monotonic() + 20
    while (found := downloads.find("ms::owner/name")) is None or not found.bytes_here:
        assert time.monotonic() < deadline, watch.log()
        time.sleep(0.05)
    assert not found.complete and not found.path.exists()
    assert downloads.start(DownloadSpec(dataset="ms::owner/name")).id == watch.id
    downloads.runs.stop(watch.id, now=True)
    assert watch.ended().state is RunState.STOPPED
    torn = downloads.find("ms::owner/name")
    assert torn is not None and 0 < torn.bytes_here < len(ROWS) and not torn.complete
    hub.slow.set()
    hub.slow, before = None, len(hub.asked)
    downloads.resume(watch.id)
    assert watch.ended().state is RunState.SUCCEEDED, watch.log()
    whole = downloads.find("ms::owner/name")
    assert whole is not None and whole.complete and whole.path.read_bytes() == ROWS
    assert [asked for _, asked in hub.asked[before:]] == [f"bytes={torn.bytes_here}-"]


def test_bytes_that_are_not_those_listed_never_become_a_data_set(hub: HubServer, downloads: Downloads) -> None:
    hub.spoil = True
    watch = started(downloads, "hf::owner/name")
    assert watch.ended().state is RunState.FAILED
    assert "not those the hub lists" in watch.log()
    found = downloads.find("hf::owner/name")
    assert found is not None and not found.complete and not found.path.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hf::owner/name:default:dev", "no split dev. It has: train, test"),
        ("hf::owner/name:big", "no subset big. It has: main, small"),
        ("hf::owner/other", "cannot be listed"),
        ("ms::owner/other", "cannot be listed"),
    ],
)
def test_what_is_not_there_fails_with_a_sentence(downloads: Downloads, text: str, said: str) -> None:
    watch = started(downloads, text)
    assert watch.ended(within_s=40).state is RunState.FAILED
    assert said in watch.log()
    assert downloads.find(text) is None


@pytest.mark.parametrize("where", ["hf", "ms"])
def test_subsets_and_splits_are_listed_before_anything_is_fetched(downloads: Downloads, where: str) -> None:
    listed = downloads.subsets(f"{where}::owner/name")
    assert [(one.name, one.splits) for one in listed] == [("main", ("train", "test")), ("small", ("train",))]
    with pytest.raises(Refused) as refused:
        downloads.subsets(f"{where}::owner/other")
    assert refused.value.code == "dataset_not_on_hub"


def test_a_hub_that_does_not_answer_is_a_refusal_in_seconds(settings: Settings) -> None:
    gone = replace(settings, hugging_face=Hub("http://127.0.0.1:9"))
    with pytest.raises(Refused) as refused:
        list_subsets(HubId("hf", "owner/name"), gone, timeout_s=2)
    assert refused.value.code == "hub_unreachable"


def test_deleting_a_copy_frees_its_bytes_and_leaves_no_empty_folders(downloads: Downloads) -> None:
    started(downloads, "hf::owner/name").ended()
    found = downloads.find("hf::owner/name")
    assert found is not None
    assert downloads.delete(found) == len(ROWS)
    assert downloads.all() == [] and not found.folder.parents[2].exists()
