"""Posts and formulas as HTML for a page: text escaped, formulas as MathML, nothing fetched from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from mathamr.errors import MathAMRError
from mathamr.formulas.mathml.writing import sanitised
from mathamr.formulas.parse import parse
from mathamr.posts.markup import pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Post

LONGEST_TEXT = 6000
"""Characters of a post's source that a page shows; what follows is said to be missing."""

_BLOCKS = {
    "heading": ("<h5>", "</h5>"),
    "item": ('<p class="item">', "</p>"),
    "quote": ('<p class="quote">', "</p>"),
    "cell": ('<p class="cell">', "</p>"),
    "code": ("<pre>", "</pre>"),
}
_LINE = "\u2028"


def formula_html(formula: Formula, macros: tuple[str, ...] = (), is_query: bool = False) -> str:
    """A formula as MathML: from its LaTeX, else from the MathML that came with it, else as its source."""
    drawn = _drawn(formula, macros)
    return f'<mark class="query">{drawn}</mark>' if is_query else drawn


def _drawn(formula: Formula, macros: tuple[str, ...]) -> str:
    if formula.latex:
        try:
            return parse(formula.latex, macros).presentation_mathml(display=formula.display)
        except MathAMRError:
            pass  # what cannot be drawn is shown as its source below
    if formula.presentation_mathml:
        try:
            return sanitised(formula.presentation_mathml, latex=formula.latex)
        except MathAMRError:
            pass
    return f'<code title="this formula could not be drawn">{escape(formula.latex or "MathML")}</code>'


def title_html(post: Post, query: str | None = None) -> str:
    """The title of a post in one line; the formula with the id `query` is marked."""
    formulas = iter(post.formulas)
    return "".join(_inline(piece, formulas, post, query) for piece in title_pieces(post.title, post.markup))


def body_html(post: Post, query: str | None = None) -> str:
    """The body of a post as paragraphs; the formula with the id `query` is marked."""
    in_title = sum(piece.kind == "formula" for piece in title_pieces(post.title, post.markup))
    formulas = iter(post.formulas[in_title:])
    written: list[str] = []
    inside: list[str] = []
    block, cut = "paragraph", False

    def flush() -> None:
        if "".join(inside).strip():
            before, after = _BLOCKS.get(block, ("<p>", "</p>"))
            written.append(before + "".join(inside) + after)
        inside.clear()

    for piece in pieces(post.body, post.markup):
        if piece.start > LONGEST_TEXT:
            cut = True
            break
        if piece.kind == "break":
            flush()
            block = piece.text
        else:
            inside.append(escape(piece.text) if block == "code" else _inline(piece, formulas, post, query))
    flush()
    if cut:
        written.append('<p class="faint">… (the rest of this post is not shown)</p>')
    return "\n".join(written)


def _inline(piece: Piece, formulas: Iterator[Formula], post: Post, query: str | None) -> str:
    if piece.kind == "formula":
        found = next(formulas, None) or Formula("", piece.text, piece.display, None, piece.mathml)
        return formula_html(found, post.macros, is_query=query is not None and found.id == query)
    if piece.kind == "code":
        return f"<code>{escape(piece.text)}</code>"
    if piece.kind == "image":
        return f'<span class="faint">[picture: {escape(piece.text) or "no description"}]</span>'
    return "" if piece.kind == "link" else escape(piece.text).replace(_LINE, "<br>")
