"""The bench's table and its verdict; what it measures is the bench's own matter."""

from __future__ import annotations

import pytest

from tests.bench import __main__ as bench
from tests.bench.figures import Figure, ratios, table
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
        bench.main(["speed"])
    assert "snapshot, start, idle, beside, page" in capsys.readouterr().err
