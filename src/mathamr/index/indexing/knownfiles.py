"""`KnownFiles`: what the catalogue remembers of an input's files, and which of them are still the same."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.readfiles import ReadUnit, hash_of, stamp_of
from mathamr.index.indexing.fingerprints import Fingerprints
from mathamr.index.indexing.reading import MOST_CONSULTED, ReadFile, context_of, reads_by_file
from mathamr.index.manifest import InputRecord
from mathamr.posts.format import FORMATS, Collection
from mathamr.posts.inputs import INDEX_FILES, STDIN
from mathamr.posts.macrosources import learning_fingerprint

ALL = "*"
"""Stands for all files of a collection among those on which a unit depends."""


class KnownFiles:
    """What the catalogue remembers of an input's files, and which of them are still the same."""

    def __init__(self, catalogue: Catalogue, record: InputRecord) -> None:
        self._fingerprints = Fingerprints(catalogue, frozenset())
        self._options = [record.format, record.beside, record.exclude]
        self.units = catalogue.read_units(record.path) if record.path != str(STDIN) else {}
        self._files = catalogue.read_files(record.path) if self.units else {}
        self._same: dict[str, bool] = {}
        self._root = Path(record.path)

    def is_same(self, path: str) -> bool:
        """Return True if a file has the content that it had when it was read."""
        found = self._same.get(path)
        if found is None:
            stamp, digest = self._files.get(path, ("", b""))
            found = bool(stamp) and (stamp_of(path) == stamp or (bool(digest) and hash_of(path) == digest))
            self._same[path] = found
        return found

    def are_same(self, files: Iterable[Path]) -> bool:
        """Return True if all of these files are the same."""
        return all(self.is_same(str(file)) for file in files)

    def format_of(self, file: Path) -> str | None:
        """Return the format of a file that is the same as before."""
        unit = self.units.get(str(file))
        return unit.format if unit is not None and self.is_same(str(file)) else None

    def learned(self, format: str, collection: Collection) -> dict[Path, Any]:
        """Return what was learned before of files that are the same; of macros only by the same version."""
        if reads_by_file(format, collection):
            before = {str(file): self.units.get(str(file)) for file in collection.files}
            known = {name: unit.shared for name, unit in before.items() if unit is not None}
        else:
            unit = self.units.get(f"{ALL}{format}")
            known = unit.shared if unit is not None and unit.shared else {}
        by = None if FORMATS[format].learner else learning_fingerprint()
        return {
            file: known[str(file)]
            for file in collection.files
            if str(file) in known
            and (by is None or (known[str(file)] or {}).get("by") == by)
            and self.is_same(str(file))
        }

    def context(self, format: str, collection: Collection, path: Path) -> str:
        """Return a digest of everything but file contents on which posts of a collection depend."""
        names = [str(file) for file in collection.known or collection.files]
        if path.is_file():  # tables and included files lie beside it, but so may indexes
            names += sorted(
                entry.name for entry in path.parent.iterdir() if not (entry / INDEX_FILES[0]).exists()
            )
        elif not reads_by_file(format, collection):
            names += _files_under(path)
        return context_of([self._fingerprints.of_reading(format), *self._options, format, names])

    def unit(self, found: ReadFile, format: str, context: str, shared: Any) -> ReadUnit:
        """Return the unit of what was read, still without the numbers of its posts."""
        files = tuple(found.opened)
        if len(files) > MOST_CONSULTED and not found.name.startswith(ALL):
            files = (found.name, ALL)
        return ReadUnit(found.name, format, context, files, (), found.report, shared)


def _files_under(root: Path) -> list[str]:
    """Return the names of all files of a folder but those of indexes and hidden folders."""
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        if set(INDEX_FILES) <= set(names):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += (f"{folder}/{name}" for name in sorted(names))
    return found
