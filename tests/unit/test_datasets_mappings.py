from __future__ import annotations

from pathlib import Path

import pytest

from services.datasets.mappings import recall, remember
from services.errors import Failed
from services.settings import Settings


def test_a_mapping_comes_back_for_the_same_columns_in_any_order_and_for_no_others(settings: Settings) -> None:
    remember(["ask", "tell", "id"], {"ask": "query", "tell": "response"}, settings)
    assert recall(["id", "tell", "ask"], settings) == {"ask": "query", "tell": "response"}
    assert recall(["ask", "tell"], settings) is None


def test_a_later_one_replaces_it_and_an_empty_one_forgets_it(settings: Settings) -> None:
    remember(["a", "b"], {"a": "query"}, settings)
    remember(["a", "b"], {"a": "response"}, settings)
    assert recall(["a", "b"], settings) == {"a": "response"}
    remember(["a", "b"], {}, settings)
    assert recall(["a", "b"], settings) is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"x": 5}'])
def test_a_damaged_memory_is_an_empty_one(settings: Settings, text: str) -> None:
    settings.datasets.mkdir(parents=True)
    (settings.datasets / ".mappings.json").write_text(text)
    assert recall(["a"], settings) is None
    remember(["a"], {"a": "query"}, settings)
    assert recall(["a"], settings) == {"a": "query"}


def test_a_place_that_cannot_be_written_is_said(settings: Settings, tmp_path: Path) -> None:
    settings.datasets.write_text("a file where the folder should be")
    with pytest.raises(Failed) as failed:
        remember(["a"], {"a": "query"}, settings)
    assert failed.value.code == "cannot_write"
