"""Data files and folders as a stream of rows: what cannot be read comes out as a Fault, never as an exception."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, cast

from services.datasets import csv_rows, encoding, json_rows, tables, text_rows
from services.datasets.folders import read_folder
from services.datasets.packing import ENDINGS, Packing, broken, opened, packing_of, unpacked
from services.datasets.rows import Fault, Row
from services.errors import Refused
from services.paths import printable

READERS = {"jsonl": "json", "json": "json", "csv": "csv", "parquet": "parquet", "arrow": "arrow", "txt": "text"}
"""File ending -> how its rows are read; exactly these endings, in lower case, are taken by ms-swift."""
LOOKALIKES = {**READERS, "ndjson": "json", "tsv": "csv", "tab": "csv", "feather": "arrow", "pq": "parquet"}

_HEAD_BYTES = 1 << 16
_PAGE = re.compile(rb"\s*<(!doctype\b|html\b|head\b|body\b|\?xml\b|script\b)", re.IGNORECASE)
_LIKE_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"')
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_BLOCKS_DECODED = 4
"""MiB the encoding is decided from."""
_PARTS_COMPARED = 200
_ROWS_COMPARED = 20


@dataclass
class DataFile:
    """An opened look at one file or folder: how its rows are to be read, and what is wrong with it as a whole."""

    path: Path
    reader: str
    """json, array, columns, csv, parquet, arrow, text; empty when it cannot be read at all."""
    size: int
    faults: list[Fault] = field(default_factory=list)
    encoding: str = "utf-8"
    delimiter: str = ","
    packing: Packing = ""
    old_line_ends: bool = False
    """A carriage return alone ends a line, as on the first Macintosh."""
    parts: tuple[DataFile, ...] = ()
    """For a folder: the files that are read, in ms-swift's order."""
    ignored: tuple[Path, ...] = ()
    """For a folder: the files that are not."""
    consumed: int = 0
    """Bytes of (unpacked) JSON lines handed out so far; 0 for the other readers."""
    _raw: IO[bytes] | None = None
    _done: int = 0

    @property
    def packed(self) -> bool:
        return bool(self.packing)

    @property
    def plain(self) -> bool:
        """Whether the bytes of ``path`` are JSON lines in UTF-8, so that it can be cut at any line's end."""
        return self.reader == "json" and not self.packing and not self.parts and self.encoding.startswith("utf-8")

    def rows(self) -> Iterator[tuple[int, Row | Fault]]:
        """(row number from 1, row or Fault), one record at a time; memory does not grow with the file.

        Raises Refused("dataset_unreadable") when the disk or the permissions say no.
        """
        yield from enumerate(self._parts_records() if self.parts else self._own_records(), 1)

    def fraction(self) -> float:
        """How much of the file has been read, 0 to 1."""
        if self.size == 0 or (self._raw is None and not self.parts):
            return 0.0
        done = self._done if self._raw is None else self._done + self._raw.tell()
        return min(1.0, done / self.size)

    def _parts_records(self) -> Iterator[Row | Fault]:
        self._done = self.consumed = 0
        for part in self.parts:
            before = self.consumed
            for item in part._own_records():
                self._raw, self.consumed = part._raw, before + part.consumed
                yield item
            self._done, self._raw = self._done + part.size, None

    def _own_records(self) -> Iterator[Row | Fault]:
        if not self.reader:
            return
        self.consumed, damaged = 0, broken()
        try:
            with self.path.open("rb", buffering=1 << 20) as self._raw:
                yield from self._records(self._raw)
        except damaged as error:
            yield Fault("packed_broken", values={"reason": printable(str(error), 120), "packing": self.packing})
        except OSError as error:
            raise unreadable(self.path, error) from error
        finally:
            self._raw = None

    def _records(self, raw: IO[bytes]) -> Iterator[Row | Fault]:
        if self.reader == "parquet":
            yield from tables.parquet_rows(raw)
            return
        if self.reader == "arrow":
            yield from tables.arrow_rows(raw)
            return
        stream = unpacked(raw, self.packing)
        if self.reader == "columns":
            yield from tables.column_rows(tables.read_columns(stream) or {})
            return
        if self.reader == "json" and self.encoding.startswith("utf-8"):
            for length, item in json_rows.lines(json_rows.bounded(stream)):
                self.consumed += length
                yield item
            return
        if self.reader in ("csv", "text") and self.encoding.startswith("utf-8") and not self.old_line_ends:
            texts = text_rows.Decoded(stream)
            yield from csv_rows.read(texts, self.delimiter) if self.reader == "csv" else text_rows.read(texts)
            return
        with text_of(stream, self.encoding, newline="" if self.reader == "csv" else None) as text:
            if self.reader == "csv":
                yield from csv_rows.read(json_rows.bounded(text), self.delimiter)
            elif self.reader == "text":
                yield from text_rows.read(json_rows.bounded(text))
            elif self.reader == "json":
                yield from (item for _, item in json_rows.lines(line.encode() for line in json_rows.bounded(text)))
            else:
                yield from json_rows.values(text)


