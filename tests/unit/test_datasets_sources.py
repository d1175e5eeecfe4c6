from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.datasets import hub
from services.datasets.sources import argument_for, parse_source
from services.datasets.uploads import keep_upload, safe_name
from services.errors import Failed, Refused
from services.settings import Settings


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings(home=home, starter=home / "starter", roots=(home,))


def a_file(settings: Settings, name: str, content: str = "{}\n") -> Path:
    path = settings.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_the_sample_is_the_sample(settings: Settings) -> None:
    assert parse_source(" sample ", settings).kind == "sample"


@pytest.mark.parametrize("name", ["my data, final.jsonl", "数据.csv", "batch#12.jsonl", "a%20b.json", "--help.jsonl"])
def test_a_file_is_passed_by_its_absolute_path(settings: Settings, name: str) -> None:
    path = a_file(settings, name)
    source = parse_source(str(path), settings)
    assert (source.kind, source.path) == ("file", path)
    assert argument_for(source, settings) == str(path)


def test_a_number_sign_behind_a_file_says_how_many_rows(settings: Settings) -> None:
    path = a_file(settings, "batch#12.jsonl")
    source = parse_source(f"{path}#500", settings)
    assert (source.path, source.count) == (path, 500)
    assert argument_for(source, settings) == f"{path}#500"


