"""Which encoding a text file is written in, told from its bytes."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import IO

from services.datasets.packing import broken
from services.paths import printable

NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "gb18030": "GBK", "cp1252": "Windows-1252"}
"""Python's name of an encoding -> what people call it."""

_HAN_PAIR = re.compile("[一-鿿]{2}")
_LATIN = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]|[\x80-\xff](?=[A-Za-z])")
_RARE = re.compile(rb"[\x80-\x84\x86-\x90\x98-\x9f]")
"""Signs of Windows-1252 that hardly stand in a text, and bytes it leaves open."""
_HIGH = re.compile(rb"[\x80-\xff]")
_BLOCK = 1 << 20
_DECIDING = 1 << 16
"""Bytes from the first bad line on that an encoding has to fit."""


@dataclass(frozen=True)
class Encoding:
    """``name`` is Python's; ``line`` (1-based) and ``sample`` show the first place that is not UTF-8, 0: none."""

    name: str
    line: int = 0
    sample: str = ""
    byte: str = ""
    """Set where no encoding fits: the first byte that is not UTF-8, as 0x…."""


def of_stream(stream: IO[bytes], head: bytes, *, blocks: int) -> Encoding:
    """The encoding of the text in ``stream``, which starts with ``head``; at most ``blocks`` MiB of it are read."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16", 1)
    if bare := _bare_utf16(head):
        return Encoding(bare, 1)
    line, sample, after, mixed = _first_bad_line(stream, blocks)
    if not line:
        return Encoding("utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8")
    name = "" if mixed else "gb18030" if _reads_as_gbk(after) else "cp1252" if _reads_as_latin(after) else ""
    if name:
        return Encoding(name, line, printable(sample.decode(name, errors="replace").strip(), 60))
    return Encoding("utf-8", line, byte=f"0x{first_bad_byte(sample):02x}")


def first_bad_byte(line: bytes) -> int:
    """The first byte of ``line`` that is not UTF-8; -1: none."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return line[error.start]
    return -1


def _bare_utf16(head: bytes) -> str:
    """UTF-16 without a byte-order mark: every other byte of plain text is zero."""
    pairs = head[: 1 << 10][: len(head) // 2 * 2]
    if len(pairs) < 8:
        return ""
    low, high = pairs[0::2].count(0), pairs[1::2].count(0)
    half = len(pairs) // 2
    if high > half * 0.4 and low == 0:
        return "utf-16-le"
    return "utf-16-be" if low > half * 0.4 and high == 0 else ""


def _first_bad_line(stream: IO[bytes], blocks: int) -> tuple[int, bytes, bytes, bool]:
    """The first line that is not UTF-8 (1-based; 0: none), its bytes, the lines from it on, and whether UTF-8 beyond
    ASCII came before it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines, rest, mixed = 0, b"", False
    for _ in range(blocks):
        try:
            block = stream.read(_BLOCK)
        except broken():
            break  # told when the rows are read
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError:
            at, text = 0, rest + block
            for number, line in enumerate(text.splitlines(keepends=True), lines + 1):
                if first_bad_byte(line) >= 0:
                    return number, line, _whole_lines(text[at : at + _DECIDING]), mixed
                mixed, at = mixed or not line.isascii(), at + len(line)
            return lines + 1, text, text, mixed
        if not block:
            break
        lines += block.count(b"\n")
        mixed = mixed or not block.isascii()
        rest = block[block.rfind(b"\n") + 1 :][-_BLOCK:]
    return 0, b"", b"", mixed


def _whole_lines(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1] or text


def _reads_as_gbk(sample: bytes) -> bool:
    try:
        return bool(_HAN_PAIR.search(sample.decode("gb18030")))
    except UnicodeDecodeError:
        return False


def _reads_as_latin(sample: bytes) -> bool:
    """Western text: single accented letters or quotes, most of them beside plain letters."""
    high = len(_HIGH.findall(sample))
    few = 0 < high <= max(1, len(sample) // 3)
    return few and not _RARE.search(sample) and len(_LATIN.findall(sample)) * 2 >= high
