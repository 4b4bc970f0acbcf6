"""Compressed files as streams: gzip, bzip2, xz and zstandard, recognised by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, Protocol

from mathamr.core.zstd import zstd

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstandard"}
BREAKS = (EOFError, OSError, zlib.error, lzma.LZMAError, zstd.ZstdError)
"""What reading a damaged or truncated archive raises."""
MOST_MEMORY = 256 << 20
"""Memory for unpacking: a header of a few bytes can require gigabytes. `xz -9` needs 65 MB."""


class Readable(Protocol):
    """A stream whose `read1` may return fewer bytes than requested, but none only at the end."""

    def read1(self, size: int, /) -> bytes:
        """Return up to `size` bytes."""
        ...


def compression_of(start: bytes) -> str | None:
    """Return the name of a compression, or `None` for a plain file."""
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def decompress(disk: io.BufferedIOBase, start: bytes) -> Readable:
    """Return the bytes of a file whose first bytes on disk are `start`; those of a plain file are as they are."""
    compression = compression_of(start)
    if compression == "gzip":
        return gzip.GzipFile(fileobj=disk)
    if compression == "bzip2":
        return bz2.BZ2File(disk)
    if compression == "xz":
        return _Frames(disk, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY))
    if compression == "zstandard":
        window: dict[int, int] = {
            zstd.DecompressionParameter.window_log_max: (MOST_MEMORY // 2).bit_length() - 1
        }
        return _Frames(disk, lambda: zstd.ZstdDecompressor(options=window))
    return disk


class _Frames:
    """Streams of xz or frames of zstandard, one after the other, as one stream.

    Unlike the libraries' own files it limits the memory and notices a truncated end.
    """

    BLOCK = 1 << 15

    def __init__(self, disk: io.BufferedIOBase, begin: Callable[[], Any]) -> None:
        self._disk, self._begin = disk, begin
        self._frame = begin()
        self._inside = False
        self._waiting = b""

    def read1(self, size: int) -> bytes:
        while True:
            data = self._waiting or (self._disk.read(self.BLOCK) if self._frame.needs_input else b"")
            self._waiting = b""
            if not self._inside:
                # xz may pad with zeros between streams
                data = data.lstrip(b"\0") or self._disk.read(self.BLOCK).lstrip(b"\0")
                if not data:
                    return b""
            if not data and self._frame.needs_input:
                raise EOFError("the last stream is not complete")
            self._inside = True
            unpacked: bytes = self._frame.decompress(data, size)
            if self._frame.eof:
                self._waiting, self._inside = self._frame.unused_data, False
                self._frame = self._begin()
            if unpacked:
                return unpacked
