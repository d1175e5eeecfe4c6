"""Compressed files as streams of the bytes inside; memory stays bounded whatever they unpack to."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, cast

Packing = Literal["", "gzip", "zstd"]

ENDINGS: dict[str, Packing] = {"gz": "gzip", "zst": "zstd"}
_MAGIC: dict[Packing, bytes] = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_LARGEST_WINDOW = 1 << 27
"""Bytes a zstd frame may make us keep; RFC 8878 asks every decoder for 8 MiB, ``zstd -19 --long`` takes 128 MiB."""


def packing_of(head: bytes) -> Packing:
    """How the file that starts with ``head`` is compressed, told by its magic number."""
    return next((packing for packing, magic in _MAGIC.items() if head.startswith(magic)), "")


def unpacked(raw: IO[bytes], packing: Packing) -> IO[bytes]:
    """The bytes inside ``raw``; reading raises one of ``broken()`` where they are damaged or cut off."""
    if packing == "gzip":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if packing == "zstd":
        import zstandard

        reader = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(
            raw, read_size=1 << 17, read_across_frames=True, closefd=False
        )
        return cast("IO[bytes]", io.BufferedReader(cast("io.RawIOBase", reader), 1 << 17))
    return raw


@contextmanager
def opened(path: Path, packing: Packing) -> Iterator[IO[bytes]]:
    """The bytes inside the file ``path``, closed afterwards. Raises OSError."""
    with path.open("rb", buffering=1 << 20) as raw:
        stream = unpacked(raw, packing)
        try:
            yield stream
        finally:
            stream.close()


def broken() -> tuple[type[Exception], ...]:
    """What reading a damaged compressed file raises."""
    import zstandard

    return EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError
