"""What KTO makes of the column label: ``bool()`` of whatever is there, and a sum over all of it."""

from __future__ import annotations

from typing import Any


def label_problem(value: Any, typed: str | None) -> str:
    """ "good" or "bad" for a label ms-swift reads as it is meant, else the finding.

    ``typed`` says what the loader makes of a column of text: "bool", "number" or nothing. Numbers other than 0 and 1
    would all count as good, a text or a missing label stops the run.
    """
    if typed == "bool" and isinstance(value, str):
        value = value.lower() == "true"
    elif typed == "number" and isinstance(value, str):
        value = float(value)
    if value is None:
        return "label_missing"
    if isinstance(value, bool | int | float):
        return ("good" if value else "bad") if value in (0, 1) else "label_number"
    return "label_text"


def weights(good: int, bad: int) -> dict[str, tuple[float, float]] | None:
    """The weights ms-swift advises for an unbalanced set, (lowest, highest) each; None where 1 and 1 will do.

    Eq. (8) of Ethayarajh et al. 2024: desirable weight x good to undesirable weight x bad between 1 and 4/3.
    """
    good, bad = max(good, 1), max(bad, 1)
    desirable = round(bad / good, 2), round(bad / good * 1.33, 2)
    undesirable = round(good / bad / 1.33, 2), round(good / bad, 2)
    if desirable[0] <= 1 <= desirable[1] or undesirable[0] <= 1 <= undesirable[1]:
        return None
    return {"desirable": desirable, "undesirable": undesirable}
