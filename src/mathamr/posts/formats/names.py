"""`DocumentNames`: the posts that links between the documents of a collection lead to, by path and label."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Container, Iterable
from functools import lru_cache

from mathamr.posts.formats.outline import OutlinePart, labelled, slug


class DocumentNames:
    """Finds documents by their paths and posts by their labels; `parts` reads a document again where a link needs that."""

    def __init__(
        self,
        documents: Container[str],
        parts: Callable[[str], Iterable[OutlinePart]],
        suffixes: tuple[str, ...] = (),
    ) -> None:
        self.suffixes, self._documents, self._parts = suffixes, documents, parts
        self.labels = lru_cache(maxsize=1000)(self._labels)

    def document(self, path: str, at: str) -> str | None:
        """Return the document that a path leads to from another one; a suffix may be left out, or be that of a web page."""
        if not path:
            return at
        base = "" if path.startswith("/") else posixpath.dirname(at)
        target = posixpath.normpath(posixpath.join(base, path.lstrip("/")))
        bare, ending = posixpath.splitext(target)
        found = [target, *(target + suffix for suffix in self.suffixes)]
        if ending.lower() in (".html", ".htm"):
            found += [bare + suffix for suffix in self.suffixes]
        return next((each for each in found if each in self._documents), None)

    def post(self, document: str, anchor: str) -> str:
        """Return the post of a document that an anchor leads to: its section, or the document itself."""
        last = anchor.rpartition("#")[2].strip()
        if not last:
            return document
        labels = self.labels(document)
        return labels.get(last) or labels.get(slug(last)) or document

    def _labels(self, document: str) -> dict[str, str]:
        """Return the posts of a document by their anchors and labels."""
        parts = list(self._parts(document))
        found = labelled(parts) | {part.id: part for part in parts if part.id}
        return {label: f"{document}#{part.id}" if part.id else document for label, part in found.items()}
