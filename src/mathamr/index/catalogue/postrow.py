"""`PostRow`: a post as the catalogue stores it; computed where the post was read, so that the writer only writes."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from mathamr.core.pickling import pickle_by_fields
from mathamr.index.catalogue.storedpassages import StoredPassage
from mathamr.posts.post import Post


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class PostRow:
    """The columns of a post and the rows that depend on it."""

    id: str
    kind: str
    parent: str | None
    source: str
    digest: bytes
    packed: bytes
    tags: tuple[str, ...]
    labels: tuple[tuple[str, bool], ...]
    """The labels that lead to it, each with whether it names the post itself."""
    macros: tuple[str, ...]
    formulas: tuple[tuple[str, str, str | None], ...]
    """The id, the visual class and the input's visual id of each formula."""
    passage: StoredPassage | None
    mentioned: tuple[str, ...]
    """The ids of other posts to which it refers."""

    @property
    def visuals(self) -> tuple[str, ...]:
        """The visual classes of its formulas, in order."""
        return tuple(visual for _, visual, _ in self.formulas)


def row_of(post: Post, visuals: Sequence[str], passage: StoredPassage | None = None) -> PostRow:
    """Return the row of a post, given the visual classes of its formulas."""
    content = post.to_json().encode("utf-8", "surrogatepass")
    labels = (
        tuple((storable(label), label == post.place.label) for label in post.place.labels)
        if post.place is not None
        else ()
    )
    mentioned = (post.parent, post.accepted_answer, *(link.target for link in post.links))
    return PostRow(
        id=post.id,
        kind=storable(post.kind),
        parent=None if post.parent is None else storable(post.parent),
        source=storable(post.source),
        digest=blake2b(content, digest_size=16).digest(),
        packed=zlib.compress(content, 6),
        tags=tuple(map(storable, post.tags)),
        labels=labels,
        macros=tuple(map(storable, post.macros)),
        formulas=tuple(
            (formula.id, visual, None if formula.visual_id is None else storable(formula.visual_id))
            for formula, visual in zip(post.formulas, visuals, strict=True)
        ),
        passage=passage,
        mentioned=tuple(name for name in mentioned if name),
    )


def storable(text: str) -> str:
    """Replace lone halves of surrogate pairs, which SQLite cannot store."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
