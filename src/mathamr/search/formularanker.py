"""`FormulaRanker`: the leaves of rankings of formulas; each visual class is one result, at its best occurrence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from mathamr.formulas.alignment import similarity, work
from mathamr.formulas.openform import omits
from mathamr.formulas.tree import Opt, Slt
from mathamr.formulas.trees import Trees, trees_of
from mathamr.formulas.visualkey import FEWEST_SYMBOLS, count_letters, form_key
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.engine import Engine, FieldReader
from mathamr.index.engines.entry import Filter
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import READING
from mathamr.index.postfilters import PostFilters
from mathamr.index.scored import Scored, ScoredColumns
from mathamr.posts.post import Formula
from mathamr.search.formulagrade import FormulaGrader
from mathamr.search.options import SearchOptions
from mathamr.search.querycontext import QueryContext
from mathamr.search.ranker import FoundHits, Leaf, Payloads, Ranker, filtered, of_rows
from mathamr.search.results import GRADE, MOST_GRADED, RankedResult
from mathamr.search.wildcards import Fit, fit
from mathamr.search.workbudget import Affords, WorkBudget
from mathamr.systems.nodematch import node_comparer
from mathamr.systems.ranking import Aligned, AlikeNodes, MaxSim, Nearest, NearestRows, Promote

COMPLETING_CANDIDATES = 50
"""Formulas of the first ranks among which those are looked for that complete a query without bounds."""
PATTERN_CANDIDATES = 400
"""Formulas of the first ranks that are matched with the wildcards of a query."""
_SPARE = 20
"""Visual classes beyond the depth, in case some have lost their last occurrence."""
_FIT_BONUS: dict[Fit, float] = {"whole": 1.0, "inside": 0.5}
_FORM_BONUS = 0.5
_BELOW_A_BONUS = 0.49
"""The best score is scaled to this, below the difference of two bonuses."""


class VisualFormulas(Protocol):
    """The visual classes of formulas, from a catalogue or a table."""

    def visuals_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """Return the visual classes of formulas; unknown formulas are left out."""
        ...

    def with_visual(self, visual: str) -> list[str]:
        """Return the formulas of a visual class, in the order of the index."""
        ...

    def first_with(self, visuals: Sequence[str]) -> dict[str, str]:
        """Return the first formula of each visual class; empty classes are left out."""
        ...

    def trees(self, visuals: Sequence[str], reading: str, affords: Affords) -> dict[str, Trees]:
        """Return the trees of one formula of each visual class in a reading.

        A class whose formula is missing is left out, and so is one that has to be parsed and has more characters than
        the caller affords.
        """
        ...


class CatalogueVisuals:
    """Reads visual classes from the catalogue of an index."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def visuals_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """Return the visual classes of formulas; unknown formulas are left out."""
        return self._catalogue.visuals_of(formulas)

    def with_visual(self, visual: str) -> list[str]:
        """Return the formulas of a visual class, in the order of the index."""
        return self._catalogue.with_visual(visual)

    def first_with(self, visuals: Sequence[str]) -> dict[str, str]:
        """Return the first formula of each visual class."""
        return {visual: known[0][0] for visual, known in self._catalogue.visuals(visuals).items()}

    def trees(self, visuals: Sequence[str], reading: str, affords: Callable[[int], bool]) -> dict[str, Trees]:
        """Return the trees of one formula of each visual class in a reading, as far as the caller affords to parse them."""
        first = self.first_with(visuals)
        entries = self._catalogue.formulas(list(first.values()))
        return {
            visual: trees_of(entry.formula, entry.macros, reading)[0]
            for visual in visuals
            if (entry := entries.get(first.get(visual, ""))) is not None and affords(_length(entry.formula))
        }


def _length(formula: Formula) -> int:
    return len(formula.latex) or len(formula.presentation_mathml or "") + len(formula.content_mathml or "")


class FormulaRanker(Ranker):
    """Ranks visual classes by vectors of formulas or classes, and by the terms of their trees."""

    task = "formulas"

    def __init__(
        self,
        context: QueryContext,
        engine: Engine | None,
        lexicon: Callable[[], LexicalPart],
        visuals: VisualFormulas,
        payloads: Payloads | None = None,
        filters: PostFilters | None = None,
    ) -> None:
        super().__init__(context, engine, lexicon, payloads, filters)
        self._visuals, self._bounds = visuals, context.budget.bounds
        self._places: dict[str, str] = {}
        """The best known occurrence of each visual class."""
        self._lexical_trees: dict[str, Trees | None] = {}
        """The trees of visual classes in the reading of the lexical index; None for those that were too long."""
        self._similarities: dict[str, float] = {}
        self._reading = WorkBudget(self._bounds.read_characters)

    @property
    def _leaves(self) -> Mapping[type, Leaf]:
        return {
            **super()._leaves,
            Aligned: Leaf(None, lambda _, ids: self._aligned(ids), "align"),
            AlikeNodes: Leaf(None, lambda leaf, ids: self._alike(ids, leaf.model), "align"),
        }

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> Sequence[Scored]:
        field = self.engine[leaf.field]
        vectors = self.context.rows(field.field).vectors

        def search(k: int, where: Filter | None) -> Sequence[Scored]:
            match leaf:
                case Nearest():
                    return field.search(vectors[0], k, where, exact=options.exact)
                case MaxSim():
                    return field.search_maxsim(vectors, k, where, exact=options.exact)
                case NearestRows(rows=rows):
                    # Visual classes are filtered after the search, so fetch as many as may be needed.
                    return of_rows(
                        field, vectors, max(rows, k if options.where else 0), where, exact=options.exact
                    )[:k]

        if field.field.of == "visual":
            if not options.where:
                return search(options.depth, None)
            places = self._filters.formulas(options.where)
            return filtered(lambda k: search(k, None), options.depth, places.share, places.occurring)
        return self._gathered(field, search, options)

    def _gathered(
        self,
        field: FieldReader,
        search: Callable[[int, Filter | None], Sequence[Scored]],
        options: SearchOptions,
    ) -> Sequence[Scored]:
        """Rank visual classes by their best formula; the search grows until there are enough classes."""
        total = field.count()
        if not total:
            return []
        wanted = 4 * options.depth
        while True:
            found = search(min(wanted, total), options.where)
            visuals = self._visuals.visuals_of([hit.id for hit in found])
            best: dict[str, Scored] = {}
            for hit in found:
                visual = visuals.get(hit.id)
                if visual is not None and visual not in best:
                    best[visual] = hit
            if len(best) >= options.depth or len(found) < wanted:
                break
            wanted *= 4
        for visual, hit in best.items():
            self._places[visual] = hit.id
        return [Scored(visual, hit.score) for visual, hit in best.items()][: options.depth]

    def _by_words(self, lexicon: LexicalPart, options: SearchOptions) -> Sequence[Scored]:
        among = self._filters.formulas(options.where).mask if options.where else None
        return lexicon.search(self.context.terms, options.depth, among)

    def _field_scores(self, name: str, ids: Sequence[str], query_field: str) -> Sequence[Scored]:
        field = self.engine[name]
        vectors = self.context.rows(self.engine[query_field].field).vectors
        if field.field.of == "visual":
            return field.score(vectors, ids)
        visual_of = (
            self._filters.formulas(self._where).every(ids)
            if self._where
            else {formula: visual for visual in ids for formula in self._visuals.with_visual(visual)}
        )
        best: dict[str, Scored] = {}
        for hit in field.score(vectors, list(visual_of)):
            best.setdefault(visual_of[hit.id], hit)
        self._places.update({visual: hit.id for visual, hit in best.items()})
        return [Scored(visual, hit.score) for visual, hit in best.items()]

    def _aligned(self, ids: Sequence[str]) -> Sequence[Scored]:
        query, budget = self.context.lexical_trees, WorkBudget(self._bounds.aligned_nodes)
        scored = [
            Scored(visual, self._align(visual, trees))
            for visual, trees in self._trees(ids).items()
            if budget.affords(work(query, trees))
        ]
        return sorted(scored, key=lambda each: (-each.score, each.id))

    def _align(self, visual: str, trees: Trees) -> float:
        """Return the similarity of a visual class to the query's formula, computed once."""
        if visual not in self._similarities:
            self._similarities[visual] = similarity(self.context.lexical_trees, trees)
        return self._similarities[visual]

    def read_trees(self, visuals: Sequence[str]) -> None:
        """Read the trees of visual classes that will be graded, as far as the budget for reading lasts."""
        self._trees(visuals)

    def grade(self, visual: str) -> float:
        """Grade a visual class by what it is to the query's formula; 0 if its trees were too long to be read."""
        trees = self._trees([visual]).get(visual)
        return self._grader.grade(visual, trees, self._align) if trees is not None else 0.0

    def grade_having(self, visual: str) -> float:
        """Grade a visual class that is the query's formula or contains it; 0 for others."""
        trees = self._trees([visual]).get(visual)
        return self._grader.grade_having(visual, trees) if trees is not None else 0.0

    @cached_property
    def _grader(self) -> FormulaGrader:
        affords = self.context.budget.graded_nodes.affords
        steps = self.context.budget.pattern_steps
        return FormulaGrader(self.context.lexical_trees, self.context.visual, affords, steps)

    def _alike(self, ids: Sequence[str], model: str) -> Sequence[Scored]:
        query, budget = self.context.lexical_trees, WorkBudget(self._bounds.alike_nodes)
        if _count_nodes(query) > self._bounds.alike_nodes:
            return []
        read = {
            visual: trees for visual, trees in self._trees(ids).items() if budget.affords(_count_nodes(trees))
        }
        if not read:
            return []
        worth = node_comparer(model).alike(query, list(read.values()))
        return sorted(map(Scored, read, worth), key=lambda each: (-each.score, each.id))

    def _trees(self, visuals: Sequence[str]) -> dict[str, Trees]:
        """Return the trees of visual classes in this order: those in the lexical index, others parsed as far as the budget for it lasts."""
        known = self._lexical_trees
        unread = [visual for visual in visuals if visual not in known]
        if unread:
            known |= dict.fromkeys(unread) | self._lexicon().trees(unread)
            if rest := [visual for visual in unread if known[visual] is None]:
                known |= self._visuals.trees(rest, READING, self._reading.affords)
        return {visual: trees for visual in visuals if (trees := known[visual]) is not None}

    def _promoted(self, ranking: Promote, found: FoundHits) -> FoundHits:
        """Rank exact matches first, then what completes the query and alpha-equivalent formulas, then the rest by score.

        A query with wildcards ranks formulas that fit it first, then those with a subexpression that fits.
        """
        opt, slt = self.context.trees
        if opt is not None and self.context.has_wildcards:
            bonuses = {"pattern": self._fitting(opt, found)}
        else:
            bonuses = {"identical": {self.context.visual: _FIT_BONUS["whole"]}}
            first = found.hits[: ranking.pool]
            if opt is not None and omits(self.context.lexical_trees[0] or opt):
                bonuses["completed"] = self._completed(found.hits[: max(ranking.pool, COMPLETING_CANDIDATES)])
            if slt is not None and len(slt) >= FEWEST_SYMBOLS:
                renamed = self._renamed(slt, first)
                bonuses["renamed"] = {
                    each: bonus for each, bonus in renamed.items() if each not in bonuses.get("completed", {})
                }
        columns = ScoredColumns.of(found.hits)
        scale = _BELOW_A_BONUS / (columns.scores.max(initial=0.0) or 1.0)
        raising = {each for part in bonuses.values() for each in part}
        more = [
            sum(part.get(each, 0.0) for part in bonuses.values()) if each in raising else 0.0
            for each in columns.ids
        ]
        return FoundHits(
            columns.with_scores(scale * columns.scores + more).best(),
            {**found.evidence, **bonuses},
            found.unpromoted or found.hits,
        )

    def _fitting(self, pattern: Opt, found: FoundHits) -> dict[str, float]:
        first = [each.id for each in found.hits[:PATTERN_CANDIDATES]]
        known = self._visuals.trees(first, "published", WorkBudget(self._bounds.pattern_characters).affords)
        steps = self.context.budget.pattern_steps
        fits = {visual: fit(pattern, opt, steps) for visual, (opt, _) in known.items() if opt is not None}
        return {visual: _FIT_BONUS[each] for visual, each in fits.items() if each}

    def _completed(self, hits: Sequence[Scored]) -> dict[str, float]:
        """Return what completes a formula of the query that leaves out bounds, a differential or an arrow."""
        known = self._trees([each.id for each in hits])
        return {
            visual: _FORM_BONUS
            for visual, trees in known.items()
            if visual != self.context.visual and self._grader.completed(trees)
        }

    def _renamed(self, query: Slt, hits: Sequence[Scored]) -> dict[str, float]:
        # The layout is the same in every reading, and an alignment has already read these trees.
        known = self._trees([each.id for each in hits])
        form, letters = form_key(query), count_letters(query)
        return {
            visual: _FORM_BONUS
            for visual, (_, slt) in known.items()
            if visual != self.context.visual
            and slt is not None
            and count_letters(slt) == letters
            and form_key(slt) == form
        }

    def _finished(self, found: FoundHits, options: SearchOptions) -> list[RankedResult]:
        """Convert visual classes to formulas at their best occurrences."""
        places, same = self._places, self.context.visual
        hits = found.hits[: options.depth + _SPARE]
        before = found.scores_before(hits)
        first = self._filters.formulas(options.where).first if options.where else self._visuals.first_with
        places |= first([each.id for each in hits if each.id not in places])
        finished: list[RankedResult] = []
        for each in hits:
            place = places.get(each.id)
            if place is not None:
                evidence = found.of(each.id)
                if len(finished) < MOST_GRADED:
                    evidence[GRADE] = self.grade(each.id)
                whole = evidence.get("pattern") == _FIT_BONUS["whole"]
                finished.append(
                    RankedResult(
                        place,
                        each.score,
                        evidence,
                        visual=each.id,
                        exact=whole or each.id == same,
                        share=before[each.id][1],
                        own=before[each.id][0],
                    )
                )
            if len(finished) == options.depth:
                break
        return finished


def _count_nodes(trees: Trees) -> int:
    return sum(len(tree) for tree in trees if tree is not None)
