"""Example queries for the web page, taken from the index so that each finds something: titles and a formula."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.markup import title_pieces
from mathamr.posts.post import Formula, Post
from mathamr.systems.ranking import Task

SAMPLED_POSTS = 60
"""Posts, evenly spread over the index, from which examples are chosen."""
TITLES = 2
_TITLE = range(12, 80)
"""Length of a title that is informative and quick to read."""
_LATEX = range(6, 45)
_INFORMATIVE = re.compile(r"\\(?:frac|sum|int|prod|sqrt|lim)|[=<>^]|\\[lg]eq?\b")


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """A query that finds something in the index."""

    query: str
    task: Task = "answers"


def examples(catalogue: Catalogue, macros: Mapping[str, str]) -> list[ExampleQuery]:
    """Some titles and a formula of the index; deterministic for a given index.

    A query can use `macros`, the definitions of the collection by name; posts that define one of them otherwise give no examples.
    """
    usual = frozenset(macros.values())
    posts = [post for post in catalogue.spread(SAMPLED_POSTS) if usual.issuperset(post.macros)]
    titled = [title for post in posts if (title := _question(post))]
    # Titles with a formula come first, to show the syntax.
    titled.sort(key=lambda title: "$" not in title)
    chosen = [ExampleQuery(title) for title in dict.fromkeys(titled)][:TITLES]
    formula = max(
        dict.fromkeys(" ".join(each.latex.split()) for post in posts for each in _formulas(post)),
        key=lambda latex: (len(_INFORMATIVE.findall(latex)), -len(latex)),
        default=None,
    )
    return [*chosen, *([ExampleQuery(formula, "formulas")] if formula else [])]


def _question(post: Post) -> str:
    """The title of a post as a user would type it; empty if it does not make a good query."""
    shown = "".join(
        f"${piece.text}$" if piece.kind == "formula" else piece.text
        for piece in title_pieces(post.title, post.markup)
        if piece.kind in ("text", "formula")
    )
    title = " ".join(shown.split())
    words = [word for word in title.split() if any(map(str.isalpha, word)) and "/" not in word]
    return title if len(title) in _TITLE and len(words) > 1 and title.count("$") % 2 == 0 else ""


def _formulas(post: Post) -> Iterator[Formula]:
    """The formulas of a post that make good queries."""
    for formula in post.formulas:
        latex = formula.latex.strip()
        if len(latex) in _LATEX and _INFORMATIVE.search(latex) and "\\text" not in latex:
            yield formula
