"""`SegmentList`: the file that names the segments in use, which are immutable files of the same folder.

A change writes new files beside the old ones and then replaces the list, in one step: a crash leaves the old state or
the new one. Files that the list does not name are removed by the next writer. The list holds the checksum of every file, so that
a file that took another's place is noticed, whole as it is; lists of earlier versions have none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from mathamr.core.errors import MathAMRError
from mathamr.core.retry import retry
from mathamr.core.storage.durable import write_whole
from mathamr.core.storage.mappedarrays import checksum_of
from mathamr.core.storage.plainfiles import DAMAGED, read_description

T = TypeVar("T")

CHECKSUMS = "checksums"
_ATTEMPTS = 20
_LONGEST_NAME = 255
"""Bytes of the name of a file."""


class SegmentList:
    """The list of a folder; one process writes it, any number read it."""

    def __init__(self, folder: Path, name: str, suffixes: Collection[str]) -> None:
        self.folder, self.suffixes = folder, tuple(suffixes)
        self._path = folder / name
        self._checksums: dict[str, str] = {}

    def exists(self) -> bool:
        """Return True if the list exists."""
        return self._path.exists()

    def read(self, open_listed: Callable[[dict[str, Any]], T]) -> T:
        """Call `open_listed` with the list; retry if a writer replaces the files meanwhile."""
        content = b""

        def attempt() -> T:
            nonlocal content
            content = self._content()
            try:
                listed = json.loads(content)
                self._checksums = _checksums(listed)
                return open_listed(listed)
            except DAMAGED as error:
                raise MathAMRError(f"{self._path} is damaged ({error}); build the index again") from error

        return retry(attempt, (0,) * _ATTEMPTS, lambda _: self._content() != content)

    def path(self, name: object) -> Path:
        """Return the path of a listed file: a plain file of this folder, nothing else."""
        if not isinstance(name, str) or not _is_file_name(name):
            raise MathAMRError(
                f"{self._path} is damaged: {str(name)[:100]!r} is not the name of a file in its folder;"
                " build the index again"
            )
        path = self.folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise MathAMRError(f"{path} is not a regular file; build the index again")
        wanted = self._checksums.get(name)
        if wanted is not None and checksum_of(path) != wanted:
            raise MathAMRError(
                f"{path} is not the file that {self._path.name} names: its checksum is {checksum_of(path)}, not {wanted};"
                " repair it with: mathamr index --check --out DIR"
            )
        return path

    def replace(self, head: Mapping[str, Any]) -> None:
        """Replace the list atomically."""
        names = {name for name in _texts(head) if name.endswith(self.suffixes)}
        known = _checksums(json.loads(self._content())) if self.exists() else {}
        self._checksums = {name: known.get(name) or checksum_of(self.folder / name) for name in sorted(names)}
        write_whole(self._path, json.dumps({**head, CHECKSUMS: self._checksums}, indent=1).encode())

    def remove_unlisted(self) -> None:
        """Remove segment files that the list does not name: merged into others, or left by a crash."""
        listed = set(_texts(json.loads(self._content()))) if self.exists() else set()
        for path in self.folder.iterdir():
            if path.name.endswith((*self.suffixes, ".new")) and path.name not in listed:
                # A file that cannot be removed only takes room; the next change tries again.
                with suppress(OSError):
                    path.unlink()

    def remove(self) -> None:
        """Remove the list and all segments."""
        self._path.unlink(missing_ok=True)
        self.remove_unlisted()

    def _content(self) -> bytes:
        try:
            return read_description(self._path)
        except FileNotFoundError as error:
            raise MathAMRError(f"{self.folder} has no {self._path.name}; build the index again") from error
        except OSError as error:
            raise MathAMRError(f"cannot read {self._path}: {error.strerror or error}") from error


def _is_file_name(name: str) -> bool:
    """Return True for the name of a file in the same folder, of a length that file systems take."""
    is_inside = Path(name).name == name and name not in ("", "..") and "\0" not in name
    return is_inside and len(name.encode("utf-8", "surrogatepass")) <= _LONGEST_NAME


def _checksums(listed: dict[str, Any]) -> dict[str, str]:
    """Return the checksums of files in a list; a list of an earlier version has none."""
    return {str(name): str(each) for name, each in listed.get(CHECKSUMS, {}).items()}


def _texts(value: Any) -> Iterator[str]:
    """Yield all strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


LARGE = 4096
"""The size from which a segment waits for `FAN` - 1 others before it is merged."""
FAN = 8
LARGEST = 1 << 18
"""The number of entries that are merged at most, since a merge holds them in memory: about 2 GB of words."""


def merge_start(sizes: Sequence[int]) -> int:
    """Return the place of the first of the last segments that are merged into one, given their sizes in the order of writing.

    Small segments are merged with those that are at most twice as large as what follows them, so that single changes leave few
    segments. A large one waits for seven others of its size: an entry is rewritten once whenever the segments grow eightfold.

    >>> merge_start([5000, 100, 60, 30]), merge_start([5000, 10, 1]), merge_start([5000] * 7), merge_start([5000] * 8)
    (1, 2, 6, 0)
    """
    first = max(0, len(sizes) - 1)
    while first and sizes[first - 1] < LARGE and sizes[first - 1] <= 2 * sum(sizes[first:]):
        first -= 1
    while (total := sum(sizes[first:])) >= LARGE:
        start = first
        while start and sizes[start - 1] <= 2 * total and sum(sizes[start - 1 :]) <= LARGEST:
            start -= 1
        if first - start < FAN - 1:
            break
        first = start
    return first


def merge_groups(sizes: Sequence[int], largest: int = LARGEST) -> list[list[int]]:
    """Return the places of segments in as few groups as possible of neighbours that are small enough to be merged.

    >>> merge_groups([5, 4, 3, 9, 1], largest=9)
    [[0, 1], [2], [3], [4]]
    """
    groups: list[list[int]] = []
    total = 0
    for place, size in enumerate(sizes):
        if groups and total + size <= largest:
            groups[-1].append(place)
            total += size
        else:
            groups.append([place])
            total = size
    return groups
