"""The outline of a document: its headings, and the parts that become posts. All formats with sections or statements share it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mathamr.posts.bounds import cut_title
from mathamr.posts.formats.indexentries import distinct, index_entries
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Link, Markup, Place, Post
from mathamr.posts.postkind import PostKind
from mathamr.posts.report import Report

WHOLE_BELOW = 400
"""A document of fewer words stays one post."""
SECTION_FROM = 40
"""A section of fewer words is joined to the next one."""
LONGEST = 2000
"""A section of a page with this many words or more is cut, though it has no headings."""


def stands_alone(
    begin: int, headings: Sequence[tuple[int, int]], end: int, words: Callable[[int, int], int]
) -> list[bool]:
    """Return for each heading of a text whether a post of its own begins there; else its section is joined to the one before.

    The text and its headings are offsets [begin, end); `words` counts the words between two of them.

    >>> stands_alone(0, [(50, 51), (250, 252), (280, 281)], 400, lambda begin, end: end - begin)
    [True, True, False]
    """
    found: list[bool] = []
    ends = [*(start for start, _ in headings), end]
    if words(begin, end) < WHOLE_BELOW:
        return [False] * len(headings)
    count = words(begin, ends[0])
    for (start, below), stop in zip(headings, ends[1:], strict=True):
        found.append(count >= SECTION_FROM)
        count = words(below, stop) if found[-1] else count + words(start, stop)
    return found


def cuts(begin: int, blocks: Iterable[int], words: Callable[[int, int], int]) -> Iterator[int]:
    """Yield those beginnings of blocks at which a long text without headings is cut.

    >>> list(cuts(0, [300, 500, 700, 800, 900, 910], lambda begin, end: end - begin))
    [500, 900]
    """
    count = 0
    for block in blocks:
        count += words(begin, block)
        begin = block
        if count >= WHOLE_BELOW:
            yield block
            count = 0


_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def slug(heading: str) -> str:
    """Return a heading as the anchor of a link, as on GitHub.

    >>> slug("The *Cauchy* inequality, again")
    'the-cauchy-inequality-again'
    """
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-") or "section"


class Headings:
    """The headings above a place in a document.

    >>> above = Headings()
    >>> above.enter(1, "Limits"), above.enter(2, "Series"), above.enter(1, "Groups")
    (('Limits',), ('Limits', 'Series'), ('Groups',))
    """

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Go on below a heading; return the titles above that place, its own last."""
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        self._above.append((level, title))
        return tuple(title for _, title in self._above)


@dataclass(eq=False)
class OutlinePart:
    """A part of a document that becomes a post.

    `headings` are the titles above it and its own; `line` counts from 1. `label` is the name by which its source refers to
    it, `inside` are the labels of what is in it. A proof names its `statement`, and that its `proofs`.
    """

    kind: PostKind
    headings: tuple[str, ...] = ()
    line: int = 1
    label: str = ""
    id: str = ""
    body: str = ""
    inside: list[str] = field(default_factory=list)
    statement: OutlinePart | None = None
    proofs: list[OutlinePart] = field(default_factory=list)
    cell: int = 0
    """Of a notebook the number of the cell in which it begins."""
    keywords: list[str] = field(default_factory=list)
    """Entries of an index that its markup does not hold."""

    def post(
        self,
        markup: Markup,
        path: str,
        source: str,
        report: Report,
        *,
        title: str,
        links: Iterable[Link] = (),
        tags: tuple[str, ...] = (),
        date: str | None = None,
        macros: tuple[str, ...] = (),
        aliases: tuple[str, ...] = (),
        keywords: tuple[str, ...] = (),
    ) -> Post:
        """Return the post of this part, linked with its proofs or with what it proves; `path` leads to its file."""
        title = cut_title(title, report)
        formulas = formulas_of(self.id, title, self.body, markup, report.note)
        proofs = [Link(other.id, "proof") for other in (self.statement, *self.proofs) if other is not None]
        first, rest = _own_document_first(links)
        return Post(
            id=self.id,
            kind=self.kind,
            body=self.body,
            title=title,
            markup=markup,
            parent=self.statement.id if self.statement is not None else None,
            tags=tags,
            links=tuple(dict.fromkeys([*first, *proofs, *rest])),
            date=date,
            source=source,
            macros=macros,
            formulas=formulas,
            place=Place(path, self.line, self.label, self._labels_inside(), self.cell),
            aliases=aliases,
            keywords=distinct((*keywords, *self.keywords, *index_entries(self.body, markup, macros))),
        )

    def _labels_inside(self) -> tuple[str, ...]:
        return tuple(name for name in dict.fromkeys(self.inside) if name != self.label)


def _own_document_first(links: Iterable[Link]) -> tuple[list[Link], list[Link]]:
    """Part the links into those to the document itself, which come first, and the others."""
    found = list(links)
    return [link for link in found if link.type == "related"], [
        link for link in found if link.type != "related"
    ]


Part = TypeVar("Part", bound=OutlinePart)


def labelled(parts: Sequence[Part]) -> dict[str, Part]:
    """Return the part that each label leads to: the first with it as its own label, else the first in which it stands."""
    own = [(part.label, part) for part in parts]
    inside = [(label, part) for part in parts for label in part.inside]
    return {label: part for label, part in reversed(own + inside) if label}
