"""Data files as a stream of rows: what cannot be read comes out as a Fault, never as an exception."""

from __future__ import annotations

import codecs
import gzip
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from services.datasets import csv_rows, json_rows
from services.datasets.rows import Fault, Row
from services.errors import Refused
from services.paths import printable

READERS = {"jsonl": "json", "json": "json", "csv": "csv", "parquet": "parquet", "txt": "text"}
"""File ending -> how its rows are read; exactly these endings, in lower case, are taken by ms-swift."""
LOOKALIKES = {**READERS, "ndjson": "json", "tsv": "csv"}

_HEAD_BYTES = 1 << 16
_PAGE = re.compile(rb"\s*<(!doctype\b|html\b|head\b|body\b|\?xml\b|script\b)", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_HAN_PAIR = re.compile("[一-鿿]{2}")


@dataclass
class DataFile:
    """An opened look at one file: how its rows are to be read, and what is wrong with it as a whole."""

    path: Path
    reader: str
    """json, array, csv, parquet, text; empty when it cannot be read at all."""
    size: int
    faults: list[Fault] = field(default_factory=list)
    encoding: str = "utf-8"
    delimiter: str = ","
    packed: bool = False
    consumed: int = 0
    """Bytes of (unpacked) JSON lines handed out so far; 0 for the other readers."""
    _raw: IO[bytes] | None = None

    def rows(self) -> Iterator[tuple[int, Row | Fault]]:
        """(row number from 1, row or Fault), one record at a time; memory does not grow with the file.

        Raises Refused("dataset_unreadable") when the disk or the permissions say no.
        """
        if not self.reader:
            return
        try:
            with self.path.open("rb", buffering=1 << 20) as self._raw:
                yield from enumerate(self._records(self._raw), 1)
        except (OSError, EOFError) as error:
            raise unreadable(self.path, error) from error
        finally:
            self._raw = None

    def fraction(self) -> float:
        """How much of the file has been read, 0 to 1."""
        if self._raw is None or self.size == 0:
            return 0.0
        return min(1.0, self._raw.tell() / self.size)

    def _records(self, raw: IO[bytes]) -> Iterator[Row | Fault]:
        if self.reader == "parquet":
            yield from _parquet_rows(raw)
            return
        stream = _unpacked(raw, self.packed)
        if self.reader == "json" and self.encoding in ("utf-8", "utf-8-sig"):
            for length, item in json_rows.lines(stream):
                self.consumed += length
                yield item
            return
        with _text(stream, self.encoding, newline="" if self.reader == "csv" else None) as text:
            if self.reader == "csv":
                yield from csv_rows.read(text, self.delimiter)
            elif self.reader == "text":
                yield from ({"text": line.rstrip("\n")} for line in text)
            else:
                yield from json_rows.values(text)


def read_rows(path: Path) -> Iterator[tuple[int, Row | Fault]]:
    """The rows of ``path``, after the faults of the file as a whole (those carry number 0)."""
    file = open_file(path)
    yield from ((0, fault) for fault in file.faults)
    yield from file.rows()


def open_file(path: Path) -> DataFile:
    """Look at the ending and the first bytes of ``path``. Raises Refused("dataset_unreadable")."""
    try:
        size = path.stat().st_size
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            head = _unpacked(raw, packed).read(_HEAD_BYTES)
    except (OSError, EOFError) as error:
        raise unreadable(path, error) from error
    file = DataFile(path, "", size, packed=packed)
    _by_ending(file)
    if not head.strip():
        file.reader = ""
        file.faults.append(Fault("file_empty"))
    elif file.reader in ("json", "csv", "text"):
        _by_content(file, head)
    return file


def unreadable(path: Path, error: BaseException) -> Refused:
    """The answer for a file that the system does not let us read."""
    return Refused("dataset_unreadable", details=repr(error), path=printable(str(path)))


def _text(stream: IO[bytes], encoding: str, *, newline: str | None) -> IO[str]:
    """``stream`` as text; bytes that do not belong to ``encoding`` become U+FFFD (they were reported before)."""
    return io.TextIOWrapper(cast("io.BufferedReader", stream), encoding, errors="replace", newline=newline)


def _unpacked(raw: IO[bytes], packed: bool) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw


def _by_ending(file: DataFile) -> None:
    """Sets the reader; a Fault for an ending that ms-swift does not take."""
    endings = [suffix[1:] for suffix in file.path.suffixes]
    ending = endings[-1] if endings else ""
    file.reader = READERS.get(ending, "")
    if file.reader:
        return
    inner = endings[-2] if ending.lower() == "gz" and len(endings) > 1 else ending
    file.reader = LOOKALIKES.get(inner.lower(), "")
    if file.reader == "csv" and inner.lower() == "tsv":
        file.delimiter = "\t"
    code = "file_ending" if ending else "file_no_ending"
    file.faults.append(Fault(code, values={"ending": printable(ending, 20)}))


def _by_content(file: DataFile, head: bytes) -> None:
    """Encoding, delimiter and the kind of JSON; a Fault for what is no data at all."""
    if _no_data(file, head):
        return
    bad = _encoding(file, head)
    text = head.decode(file.encoding, errors="replace")
    if bad is not None:
        file.faults.append(bad)
    if file.reader == "csv" and file.delimiter == ",":
        file.delimiter = csv_rows.delimiter(text)
        if file.delimiter != ",":
            shown = "TAB" if file.delimiter == "\t" else file.delimiter
            file.faults.append(Fault("csv_delimiter", 1, {"delimiter": shown}))
    if file.reader == "json":
        if json_rows.is_array(text):
            file.reader = "array"
            if not head.startswith(b"["):
                file.faults.append(Fault("json_array_start", 1))
        elif json_rows.is_spread(text):
            file.reader = "array"


def _no_data(file: DataFile, head: bytes) -> bool:
    """A web page, a pointer to a file or an archive under the name of a data file."""
    if _PAGE.match(head) and file.reader != "text":
        title = _TITLE.search(head.decode("utf-8", errors="replace"))
        file.faults.append(Fault("file_is_page", 1, {"title": printable(title[1].strip() if title else "", 80)}))
    elif head.startswith(b"version https://git-lfs."):
        file.faults.append(Fault("file_is_pointer", 1))
    elif head.startswith((b"PK\x03\x04", b"PAR1", b"7z\xbc\xaf", b"\xd0\xcf\x11\xe0")):
        file.faults.append(Fault("file_is_binary", 1))
    else:
        return False
    file.reader = ""
    return True


def _encoding(file: DataFile, head: bytes) -> Fault | None:
    """Set the encoding; a Fault when it is not UTF-8. JSON lines tell their own bad bytes, line by line."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        file.encoding = "utf-16"
        return Fault("not_utf8", 1, {"encoding": "UTF-16", "sample": ""})
    file.encoding = "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"
    line, sample = _first_bad_line(file, whole=file.reader != "json")
    if not line:
        return None
    if _reads_as_gbk(sample):
        file.encoding = "gb18030"
        shown = sample.decode("gb18030", errors="replace").strip()
        return Fault("not_utf8", line, {"encoding": "GBK", "sample": printable(shown, 60)})
    if file.reader == "json":
        return None
    return Fault("not_utf8_unknown", line, {"byte": f"0x{_first_bad_byte(sample):02x}"})


def _first_bad_line(file: DataFile, *, whole: bool) -> tuple[int, bytes]:
    """The first line that is not UTF-8 (1-based; 0: none) and its bytes, in the whole file or its first 4 MiB."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 0
    with file.path.open("rb") as raw:
        stream = _unpacked(raw, file.packed)
        rest = b""
        for _ in range(1 << 40 if whole else 4):
            block = stream.read(1 << 20)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                for number, line in enumerate((rest + block).splitlines(), lines + 1):
                    if _first_bad_byte(line) >= 0:
                        return number, line
                return lines + 1, rest + block
            if not block:
                break
            lines += block.count(b"\n")
            rest = block[block.rfind(b"\n") + 1 :]
    return 0, b""


def _first_bad_byte(line: bytes) -> int:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return line[error.start]
    return -1


def _reads_as_gbk(sample: bytes) -> bool:
    try:
        return bool(_HAN_PAIR.search(sample.decode("gb18030")))
    except UnicodeDecodeError:
        return False


def _parquet_rows(raw: IO[bytes]) -> Iterator[Row | Fault]:
    """Parquet by small batches; pyarrow is loaded only here (the window's memory)."""
    import pyarrow
    import pyarrow.parquet

    try:
        for batch in pyarrow.parquet.ParquetFile(raw).iter_batches(batch_size=256):
            yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        yield Fault("parquet_broken", values={"reason": printable(str(error), 120)})
