"""A digest of the installed sources: while it is the one that an index has, nothing can have been made otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib import metadata
from pathlib import Path

from mathamr.core.version import __version__

SOURCES = "sources made by"
"""The name under which a catalogue keeps the digest."""
ROOMS = ("formulas", "posts", "text", "graphs", "index")
LIBRARIES = ("docutils", "lxml", "markdown-it-py", "mdit-py-plugins", "pypdf", "PyStemmer", "PyYAML")
"""What reads files and words for us."""


@cache
def sources_digest() -> str:
    """Return a digest of names, sizes and times of the files from which an index is made, and of the versions of libraries.

    It only saves a tenth of a second: what decides are the fingerprints (`mathamr.index.indexing.fingerprints`).
    """
    digest = blake2b(f"{__version__} {sys.version}".encode(), digest_size=12)
    for library in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            digest.update(f"{library} {metadata.version(library)}\n".encode())
    package = Path(__file__).parents[1]
    for room in ROOMS:
        for line in _sizes(package / room):
            digest.update(line.encode("utf-8", "replace"))
    return digest.hexdigest()


def _sizes(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _sizes(Path(entry.path))
        else:
            facts = entry.stat()
            yield f"{entry.name} {facts.st_size} {facts.st_mtime_ns}\n"


def outdated_note(parts: Sequence[str], folder: Path) -> str:
    """Say that an index was partly made by another version, and what to do.

    >>> outdated_note(["formulas"], Path("notes.index"))
    'another version of mathamr made the formulas of this index, so hits may be missing: mathamr index --out notes.index'
    """
    made = " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), parts[-1]])
    return f"another version of mathamr made the {made} of this index, so hits may be missing: mathamr index --out {folder}"
