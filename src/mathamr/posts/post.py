"""`Post` with its `Formula`s, `Link`s and `Place`: what every reader produces."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from mathamr.formulas.formula import Formula
from mathamr.posts.postkind import PostKind, Role, role_of

__all__ = ["Formula", "Link", "LinkType", "Markup", "Place", "Post"]

Markup = Literal["html", "markdown", "latex", "text", "declaration"]
LinkType = Literal["related", "duplicate", "proof", "mention"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a post to another one.

    `target` is the other post's id; it is empty where a source names a `label` that no post of its input has.
    `words` are the visible text of the link, `number` what its document counts the target as: `2.1`.
    """

    target: str
    type: LinkType = "related"
    words: str = ""
    label: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a post in the input, to lead from a hit back to its source.

    `path` is counted from the input's folder, `line` from 1 (of a PDF or a book it is the page, of a Word document the paragraph), `label` is the name by
    which its own source refers to the post, and `inside` are the labels of what is in it: equations, items. `cell` is the
    number of a notebook's cell, from 1.
    """

    path: str
    line: int = 1
    label: str = ""
    inside: tuple[str, ...] = ()
    cell: int = 0

    def __str__(self) -> str:
        """Return path and line, `notes/a.md:12`; of a notebook the cell, `a.ipynb, cell 3`."""
        return f"{self.path}, cell {self.cell}" if self.cell else f"{self.path}:{self.line}"

    def to_dict(self) -> dict[str, Any]:
        """Convert to an object for JSON; fields with their default values are left out."""
        return {"path": self.path, "line": self.line} | _not_default(self, _DEFAULT_PLACE)

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that lead to the post, its own first."""
        return tuple(dict.fromkeys(label for label in (self.label, *self.inside) if label))


@dataclass(frozen=True, slots=True)
class Post:
    """One question, answer, theorem, note or other `PostKind`, its text as it was written.

    `title` and `body` are in the language `markup` says and are never changed by a reader: the offsets of a
    passage lead back into them. `formulas` lists the formulas in the order in which they occur, title first.
    `aliases` are other names by which the post is known, `keywords` what its author listed it under: entries of an index,
    keywords. The levels of an entry have commas between.
    """

    id: str
    kind: PostKind
    body: str
    title: str = ""
    markup: Markup = "html"
    parent: str | None = None
    accepted_answer: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    score: int | None = None
    date: str | None = None
    source: str = ""
    macros: tuple[str, ...] = ()
    formulas: tuple[Formula, ...] = field(default=(), repr=False)
    place: Place | None = None
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()

    @property
    def role(self) -> Role:
        """The role of the post in search: question, answer or note."""
        return role_of(self.kind)

    @property
    def where(self) -> str:
        """Where the post stands: file and line, or its id."""
        return self.id if self.place is None else str(self.place)

    def to_json(self) -> str:
        """Return one JSON line; fields at their default are left out."""
        row = {"id": self.id, "kind": self.kind, "body": self.body} | _not_default(self, _DEFAULT_POST)
        if self.links:
            row["links"] = [
                {"target": link.target, "type": link.type} | _not_default(link, _DEFAULT_LINK)
                for link in self.links
            ]
        if self.place is not None:
            row["place"] = self.place.to_dict()
        if self.formulas:
            row["formulas"] = [
                {"id": formula.id, "latex": formula.latex} | _not_default(formula, _DEFAULT_FORMULA)
                for formula in self.formulas
            ]
        return json.dumps(row, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Post:
        """Parse the JSON line of `to_json`."""
        return cls.from_row(json.loads(line))

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Post:
        """Return a post from its row of JSON, which is changed."""
        row["formulas"] = tuple(Formula(**f) for f in row.get("formulas", ()))
        row["links"] = tuple(Link(**link) for link in row.get("links", ()))
        for name in ("tags", "macros", "aliases", "keywords"):
            row[name] = tuple(row.get(name, ()))
        if place := row.get("place"):
            row["place"] = Place(**place | {"inside": tuple(place.get("inside", ()))})
        return cls(**row)


_Defaults = tuple[tuple[str, Any], ...]


def _not_default(thing: Post | Formula | Link | Place, defaults: _Defaults) -> dict[str, Any]:
    """Return the fields of a part of a post that are not at their default."""
    return {name: value for name, default in defaults if (value := getattr(thing, name)) != default}


def _defaults(thing: Post | Formula | Link | Place) -> _Defaults:
    return tuple((name, getattr(thing, name)) for name in thing.__slots__)


_DEFAULT_POST = _defaults(Post(id="", kind="note", body=""))
_DEFAULT_FORMULA = _defaults(Formula(id="", latex=""))
_DEFAULT_LINK = _defaults(Link(target=""))
_DEFAULT_PLACE = _defaults(Place(path=""))
