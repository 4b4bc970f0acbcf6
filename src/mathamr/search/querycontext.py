"""`QueryContext`: a query with its vectors, terms and trees, each computed once, and the time that they took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from mathamr.core.cancellation import check_cancelled
from mathamr.formulas.trees import Trees
from mathamr.formulas.visualkey import visual_key
from mathamr.index.lexical.terms import Terms, post_terms, terms_of_trees
from mathamr.posts.post import Formula
from mathamr.search.query import Query, QueryError
from mathamr.search.wildcards import has_wildcards
from mathamr.search.workbudget import FormulaBounds, QueryBudget
from mathamr.systems.field import Field
from mathamr.systems.system import Encoded
from mathamr.systems.vectors import Vectors


class StageTimer:
    """Seconds by stage, in the order in which the stages began; the times of a repeated stage add up."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add the time of the block to a stage, unless the search was cancelled before it."""
        check_cancelled()
        self.seconds.setdefault(stage, 0.0)
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - started


class QueryVectors(Protocol):
    """A source of query vectors: a system that encodes them, or a store of precomputed ones."""

    def encoded(self, query: Query, timer: StageTimer) -> Encoded:
        """Return the vectors of the whole query."""
        ...

    def visual(self, query: Query, formula: Formula, timer: StageTimer) -> Mapping[str, Vectors]:
        """Return the vectors of one of its formulas, encoded on its own."""
        ...


class QueryContext:
    """What rankings need of a query; `formula` is the target of a formula search."""

    def __init__(
        self,
        query: Query,
        vectors: QueryVectors,
        *,
        formula: Formula | None = None,
        timer: StageTimer | None = None,
        bounds: FormulaBounds | None = None,
    ) -> None:
        self.query, self.formula = query, formula
        self.timer = timer or StageTimer()
        self.budget = QueryBudget(bounds)
        self._vectors = vectors

    def of_formula(self, formula: Formula, query: Query | None = None) -> QueryContext:
        """Return the context of a formula of the query, or of another `query` beside it; its time and work count here."""
        found = QueryContext(query or self.query, self._vectors, formula=formula, timer=self.timer)
        found.budget = self.budget
        return found

    @cached_property
    def encoded(self) -> Encoded:
        """The vectors of the query."""
        return self._vectors.encoded(self.query, self.timer)

    @cached_property
    def terms(self) -> Terms:
        """The words, LaTeX n-grams and paths of the query, or of the target formula.

        The tags of a question that is asked are none of its words: answers seldom say them (lab/notes/typed.md).
        """
        if self.formula is not None:
            return terms_of_trees(self.formula.latex, *self.lexical_trees)
        terms = post_terms(replace(self.query.post, tags=(), keywords=()))
        terms["latex"] += sorted(frozenset().union(*self.query.symbol_terms))
        return terms

    @property
    def trees(self) -> Trees:
        """Both trees of the target formula."""
        return (None, None) if self.formula is None else self.query.trees[self.formula.id]

    @property
    def lexical_trees(self) -> Trees:
        """The same trees in the reading of the lexical index, by which formulas are compared."""
        if self.formula is None:
            return (None, None)
        return self.query.meant_trees[self.formula.id]

    @cached_property
    def visual(self) -> str:
        """The visual key of the target formula; a formula with wildcards has a key that no index contains."""
        slt = self.trees[1]
        return visual_key(slt) if slt is not None else ""

    @cached_property
    def has_wildcards(self) -> bool:
        """True if the target formula has wildcards."""
        return has_wildcards(self.trees[0])

    def rows(self, field: Field) -> Vectors:
        """Return the vectors for a field: of the query for a field of posts, else of the target formula."""
        if field.of == "posts":
            found = self.encoded.post.get(field.name)
        elif self.formula is None:
            raise QueryError(
                "this ranking compares formulas, but the query has none to search for; search for answers, or name another strategy"
            )
        elif field.of == "formulas":
            wanted = self.formula.id
            found = next(
                (fields.get(field.name) for name, fields in self.encoded.formulas if name == wanted), None
            )
        else:
            found = self._vectors.visual(self.query, self.formula, self.timer).get(field.name)
        if found is None or not len(found):
            what = f"formula {self.formula.id!r} of the query" if self.formula is not None else "query"
            raise QueryError(
                f"the {what} is too short or cannot be read, so the model has no vector for it; try --strategy lexical"
            )
        return found
