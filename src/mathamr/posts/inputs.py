"""Input files: decompressed, walked in a fixed order, with their first bytes for detection."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from mathamr.core.errors import MathAMRError
from mathamr.posts.compression import BREAKS, SUFFIXES, Readable, decompress
from mathamr.posts.decoding import decode
from mathamr.posts.ignorerules import GITIGNORE, IGNORE_FILE, IgnoreRules
from mathamr.posts.report import Report
from mathamr.posts.xmlprologue import root_name

STDIN = Path("-")
T = TypeVar("T")
_observers: ContextVar[tuple[Callable[[Path], object], ...]] = ContextVar("observers", default=())
HEAD_BYTES = 1 << 16
FREELY_UNPACKED = 32 << 20
HIGHEST_RATIO = 100  # dumps of posts unpack to 4 to 10 times their size
LARGEST_TEXT_FILE = 256 << 20
"""Bytes of a file that is read at once, and of what an archive unpacks to."""
LARGEST_DOCUMENT = 64 << 20
"""Bytes of what becomes a tree or an object in memory: a page, a notebook, an article, a line of JSON, a member of a book."""
LARGEST_SOURCE = 16 << 20
"""Bytes of a source that is read in parts which refer to each other: Markdown, Typst, a file of a paper."""
MOST_MEMBERS = 20_000
"""Files of an archive that are looked at."""
INDEX_FILES = ("manifest.json", "catalogue.db")
"""What tells the folder of an index, which often lies among the notes that it was made from."""


@dataclass(frozen=True)
class Head:
    """What readers recognise a file by: its name and its first bytes, decompressed."""

    path: Path
    start: bytes

    @property
    def name(self) -> str:
        """The name in lower case, without `.gz` and its like."""
        return bare_name(self.path)

    @property
    def suffix(self) -> str:
        """The suffix in lower case, with its dot, without `.gz` and its like."""
        return Path(self.name).suffix

    def is_text(self, *suffixes: str) -> bool:
        """Return whether the file has one of these suffixes and contains no NUL character."""
        return self.suffix in suffixes and "\0" not in self.text

    @cached_property
    def text(self) -> str:
        """The first bytes as text, whatever they are."""
        if self.start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return self.start.decode("utf-16", errors="replace")
        return self.start.decode("utf-8-sig", errors="replace")

    @cached_property
    def root(self) -> str:
        """The name of the first element in lower case, if it is XML or HTML."""
        return root_name(self.text)

    @property
    def is_pointer(self) -> bool:
        """True if Git LFS left a note of the file's content in its place."""
        return self.start.startswith(b"version https://git-lfs.github.com/spec/")


def bare_name(path: Path) -> str:
    """Return a file's name in lower case, without a suffix of compression.

    >>> bare_name(Path("dump/Posts.xml.gz"))
    'posts.xml'
    """
    name = path.name.lower()
    return name[: -len(path.suffix)] if path.suffix.lower() in SUFFIXES else name


def stem(path: Path) -> str:
    """Return a file's name without its ending and without a suffix of compression.

    >>> stem(Path("notes/Galois theory.tex.gz"))
    'Galois theory'
    """
    return (path.with_suffix("") if path.suffix.lower() in SUFFIXES else path).stem


def display_path(path: Path) -> str:
    """Return a path as messages name it."""
    return "standard input" if path == STDIN else str(path)


