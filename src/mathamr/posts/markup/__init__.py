"""The languages posts are written in, each read into the same stream of pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import chain

from mathamr.core.errors import UnknownNameError
from mathamr.posts.markup.piece import Note, Piece, ignore
from mathamr.posts.markup.unicodemath import mark_unicode_formulas
from mathamr.posts.post import Formula

MARKUPS = {
    "html": "mathamr.posts.formats.html.pieces", "markdown": "mathamr.posts.formats.markdown.pieces",
    "latex": "mathamr.posts.formats.latex.pieces", "text": "mathamr.posts.markup.plain",
    "declaration": "mathamr.posts.formats.declaration.pieces",
}  # fmt: skip
_NOTES = frozenset(["markdown", "latex", "text"])
"""Languages of notes: in their text a formula may stand in Unicode without any mark. HTML is left as it is published."""
LONGEST_REMEMBERED = 200_000
"""Characters of a text whose pieces are remembered; longer ones are streamed, so that memory stays bounded."""
_TAG = re.compile(r"</[a-zA-Z]|<(?:span|math|em|i|b|strong|sup|sub|code)\b|&(?:\w+|#\w+);")

_CONTENT = re.compile(r"<annotation-xml\s(?=[^<>]*MathML-Content)[^<>]*+>")
_PRESENTATION = re.compile(r"<(?:\w+:)?m(?:row|i|o|n|frac|sup|sub|sqrt)\b")
_RESERVED = re.compile("[\0-\2]")  # stand for formulas and breaks while sentences are cut; no text needs them


def pieces(text: str, markup: str, note: Note = ignore) -> Iterator[Piece]:
    """Return the pieces of a text in the order of the source; call `note` for every repair.

    The texts that were parsed last are remembered: a post is parsed once, by its reader, and whoever needs its pieces
    while it is at hand gets the same ones.

    >>> [piece.text for piece in pieces("<p>Let $x&gt;0.$</p>", "html") if piece.kind == "formula"]
    ['x>0']
    """
    if len(text) > LONGEST_REMEMBERED:
        return _parse(text, markup, note)
    found, repairs = _parse_once(text, markup)
    for message, offset in repairs:
        note(message, offset)
    return iter(found)


@lru_cache(maxsize=64)
def _parse_once(text: str, markup: str) -> tuple[tuple[Piece, ...], tuple[tuple[str, int], ...]]:
    repairs: list[tuple[str, int]] = []
    found = tuple(_parse(text, markup, lambda message, offset: repairs.append((message, offset))))
    return found, tuple(repairs)


def _parse(text: str, markup: str, note: Note) -> Iterator[Piece]:
    read = marked_pieces(text, markup, note)
    return mark_unicode_formulas(read) if markup in _NOTES and not text.isascii() else read


def marked_pieces(text: str, markup: str, note: Note = ignore) -> Iterator[Piece]:
    """Yield the pieces of a text like `pieces`, but formulas only where they are marked: none that stand in Unicode in its words."""
    if markup not in MARKUPS:
        raise UnknownNameError("markup", markup, list(MARKUPS))
    if _RESERVED.search(text):
        text = _RESERVED.sub("\ufffd", text)
    read: Iterator[Piece] = import_module(MARKUPS[markup]).pieces(text, note)
    return read


def title_pieces(title: str, markup: str, note: Note = ignore) -> Iterator[Piece]:
    """Yield the pieces of a title, which in an HTML post is plain text unless it shows tags or entities."""
    if markup == "html" and not _TAG.search(title):
        return marked_pieces(title, "text", note)
    return pieces(title, markup, note)


def formulas_of(post_id: str, title: str, body: str, markup: str, note: Note = ignore) -> tuple[Formula, ...]:
    """Return the formulas of a post in the order in which they occur, title first; see `formulas_among`."""
    return formulas_among(post_id, chain(title_pieces(title, markup, note), pieces(body, markup, note)))


def formulas_among(post_id: str, read: Iterable[Piece]) -> tuple[Formula, ...]:
    """Return the formulas among the pieces of a post.

    A formula's id is the `id` of its element where it has one that is new in the post, else `POSTID:N` with N
    the formula's place in the post, from 0.
    """
    found: list[Formula] = []
    seen: set[str] = set()
    for piece in read:
        if piece.kind == "formula":
            name = formula_id(piece, post_id, len(found), seen)
            presentation, content = _mathml(piece.mathml)
            found.append(Formula(name, piece.text, piece.display, None, presentation, content))
    return tuple(found)


def _mathml(source: str | None) -> tuple[str | None, str | None]:
    """Return Presentation and Content MathML of an element, which may hold either or both."""
    if source is None or "apply" not in source:
        return source, None
    if begins := _CONTENT.search(source):
        inner, closing, _ = source[begins.end() :].partition("</annotation-xml")
        if closing:
            return source, f"<math>{inner.strip()}</math>"
    return (source, None) if _PRESENTATION.search(source) else (None, source)


def formula_id(piece: Piece, post_id: str, place: int, seen: set[str]) -> str:
    """Return the id of the formula at `place` in a post whose earlier formulas have the ids `seen`, which it joins."""
    name = piece.id if piece.id and piece.id not in seen else f"{post_id}:{place}"
    seen.add(name)
    return name
