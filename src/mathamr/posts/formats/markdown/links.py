"""`Notes`: the notes of one folder as their links name them, by path, name, alias, heading or label."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from mathamr.posts.bounds import LONGEST_WORDS
from mathamr.posts.format import Collection
from mathamr.posts.formats.markdown.frontmatter import FrontMatter
from mathamr.posts.formats.markdown.outline import labels_in, outline
from mathamr.posts.formats.markdown.pieces import CITED_MARK
from mathamr.posts.formats.names import DocumentNames
from mathamr.posts.formats.outline import OutlinePart
from mathamr.posts.inputs import STDIN, head, read_text
from mathamr.posts.markup import pieces
from mathamr.posts.markup.piece import linked
from mathamr.posts.post import Link
from mathamr.posts.report import Report

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class Notes(DocumentNames):
    """Finds the post that a link of a note leads to.

    Links of wikis name a note by its name, its path or the end of it, from wherever they stand, or by an alias; other
    links are relative paths. Aliases, labels and anchors are read only when a link needs them.
    """

    def __init__(
        self,
        collection: Collection,
        suffixes: tuple[str, ...],
        read: Callable[[Path, Report], str | None] = read_text,
    ) -> None:
        self._read = read
        self._files = {collection.path_of(file): file for file in collection.known or collection.files}
        super().__init__(self._files, self._outline, suffixes)
        self._by_name: dict[str, str] = {}
        for identifier in self._files:
            path = _fold(posixpath.splitext(identifier)[0])
            self._by_name.setdefault(_fold(identifier), identifier)
            while path:
                self._by_name.setdefault(path, identifier)
                path = path.partition("/")[2]

    def links(self, body: str, note: str, identifier: str, report: Report) -> Iterator[Link]:
        """Yield the links of a text to posts of the folder; broken links are reported."""
        found = list(pieces(body, "markdown"))
        for place, piece in enumerate(found):
            if piece.kind != "link" or _SCHEME.match(piece.text):
                continue
            words = [
                each.text if each.kind in ("text", "code") else f"${each.text}$"
                for each in linked(found, place)
                if each.kind not in ("open", "close")
            ]
            shown = " ".join("".join(words).split())[:LONGEST_WORDS]
            yield from self._link(piece.text, shown, note, identifier, report)

    def _link(self, address: str, words: str, note: str, identifier: str, report: Report) -> Iterator[Link]:
        if address.startswith("{"):
            label = address[1:-1]
            target = self._find_label(label, note)
            if target is None:
                report.miss(
                    "link to no note",
                    f"a reference to {label[:100]!r}, which is not a label of any post in the folder",
                )
            if target != identifier:
                yield Link(target or "", "mention", words, label)
            return
        if address.startswith(CITED_MARK):  # of a bibliography, which may be another file or nowhere
            yield Link("", "mention", words, address.removeprefix(CITED_MARK))
            return
        wiki = address.startswith("[[")
        path, _, anchor = (address[2:-2] if wiki else unquote(address)).partition("#")
        target = self._wiki(path, note) if wiki else self.document(path, note)
        if target is None:
            if wiki or posixpath.splitext(path)[1].lower() in self.suffixes:
                report.miss("link to no note", f"a link to {address[:100]!r}, which is not in the folder")
            return
        target = self.post(target, anchor)
        if target != identifier:
            yield Link(target, "mention", words, address[2:-2] if wiki else address)

    def _find_label(self, label: str, note: str) -> str | None:
        if found := self.labels(note).get(label):
            return found
        other = self._notes_by_label.get(label)
        return self.labels(other).get(label, other) if other else self.document(label, note)

    def _wiki(self, path: str, note: str) -> str | None:
        name = path.strip()
        if not name:
            return note
        if name.startswith("."):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(note), name))
        name = _fold(name.strip("/"))
        return self._by_name.get(name) or self._aliases.get(name)

    @cached_property
    def _aliases(self) -> dict[str, str]:
        """The aliases in the front matter of all notes."""
        found: dict[str, str] = {}
        for identifier, file in self._files.items():
            if file != STDIN:
                front = FrontMatter.read(head(file).text, Report())
                for alias in (*front.aliases, front.title):
                    if alias:
                        found.setdefault(_fold(alias), identifier)
        return found

    @cached_property
    def _notes_by_label(self) -> dict[str, str]:
        """The notes in which labels stand."""
        found: dict[str, str] = {}
        for identifier, file in self._files.items():
            text = self._read(file, Report()) if file != STDIN else None
            for label in labels_in(text or ""):
                found.setdefault(label, identifier)
        return found

    def _outline(self, note: str) -> Iterable[OutlinePart]:
        """Return the parts of a note; it is reported on when it is read itself."""
        file, unreported = self._files.get(note), Report()
        text = self._read(file, unreported) if file is not None and file != STDIN else None
        return outline(text, FrontMatter.read(text, unreported), "") if text is not None else ()


def _fold(name: str) -> str:
    """Return a name as names are compared: composed, in lower case."""
    return unicodedata.normalize("NFC", name).lower()
