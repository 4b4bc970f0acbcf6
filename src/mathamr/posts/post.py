"""`Post` and its `Formula`s: what every reader gives, whatever the input was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["question", "answer", "note"]
Markup = Literal["html", "markdown", "latex", "text"]
LinkType = Literal["related", "duplicate", "proof", "mention"]


@dataclass(frozen=True, slots=True)
class Formula:
    """One occurrence of a formula in a post."""

    id: str
    latex: str
    display: bool = False
    visual_id: str | None = None
    presentation_mathml: str | None = None
    content_mathml: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a post to another one."""

    target: str
    type: LinkType = "related"


@dataclass(frozen=True, slots=True)
class Post:
    """One question, answer or note, its text as it was written.

    `title` and `body` are in the language `markup` says and are never changed by a reader: the offsets of a
    passage lead back into them. `formulas` lists the formulas in the order in which they occur, title first.
    """

    id: str
    kind: Kind
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

    def to_json(self) -> str:
        """One JSON line; fields at their default are left out."""
        row = {"id": self.id, "kind": self.kind, "body": self.body} | _told(self, _DEFAULT_POST)
        if self.links:
            row["links"] = [{"target": link.target, "type": link.type} for link in self.links]
        if self.formulas:
            row["formulas"] = [
                {"id": formula.id, "latex": formula.latex} | _told(formula, _DEFAULT_FORMULA)
                for formula in self.formulas
            ]
        return json.dumps(row, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Post:
        """The inverse of `to_json`."""
        row: dict[str, Any] = json.loads(line)
        row["formulas"] = tuple(Formula(**f) for f in row.get("formulas", ()))
        row["links"] = tuple(Link(**link) for link in row.get("links", ()))
        for name in ("tags", "macros"):
            row[name] = tuple(row.get(name, ()))
        return cls(**row)


def _told(thing: Post | Formula, default: Post | Formula) -> dict[str, Any]:
    """The fields of a post or formula that are not at their default."""
    values = ((name, getattr(thing, name)) for name in thing.__slots__)
    return {name: value for name, value in values if value != getattr(default, name)}


_DEFAULT_POST = Post(id="", kind="note", body="")
_DEFAULT_FORMULA = Formula(id="", latex="")