@pytest.mark.parametrize("count", ["0", "-1"])
def test_less_than_one_row_is_refused(settings: Settings, count: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_source(f"{a_file(settings, 'a.jsonl')}#{count}", settings)
    assert refused.value.code == "dataset_count"


@pytest.mark.parametrize(
    "text", ["owner/name", "hf::owner/na.me-1", "ms::owner/name:default/zh#500", "AI-x/self-cognition"]
)
def test_a_hub_id_is_passed_as_it_is(settings: Settings, text: str) -> None:
    source = parse_source(text, settings)
    assert (source.kind, source.path) == ("hub", None)
    assert argument_for(source, settings) == text


@pytest.mark.parametrize(
    "text",
    ["data/train.jsonl", "data/train.csv#5", "hf::data/train.json", "missing.jsonl", "name", "", "~/x/y",
     "./owner/name", "../owner/name", "owner/..", "/owner/name", "a/b/c", "owner/name; rm -rf x",
     "-x/name",
     "owner/name\n", "a\0b"],
)  # fmt: skip
def test_what_looks_like_a_file_never_becomes_a_hub_id(
    settings: Settings, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(settings.home)
    if text == "owner/name\n":
        assert parse_source(text, settings).text == "owner/name"
        return
    with pytest.raises(Refused) as refused:
        parse_source(text, settings)
    assert refused.value.code == "dataset_not_found"


def test_a_folder_that_exists_wins_over_a_hub_id(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    a_file(settings, "owner/name/train.jsonl")
    monkeypatch.chdir(settings.home)
    source = parse_source("owner/name#3", settings)
    assert (source.kind, source.path, source.count) == ("file", settings.home / "owner/name", 3)
    assert argument_for(source, settings) == f"{settings.home}/owner/name#3"


@pytest.mark.parametrize("name", ["self-cognition", "odd [name]", "has_infos"])
def test_a_folder_that_ms_swift_would_change_or_misread_is_given_as_a_folder_of_links(
    settings: Settings, name: str
) -> None:
    train = a_file(settings, f"{name}/train.jsonl")
    a_file(settings, f"{name}/notes.json")
    if name == "has_infos":
        a_file(settings, f"{name}/dataset_infos.json")
    source = parse_source(str(settings.home / name), settings)
    given = Path(argument_for(source, settings))
    assert given.parent == settings.cache / "links"
    assert [(link.name, link.resolve()) for link in given.iterdir()] == [("data-00001.jsonl", train)]
    assert argument_for(source, settings) == str(given)


def test_a_folder_with_a_link_to_a_place_that_may_not_be_read_is_not_found(settings: Settings) -> None:
    closed = settings.home / "closed"
    a_file(settings, "closed/secret.jsonl")
    (settings.home / "open").mkdir()
    (settings.home / "open" / "train.jsonl").symlink_to(closed / "secret.jsonl")
    narrow = replace(settings, roots=((settings.home / "open").resolve(),))
    with pytest.raises(Refused) as refused:
        parse_source(str(settings.home / "open"), narrow)
    assert refused.value.code == "dataset_not_found"


def test_the_sample_can_be_taken_in_part(settings: Settings) -> None:
    source = parse_source("sample#30", settings)
    assert (source.kind, source.count) == ("sample", 30)
    with pytest.raises(Refused) as refused:
        parse_source("sample#0", settings)
    assert refused.value.code == "dataset_count"


def a_copy(settings: Settings, text: str, *, complete: bool) -> Path:
    named = hub.parse_hub_id(text)
    assert named is not None
    folder = named.folder(settings)
    folder.mkdir(parents=True)
    (folder / "data.jsonl").write_text("{}\n" if complete else "{")
    files = (hub.RemoteFile("train.jsonl", 3, name="data.jsonl"),)
    manifest = hub.Manifest(named.hub, named.id, named.subset, named.split, "main", files, complete)
    hub.write_manifest(folder, manifest)
    return folder / "data.jsonl"


def test_a_whole_downloaded_copy_is_read_instead_of_the_hub(settings: Settings) -> None:
    copy = a_copy(settings, "hf::owner/name", complete=True)
    source = parse_source("hf::owner/name#5", settings)
    assert (source.kind, source.path) == ("hub", copy)
    assert argument_for(source, settings) == f"{copy}#5"
    assert argument_for(parse_source("owner/name", settings), settings) == "owner/name"


def test_a_torn_copy_is_not_used(settings: Settings) -> None:
    a_copy(settings, "owner/name", complete=False)
    with pytest.raises(Refused) as refused:
        argument_for(parse_source("owner/name", settings), settings)
    assert refused.value.code == "dataset_incomplete"


def test_ms_swift_reads_its_own_data_sets_in_its_own_way_even_when_a_copy_is_here(settings: Settings) -> None:
    a_copy(settings, "swift/self-cognition", complete=True)
    assert argument_for(parse_source("swift/self-cognition", settings), settings) == "swift/self-cognition"


def test_another_split_than_train_needs_a_copy(settings: Settings) -> None:
    text = "owner/name:default:test"
    with pytest.raises(Refused) as refused:
        argument_for(parse_source(text, settings), settings)
    assert refused.value.code == "dataset_split_needs_download"
    copy = a_copy(settings, text, complete=True)
    assert argument_for(parse_source(text, settings), settings) == str(copy)


@pytest.mark.parametrize(
    "name",
    ["a[1].jsonl", "what?.jsonl", "all*.jsonl", "a::b.jsonl", "[folder]/a.jsonl", "$HOME.jsonl", "a${HOME}.jsonl"],
)
def test_a_name_ms_swift_cannot_open_gets_a_plain_link(settings: Settings, name: str) -> None:
    path = a_file(settings, name)
    source = parse_source(str(path), settings)
    argument = argument_for(source, settings)
    assert not any(sign in argument for sign in ("[", "]", "*", "?", "::", "$HOME", "${"))
    assert Path(argument).samefile(path)
    assert argument.endswith(".jsonl")
    assert argument_for(source, settings) == argument
    assert path.read_text() == "{}\n"


def test_an_awkward_home_is_said_instead_of_a_link_that_cannot_help(tmp_path: Path) -> None:
    home = tmp_path / "[home]"
    settings = Settings(home=home, starter=home, roots=(tmp_path.resolve(),))
    path = a_file(settings, "a.jsonl")
    with pytest.raises(Refused) as refused:
        argument_for(parse_source(str(path), settings), settings)
    assert refused.value.code == "dataset_name_awkward"


def test_a_link_whose_target_has_no_ending_keeps_its_own_name(settings: Settings) -> None:
    blob = a_file(settings, "blobs/4f2a")
    link = settings.home / "snapshot.jsonl"
    link.symlink_to(blob)
    assert parse_source(str(link), settings).path == link


def test_an_upload_is_kept_once_and_never_overwrites_another(settings: Settings, tmp_path: Path) -> None:
    upload = tmp_path / "tmp-upload"
    upload.write_text("one")
    first = keep_upload(upload, "my data.jsonl", settings)
    assert keep_upload(upload, "my data.jsonl", settings) == first == settings.datasets / "my data.jsonl"
    upload.write_text("two")
    second = keep_upload(upload, "my data.jsonl", settings)
    assert second.name == "my data-2.jsonl"
    assert (first.read_text(), second.read_text(), upload.read_text()) == ("one", "two", "two")
    assert keep_upload(upload, "my data.jsonl", settings) == second
    assert sorted(path.name for path in settings.datasets.iterdir()) == ["my data-2.jsonl", "my data.jsonl"]


def test_an_upload_that_cannot_be_kept_says_why_and_leaves_nothing(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(Failed) as failed:
        keep_upload(tmp_path / "gone", "a.jsonl", settings)
    assert failed.value.code == "upload_not_kept"
    assert list(settings.datasets.iterdir()) == []


@pytest.mark.parametrize(
    ("original", "safe"),
    [
        ("../../etc/passwd", "passwd"), ("C:\\data\\train.csv", "train.csv"), ("/abs/a.jsonl", "a.jsonl"),
        ("..", "upload"), ("", "upload"), ("a[1]*?::#2.jsonl", "a_1_2.jsonl"), (".jsonl", "jsonl"),
        ("a\0b\n.csv", "a_b_.csv"),
        ("数据 1.json", "数据 1.json"), ("x" * 500 + ".jsonl", "x" * 114 + ".jsonl"), ("<b>.json", "_b_.json"),
    ],
)  # fmt: skip
def test_an_uploads_name_is_only_ever_a_name(original: str, safe: str) -> None:
    assert safe_name(original) == safe


def test_a_second_compressed_upload_of_one_name_keeps_both_its_endings(settings: Settings, tmp_path: Path) -> None:
    for text in ("one", "two"):
        (tmp_path / text).write_text(text)
    names = [keep_upload(tmp_path / text, "rows.jsonl.gz", settings).name for text in ("one", "two")]
    assert names == ["rows.jsonl.gz", "rows-2.jsonl.gz"]
