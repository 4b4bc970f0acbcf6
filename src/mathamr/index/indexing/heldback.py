"""`UnreadFiles`: the files of an input that are there but could not be read whole, whose posts are therefore not deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mathamr.index.catalogue.readfiles import ReadUnit
from mathamr.posts.inputs import size_of
from mathamr.posts.post import Post


class UnreadFiles:
    """Collects while an input is read which files are there, which were recognised, and which could not be read whole.

    What is gone from the listing is deleted. A file counts as not read whole if its reader reported such a cause
    (`mathamr.posts.report.INCOMPLETE`), if it is empty, or if no reader takes it any more.
    """

    def __init__(self, root: Path, units: Mapping[str, ReadUnit]) -> None:
        self._root = root if root.is_dir() else root.parent
        self._units = units
        self.listed = set[str]()
        """All files of the input that no rule leaves out."""
        self._recognised = set[str]()
        self._broken = set[str]()
        self.held = set[str]()
        """The files of the posts that were held back."""

    def recognise(self, files: Iterable[Path]) -> None:
        """Note files that a reader takes."""
        for file in files:
            self._recognised.add(str(file))
            if not size_of(file):
                self._broken.add(str(file))

    def note(self, files: Iterable[str], report: Mapping[str, Any]) -> bool:
        """Note what the report of files that were read together says of them; return True if one was not read whole.

        Where it names something else (a table beside them, a file in an archive), any of them may have needed it.
        """
        own, broken = set(files), set(report.get("incomplete", ()))
        self._broken |= broken if broken <= own else own
        return not own.isdisjoint(self._broken)

    def note_all(self, files: Iterable[str]) -> None:
        """Note files or folders that could not be read."""
        self._broken.update(files)

    def was_whole(self, name: str) -> bool:
        """Return True if a file was read whole when it was last remembered."""
        unit = self._units.get(name)
        return unit is not None and not unit.report.get("incomplete")

    @property
    def knows_files(self) -> bool:
        """True if the files of the input are known from an earlier reading."""
        return bool(self._units)

    @property
    def are_all_whole(self) -> bool:
        """True if every file of the listing was read whole."""
        return not self._broken and self.listed <= self._recognised

    def is_held(self, file: str) -> bool:
        """Return True if a file is there, or its folder, but was not read whole."""
        if file in self._broken or (file in self.listed and file not in self._recognised):
            return True
        return any(str(folder) in self._broken for folder in Path(file).parents)

    def owners(self) -> dict[int, str]:
        """Return the file of each post that earlier came from a file which could not be read whole now."""
        held = ((name, unit) for name, unit in self._units.items() if self.is_held(name))
        return {number: name for name, unit in held for number in unit.posts}

    def holds(self, post: Post) -> bool:
        """Return True if a post, which its input no longer has, came from a file that was not read whole."""
        found = next(filter(self.is_held, self._files_of(post)), None)
        if found is not None:
            self.held.add(found)
        return found is not None

    def _files_of(self, post: Post) -> Iterator[str]:
        """Yield the file from which a post came, and the file that it includes in which the post stands."""
        if post.source:
            yield post.source
        if post.place is not None:
            yield str(self._root / post.place.path)
