"""`PostRanker`: the leaves of rankings of posts (thesis, section 3.5.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from mathamr.index.engines.engine import Engine, FieldReader
from mathamr.index.engines.entry import Filter, Payload
from mathamr.index.lexical.lexicalindex import DECLARATIONS, LexicalPart
from mathamr.index.lexical.terms import Terms, words
from mathamr.index.postfilters import PostFilters
from mathamr.index.scored import Scored, ScoredColumns
from mathamr.posts.passage import PLACEHOLDER
from mathamr.posts.post import Formula
from mathamr.search.formulagrade import CONTAINED, CONTAINED_RENAMED
from mathamr.search.formularanker import FormulaRanker
from mathamr.search.fusion import JoinedRankings
from mathamr.search.hubness import standard
from mathamr.search.namedformulas import NamedFormula, formulas_of
from mathamr.search.nameholders import Holder, asks_for_formulas, find_holders, named_by, with_holders
from mathamr.search.namequery import (
    CANDIDATES,
    MENTIONED,
    NamedPosts,
    NameQuery,
    deviation,
    is_declaration,
    is_module_note,
)
from mathamr.search.options import MAX_DEPTH, SearchOptions
from mathamr.search.ownnames import formula_called
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext
from mathamr.search.querywords import QueryWords
from mathamr.search.ranker import FoundHits, Leaf, Payloads, Ranker, Step, followed, of_rows, unsuited
from mathamr.search.results import GRADE, MEMBER, MOST_GRADED, PARENT, RankedResult
from mathamr.search.wordsfirst import order_by_words
from mathamr.systems.ranking import (
    Belongs,
    BestFormula,
    Fuse,
    Inherit,
    MaxSim,
    Nearest,
    NearestRows,
    Promote,
    QueryKind,
)

ASIDES = {
    "undocumented": 0.3,
    "generated": 0.1,
    "instance": 0.1,
    "alias": 0.1,
    "deprecated": 0.5,
    "private": 0.5,
}
"""By how many standard deviations of the scores a tag lowers a declaration, chosen on the names of theorems and topics in Mathlib's
maps (lab/notes/lean.md). What is said about a whole module comes behind all of them."""


SMALLEST_BESIDE_WORDS = 3
"""The fewest symbols of a formula that counts by itself where a query has words too; `$p$` only names something."""
NAMING = 5
"""Among how many of the first results one is looked for that gives the name to a formula."""
MOST_POSTS = 50
"""How many posts one visual class of formulas leads to."""
MOST_COMPARED = 3
"""How many of the best parents are compared with the question that is asked."""


class PostLookup(NamedPosts, Protocol):
    """What is known about the posts of an index: their names, their texts and parents, and which have a formula."""

    def posts_with(self, visuals: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
        """Return the posts that have a formula of each visual class, at most so many of each."""
        ...

    def owners(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return what posts belong to by their names, of those that belong to something."""
        ...


