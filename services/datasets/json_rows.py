"""Rows out of JSON lines and JSON arrays, as ms-swift's loader reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, AnyStr

import orjson

from services.datasets.rows import Fault, Row
from services.datasets.wording import literal
from services.paths import printable

_BLANK = re.compile(r"\s*")
_BLOCK = 1 << 20
_LARGEST_VALUE = 64 << 20
"""Characters one value may have before a broken file would fill the memory."""
LONGEST_LINE = 64 << 20
"""Bytes (of text: characters) of one line, for the same reason."""


def is_array(head: str) -> bool:
    return head.lstrip("\ufeff \t\r\n").startswith("[")


def is_spread(head: str) -> bool:
    """Whether the first object takes several lines (pretty-printed)."""
    text = head.lstrip("\ufeff \t\r\n")
    first = text.partition("\n")[0]
    if not text.startswith("{") or _parses(first):
        return False
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return first.strip() == "{"
    return "\n" in text[:end]


def bounded(stream: IO[AnyStr]) -> Iterator[AnyStr]:
    """The lines of ``stream``, none longer than LONGEST_LINE: what is longer comes in pieces."""
    while line := stream.readline(LONGEST_LINE):
        yield line


def lines(stream: Iterable[bytes], number: int = 0) -> Iterator[tuple[int, Row | Fault]]:
    """(bytes read for it, row or Fault) of one JSON object a line; empty lines are skipped.

    ``number``: how many lines of the file come before the first of ``stream``.
    """
    skipped = 0
    loads = orjson.loads
    for raw in stream:
        number += 1
        line = raw[3:] if number == 1 and raw.startswith(b"\xef\xbb\xbf") else raw
        try:
            value = loads(line)
        except orjson.JSONDecodeError:
            if not line.strip():
                skipped += len(raw)
                continue
            if len(raw) >= LONGEST_LINE:
                yield len(raw), Fault("line_too_long", number, {"mib": LONGEST_LINE >> 20})
                return
            for item in _odd_line(line, number):
                yield len(line) + skipped, item
                line, skipped = b"", 0
            continue
        yield len(raw) + skipped, value if type(value) is dict else _no_object(number, value)
        skipped = 0


def values(stream: IO[str]) -> Iterator[Row | Fault]:
    """The elements of an array, or objects one after the other, without holding the whole text."""
    window = _Window(stream)
    array = window.next_char() == "["
    if array:
        window.skip(1)
    texts: bool | None = None
    while (char := window.next_char()) not in ("", "]"):
        value = window.value()
        if isinstance(value, Fault):
            yield value
            return
        if texts is None:
            texts = array and isinstance(value, str)
        if texts and isinstance(value, str):
            yield {"text": value}
        else:
            yield value if isinstance(value, dict) and not texts else _no_object(window.line, value)
        if array and not window.separator():
            yield window.broken("json_cut" if window.next_char() == "" else "json_broken", "")
            return
    if array and char == "":
        yield window.broken("json_cut", "")
    elif char == "]":
        window.skip(1 if array else 0)
        if window.next_char():
            yield window.broken("json_broken", "extra data")


class _Window:
    """A sliding piece of a text stream from which JSON values are taken."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._text = stream.read(_BLOCK).lstrip("\ufeff")
        self._at = 0
        self._ended = False
        self.line = 1
        self._decode = json.JSONDecoder().raw_decode

    def next_char(self) -> str:
        """The next character that is not blank; empty at the end of the text."""
        while True:
            match = _BLANK.match(self._text, self._at)
            self.skip((match.end() if match else self._at) - self._at)
            if self._at < len(self._text) or not self._more(_BLOCK):
                return self._text[self._at : self._at + 1]

    def skip(self, count: int) -> None:
        self.line += self._text.count("\n", self._at, self._at + count)
        self._at += count

    def separator(self) -> bool:
        """Step over a comma that is followed by a value; True also before the closing bracket."""
        if self.next_char() == ",":
            self.skip(1)
            return self.next_char() not in ("", "]", ",")
        return self.next_char() == "]"

    def value(self) -> Any:
        """The next JSON value, or a Fault."""
        size = _BLOCK
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except RecursionError:
                return self.broken("json_broken", "nested too deeply")
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - 16 or error.msg.startswith("Unterminated string")
                if cut and len(self._text) - self._at < _LARGEST_VALUE and self._more(size):
                    size *= 2
                    continue
                return self.broken("json_cut" if cut and self._ended else "json_broken", error.msg)
            except ValueError as error:
                return self.broken("json_broken", str(error))
            if end == len(self._text) and self._more(size):
                continue
            self.skip(end - self._at)
            return value

    def broken(self, code: str, reason: str) -> Fault:
        shown = self._text[self._at : self._at + 80].partition("\n")[0]
        return Fault(code, self.line, {"reason": printable(reason, 80), "text": printable(shown, 60)})

    def _more(self, size: int) -> bool:
        if self._ended:
            return False
        text = self._stream.read(size)
        self._ended = not text
        self._text = self._text[self._at :] + text
        self._at = 0
        return bool(text)


def _odd_line(line: bytes, number: int) -> Iterator[Row | Fault]:
    """A line orjson does not take: several objects, NaN, or really broken."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Fault("not_utf8_unknown", number, {"byte": f"0x{line[error.start]:02x}"})
        return
    decode = json.JSONDecoder().raw_decode
    at = len(text) - len(text.lstrip())
    while at < len(text):
        try:
            value, at = decode(text, at)
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            yield _broken_line(text, number, error)
            return
        yield value if type(value) is dict else _no_object(number, value)
        at += len(text) - at - len(text[at:].lstrip())


def _broken_line(text: str, number: int, error: Exception) -> Fault:
    """Cut when the text stops in the middle of the file's last line, else broken."""
    body = text.rstrip()
    at = getattr(error, "pos", 0)
    reason = getattr(error, "msg", str(error))
    opened = body.startswith("{") and (at >= len(body) - 1 or str(reason).startswith("Unterminated"))
    if opened and not text.endswith("\n"):
        return Fault("json_cut", number, {"text": printable("…" + body[-40:]), "reason": printable(str(reason), 80)})
    meant = _by_python(body)
    values = {"text": printable(body, 60), "reason": printable(str(reason), 80)}
    return Fault("json_broken", number, values, meant, meant)


def _by_python(body: str) -> Row | None:
    """The row that Python's ``print`` wrote ({'query': …}), which is no JSON; None: it is none of these either."""
    value = literal(body.removesuffix(",")) if body.startswith(("{'", "{ '")) else None
    return value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else None


def _no_object(number: int, value: object) -> Fault:
    return Fault("json_no_object", number, {"text": printable(json.dumps(value, ensure_ascii=False), 60)})


def _parses(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
