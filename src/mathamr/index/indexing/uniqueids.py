"""`UniqueIds`: the ids of an input's posts where other inputs use the same for other posts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.identifiers import give_id
from mathamr.posts.post import Link, Post


class UniqueIds:
    """Prefixes the ids that other inputs use with the path of this input, also in references to them.

    A post that another input has with the same content keeps its id, since it is the same post. `again` reads the whole input
    once more, which is done only if one of its ids belongs to another input.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        source: str,
        others: Callable[[str], bool],
        again: Callable[[], Iterable[Post]],
    ) -> None:
        self._catalogue, self._source, self._others, self._again = catalogue, source, others, again
        self._names: dict[str, str] | None = None
        self._has_others = any(map(others, catalogue.inputs()))

    def is_needed(self, mentioned: Sequence[str]) -> bool:
        """Return True if a post that mentions these ids, its own among them, has to be renamed or to name others differently."""
        if not self._has_others:
            return False
        if self._names is None and any(map(self._is_others, mentioned)):
            self._names = dict(self._collisions())
        names = self._names or {}
        return any(name in names for name in mentioned)

    def named(self, post: Post) -> Post:
        """Return the post with its id and its references as in the index."""
        names = self._names or {}
        identifier = names.get(post.id, post.id)
        return replace(
            give_id(post, identifier),
            parent=names.get(post.parent or "", post.parent),
            accepted_answer=names.get(post.accepted_answer or "", post.accepted_answer),
            links=tuple(self._link(link) for link in post.links),
        )

    def _link(self, link: Link) -> Link:
        name = self._names.get(link.target) if self._names else None
        return link if name is None else replace(link, target=name)

    def _is_others(self, post_id: str) -> bool:
        known = self._catalogue.known(post_id)
        return known is not None and self._others(known[2])

    def _collisions(self) -> Iterator[tuple[str, str]]:
        """Yield the ids that other inputs use for other posts, and the ids that this input's posts get."""
        for post in self._again():
            if self._is_others(post.id) and not _is_same(self._catalogue.post(post.id), post):
                yield post.id, self._free(post.id)

    def _free(self, post_id: str) -> str:
        """Return the id, prefixed with as much of the input's path as makes it unique."""
        folders = PurePath(self._source).parts
        if folders and post_id.startswith(folders[-1]):  # one file, whose posts carry its name
            folders = folders[:-1]
        for place in range(len(folders) - 1, -1, -1):
            name = "/".join((*(part.strip("/\\") for part in folders[place:]), post_id)).lstrip("/")
            if not self._is_others(name):
                return name
        return f"{self._source}/{post_id}"


def _is_same(one: Post, other: Post) -> bool:
    """Return True if two posts have the same content."""
    return (one.title, one.body, one.kind, one.markup) == (other.title, other.body, other.kind, other.markup)