class Input(io.RawIOBase):
    """A file's decompressed bytes as a stream; `-` is standard input.

    The compression is recognised by the first bytes, not by the name. A damaged or truncated archive gives what is
    readable and then ends, with one problem in the report. `report.bytes_read` counts bytes on disk, for progress.
    """

    def __init__(self, path: Path, report: Report, freely_unpacked: int = FREELY_UNPACKED) -> None:
        self.path, self._report, self._freely_unpacked = path, report, freely_unpacked
        self._is_pipe = True  # until there is a file to be closed
        is_pipe = _is_pipe(path)
        self._disk = _pipe(path) if is_pipe else open_observed(path)
        self._is_pipe = is_pipe
        self._counted = self._unpacked = 0
        self._stream: Readable = decompress(self._disk, self._disk.peek(8))

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with decompressed bytes; 0 at the end, or where the file is damaged."""
        filled = 0
        try:
            while filled < len(buffer) and (data := self._stream.read1(len(buffer) - filled)):
                buffer[filled : filled + len(data)] = data
                filled += len(data)
        except BREAKS as error:
            self._report.skip(
                "damaged archive", f"the archive is damaged here, the rest is lost ({_why(error)})"
            )
            self._stream = io.BytesIO()
        self._count()
        self._unpacked += filled
        if self._unpacked > self._freely_unpacked and self._unpacked > HIGHEST_RATIO * self._position:
            self._report.skip(
                "archive too dense",
                f"it unpacks to more than {HIGHEST_RATIO} times its size, unlike any text; the rest is not read",
            )
            self._stream = io.BytesIO()
            return 0
        return filled

    def close(self) -> None:
        """Close the file; standard input and other pipes stay open."""
        if not self.closed and not self._is_pipe:
            self._disk.close()
        super().close()

    @property
    def _position(self) -> int:
        """How many bytes were taken from the disk or the pipe."""
        raw = self._disk.raw
        return raw.taken if isinstance(raw, _WholeBlocks) else self._disk.tell()

    def _count(self) -> None:
        if not self._is_pipe:
            position = self._position
            self._report.count_bytes(position - self._counted)
            self._counted = position


def head(path: Path) -> Head:
    """Return the first bytes of a file, decompressed; standard input and other pipes are only peeked at."""
    if _is_pipe(path):
        start = _pipe(path).peek(HEAD_BYTES)
        return Head(path, _readable(decompress(io.BytesIO(start), start)))
    with open_observed(path) as disk:
        return Head(path, _readable(decompress(disk, disk.peek(8))))


def size_of(file: Path) -> int:
    """Return the size of a file, 0 if there is none: its reader reports that."""
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0


def read_bytes(path: Path, report: Report, largest: int | None = None) -> bytes | None:
    """Return a whole file, decompressed; `None`, with a report, if it is too large or cannot be read."""
    data, largest = bytearray(), largest or LARGEST_TEXT_FILE
    try:
        with Input(path, report) as stream:
            while block := stream.read(1 << 20):
                data += block
                if len(data) > largest:
                    report.skip("file too large", f"more than {largest >> 20} MB of text in one file")
                    return None
    except MathAMRError as error:
        report.skip("unreadable", str(error))
        return None
    return bytes(data)


def read_text(path: Path, report: Report, largest: int | None = None) -> str | None:
    """Return a whole text file, decompressed and decoded (see `decode`); `None` as in `read_bytes`."""
    data = read_bytes(path, report, largest)
    return None if data is None else decode(data, report)


def bounded_lines(
    stream: io.BufferedIOBase, file: str, report: Report, largest: int, problem: str
) -> Iterator[str]:
    """Yield the lines of a text with their ends, each after `report.at`; a line of more than `largest` bytes is skipped and
    reported as `problem`.
    """
    number, too_long = 0, False
    while raw := stream.readline(largest):
        if not too_long:
            number += 1
            report.at(file, number)
        complete = raw.endswith(b"\n") or len(raw) < largest
        if not complete and not too_long:
            report.skip(problem, f"a line of more than {largest >> 20} MB")
        elif complete and not too_long:
            yield decode(raw, report)
        too_long = not complete


def bounded_pieces(
    stream: io.RawIOBase, mark: bytes, largest: int, chunk: int = 1 << 20
) -> Iterator[tuple[bytes | None, bool]]:
    """Yield what comes before the first mark in a stream, then what follows each, and whether it is the last.

    A piece of more than `largest` bytes is `None`; what comes before the first mark may be cut off.
    """
    rest, started, dropped = b"", False, False
    while block := stream.read(chunk):
        *done, last = (rest + block).split(mark)
        if started:
            del done[0]  # nothing stands before the mark with which `rest` starts
        elif done:
            started = True
        if done and dropped:
            yield None, False
            del done[0]
            dropped = False
        yield from ((piece, False) for piece in done)
        rest = mark + last if started else last
        if len(rest) > largest:
            rest, dropped = rest[: len(mark)] if started else b"", started
    if not started:
        yield rest, True
    else:
        yield None if dropped else rest[len(mark) :], True


def walk(root: Path, report: Report, exclude: Sequence[str] = ()) -> Iterator[Path]:
    """Yield the files under a folder in a fixed order, without indexes, links that leave the folder, and what rules leave out.

    `exclude` are patterns that come before those of the folder's ignore files (see `IgnoreRules`).
    """
    inside, rules = root.resolve(), IgnoreRules(root, report, exclude)
    for folder, folders, names in os.walk(root, onerror=lambda error: _unreadable(error, report)):
        if Path(folder) != root and set(INDEX_FILES) <= set(names):
            report.at(folder)
            report.ignore("an index", "the folder of an index, whose files are not read")
            folders.clear()
            continue
        folders[:] = sorted(
            name for name in folders if not _is_excluded(Path(folder, name), rules, report, is_folder=True)
        )
        for name in sorted(names):
            path = Path(folder, name)
            if name in (IGNORE_FILE, GITIGNORE) or _is_excluded(path, rules, report):
                continue
            report.at(str(path))
            if path.is_symlink() and (target := _target(path)) and not target.is_relative_to(inside):
                report.skip("link out of the folder", f"a symbolic link to {target}, outside the folder")
            elif not path.is_file():
                report.skip("not a file", "a broken link, a pipe or a device")
            else:
                yield path


def _is_excluded(path: Path, rules: IgnoreRules, report: Report, *, is_folder: bool = False) -> bool:
    if rule := rules.rule_for(path, is_folder=is_folder):
        report.at(str(path))
        report.exclude(rule, "a folder, with everything in it" if is_folder else "a file")
    return rule is not None


def _target(link: Path) -> Path | None:
    """Return where a symbolic link leads; `None` where it leads to itself in the end."""
    try:
        return link.resolve()
    except (OSError, RuntimeError):
        return None


class _WholeBlocks(io.RawIOBase):
    """A pipe that fills every read: the bytes that are peeked at do not depend on how it was written."""

    def __init__(self, stream: Readable) -> None:
        self._stream, self.taken = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        filled = 0
        while filled < len(buffer) and (data := self._stream.read1(len(buffer) - filled)):
            buffer[filled : filled + len(data)] = data
            filled += len(data)
        self.taken += filled
        return filled


def _is_pipe(path: Path) -> bool:
    return path == STDIN or path.is_fifo()


def _pipe(path: Path) -> io.BufferedReader:
    """Return the stream of a pipe, always the same object: a pipe can be read only once, and peeked bytes must not be lost."""
    return _peekable(cast("io.BufferedIOBase", sys.stdin.buffer) if path == STDIN else _opened_once(path))


@lru_cache(maxsize=16)
def _opened_once(path: Path) -> io.BufferedReader:
    return open_observed(path)


@lru_cache(maxsize=16)
def _peekable(stream: io.BufferedIOBase) -> io.BufferedReader:
    return io.BufferedReader(_WholeBlocks(stream), HEAD_BYTES)


@contextmanager
def observing(opened: Callable[[Path], object]) -> Iterator[None]:
    """Call a function with every file that this thread opens for reading meanwhile, so that a caller knows what posts depend on."""
    token = _observers.set((*_observers.get(), opened))
    try:
        yield
    finally:
        _observers.reset(token)


def each_observed(items: Iterable[T], opened: Callable[[Path], object]) -> Iterator[T]:
    """Yield items, calling a function with every file that is opened to make them, whichever thread asks for the next."""
    steps = iter(items)
    while True:
        with observing(opened):
            try:
                item = next(steps)
            except StopIteration:
                return
        yield item


def open_observed(path: Path) -> io.BufferedReader:
    """Open a file for reading, and tell those who observe it (`observing`)."""
    for opened in _observers.get():
        opened(path)
    try:
        return cast("io.BufferedReader", path.open("rb", buffering=1 << 18))
    except OSError as error:
        raise MathAMRError(f"{path}: cannot be read ({_why(error)})") from error


def _readable(stream: Readable) -> bytes:
    start = b""
    try:
        while len(start) < HEAD_BYTES and (block := stream.read1(4096)):
            start += block
    except BREAKS:
        return start  # the reader that opens the file reports the damage
    return start


def _unreadable(error: OSError, report: Report) -> None:
    report.at(str(error.filename))
    report.skip("unreadable", f"cannot be read ({_why(error)})")


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(
        error
    ).__name__
