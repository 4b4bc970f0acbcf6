"""Posts that have a formula of the name that was typed, and their places among the posts that say the name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

import numpy as np

from mathamr.index.engines.entry import Filter
from mathamr.index.scored import Scored, ScoredColumns
from mathamr.search.formulagrade import CONTAINED, RENAMED
from mathamr.search.formularanker import FormulaRanker
from mathamr.search.hits import HOLDS, LISTED, NAMED
from mathamr.search.namedformulas import FEWEST_RENAMED, NamedFormula, named_in, names_of
from mathamr.search.namequery import MENTIONED
from mathamr.search.options import SearchOptions
from mathamr.search.query import Query
from mathamr.search.ranker import FoundHits
from mathamr.systems.ranking import Lexical

NAMES_SHOWN = 2
MOST_FORMULAS = 5
"""How many formulas of a name are searched."""
LEADING = 3
"""How many of the posts that are called so, or have both name and formula, come before all that only have the formula."""
CANDIDATES, MOST_HOLDERS = 40, 50
"""How many visual classes are compared with each formula, and how many posts are added."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A post with a formula of the name: its visual class and its grade."""

    post: str
    visual: str
    grade: float


def named_by(query: Query) -> NamedFormula | None:
    """Return what a short query without a formula names; quotation marks ask for the words alone."""
    return named_in(query.stems(query.all_words)) if asks_for_formulas(query) else None


def asks_for_formulas(query: Query) -> bool:
    """Return True for a short query without a formula, unless words of it stand in quotation marks."""
    return query.kind in ("name", "words") and not query.formulas and not query.conditions.required.phrases


def name_notes(query: Query) -> list[str]:
    """Return a note on what the formula of a query is called, if it is nothing but a formula with a famous name."""
    if query.kind != "formula" or len(query.formulas) != 1:
        return []
    names = names_of(query.formulas[0].latex, query.post.macros)
    return [f"this formula is known as {' or '.join(names[:NAMES_SHOWN])}"] if names else []


def find_holders(
    named: NamedFormula,
    ranker_of: Callable[[Query], FormulaRanker],
    posts_of: Callable[[Sequence[Scored]], Mapping[str, Scored]],
    where: Filter | None,
) -> list[Holder]:
    """Return the posts that have a formula of a name, or one that contains it, best first, each with its best one.

    Letters may differ where the formula has enough symbols to be recognised in others.
    """
    best: dict[str, Holder] = {}
    searched = [*named.latex, *named.sides][:MOST_FORMULAS]
    for latex in searched:
        query = _query(latex)
        ranker = ranker_of(query)
        slt = query.trees[query.formulas[0].id][1]
        is_telling = slt is not None and len(slt) >= FEWEST_RENAMED
        found = ranker.find(Lexical(), SearchOptions(CANDIDATES, where)).hits
        ranker.read_trees([hit.id for hit in found])
        graded = {hit.id: ranker.grade_having(hit.id) for hit in found}
        held = [
            Scored(visual, grade)
            for visual, grade in sorted(graded.items(), key=lambda pair: -pair[1])
            if grade and (is_telling or not _is_renamed(grade))
        ]
        for post, hit in posts_of(held).items():
            if post not in best or best[post].grade < hit.score:
                best[post] = Holder(post, hit.id, hit.score)
    return sorted(best.values(), key=lambda holder: -holder.grade)


@lru_cache(maxsize=256)
def _query(latex: str) -> Query:
    return Query.of_formula(latex)


def with_holders(found: FoundHits, holders: Sequence[Holder], *, is_more: bool = False) -> FoundHits:
    """Return what was found with the holders of a formula, which stand in turn with what has the name, behind the first of it.

    The first of what is called so leads; if the query is more than the name (`is_more`), what came first anyway does. Then what has both, the name in its text and the formula, comes before what only has the name.
    """
    ids = ScoredColumns.of(found.hits).ids
    places = {each: place for place, each in enumerate(ids)}
    grades = {holder.post: holder.grade for holder in holders}
    names = found.evidence.get("name", {})
    listed = {each for name in LISTED for each in found.evidence.get(name, ())}
    is_called = listed.union(each for each, name in names.items() if name >= NAMED)
    called = [each for each in ids if each in is_called]
    saying = [each for each in ids if names.get(each, 0.0) >= MENTIONED and each not in is_called]
    both = [each for each in saying if each in grades]
    mentions = [each for each in saying if each not in grades]
    lead = ids[:LEADING] if is_more else [*called, *both][:LEADING]
    having = [*both, *(each for each in called if each in grades), *called, *mentions]
    named = {*lead, *having}
    nameless = sorted(
        (holder.post for holder in holders if holder.post not in named),
        key=lambda post: (-grades[post], places.get(post, len(places))),
    )[:MOST_HOLDERS]
    in_turn = _in_turn([each for each in dict.fromkeys(having) if each not in lead], nameless)
    ids = list(dict.fromkeys([*lead, *in_turn, *ids]))
    scores = -np.sort(-ScoredColumns.of(found.hits).scores)
    lowest = scores[-1] if len(scores) else 0.0
    hits = ScoredColumns(ids, np.append(scores, np.full(len(ids) - len(scores), lowest)))
    return FoundHits(hits, {**found.evidence, HOLDS: grades}, found.unpromoted or found.hits)


def _in_turn(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    for pair in zip_longest(first, second):
        yield from (each for each in pair if each is not None)


def _is_renamed(grade: float) -> bool:
    return grade == RENAMED or grade < CONTAINED
