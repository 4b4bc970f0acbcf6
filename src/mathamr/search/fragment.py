"""`Fragment`: a piece of a displayed sentence, either text or a whole formula, so that formulas are never cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mathamr.index.preview import UNNAMED, formula_length, printed
from mathamr.posts.formats.latex.references import number_references
from mathamr.posts.passage import PLACEHOLDER, Sentence
from mathamr.posts.post import Formula, Post

FragmentKind = Literal["text", "formula", "gap"]

ELLIPSIS = "…"
LONGEST_SHOWN = 2000
"""A shortened sentence never shows a longer formula."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Text, a formula (`text` is its LaTeX), or a gap for omitted text; `matched` marks what the query has too."""

    kind: FragmentKind
    text: str
    formula: str | None = None
    display: bool = False
    matched: bool = False

    def __str__(self) -> str:
        if self.kind == "formula":
            return f"${printed(self.text)}$" if self.text else UNNAMED
        return self.text

    def __len__(self) -> int:
        return formula_length(self.text) if self.kind == "formula" else len(self.text)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; only formulas have an id and a display flag."""
        row: dict[str, Any] = {"kind": self.kind, "text": self.text, "matched": self.matched}
        return row | {"formula": self.formula, "display": self.display} if self.kind == "formula" else row


GAP = Fragment("gap", f" {ELLIPSIS} ")


def formulas_by_id(post: Post) -> dict[str, Formula]:
    """Return the formulas of a post by their ids."""
    return {formula.id: formula for formula in post.formulas}


def fragments(sentence: Sentence, formulas: Mapping[str, Formula], post: Post) -> list[Fragment]:
    """Split a sentence of a post into text and formulas; references have the numbers that their document gives them.

    >>> from mathamr.posts.passage import passage
    >>> post = Post("7", "note", "Let $x>0$ hold.", markup="text", formulas=(Formula("7:0", "x>0"),))
    >>> [str(each) for each in fragments(passage(post).sentences[0], formulas_by_id(post), post)]
    ['Let ', '$x>0$', ' hold.']
    """
    text = number_references(sentence, post)
    places = {place.name: place.formula for place in sentence.placeholders}
    found: list[Fragment] = []
    done = 0
    for match in PLACEHOLDER.finditer(text):
        formula = formulas.get(places.get(match.group(), ""))
        if formula is None:
            continue
        if match.start() > done:
            found.append(Fragment("text", text[done : match.start()]))
        found.append(Fragment("formula", formula.latex, formula.id, formula.display))
        done = match.end()
    if done < len(text):
        found.append(Fragment("text", text[done:]))
    return found


class Line(tuple[Fragment, ...]):
    """A tuple of fragments that prints as one line of text."""

    __slots__ = ()

    def __str__(self) -> str:
        return plain(self)

    def __repr__(self) -> str:
        return repr(plain(self))


def plain(stretch: Iterable[Fragment]) -> str:
    """Return fragments as one line of text, formulas between dollar signs."""
    return " ".join("".join(map(str, stretch)).split())


def shortened(
    stretch: Sequence[Fragment], width: int, length: Callable[[Fragment], int] = len
) -> list[Fragment]:
    """Return the beginning of a sentence in about `width` characters; text is cut at a word and formulas are not cut.

    A formula that does not fit is replaced by a gap, unless it comes first or is the first match. `length` measures a
    fragment, for callers that draw formulas instead of printing their LaTeX.
    """
    kept: list[Fragment] = []
    room = width
    for fragment in stretch:
        needed = not kept or (fragment.matched and not any(each.matched for each in kept))
        fits = length(fragment) <= room
        if fits or (fragment.kind == "formula" and needed and len(fragment) <= LONGEST_SHOWN):
            kept.append(fragment)
            room = max(0, room - length(fragment))
            continue
        if fragment.kind == "text" and room > 3:
            cut = fragment.text[:room].rpartition(" ")[0]
            if cut.strip():
                kept.append(replace(fragment, text=cut))
        return [*kept, Fragment("gap", ELLIPSIS if kept and str(kept[-1]).endswith(" ") else f" {ELLIPSIS}")]
    return kept
