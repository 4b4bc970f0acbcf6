"""Compressed files as streams: gzip, bzip2, xz and zstandard, recognised by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from typing import Any, Protocol

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstandard"}
BREAKS = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What reading a damaged or truncated archive raises."""
MOST_MEMORY = 256 << 20
"""Memory for unpacking: a header of a few bytes can require gigabytes. `xz -9` needs 65 MB."""


class Readable(Protocol):
    """A stream whose `read1` may return fewer bytes than requested, but none only at the end."""

    def read1(self, size: int, /) -> bytes:
        """Up to `size` bytes."""
        ...


def compression_of(start: bytes) -> str | None:
    """The name of a compression, or `None` for a plain file."""
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def decompressed(disk: io.BufferedIOBase, start: bytes) -> Readable:
    """The bytes of a file whose first bytes on disk are `start`; those of a plain file are as they are."""
    compression = compression_of(start)
    if compression == "gzip":
        return gzip.GzipFile(fileobj=disk)
    if compression == "bzip2":
        return bz2.BZ2File(disk)
    if compression == "xz":
        return _XzStream(disk)
    if compression == "zstandard":
        return _ZstandardStream(disk)
    return disk


class _XzStream:
    """xz streams, one after the other, as one; unlike the library's own, it limits the memory."""

    BLOCK = 1 << 15

    def __init__(self, disk: io.BufferedIOBase) -> None:
        self._disk = disk
        self._stream = self._begun()
        self._inside = False
        self._waiting = b""

    def read1(self, size: int) -> bytes:
        while True:
            data = self._waiting or (self._disk.read(self.BLOCK) if self._stream.needs_input else b"")
            self._waiting = b""
            if not self._inside:
                data = data.lstrip(b"\0") or self._disk.read(self.BLOCK).lstrip(
                    b"\0"
                )  # padding between streams
                if not data:
                    return b""
            if not data and self._stream.needs_input:
                raise EOFError("the last stream is not complete")
            self._inside = True
            unpacked = self._stream.decompress(data, size)
            if self._stream.eof:
                self._waiting, self._inside = self._stream.unused_data, False
                self._stream = self._begun()
            if unpacked:
                return unpacked

    @staticmethod
    def _begun() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)


class _ZstandardStream:
    """Zstandard frames as one stream; unlike the library's own, it notices a truncated file."""

    BLOCK = 1 << 10  # small, because little input can become much output: 32 MB at most of so much

    def __init__(self, disk: io.BufferedIOBase) -> None:
        import zstandard

        self._disk, self._library = disk, zstandard
        self._frame = self._begun()
        self._inside = False
        self._ready = memoryview(b"")

    def read1(self, size: int) -> bytes:
        while not self._ready:
            data = self._disk.read(self.BLOCK)
            if not data and self._inside:
                raise EOFError("the last frame is not complete")
            if not data:
                return b""
            self._ready = memoryview(self._unpacked(data))
        data, self._ready = bytes(self._ready[:size]), self._ready[size:]
        return data

    def _begun(self) -> Any:
        return self._library.ZstdDecompressor(max_window_size=MOST_MEMORY // 2).decompressobj()

    def _unpacked(self, data: bytes) -> bytes:
        unpacked = []
        try:
            while data:
                unpacked.append(self._frame.decompress(data))
                self._inside, data = not self._frame.eof, self._frame.unused_data
                if self._frame.eof:
                    self._frame = self._begun()
        except self._library.ZstdError as error:
            raise EOFError(str(error)) from error
        return b"".join(unpacked)
