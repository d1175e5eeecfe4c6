from __future__ import annotations

import pytest

from services.datasets import registry


def test_every_entry_can_be_named() -> None:
    assert len(registry.known()) > 150
    for one in registry.known():
        assert one.id and "/" in one.id and one.sources
        assert registry.find(one.ms or one.hf) is not None


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("self-cog", "swift/self-cognition"),
        ("SELF cognition", "swift/self-cognition"),
        ("hf::vicgalle/alpaca-gpt4", "AI-ModelScope/alpaca-gpt4-data-en"),
        ("alpaca zh", "AI-ModelScope/alpaca-gpt4-data-zh"),
    ],
)
def test_a_data_set_is_found_by_parts_of_its_ids_and_tags(text: str, id: str) -> None:
    assert registry.search(text)[0].id == id


def test_all_words_must_be_there_and_nothing_means_all() -> None:
    assert registry.search("alpaca self-cognition-of-nobody") == []
    assert len(registry.search("", limit=10_000)) == len(registry.known())
    assert all("math" in one.tags or "math" in str(one).lower() for one in registry.search("math"))


def test_subsets_are_offered_as_they_are_written() -> None:
    one = registry.find("swift/self-cognition")
    assert one is not None and "swift/self-cognition:qwen3" in one.sources


def test_data_sets_ms_swift_reads_its_own_way_are_known_by_id_and_by_folder_name() -> None:
    assert registry.is_special("swift/self-cognition")
    assert not registry.is_special("owner/name")
    assert registry.has_name("self-cognition") and not registry.has_name("data")
