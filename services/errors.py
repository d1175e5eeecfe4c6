"""What can go wrong, as codes with values; services/text holds the sentences a person reads."""

from __future__ import annotations


class Key(str):
    """A value that is itself a key of services/text, put into words where the sentence is."""

    values: dict[str, object]

    def __new__(cls, key: str, /, **values: object) -> Key:
        made = super().__new__(cls, key)
        made.values = values
        return made


class TuneDeskError(Exception):
    """A failure a person can do something about.

    ``code`` names an entry ``error.<code>`` of services/text, which says what happened, why, and
    what to do next; ``values`` fill the gaps of that sentence. ``details`` is raw text (an
    exception, the last lines of a log) that is shown only on request.
    """

    def __init__(self, code: str, /, details: str = "", **values: object) -> None:
        super().__init__(f"{code} {values}" if values else code)
        self.code = code
        self.values = values
        self.details = details


class Refused(TuneDeskError):
    """Nothing was started or changed: what was asked for cannot be done as asked (exit code 2)."""


class Failed(TuneDeskError):
    """Something was started and did not succeed (exit code 1)."""