def read_rows(path: Path) -> Iterator[tuple[int, Row | Fault]]:
    """The rows of ``path``, after the faults of the file as a whole (those carry number 0)."""
    file = open_file(path)
    yield from ((0, fault) for fault in file.faults)
    yield from file.rows()


def open_file(path: Path) -> DataFile:
    """Look at the ending and the first bytes of a file, or at the names in a folder.

    Raises Refused("dataset_unreadable").
    """
    try:
        return _open_folder(path) if path.is_dir() else _open_one(path)
    except OSError as error:
        raise unreadable(path, error) from error


def stamp(path: Path) -> tuple[int, int]:
    """(bytes, last change in ns since the epoch) of a file, or of all that lies in a folder. Raises OSError."""
    stats = [path.stat()]
    if path.is_dir():
        stats = [entry.stat() for entry in path.rglob("*") if entry.is_file()] or stats
    return sum(stat.st_size for stat in stats), max(stat.st_mtime_ns for stat in stats)


def unreadable(path: Path, error: BaseException) -> Refused:
    """The answer for a file that the system does not let us read."""
    return Refused("dataset_unreadable", details=repr(error), path=printable(str(path)))


def text_of(stream: IO[bytes], encoding: str, *, newline: str | None) -> IO[str]:
    """``stream`` as text; bytes that do not belong to ``encoding`` become U+FFFD (they were reported before)."""
    return io.TextIOWrapper(cast("io.BufferedReader", stream), encoding, errors="replace", newline=newline)


def _open_folder(path: Path) -> DataFile:
    folder = read_folder(path)
    parts = tuple(_open_one(file, of_folder=folder.delimiter) for file in folder.files)
    faults = [*folder.faults, *(fault for part in parts for fault in part.faults)]
    size = sum(part.size for part in parts)
    parts = tuple(part for part in parts if part.reader)
    if stranger := _stranger(parts):
        names = {"name": printable(stranger.path.name, 60), "first": printable(parts[0].path.name, 60)}
        faults.append(Fault("folder_columns_differ", values=names))
    reader = parts[0].reader if parts else ""
    return DataFile(path, reader, size, faults, parts=parts, ignored=folder.ignored)


def _stranger(parts: tuple[DataFile, ...]) -> DataFile | None:
    """A file with a column that the first file does not have: the loader stops there (CastError)."""
    known: set[str] = set()
    for place, part in enumerate(parts[:_PARTS_COMPARED]):
        rows = [item for _, item in islice(part.rows(), _ROWS_COMPARED) if not isinstance(item, Fault)]
        columns = {name for row in rows for name in row}
        if place == 0:
            known = columns
        elif columns - known:
            return part
    return None


