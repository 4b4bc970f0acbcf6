"""Posts and formulas as HTML: text escaped, formulas as MathML, nothing fetched from elsewhere."""

from __future__ import annotations

import re
from html import escape

from mathamr.core.errors import MathAMRError
from mathamr.formulas.latex.display.formula import display_mathml
from mathamr.formulas.mathml.writing import sanitised
from mathamr.posts.markup import pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Post

LONGEST_TEXT = 6000
"""Characters of a post's source that a page shows; a note marks the omitted rest."""

_BLOCKS = {
    "heading": ("<h5>", "</h5>"),
    "item": ('<p class="item">', "</p>"),
    "quote": ('<p class="quote">', "</p>"),
    "cell": ('<p class="cell">', "</p>"),
    "code": ("<pre>", "</pre>"),
}
_LINE = "\u2028"
_PUNCTUATION = re.compile(r"\s*([.,;:?!])(?=\s|\Z)")


def formula_html(formula: Formula, macros: tuple[str, ...] = (), *, is_query: bool = False) -> str:
    """Return a formula as MathML: from its LaTeX, else from the MathML that came with it, else as its source."""
    drawn = _drawn(formula, macros)
    return f'<mark class="query">{drawn}</mark>' if is_query else drawn


def _drawn(formula: Formula, macros: tuple[str, ...]) -> str:
    if formula.latex:
        try:
            return display_mathml(formula.latex, macros, display=formula.display)
        except MathAMRError:
            pass  # what cannot be drawn is shown as its source below
    if formula.presentation_mathml:
        try:
            return sanitised(formula.presentation_mathml, latex=formula.latex)
        except MathAMRError:
            pass
    if not formula.latex and not formula.presentation_mathml:
        return ""
    return f'<code title="this formula could not be drawn">{escape(formula.latex or "MathML")}</code>'


def title_html(post: Post, query: str | None = None) -> str:
    """Return the title of a post in one line; the formula with the id `query` is marked."""
    writer = _Writer(post, query)
    return "".join(writer.inline(piece) for piece in title_pieces(post.title, post.markup))


def body_html(post: Post, query: str | None = None) -> str:
    """Return the body of a post as paragraphs; the formula with the id `query` is marked."""
    in_title = sum(piece.kind == "formula" for piece in title_pieces(post.title, post.markup))
    writer = _Writer(post, query, in_title)
    for piece in pieces(post.body, post.markup):
        if piece.start > LONGEST_TEXT:
            writer.end_block("paragraph")
            writer.blocks.append('<p class="faint">… (the rest of this post is not shown)</p>')
            break
        writer.add(piece)
    writer.end_block("paragraph")
    return "\n".join(writer.blocks)


class _Writer:
    """Writes the pieces of a post in order; `blocks` are the finished paragraphs."""

    def __init__(self, post: Post, query: str | None, formulas_before: int = 0) -> None:
        self.blocks: list[str] = []
        self._post, self._query = post, query
        self._formulas = iter(post.formulas[formulas_before:])
        self._block = "paragraph"
        self._inside: list[str] = []
        self._is_after_display = False

    def add(self, piece: Piece) -> None:
        """Write one more piece of the body."""
        if piece.kind == "break":
            self.end_block(piece.text)
            return
        text = piece.text
        if self._is_after_display and piece.kind == "text" and (mark := _PUNCTUATION.match(text)):
            self._inside[-1] = self._inside[-1].removesuffix("</span>") + f"<span>{mark[1]}</span></span>"
            piece = piece._replace(text=text[mark.end() :])
        is_display = piece.kind == "formula" and piece.display
        written = escape(piece.text) if self._block == "code" else self.inline(piece)
        self._inside.append(f'<span class="display">{written}</span>' if is_display else written)
        self._is_after_display = is_display

    def end_block(self, following: str) -> None:
        """Finish what is being written; `following` is the kind of what comes next."""
        inside = "".join(self._inside)
        if inside.strip():
            before, after = _BLOCKS.get(self._block, ("<p>", "</p>"))
            self.blocks.append(before + inside + after)
        self._inside.clear()
        self._block, self._is_after_display = following, False

    def inline(self, piece: Piece) -> str:
        """Return a piece within a line."""
        if piece.kind == "formula":
            found = next(self._formulas, None) or Formula("", piece.text, piece.display, None, piece.mathml)
            is_query = self._query is not None and found.id == self._query
            return formula_html(found, self._post.macros, is_query=is_query)
        if piece.kind == "code":
            return f"<code>{escape(piece.text)}</code>"
        if piece.kind == "image":
            return f'<span class="faint">[picture: {escape(piece.text) or "no description"}]</span>'
        return "" if piece.kind == "link" else escape(piece.text).replace(_LINE, "<br>")
