r"""Formulas that a collection names itself: a title or an emphasised name beside a single formula.

An entry "Zeta at two" with one displayed formula, or "the *Basel identity* $\sum 1/n^2=\pi^2/6$", says what that formula is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.macros import without_macros
from mathamr.formulas.trees import trees_of
from mathamr.index.lexical.terms import READING, called, stems, words
from mathamr.posts.markup import pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Markup, Post
from mathamr.search.namequery import emphasised_places

FEWEST_SYMBOLS = 5
"""The fewest symbols of a formula that has a name; a smaller one stands in too many posts."""
LONGEST_BETWEEN = 40
"""The most characters between an emphasised name and its formula: "the *law of cooling*, which says that"."""
BEGINNING = 20_000
"""The characters of a text that are looked at."""


def formula_called(name: Sequence[str], post: Post, body: str, markup: Markup) -> str | None:
    r"""Return the LaTeX of the formula that a post gives a name, which is written as stems; `None` if it gives it to none.

    >>> body = r"Thus *Basel identity* $\sum_n \frac{1}{n^2}=\frac{\pi^2}{6}$ holds for $n$."
    >>> formula_called(stems(words("Basel identity")), Post("a", "note", ""), body, "markdown")
    '\\sum_n \\frac{1}{n^2}=\\frac{\\pi^2}{6}'
    """
    wanted = list(name)
    read = list(pieces(body[:BEGINNING], markup))
    found = None
    for text, end in emphasised_places(body[:BEGINNING], markup):
        if stems(words(text)) == wanted:
            found = _formula_behind(read, end)
            if found:
                break
    if found is None and wanted in map(stems, called(post)):
        displayed = {piece.text for piece in read if piece.kind == "formula" and piece.display}
        found = displayed.pop() if len(displayed) == 1 else None
    if not found:
        return None
    (opt, slt), _ = trees_of(Formula("", found), post.macros, READING)
    if opt is None or slt is None or len(slt) < FEWEST_SYMBOLS:
        return None
    return without_macros(found, post.macros) if post.macros else found


def _formula_behind(read: Sequence[Piece], end: int) -> str | None:
    """Return the formula that follows a place closely: in the same paragraph, or displayed behind it."""
    before = max(
        (n for n, piece in enumerate(read) if piece.kind != "break" and piece.start < end), default=-1
    )
    has_ended = False
    for piece in read[before + 1 :]:
        if piece.kind == "formula":
            is_close = piece.start - end <= LONGEST_BETWEEN
            return piece.text if is_close and (piece.display or not has_ended) else None
        has_ended = has_ended or piece.kind == "break"
    return None