def _open_one(path: Path, *, of_folder: str = "") -> DataFile:
    """``of_folder``: the delimiter of the folder it is read with; empty: a file by itself."""
    size = path.stat().st_size
    with path.open("rb") as raw:
        packing = packing_of(raw.read(4))
        raw.seek(0)
        try:
            head = unpacked(raw, packing).read(_HEAD_BYTES)
        except broken() as error:
            fault = Fault("packed_broken", values={"reason": printable(str(error), 120), "packing": packing})
            return DataFile(path, "", size, [fault])
    file = DataFile(path, "", size, packing=packing)
    _by_ending(file, of_folder)
    if not head.strip(b" \t\r\n\0\xef\xbb\xbf"):
        file.reader = ""
        file.faults.append(Fault("file_empty"))
    elif file.reader in ("json", "csv", "text"):
        _by_content(file, head)
    elif not file.reader and not packing and _LIKE_JSON.match(head):
        file.reader = "json"  # whatever its name: a copy can be made of it
        _by_content(file, head)
    return file


def _by_ending(file: DataFile, of_folder: str) -> None:
    """Sets the reader; a Fault for an ending that ms-swift does not take."""
    endings = [suffix[1:] for suffix in file.path.suffixes]
    ending = endings[-1] if endings else ""
    inner = endings[-2] if ending.lower() in ENDINGS and len(endings) > 1 else ending
    file.reader = LOOKALIKES.get(inner.partition("#")[0].lower(), "")
    if file.reader == "csv" and (inner.lower() in ("tsv", "tab") or of_folder == "\t"):
        file.delimiter = "\t"
    if not of_folder and ending not in READERS:
        code = "file_ending" if ending else "file_no_ending"
        file.faults.append(Fault(code, values={"ending": printable(ending, 20)}))


def _by_content(file: DataFile, head: bytes) -> None:
    """Encoding, delimiter and the kind of JSON; a Fault for what is no data at all."""
    if _no_data(file, head):
        return
    _encoding(file, head)
    text = head.decode(file.encoding, errors="replace")
    if file.reader == "csv" and file.delimiter == ",":
        file.delimiter = csv_rows.delimiter(text)
        if file.delimiter != ",":
            shown = "TAB" if file.delimiter == "\t" else file.delimiter
            file.faults.append(Fault("csv_delimiter", 1, {"delimiter": shown}))
    if file.reader == "json":
        _kind_of_json(file, head, text)


def _kind_of_json(file: DataFile, head: bytes, text: str) -> None:
    if json_rows.is_array(text):
        file.reader = "array"
        if not head.startswith(b"[") and file.encoding.startswith("utf-8"):
            file.faults.append(Fault("json_array_start", 1))
        return
    columns = None
    if file.encoding.startswith("utf-8") and tables.looks_by_columns(head):
        with suppress(*broken()), opened(file.path, file.packing) as stream:
            columns = tables.read_columns(stream)
    if columns is not None:
        file.reader = "columns"
        file.faults.append(Fault("json_columns", 1, {"columns": printable(", ".join(columns), 120)}))
    elif json_rows.is_spread(text):
        file.reader = "array"


def _no_data(file: DataFile, head: bytes) -> bool:
    """A web page, a pointer to a file or an archive under the name of a data file."""
    if _PAGE.match(head) and file.reader != "text":
        title = _TITLE.search(head.decode("utf-8", errors="replace"))
        file.faults.append(Fault("file_is_page", 1, {"title": printable(title[1].strip() if title else "", 80)}))
    elif head.startswith(b"version https://git-lfs."):
        file.faults.append(Fault("file_is_pointer", 1))
    elif head.startswith((b"PK\x03\x04", b"PAR1", b"ARROW1", b"7z\xbc\xaf", b"\xd0\xcf\x11\xe0", b"BZh", b"\xfd7zXZ")):
        file.faults.append(Fault("file_is_binary", 1))
    else:
        return False
    file.reader = ""
    return True


def _encoding(file: DataFile, head: bytes) -> None:
    """Set the encoding; a Fault when it is another than UTF-8. Single bad bytes are told by the rows they are in."""
    file.old_line_ends = b"\r" in head.replace(b"\r\n", b"").rstrip(b"\r")
    with opened(file.path, file.packing) as stream:
        found = encoding.of_stream(stream, head, blocks=_BLOCKS_DECODED)
    file.encoding = found.name
    if found.line and not found.byte:
        values = {"encoding": encoding.NAMES[found.name], "sample": found.sample}
        file.faults.append(Fault("not_utf8", found.line, values))

