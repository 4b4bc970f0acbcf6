"""`LibraryProfile`: what search and assistants must know about a library of declarations, whatever language it is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mathamr.posts.post import Post


@dataclass(frozen=True)
class LibraryProfile:
    """One language of declarations: how it is asked for, ranked and shown. A new language is one more of these."""

    language: str
    """What people call it: `Lean`."""
    words: tuple[str, ...]
    """The words by which it declares something, as tags of posts have them."""
    weights: tuple[float, float, float]
    """The weights of words, of one vector and of MaxSim in an index that holds declarations."""
    formula_weights: tuple[float, float, float, float]
    """The weights of words, of formulas, of one vector and of MaxSim for a query that is a statement or a formula; beside words a formula
    has the same weight, and the others keep theirs."""
    very_similar: float
    """The cosine from which a hit is shown although it shares too few words with the query to be a match."""
    is_statement: Callable[[str], bool]
    """Whether a typed text is a statement in the notation of the language, and not words or LaTeX."""
    declare: Callable[[str], str]
    """The body of the post that declares a typed statement."""
    statement_query: Callable[[str], str]
    """The query for a statement in the language or in LaTeX."""
    goal_query: Callable[[str], str]
    """The query for an open goal, as the language prints it."""
    address: Callable[[Post], str | None]
    """The public page that documents a declaration, if there is one."""
