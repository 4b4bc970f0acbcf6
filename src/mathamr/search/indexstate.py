"""`IndexState`: what a search says of its index: what it looked through, which files changed since, which parts are out of date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mathamr.index.freshness import FileChanges, compare_files
from mathamr.index.sources import SOURCES, outdated_note, sources_digest
from mathamr.index.storage import IndexStorage
from mathamr.search.receipt import Receipt


class IndexState:
    """The state of an open index; what counting takes long is done once for each revision."""

    def __init__(self, archive: IndexStorage) -> None:
        self._archive = archive
        self._receipt: tuple[int, Receipt] | None = None
        self._parts: tuple[tuple[int, str | None], Sequence[str]] = ((-1, None), ())

    def receipt(self, *, is_denial: bool) -> Receipt:
        """Return what a search looks through; where it denies something, files are looked at."""
        catalogue = self._archive.catalogue
        if self._receipt is None or self._receipt[0] != catalogue.revision:
            updated = self._archive.manifest.updated
            self._receipt = (catalogue.revision, Receipt(catalogue.holdings(), updated))
        receipt = self._receipt[1]
        return replace(receipt, changes=self.file_changes()) if is_denial else receipt

    def file_changes(self) -> FileChanges:
        """Compare the files of the index with those that were read, as far as they are on this machine."""
        return compare_files(self._archive.catalogue, self._archive.manifest.inputs)

    def outdated(self) -> list[str]:
        """Say which parts of the index this version would make otherwise."""
        catalogue = self._archive.catalogue
        made_by = catalogue.meta(SOURCES)
        if made_by == sources_digest():
            return []
        if self._parts[0] != (catalogue.revision, made_by):
            from mathamr.index.indexing.fingerprints import Fingerprints

            found = Fingerprints(catalogue, self._archive.needs).outdated_parts()
            self._parts = (catalogue.revision, made_by), found
        parts = self._parts[1]
        return [outdated_note(parts, self._archive.folder)] if parts else []
