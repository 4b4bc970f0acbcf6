"""Example queries for the web page, taken from the index so that each finds something: titles and a formula."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mathamr.formulas.trees import trees_of
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.formats.latex.definitions import definitions_for
from mathamr.posts.markup import title_pieces
from mathamr.posts.post import Formula, Post
from mathamr.posts.postkind import ASKING
from mathamr.systems.ranking import Task

SAMPLED_POSTS = 60
"""Posts, evenly spread over the index, from which examples are chosen."""
TITLES = 2
_TITLE = range(12, 80)
"""Length of a title that is informative and quick to read."""
_NAMED = re.compile(
    rf"""
    (?:{"|".join(kind.capitalize() for kind in ASKING | {"definition", "example", "remark"})})
    (?:[ ][\d.]+)?                              # its number
    (?:[ ]\((?P<name>.+)\) | :[ ].*)?           # its name, or its text
    """,
    re.X,
)
"""The title of an entry of a book, with the name in brackets that some have."""
_LATEX = range(6, 45)
_INFORMATIVE = re.compile(r"\\(?:frac|sum|int|prod|sqrt|lim)|[=<>^]|\\[lg]eq?\b")


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """A query that finds something in the index."""

    query: str
    task: Task = "answers"


def examples(catalogue: Catalogue, macros: Mapping[str, str]) -> list[ExampleQuery]:
    """Return some titles and formulas of the index, one with macros of the collection; deterministic for a given index.

    A query can use `macros`, the definitions of the collection by name; posts that define one of them otherwise give no examples.
    """
    usual = frozenset(macros.values())
    posts = [post for post in catalogue.spread(SAMPLED_POSTS) if usual.issuperset(post.macros)]
    titled = [title for post in posts if (title := _question(post))]
    # Titles with a formula come first, to show the syntax.
    titled.sort(key=lambda title: "$" not in title)
    chosen = [ExampleQuery(title) for title in dict.fromkeys(titled)][:TITLES]
    found = {" ".join(each.latex.split()): post for post in posts for each in _formulas(post)}
    found = {latex: post for latex, post in found.items() if _is_intact(latex, post)}
    plain = max(found, key=lambda latex: (len(_INFORMATIVE.findall(latex)), -len(latex)), default="")
    # One more in the author's own words.
    own = {latex: len(definitions_for(latex, macros)) for latex in found}
    written = max(own, key=lambda latex: (own[latex], -len(latex)), default="")
    formulas = dict.fromkeys([written] if own.get(written) else []) | {plain: None}
    return [*chosen, *(ExampleQuery(formula, "formulas") for formula in formulas if formula)]


def _question(post: Post) -> str:
    """Return the title of a post as a user would type it; empty if it does not make a good query."""
    read = list(title_pieces(post.title, post.markup))
    if not all(_is_intact(piece.text, post) for piece in read if piece.kind == "formula"):
        return ""
    shown = "".join(
        f"${piece.text}$" if piece.kind == "formula" else piece.text
        for piece in read
        if piece.kind in ("text", "formula")
    )
    title = _own_name(" ".join(shown.split()), post.kind)
    words = [word for word in title.split() if any(map(str.isalpha, word)) and "/" not in word]
    return title if len(title) in _TITLE and len(words) > 1 and title.count("$") % 2 == 0 else ""


def _own_name(title: str, kind: str) -> str:
    """Return what a person calls an entry of a book: its own name, not its kind, its chapter, or the heading above it.

    >>> _own_name("Theorem 2.1 (Snake lemma)", "theorem"), _own_name("Book: Groups: Cyclic groups", "section")
    ('Snake lemma', 'Cyclic groups')
    >>> _own_name("Definition: Cyclic groups", "definition"), _own_name("Sums: a question", "question")
    ('', 'Sums: a question')
    """
    if kind == "section":
        return title.rpartition(": ")[2]
    if named := _NAMED.fullmatch(title):
        return named["name"] or ""
    return title


def _is_intact(latex: str, post: Post) -> bool:
    """Return whether a formula of a post can be read without a repair, so that it can be drawn."""
    trees, repairs = trees_of(Formula("", latex), post.macros)
    return trees != (None, None) and not repairs


def _formulas(post: Post) -> Iterator[Formula]:
    """Yield the formulas of a post that make good queries."""
    for formula in post.formulas:
        latex = formula.latex.strip()
        if len(latex) in _LATEX and _INFORMATIVE.search(latex) and "\\text" not in latex:
            yield formula
