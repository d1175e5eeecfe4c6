"""The built-in sample: questions about itself, and answers with the name and author a person chose."""

from __future__ import annotations

import json
from typing import Any

from services.settings import ASSETS

SAMPLE_ROWS = 100
TEMPLATE = ASSETS / "self_cognition.jsonl"


def sample_rows(name: str, author: str) -> str:
    """The sample as jsonl text, one conversation a line, with ``name`` and ``author`` put in literally."""
    rows = map(json.loads, TEMPLATE.read_text("utf-8").splitlines())
    return "".join(json.dumps(_filled(row, name, author)) + "\n" for row in rows)


def _filled(value: Any, name: str, author: str) -> Any:
    if isinstance(value, str):
        parts = value.split("{{NAME}}")
        return name.join(part.replace("{{AUTHOR}}", author) for part in parts)
    if isinstance(value, list):
        return [_filled(item, name, author) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, name, author) for key, item in value.items()}
    return value
