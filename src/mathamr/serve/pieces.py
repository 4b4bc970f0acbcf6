"""Titles, snippets and queries as the pieces of text and formulas that answers hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from mathamr.posts.body.html import LINE
from mathamr.posts.markup import title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Place, Post
from mathamr.posts.rendering.drawing import LONGEST_FORMULA, Drawn, draw, draw_formula
from mathamr.posts.rendering.posthtml import PostFormulas
from mathamr.search.fragment import Fragment

FormulasById = dict[str, tuple[Formula, tuple[str, ...]]]
"""Formulas of posts with the macros they are read with."""
_WILDCARD = re.compile(r"\?([A-Za-z0-9])")


@lru_cache(maxsize=1 << 10)
def source_shown(source: str) -> str:
    """Return where a post came from, without the folders of this machine.

    >>> source_shown("/home/ada/notes/limits.md"), source_shown("https://example.org/a"), source_shown("forum")
    ('limits.md', 'https://example.org/a', 'forum')
    """
    return PurePath(source).name if PurePath(source).is_absolute() else source


def place_shown(place: Place | None) -> dict[str, Any] | None:
    """Return where a post stands in its input, by the path in the input alone."""
    if place is None:
        return None
    return {
        "path": place.path,
        "line": place.line,
        "label": place.label,
        "inside": list(place.inside),
        "cell": place.cell or None,
    }


def text_piece(text: str, *, matched: bool = False, kind: str = "text") -> dict[str, Any]:
    """Return the JSON of a run of text, or of a gap where something is left out."""
    return {"kind": kind, "text": text, "matched": matched}


def formula_piece(
    latex: str,
    drawn: Drawn,
    id: str | None = None,
    *,
    display: bool = False,
    matched: bool = False,
) -> dict[str, Any]:
    """Return the JSON of a formula."""
    return {
        "kind": "formula",
        "text": latex[:LONGEST_FORMULA],
        "id": id,
        "latex": latex[:LONGEST_FORMULA],
        "mathml": drawn.mathml,
        "display": display,
        "matched": matched,
        "error": drawn.error,
    }


def shown_pieces(read: Iterable[Piece], macros: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    """Yield the JSON of the pieces of a query, each with its place in the source; links and pictures as text."""
    for piece in read:
        if piece.kind == "formula":
            # A wildcard is one symbol: in `\pmod ?p` all of it is the argument.
            drawn = draw(
                _WILDCARD.sub(r"{?\1}", piece.text), macros, display=piece.display, mathml=piece.mathml
            )
            if drawn.error:  # its place is counted in the formula as it was typed
                drawn = draw(piece.text, macros, display=piece.display, mathml=piece.mathml)
            shown = formula_piece(piece.text, drawn, None, display=piece.display)
        elif piece.kind == "break":
            shown = text_piece("\n")
        elif piece.kind in ("link", "open", "close"):
            continue
        else:
            shown = text_piece(piece.text.replace(LINE, "\n"))
        yield shown | {"start": piece.start, "end": piece.end}


def formulas_with_macros(post: Post) -> FormulasById:
    """Return the formulas of a post by their ids."""
    return {formula.id: (formula, post.macros) for formula in post.formulas}


def fragment_pieces(
    fragments: Iterable[Fragment],
    formulas: Mapping[str, tuple[Formula, tuple[str, ...]]],
    macros: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """Return the JSON of fragments that a search chose; `formulas` are those of their posts, `macros` for others."""
    shown = []
    for fragment in fragments:
        if fragment.kind != "formula":
            shown.append(text_piece(fragment.text, matched=fragment.matched, kind=fragment.kind))
            continue
        known = formulas.get(fragment.formula or "")
        drawn = draw_formula(*known) if known else draw(fragment.text, macros, display=fragment.display)
        shown.append(
            formula_piece(
                fragment.text, drawn, fragment.formula, display=fragment.display, matched=fragment.matched
            )
        )
    return shown


def title_shown(post: Post, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the title of a post as pieces; `names` are the ids of the post's formulas in the index, in their order."""
    shown: list[dict[str, Any]] = []
    formulas = PostFormulas(post, names)
    for piece in title_pieces(post.title, post.markup):
        if piece.kind == "formula":
            formula = formulas.next(piece)
            drawn = draw_formula(formula, post.macros)
            shown.append(formula_piece(formula.latex, drawn, formula.id, display=formula.display))
        elif piece.kind in ("text", "code", "image"):
            shown.append(text_piece(piece.text.replace(LINE, " ")))
    return shown