class PostRanker(Ranker):
    """Ranks posts by vectors and words; with a `collection`, also by names, by parents and by formulas.

    `formula_ranker` ranks the formulas of the index for one formula of the query. Without declarations among the posts their tags
    need not be read.
    """

    task = "answers"

    def __init__(
        self,
        context: QueryContext,
        engine: Engine | None,
        lexicon: Callable[[], LexicalPart],
        payloads: Payloads | None = None,
        collection: PostLookup | None = None,
        *,
        filters: PostFilters | None = None,
        formula_ranker: Callable[[QueryContext], FormulaRanker] | None = None,
        has_declarations: bool = False,
    ) -> None:
        super().__init__(context, engine, lexicon, payloads, filters)
        self._collection, self._has_declarations = collection, has_declarations
        self._formula_ranker = formula_ranker
        self._best_formulas: dict[str, list[tuple[FormulaRanker, str, float]]] = {}
        """For every post that was found by its formulas: the visual class that each formula of the query found, and its share."""
        self._grades: dict[tuple[FormulaRanker, str], float] = {}
        self._having: dict[tuple[float, int], set[str]] = {}
        """The posts that have a formula of at least a grade, among so many that were found."""
        self._holders: dict[str, Holder] = {}
        """The posts that have a formula of the name that was typed."""
        self._searched_too = ""
        """The formula of the name that was typed, if posts were found by it."""
        if has_declarations:
            self._weighting = DECLARATIONS

    @property
    def _leaves(self) -> Mapping[type, Leaf]:
        return {**super()._leaves, BestFormula: Leaf(self._by_formulas, self._scores_by_formulas, stage="")}

    @property
    def _steps(self) -> Mapping[type, Step]:
        return {**super()._steps, Inherit: self._inherited, Belongs: self._with_members}

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> Sequence[Scored]:
        field = self._field(leaf.field)
        vectors = self.context.rows(field.field).vectors
        match leaf:
            case Nearest():
                return field.search(vectors[0], options.depth, options.where, exact=options.exact)
            case MaxSim():
                return field.search_maxsim(vectors, options.depth, options.where, exact=options.exact)
            case NearestRows(rows=rows):
                return of_rows(field, vectors, rows, options.where, exact=options.exact)[: options.depth]

    def _is_asked(self, parents: Sequence[str]) -> bool:
        """Return True if one of these posts is the query itself, or has all its words in their order: its answers need no help."""
        query = self.context.query
        if query.post.id in parents:
            return True
        assert self._collection is not None
        previews = self._collection.previews(parents).values()
        alike = (each for each in previews if each.word_count == len(query.words))
        said = (PLACEHOLDER.sub(" ", "\n".join(each.sentence_texts)) for each in alike)
        return any(words(each) == query.words for each in said)

    def _by_words(self, lexicon: LexicalPart, options: SearchOptions) -> Sequence[Scored]:
        among = self._filters.post_rows(options.where) if options.where else None
        return lexicon.search(self._terms(), options.depth, among, self._weighting)

    def _by_formulas(self, ranking: BestFormula, options: SearchOptions) -> Sequence[Scored]:
        """Return posts by their best formulas, over all formulas of the query that count, each by its size."""
        totals: dict[str, float] = {}
        for formula, share in self._weighed_formulas(ranking.formulas):
            assert self._formula_ranker is not None
            ranker = self._formula_ranker(self.context.of_formula(formula))
            found = ranker.find(ranking.ranking, SearchOptions(ranking.pool, options.where)).hits
            with self.context.timer("search"):
                for post, (visual, score) in self._best_of(found, options.where).items():
                    totals[post] = totals.get(post, 0.0) + share * score
                    self._best_formulas.setdefault(post, []).append((ranker, visual, share))
        return ScoredColumns(list(totals), np.array([*totals.values()], np.float64)).best(options.depth)

    def _scores_by_formulas(self, ranking: BestFormula, ids: Sequence[str]) -> Sequence[Scored]:
        """Score given posts by their best formulas; 0 for those without any that was found."""
        found = {hit.id: hit.score for hit in self._by_formulas(ranking, SearchOptions(MAX_DEPTH))}
        scored = (Scored(each, found.get(each, 0.0)) for each in self._payloads("posts", ids))
        return sorted(scored, key=lambda hit: (-hit.score, hit.id))

    def _weighed_formulas(self, most: int) -> list[tuple[Formula, float]]:
        """Return the largest formulas of the query, each look once, with their shares of all symbols."""
        query = self.context.query
        if self._formula_ranker is None or self._collection is None:
            return []
        sizes: dict[str, tuple[int, Formula]] = {}
        for formula in query.formulas:
            size = max((len(tree) for tree in query.trees.get(formula.id, ()) if tree is not None), default=0)
            if size >= (SMALLEST_BESIDE_WORDS if query.has_words else 1):
                sizes.setdefault(formula.latex, (size, formula))
        chosen = sorted(sizes.values(), key=lambda each: -each[0])[:most]
        total = math.fsum(math.log1p(size) for size, _ in chosen)
        return [(formula, math.log1p(size) / total) for size, formula in chosen]

    def _best_of(self, visuals: Sequence[Scored], where: Filter | None) -> dict[str, Scored]:
        """Return the best of some visual classes, best first, for every post that has one of them and passes the filter."""
        places = self._filters.formulas(where) if where else self._collection
        assert places is not None
        holders = places.posts_with([hit.id for hit in visuals], MOST_POSTS)
        best: dict[str, Scored] = {}
        for hit in visuals:
            for post in holders.get(hit.id, ()):
                best.setdefault(post, hit)
        return best

    def _read_best_formulas(self, posts: Sequence[str]) -> None:
        """Read the trees of the formulas by which some posts were found, all of one formula of the query at once."""
        visuals: dict[FormulaRanker, list[str]] = {}
        for post in posts:
            for ranker, visual, _ in self._best_formulas.get(post, ()):
                visuals.setdefault(ranker, []).append(visual)
        for ranker, wanted in visuals.items():
            ranker.read_trees(wanted)

    def _grade(self, post: str) -> tuple[float, str]:
        """Return the grade of a post's formulas against the query's, from 0 to 1, and the visual class of the best one that
        contains the query's.
        """
        if (holder := self._holders.get(post)) is not None:
            return holder.grade, holder.visual
        graded = [
            (ranker.grade(visual), share, visual)
            for ranker, visual, share in self._best_formulas.get(post, ())
        ]
        best, _, visual = max(graded)
        total = math.fsum(grade * share for grade, share, _ in graded)
        return total, visual if best >= CONTAINED_RENAMED else ""

    def _inherited(self, ranking: Inherit, found: FoundHits) -> FoundHits:
        """Average the scores of the first results with those of their parents; the others follow."""
        if self._collection is None or self.context.query.kind not in ranking.kinds or not found.hits:
            return found
        pooled, rest = found.hits[: ranking.pool], found.hits[ranking.pool :]
        parents = self._collection.parents([hit.id for hit in pooled])
        above = self._scored(ranking.first, sorted(set(parents.values()))).hits
        if self._is_asked([hit.id for hit in above[:MOST_COMPARED]]):
            return found
        worth = dict(zip([hit.id for hit in above], standard([hit.score for hit in above]), strict=True))
        shown: dict[str, float] = {}
        scores: dict[str, float] = {}
        for hit, own in zip(pooled, standard([hit.score for hit in pooled]), strict=True):
            scores[hit.id] = own
            if (parent := parents.get(hit.id)) is not None and parent in worth:
                shown[hit.id] = worth[parent]
                scores[hit.id] = (own + ranking.share * worth[parent]) / (1 + ranking.share)
        if not shown:
            return found
        hits = sorted((Scored(*each) for each in scores.items()), key=lambda hit: (-hit.score, hit.id))
        return FoundHits(followed(hits, rest), {**found.named(ranking.first), PARENT: shown})

    def _with_members(self, ranking: Belongs, found: FoundHits) -> FoundHits:
        """Add a share of the score of its best member to whatever the first results belong to."""
        if self._collection is None or self.context.query.asks_for_statement:
            return found
        columns = ScoredColumns.of(found.hits)
        pooled = columns[: ranking.pool]
        owners = self._collection.owners(pooled.ids)
        best: dict[str, float] = {}
        for member, score in pooled:
            if score > 0 and member in owners:
                best.setdefault(owners[member], score)
        if found.may_grow:
            columns = self._with_missing(columns, best)
        places = columns.find(best)
        shown = {
            owner: score for (owner, score), place in zip(best.items(), places, strict=True) if place >= 0
        }
        if not shown:
            return found
        scores = columns.scores.copy()
        scores[places[places >= 0]] += ranking.share * np.array([*shown.values()])
        evidence = {**found.named(ranking.first), MEMBER: shown}
        return FoundHits(columns.with_scores(scores).best(), evidence)

    def _with_missing(self, columns: ScoredColumns, wanted: Collection[str]) -> ScoredColumns:
        """Return results with those of some posts behind them that they lack and that pass the filter."""
        missing = [each for each, place in zip(wanted, columns.find(wanted), strict=True) if place < 0]
        if self._where is not None and missing:
            passing = self._filters.posts(self._where)
            missing = [each for each in missing if each in passing]
        if not missing:
            return columns
        scores = np.concatenate([columns.scores, np.full(len(missing), columns.scores.min())])
        return ScoredColumns([*columns.ids, *missing], scores)

    @cached_property
    def _name(self) -> NameQuery | None:
        """The query as a name, if it is one and texts can be read."""
        if self._collection is None:
            return None
        return NameQuery.of(self.context.query, self._lexicon(), self._collection)

    @cached_property
    def _words(self) -> QueryWords | None:
        """The words of the query, if it is short and texts can be read."""
        query = self.context.query
        is_short = query.kind not in ("formula", "question") and query.post.markup != "declaration"
        if self._collection is None or not is_short:
            return None
        return self.query.wanted if self.query.wanted.is_short else None

    def _fuse(self, ranking: Fuse, parts: JoinedRankings, k: int | None = None) -> Sequence[Scored]:
        """Return the best `k` results of a fusion; beside words, a formula that is only similar is bounded by what words and meaning say.

        So it never lifts a post above one in which words and meaning agree, nor above one that has the formula.
        """
        query = self.context.query
        if query.has_words and query.post.markup != "declaration" and ranking.normalisation is not None:
            weights = [part.weight for part in ranking.asked]
            for number, part in enumerate(ranking.asked):
                if isinstance(part.ranking, BestFormula):
                    having = self._with_formula(CONTAINED_RENAMED)
                    is_sure = np.array([each in having for each in parts[number].ids], np.bool_)
                    parts = parts.bounded(number, is_sure, weights, ranking.normalisation)
        return super()._fuse(ranking, parts, k)

    def _reorder(self, fused: Sequence[Scored]) -> Sequence[Scored]:
        """Return results with posts that have all words of a short query before those that have none.

        Where a formula stands beside the words, that holds among the posts that have it.
        """
        if self._words is None or self._collection is None:
            return fused
        among = self._with_formula(CONTAINED) if self.context.query.formulas else None
        return order_by_words(fused, self._words, self._lexicon(), self._collection.parents, among)

    def _with_formula(self, least: float) -> set[str]:
        """Return the posts that were found by a formula whose grade for one of the query's is at least this."""
        key = least, sum(map(len, self._best_formulas.values()))
        if key not in self._having:
            self._read_best_formulas(list(self._best_formulas))
            self._having[key] = {
                post
                for post, found in self._best_formulas.items()
                if any(self._grade_having(ranker, visual) >= least for ranker, visual, _ in found)
            }
        return self._having[key]

    def _grade_having(self, ranker: FormulaRanker, visual: str) -> float:
        """Return the grade of a formula that is one of the query's or contains it, computed once; 0 for others."""
        if (ranker, visual) not in self._grades:
            self._grades[ranker, visual] = ranker.grade_having(visual)
        return self._grades[ranker, visual]

    @property
    def _reordered(self) -> int:
        """How many of the first results are reordered by names, or in a library by tags."""
        return CANDIDATES if self._name is not None or self._has_declarations else 0

    @property
    def _uses_all(self) -> bool:
        return self._name is not None or self._words is not None

    @property
    def _rare(self) -> frozenset[str] | None:
        if self._name is None:
            return None if self._words is None else frozenset()
        return self._name.always

    def _terms(self) -> Terms:
        """Return the terms of the query, and the corrections of misspelt words."""
        terms = self.context.terms
        if self._name is None or not self._name.corrected:
            return terms
        more = self._name.terms
        return {field: [*own, *more.get(field, ())] for field, own in terms.items()}

    @property
    def _weighed_as(self) -> QueryKind:
        """The kind of query whose weights hold: among declarations, a statement in their notation has those of a formula."""
        query = self.context.query
        is_statement = self._has_declarations and query.post.markup == "declaration"
        return "formula" if is_statement else query.kind

    @property
    def notes(self) -> list[str]:
        """Notes for the user on how the query was interpreted."""
        notes = self._name.notes if self._name is not None else []
        return [*notes, f"also searched: ${self._searched_too}$"] if self._searched_too else notes

    @cached_property
    def query(self) -> Query:
        """The query, misspelt words of it corrected."""
        found = self.context.query
        return found if self._name is None else found.with_corrected(self._name.corrected)

    def _field_scores(self, name: str, ids: Sequence[str], query_field: str) -> Sequence[Scored]:
        rows = self.context.rows(self._field(query_field).field)
        return self._field(name).score(rows.vectors, ids)

    def _field(self, name: str) -> FieldReader:
        field = self.engine[name]
        if field.field.of != "posts":
            raise unsuited(f"by the field {name!r} of {field.field.of}", "answers")
        return field

    def _promoted(self, ranking: Promote, found: FoundHits) -> FoundHits:
        """Rank auxiliary declarations later, posts with all words before those with none, and those with the query's name first."""
        if self._has_declarations:
            found = central_first(found, self._payloads)
        found = FoundHits(self._reorder(found.hits), found.evidence, found.unpromoted or found.hits)
        if self._name is not None and self._collection is not None:
            having = partial(self._lexicon().having, "stems")
            hits, named = self._name.first(found.hits, self._collection, having, ranking.pool)
            found = FoundHits(hits, {**found.evidence, **named}, found.unpromoted or found.hits)
        return self._with_holders(found)

    @cached_property
    def _named(self) -> NamedFormula | None:
        """What the query names, if it has a formula of its own in the table of named formulas."""
        return named_by(self.context.query) if self._formula_ranker is not None else None

    def _with_holders(self, found: FoundHits) -> FoundHits:
        """Return what was found and, if the query names a formula, the posts that have it."""
        named = self._named or self._named_here(found)
        if named is None or self._formula_ranker is None or self._collection is None:
            return found
        ranker_of = self._formula_ranker
        holders = find_holders(
            named,
            lambda query: ranker_of(self.context.of_formula(query.formulas[0], query)),
            lambda visuals: self._best_of(visuals, self._where),
            self._where,
        )
        if not holders:
            return found
        self._holders = {holder.post: holder for holder in holders}
        self._searched_too = named.latex[0]
        is_more = self._named is not None and not formulas_of(self.context.query.text)
        return with_holders(found, holders, is_more=is_more)

    def _named_here(self, found: FoundHits) -> NamedFormula | None:
        """Return the name that was typed with its formula, if one of the first results gives it that name."""
        if self._name is None or self._collection is None or not asks_for_formulas(self.context.query):
            return None
        names = found.evidence.get("name", {})
        first = [hit.id for hit in found.hits[:NAMING] if names.get(hit.id, 0.0) >= MENTIONED]
        texts = self._collection.texts(first)
        for each, preview in self._collection.previews([each for each in first if each in texts]).items():
            if (latex := formula_called(self._name.stems, preview.post, *texts[each])) is not None:
                return NamedFormula((" ".join(self._name.words),), (latex,))
        return None

    def _finished(self, found: FoundHits, options: SearchOptions) -> list[RankedResult]:
        hits = found.hits[: options.depth]
        before = found.scores_before(hits)
        with self.context.timer("align"):
            self._read_best_formulas([hit.id for hit in hits[:MOST_GRADED]])
            grades = {
                hit.id: self._grade(hit.id)
                for hit in hits[:MOST_GRADED]
                if hit.id in self._best_formulas or hit.id in self._holders
            }
        return [
            RankedResult(
                hit.id,
                hit.score,
                found.of(hit.id) | ({GRADE: grades[hit.id][0]} if hit.id in grades else {}),
                holds=grades[hit.id][1] if hit.id in grades else "",
                share=before[hit.id][1],
                own=before[hit.id][0],
            )
            for hit in hits
        ]


