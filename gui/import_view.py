"""What came of a pasted command, as a page: what was taken, translated, refused, and what it would really do."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from gui.words import card
from services.errors import Key
from services.specs import TrainSpec
from services.swift.importer.imported import Imported
from services.text import say


def imported_html(found: Imported, lang: str) -> str:
    """The lists of an import; the form was filled where it is a training."""
    filled = isinstance(found.spec, TrainSpec)
    kind = "warning" if found.refused else "ok" if filled else "note"
    code = "training.imported" if filled else "training.imported_other"
    parts = [card(kind, say(code, lang, command=found.command or "–", line=found.line))]
    parts += [_list("training.import_refused", [(_flag(one.flag, one.value), one.why) for one in found.refused], lang)]
    renamed = [(f"{one.old} → {one.new}", one.why) for one in found.translated]
    parts += [_list("training.import_translated", renamed, lang)]
    parts += [_list("training.import_notes", [("", one.text) for one in found.notes], lang)]
    if not filled and found.argv:
        parts.append(f"<pre class='td-argv'>{escape(' '.join(found.argv))}</pre>")
    if found.others:
        names = ", ".join(f"{other.command} ({other.line})" for other in found.others)
        parts.append(card("note", say("training.import_others", lang, commands=names)))
    return "".join(parts)


def _flag(flag: str, value: str) -> str:
    return f"{flag} {value}".strip()


def _list(title: str, items: Sequence[tuple[str, Key]], lang: str) -> str:
    if not items:
        return ""
    lines = "".join(
        f"<li>{f'<code>{escape(head)}</code> ' if head else ''}{escape(say(key, lang, **key.values))}</li>"
        for head, key in items
    )
    return f'<div class="td-import"><b>{escape(say(title, lang))}</b><ul>{lines}</ul></div>'
