r"""Formulas that a collection names itself: a title or an emphasised name beside a single formula.

An entry "Zeta at two" with one displayed formula, or "the *Basel identity* $\sum 1/n^2=\pi^2/6$", says what that formula is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mathamr.core.listing import names
from mathamr.formulas.latex.macros import without_macros
from mathamr.formulas.tree import Slt
from mathamr.formulas.trees import trees_of
from mathamr.index.lexical.terms import READING, STOP_WORDS, stems, words
from mathamr.posts.markup import pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Markup, Post
from mathamr.posts.postkind import kind_named
from mathamr.search.postnames import MOST_WORDS, emphasised_places, own_names, title_name

FEWEST_SYMBOLS = 5
"""The fewest symbols of a formula that has a name; a smaller one stands in too many posts."""
LONGEST_BETWEEN = 40
"""The most characters between an emphasised name and its formula: "the *law of cooling*, which says that"."""
BEGINNING = 20_000
"""The characters of a text that are looked at."""
_NAMELESS_KINDS = names("question exercise problem proof solution answer reference page")
"""Kinds of posts whose titles ask for something, or are somebody else's."""
_ASIDES = names("step case part idea edit update attempt summary table figure item version method")
"""Words that people emphasise before a formula that they do not name."""


def formula_called(name: Sequence[str], post: Post, body: str, markup: Markup) -> str | None:
    r"""Return the LaTeX of the formula that a post gives a name, which is written as stems; `None` if it gives it to none.

    >>> body = r"Thus *Basel identity* $\sum_n \frac{1}{n^2}=\frac{\pi^2}{6}$ holds for $n$."
    >>> formula_called(stems(words("Basel identity")), Post("a", "note", ""), body, "markdown")
    '\\sum_n \\frac{1}{n^2}=\\frac{\\pi^2}{6}'
    """
    wanted = list(name)
    read = list(pieces(body[:BEGINNING], markup))
    named = (latex for text, latex in _emphasised(read, body, markup) if stems(words(text)) == wanted)
    found = next(named, None)
    if found is None and wanted in map(stems, own_names(post)):
        found = _only_displayed(read)
    return _without_macros(found, post) if found and _telling(found, post) else None


def names_given(post: Post, body: str, markup: Markup) -> Iterator[tuple[str, str]]:
    r"""Yield the names that a post gives to formulas, and the LaTeX of each formula.

    >>> body = r"Thus the *Basel identity* $\sum_n \frac{1}{n^2}=\frac{\pi^2}{6}$. *Hint*: $a^2+b^2=c^2$."
    >>> [name for name, _ in names_given(Post("a", "note", ""), body, "markdown")]
    ['Basel identity']
    """
    read = list(pieces(body[:BEGINNING], markup))
    found = [(text, latex) for text, latex in _emphasised(read, body, markup) if latex]
    if post.kind not in _NAMELESS_KINDS and (displayed := _only_displayed(read)):
        found += [(name, displayed) for name in (title_name(post), *post.aliases)]
    for name, latex in found:
        if is_name(name) and _telling(latex, post):
            yield " ".join(name.split()), _without_macros(latex, post)


def is_name(text: str) -> bool:
    """Return True for a few words that begin like a name and say more than what kind of thing follows."""
    found = words(text)
    return (
        0 < len(found) <= MOST_WORDS
        and found[0] not in STOP_WORDS
        and not all(
            word.isdigit() or word in STOP_WORDS or word in _ASIDES or kind_named(word) for word in found
        )
    )


def _telling(latex: str, post: Post) -> Slt | None:
    """Return the layout of a formula, if it can be read and has enough symbols to have a name."""
    (opt, slt), _ = trees_of(Formula("", latex), post.macros, READING)
    return slt if opt is not None and slt is not None and len(slt) >= FEWEST_SYMBOLS else None


def _without_macros(latex: str, post: Post) -> str:
    return without_macros(latex, post.macros) if post.macros else latex


def _emphasised(read: Sequence[Piece], body: str, markup: Markup) -> Iterator[tuple[str, str]]:
    """Yield what is emphasised right before a formula, and the formula."""
    for text, end in emphasised_places(body[:BEGINNING], markup):
        if latex := _formula_behind(read, end):
            yield text, latex


def _only_displayed(read: Sequence[Piece]) -> str | None:
    """Return the displayed formula of a text that has just one."""
    displayed = {piece.text for piece in read if piece.kind == "formula" and piece.display}
    return displayed.pop() if len(displayed) == 1 else None


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
