"""What is read from the environment."""

from __future__ import annotations

import pytest

from services.settings import read_settings


@pytest.mark.parametrize(
    ("text", "slots"), [("3", 3), ("", 1), ("0", 1), ("-2", 1), ("²", 1), ("two", 1), ("1.5", 1), ("３", 3)]
)
def test_what_is_no_number_of_slots_is_one(text: str, slots: int) -> None:
    assert read_settings({"TUNEDESK_CPU_SLOTS": text}).cpu_slots == slots
