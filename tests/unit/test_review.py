"""A check that is watched and can be ended."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, active_count

import pytest

from services.datasets import review as reviews
from services.datasets.audited import Outcome
from services.datasets.check import Checked
from services.datasets.review import review
from services.datasets.scan import Stopped
from services.datasets.sources import Source
from services.settings import Settings

ROW = json.dumps({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}) + "\n"


def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, starter=tmp_path, roots=(tmp_path,))


def big(tmp_path: Path) -> Source:
    path = tmp_path / "big 数据.jsonl"
    path.write_text(ROW * 60_000, encoding="utf-8")
    return Source("file", str(path), path)


def test_the_sample_is_shown_with_the_names_of_an_untouched_form(tmp_path: Path) -> None:
    *_, last = review(Source("sample", "sample"), settings(tmp_path), Event())
    assert last.done and last.report.verdict == "ok" and last.report.usable == 100
    assert "{{" not in str(last.report.preview)


def test_a_long_check_shows_the_first_rows_and_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "EVERY_S", 0.01)
    *under_way, last = review(big(tmp_path), settings(tmp_path), Event())
    assert under_way and all(step.report.preview and not step.done for step in under_way)
    assert [step.part for step in under_way] == sorted(step.part for step in under_way)
    assert last.report.rows == 60_000 and last.report.complete


def test_a_stopped_check_tells_what_was_read_until_then(tmp_path: Path) -> None:
    stop = Event()
    stop.set()
    *_, last = review(big(tmp_path), settings(tmp_path), stop)
    assert last.done and not last.report.complete and last.report.rows < 60_000


def test_leaving_the_page_ends_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews, "EVERY_S", 0.01)
    before = active_count()
    steps = review(big(tmp_path), settings(tmp_path), Event())
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    assert active_count() == before


def test_the_last_stage_shows_how_far_it_is_with_the_report_of_all_rows_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "EVERY_S", 0.01)
    path = tmp_path / "a.jsonl"
    path.write_text(ROW * 30)

    def finish(checked: Checked, /, *, progress: Callable[[str, float], None], stop: Callable[[], bool]) -> Outcome:
        for tenth in range(1, 11):
            progress("audit", tenth / 10)
            time.sleep(0.01)
        return Outcome(replace(checked.report, usable=7))

    steps = list(review(Source("file", str(path), path), settings(tmp_path), Event(), finish=finish))
    counting = [step for step in steps if step.stage == "audit" and not step.done]
    assert counting and all(step.report.rows == 30 and step.checked for step in counting)
    assert 0 < max(step.part for step in counting) <= 1
    assert steps[-1].done and steps[-1].report.usable == 7


def test_stopping_the_last_stage_keeps_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews, "EVERY_S", 0.01)
    path = tmp_path / "a.jsonl"
    path.write_text(ROW * 30)
    def finish(checked: Checked, /, *, progress: Callable[[str, float], None], stop: Callable[[], bool]) -> Outcome:
        raise Stopped

    *_, last = review(Source("file", str(path), path), settings(tmp_path), Event(), finish=finish)
    assert last.done and last.audit is None and last.report.rows == 30
