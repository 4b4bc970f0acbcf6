"""Declarations of formal libraries: their rankings, queries for them, and their code and documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.entry import Filter
from mathamr.index.storage import IndexStorage
from mathamr.posts.formats.declaration.profile import LibraryProfile
from mathamr.posts.formats.lean.profile import LEAN
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.query import Query
from mathamr.systems.ranking import (
    FORMULA_SEARCH,
    Belongs,
    Component,
    Fuse,
    Lexical,
    Promote,
    Ranking,
)

if TYPE_CHECKING:
    from mathamr.search.hits import Hit

PROFILE: LibraryProfile = LEAN
"""The language of the declarations in an index; Coq is asked for in the same notation."""

_FENCED = re.compile(r"```(?:lean|coq)\n(.*?)\n```", re.S)


def library_rankings(found: Mapping[str, Ranking]) -> Mapping[str, Ranking]:
    """Return the named rankings of posts of an index that holds declarations; `hybrid` has weights of its own."""
    if not {"hybrid", "single", "maxsim"} <= found.keys():
        return found
    lexical, single, maxsim = PROFILE.weights
    by_words, by_formulas, by_vector, by_parts = PROFILE.formula_weights
    parts = (
        Component("lexical", Lexical(), lexical, (("formula", by_words),)),
        Component("formula", FORMULA_SEARCH, 0.0, (("formula", by_formulas), ("mixed", by_formulas))),
        Component("single", found["single"], single, (("formula", by_vector),)),
        Component("maxsim", found["maxsim"], maxsim, (("formula", by_parts),)),
    )
    return {**found, "hybrid": Promote(Belongs(first=Fuse(parts=parts, normalisation="z")))}


def code_of(post: Post) -> str:
    """Return the code of a declaration."""
    found = _FENCED.search(post.body)
    return found[1] if found else post.body


def documentation_of(post: Post) -> str:
    """Return what the authors of a declaration say about it."""
    return _FENCED.sub("", post.body).strip()


def narrowed(
    where: Filter | None = None,
    *,
    module: str = "",
    namespace: str = "",
    word: str = "",
) -> Filter:
    """Return a filter narrowed to a module and those below it, to a namespace, and to a kind such as `instance` or `def`."""
    where = where or Filter()
    wanted = (
        f"module:{module.removesuffix('.lean').replace('/', '.')}" if module else "",
        f"namespace:{namespace}" if namespace else "",
        word,
    )
    return replace(where, tags=(*where.tags, *filter(None, wanted)))


def library_query(query: Query) -> Query:
    """Return a query that was typed in the library's notation as one of its own statements, and any other as it is."""
    if not PROFILE.is_statement(query.typed):
        return query
    body = PROFILE.declare(query.typed)
    formulas = formulas_of(query.post.id, "", body, "declaration")
    return replace(
        query, post=replace(query.post, body=body, markup="declaration", formulas=formulas), formula_id=None
    )


def close_enough(hits: Iterable[Hit]) -> bool:
    """Return True unless every hit is only "similar" and none is very similar."""
    return any(
        hit.match != "similar" or hit.evidence.get("maxsim", 0.0) >= PROFILE.very_similar for hit in hits
    )


def post_named(archive: IndexStorage, name: str) -> Post:
    """Return the post of an index with an id or a label, such as the full name of a declaration; raise an error if there is
    none.
    """
    catalogue = archive.catalogue
    for found in ([name], catalogue.labelled(name, 1)):
        if posts := catalogue.posts(found):
            return next(iter(posts.values()))
    raise MathAMRError(
        f"no post or label {name[:200]!r} in the index {archive.folder}; ids are in the output of mathamr search -v"
    )
