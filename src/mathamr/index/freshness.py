"""What has become of the files of an index since they were read: which changed, which are new, which were deleted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.readfiles import hash_of, stamp_of
from mathamr.index.manifest import InputRecord
from mathamr.posts.inputs import STDIN, walk
from mathamr.posts.report import Report

SECONDS = 0.5
"""How long files are looked at; of a larger collection only the first ones are."""
MOST_HASHED = 20
"""Of how many files with another time it is looked at whether their content is another, too."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The number of files of an index that are not as they were read."""

    changed: int = 0
    new: int = 0
    deleted: int = 0

    def __bool__(self) -> bool:
        return bool(self.changed or self.new or self.deleted)

    def __str__(self) -> str:
        """Say it in a few words.

        >>> str(FileChanges(changed=2, deleted=1))
        '2 changed, 1 deleted'
        """
        counts = {"changed": self.changed, "new": self.new, "deleted": self.deleted}
        return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)


def remember_reading(catalogue: Catalogue, inputs: Iterable[InputRecord], started: int) -> None:
    """Store when the files of some inputs were read, in nanoseconds."""
    with catalogue.transaction():
        for record in inputs:
            catalogue.set_meta(_read_at(record), str(started))


def compare_files(
    catalogue: Catalogue, inputs: Sequence[InputRecord], seconds: float = SECONDS
) -> FileChanges:
    """Compare the files of an index with those that were read; inputs that are away, as on another machine, count as unchanged."""
    deadline = time.monotonic() + seconds
    changed = new = deleted = hashed = 0
    for record in inputs:
        root = Path(record.path)
        if root == STDIN or not root.exists():
            continue
        known, unread = catalogue.read_files(record.path), catalogue.unread_files(record.path)
        for path, (stamp, digest) in known.items():
            now = stamp_of(path)
            if now and unread.get(path) == now:  # it is as it was when it could not be read
                continue
            if not now:
                deleted += 1
            elif now != stamp:
                hashed += 1
                changed += hashed > MOST_HASHED or _hash_as_of(path, now) != digest
            if time.monotonic() > deadline:
                return FileChanges(changed, new, deleted)
        read_at = catalogue.meta(_read_at(record))
        if read_at is None or not root.is_dir():
            continue
        suffixes = {Path(path).suffix for path in known}
        for file in walk(root, Report(), record.exclude):
            if file.suffix in suffixes and str(file) not in known and _is_after(file, int(read_at)):
                new += 1
            if time.monotonic() > deadline:
                break
    return FileChanges(changed, new, deleted)


def deleted_files(catalogue: Catalogue, inputs: Sequence[InputRecord], paths: Iterable[str]) -> set[str]:
    """Return those of some paths at which a file was read that is gone, although the input it belongs to is there."""
    missing = [path for path in set(paths) if Path(path).is_absolute() and not stamp_of(path)]
    found = set[str]()
    for record in inputs if missing else ():
        if Path(record.path).exists():
            found |= catalogue.were_read(record.path, missing)
    return found


@lru_cache(maxsize=1_000)
def _hash_as_of(path: str, stamp: str) -> bytes:  # noqa: ARG001
    """Return the digest of a file; it is read once for each of its stamps."""
    return hash_of(path)


def _read_at(record: InputRecord) -> str:
    return f"read at {record.path}"


def _is_after(file: Path, nanoseconds: int) -> bool:
    try:
        found = file.stat()
    except OSError:
        return False
    return bool(found.st_size) and found.st_ctime_ns > nanoseconds
