"""The bench's table and its verdict; what it measures is the bench's own matter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.models.facts import facts_of, read_facts
from tests.bench import __main__ as bench
from tests.bench import random_model
from tests.bench.figures import Figure, ratios, table
from tests.bench.natural_rows import write_rows
from tests.bench.settings import Settings


def test_a_figure_is_the_median_of_its_pairs_and_shows_its_spread() -> None:
    figure = ratios("ours", "theirs", [(1.0, 1.0), (3.0, 2.0), (2.2, 2.0)], bound=1.4)
    assert figure.median == pytest.approx(1.1)
    assert figure.cells() == ("ours", "theirs", "1.100 (1.000–1.500)", "≤ 1.400", "kept")


def test_a_figure_without_a_bound_has_no_verdict() -> None:
    assert Figure("theirs", "", (187.6,), unit="MB").cells() == ("theirs", "", "188 MB", "", "")


def test_the_table_says_which_bound_is_missed() -> None:
    lines = table([Figure("memory", "", (261.0,), 260, "MB"), Figure("CPU", "one core", (2.0,), 3, "%")])
    assert lines[1].split() == ["memory", "261", "MB", "≤", "260", "MB", "MISSED"]
    assert lines[2].split()[-1] == "kept"


@pytest.mark.parametrize(("value", "code"), [(1.0, 0), (1.5, 1)])
def test_the_exit_code_tells_of_a_missed_bound(
    value: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Settings] = []

    def measure(settings: Settings) -> list[Figure]:
        asked.append(settings)
        return [Figure("it", "that", (value,), 1.4)]

    monkeypatch.setattr(bench, "PARTS", {"one": measure, "other": measure})
    assert bench.main(["one", "--pairs", "2"]) == code
    assert asked == [Settings(pairs=2)]
    assert "it" in capsys.readouterr().out


def test_an_unknown_part_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["taste"])
    assert "snapshot, check, start, idle, beside, page" in capsys.readouterr().err


def test_the_rows_of_natural_text_are_the_same_each_time_and_of_different_lengths(tmp_path: Path) -> None:
    first, again = (write_rows(tmp_path / name, 50) for name in ("first", "again"))
    assert first.read_bytes() == again.read_bytes()
    lengths = [len(line) for line in first.read_text().splitlines()]
    assert max(lengths) > 5 * min(lengths)
    rest = write_rows(tmp_path / "rest", 10, start=50).read_text()
    assert not set(rest.splitlines()) & set(first.read_text().splitlines())


def test_more_rows_than_there_are_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only"):
        write_rows(tmp_path / "rows", 100_000)


def test_a_random_model_has_the_parameters_its_config_says(tmp_path: Path) -> None:
    tokenizer = tmp_path / "tokenizer"
    tokenizer.mkdir()
    for name in random_model.TOKENIZER:
        (tokenizer / name).write_text("{}")
    model = random_model.make_random_model(tmp_path / "model", random_model.Shape(16, 2, 4, 2, 24, 50), tokenizer)
    facts, computed = read_facts(model), facts_of(json.loads((model / "config.json").read_text()))
    assert facts is not None and computed is not None and facts.exact
    assert (facts.parameters, facts.bytes) == (computed.parameters, 2 * computed.parameters)
