"""Names of formulas in a collection: what its own posts call a formula, and which formulas they give a name to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mathamr.core.errors import MathAMRError
from mathamr.formulas.trees import trees_of
from mathamr.formulas.visualkey import visual_key
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import READING, stems, words
from mathamr.posts.post import Formula
from mathamr.search.formulagrade import COMPLETED, RENAMED
from mathamr.search.formularanker import FormulaRanker
from mathamr.search.namedformulas import FEWEST_RENAMED
from mathamr.search.options import SearchOptions
from mathamr.search.ownnames import formula_called, is_name, names_given
from mathamr.search.query import Query
from mathamr.systems.ranking import Lexical

CANDIDATES, MOST_POSTS = 40, 50
"""How many formulas are compared with the one that is asked for, and how many posts are read."""


def formulas_in_collection(name: str, lexicon: LexicalPart, catalogue: Catalogue) -> Iterator[str]:
    """Yield the formulas, as LaTeX, that posts give a name to, each as one post writes it."""
    if not is_name(name):
        return
    wanted = stems(words(name))
    found = lexicon.search({"stems": wanted, "names": words(name)}, MOST_POSTS)
    ids = [hit.id for hit in found]
    texts = catalogue.texts(ids)
    seen = set()
    for each, head in catalogue.preview_heads([each for each in ids if each in texts]).items():
        latex = formula_called(wanted, head.post, *texts[each])
        if latex is not None and latex not in seen:
            seen.add(latex)
            yield latex


def names_in_collection(
    latex: str, ranker_of: Callable[[Query], FormulaRanker], catalogue: Catalogue
) -> Iterator[str]:
    """Yield what posts call a formula, in these letters or, if it has enough symbols to be recognised, in others."""
    try:
        query = Query.of_formula(latex)
    except MathAMRError:  # what cannot be read as one formula has no name
        return
    ranker, slt = ranker_of(query), query.trees[query.formulas[0].id][1]
    least = RENAMED if slt is not None and len(slt) >= FEWEST_RENAMED else COMPLETED
    found = [hit.id for hit in ranker.find(Lexical(), SearchOptions(CANDIDATES)).hits]
    ranker.read_trees(found)
    grades = {visual: ranker.grade_having(visual) for visual in found}
    alike = [visual for visual in sorted(found, key=lambda each: -grades[each]) if grades[visual] >= least]
    holders = catalogue.posts_with(alike, MOST_POSTS)
    ids = list(dict.fromkeys(post for visual in alike for post in holders.get(visual, ())))[:MOST_POSTS]
    texts = catalogue.texts(ids)
    seen = set()
    for each, head in catalogue.preview_heads([each for each in ids if each in texts]).items():
        for name, named in names_given(head.post, *texts[each]):
            (_, layout), _ = trees_of(Formula("", named), (), READING)
            if layout is not None and visual_key(layout) in alike and name.lower() not in seen:
                seen.add(name.lower())
                yield name
