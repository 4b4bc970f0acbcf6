"""Questions to try, from what is indexed: titles of posts, and a formula that stands in several places.

What a page offers to press must find something; only the index knows what that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.markup import title_pieces
from mathamr.posts.post import Formula, Post
from mathamr.systems.ranking import Task

LOOKED_AT = 60
"""Posts, evenly taken from the index, that examples are chosen from."""
TITLES = 2
_TITLE = range(12, 80)
"""Characters of a title that says something and is read at a glance."""
_LATEX = range(6, 45)
_SAYS_MUCH = re.compile(r"\\(?:frac|sum|int|prod|sqrt|lim)|[=<>^]|\\[lg]eq?\b")


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """A question that finds something."""

    query: str
    task: Task = "answers"


def examples(catalogue: Catalogue) -> list[ExampleQuery]:
    """Some titles and a formula of the index; the same as long as the index stays the same."""
    posts = catalogue.spread(LOOKED_AT)
    titled = [title for post in posts if (title := _question(post))]
    # One with a formula shows what can be typed.
    titled.sort(key=lambda title: "$" not in title)
    chosen = [ExampleQuery(title) for title in dict.fromkeys(titled)][:TITLES]
    formula = max(
        dict.fromkeys(" ".join(each.latex.split()) for post in posts for each in _formulas(post)),
        key=lambda latex: (len(_SAYS_MUCH.findall(latex)), -len(latex)),
        default=None,
    )
    return [*chosen, *([ExampleQuery(formula, "formulas")] if formula else [])]


def _question(post: Post) -> str:
    """The title of a post as somebody would type it; empty where it is no good question."""
    shown = "".join(
        f"${piece.text}$" if piece.kind == "formula" else piece.text
        for piece in title_pieces(post.title, post.markup)
        if piece.kind in ("text", "formula")
    )
    title = " ".join(shown.split())
    words = [word for word in title.split() if any(map(str.isalpha, word)) and "/" not in word]
    return title if len(title) in _TITLE and len(words) > 1 and title.count("$") % 2 == 0 else ""


def _formulas(post: Post) -> Iterator[Formula]:
    """The formulas of a post that are worth a search, and need none of its own commands."""
    for formula in post.formulas:
        latex = formula.latex.strip()
        if not post.macros and len(latex) in _LATEX and _SAYS_MUCH.search(latex) and "\\text" not in latex:
            yield formula