def central_first(found: FoundHits, payloads_of: Payloads) -> FoundHits:
    """Lower what is rarely looked for in a library: undocumented, generated, instances, aliases; the notes of its modules come last."""
    first = found.hits[:CANDIDATES]
    payloads = payloads_of("posts", [hit.id for hit in first])
    asides = {name: lowered for name, payload in payloads.items() if (lowered := _lowered(payload))}
    if not asides or all(map(math.isinf, map(_lowered, payloads.values()))):
        return found
    spread, lowest, rest = (
        deviation([hit.score for hit in first]),
        first[-1].score,
        found.hits[CANDIDATES:],
    )
    scores = {hit.id: max(lowest, hit.score - spread * asides.get(hit.id, 0.0)) for hit in first}
    hits = sorted(
        (Scored(*each) for each in scores.items()),
        key=lambda hit: (-hit.score, math.isinf(asides.get(hit.id, 0.0)), hit.id),
    )
    return FoundHits([*hits, *rest], found.evidence, found.unpromoted or found.hits)


def _lowered(payload: Payload) -> float:
    """Return by how many standard deviations the score of a library's post is lowered; 0 for other posts."""
    if is_module_note(payload):
        return math.inf
    if not is_declaration(payload):
        return 0.0
    return math.fsum(ASIDES[tag] for tag in ASIDES.keys() & set(payload.tags))
