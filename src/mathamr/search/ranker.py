"""`Ranker`: the interpreter of rankings, which finds results by them or scores given results.

The meaning of a ranking is defined here once for every task; `PostRanker` and `FormulaRanker` implement its leaves.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import Engine, FieldReader
from mathamr.index.engines.entry import Filter, Payload
from mathamr.index.engines.maxsim import mutual_maxsim
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.scoring import Weighting
from mathamr.index.postfilters import PostFilters
from mathamr.index.scored import Scored, ScoredColumns, ScoredRows
from mathamr.search.fusion import JoinedRankings, fuse, takes_normalisation
from mathamr.search.hubness import HUBNESS, hubness, penalise_hubs
from mathamr.search.options import SearchOptions
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext
from mathamr.search.results import PARENT, RankedResult
from mathamr.systems.field import FieldTarget
from mathamr.systems.ranking import (
    Adjust,
    Aligned,
    AlikeNodes,
    Belongs,
    BestFormula,
    Fuse,
    Inherit,
    Lexical,
    MaxSim,
    MeanMaxSim,
    Mutual,
    Nearest,
    NearestRows,
    Promote,
    QueryKind,
    Ranking,
    Rerank,
    Task,
    Unhub,
)

_BEHIND = 0.99
"""The best score of results that were not reranked, as a share of the lowest score of those that were."""


@dataclass(slots=True)
class FoundHits:
    """Results, best first, and the scores of each component."""

    hits: Sequence[Scored]
    evidence: dict[str, dict[str, float]] = field(default_factory=dict)
    """Scores by component, then by result."""

    unpromoted: Sequence[Scored] = ()
    """The results before exact matches were promoted, if they were."""

    may_grow: bool = False
    """True if results may be added, since they were searched for and not given."""

    def scores_before(self, hits: Sequence[Scored]) -> dict[str, tuple[float, float]]:
        """Return the scores of some hits before exact matches were promoted, and these as shares of the best score."""
        before = ScoredColumns.of(self.unpromoted or self.hits)
        if not len(before):
            return {}
        ids, best = [hit.id for hit in hits], float(before.scores.max())
        scores = before.scores[before.find(ids)]
        shares = np.clip(scores / best, 0.0, 1.0) if best > 0 else (scores >= best).astype(np.float64)
        return dict(zip(ids, zip(scores.tolist(), shares.tolist(), strict=True), strict=True))

    def named(self, ranking: Ranking) -> dict[str, dict[str, float]]:
        """Return the evidence; for a ranking without components, its scores under its own name."""
        return self.evidence or {type(ranking).__name__.lower(): {hit.id: hit.score for hit in self.hits}}

    def of(self, identifier: str) -> dict[str, float]:
        """Return the evidence of one result."""
        return {name: scores[identifier] for name, scores in self.evidence.items() if identifier in scores}


Payloads = Callable[[FieldTarget, Sequence[str]], dict[str, Payload]]


Step = Callable[[Any, FoundHits], FoundHits]
"""Returns what another ranking found with other scores."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """How a ranking that scores by itself finds results, unless it can only rerank, and how it scores given ones."""

    find: Callable[[Any, SearchOptions], Sequence[Scored]] | None
    score: Callable[[Any, Sequence[str]], Sequence[Scored]]
    stage: str = "search"
    """The stage that the time counts for; empty if it has stages of its own."""


UNSUITED: Mapping[type, str] = {
    Aligned: "that aligns trees of formulas",
    AlikeNodes: "that compares the nodes of formulas",
    BestFormula: "of posts by their formulas",
    Inherit: "by the parents of posts",
    Belongs: "by the members of posts",
}
"""Rankings that only one of the tasks supports, as an error describes them."""

T = TypeVar("T")


class Ranker(ABC):
    """Ranks the entries of an index for one query and one task."""

    task: ClassVar[Task]

    def __init__(
        self,
        context: QueryContext,
        engine: Engine | None,
        lexicon: Callable[[], LexicalPart],
        payloads: Payloads | None = None,
        filters: PostFilters | None = None,
    ) -> None:
        self.context, self._engine, self._lexicon = context, engine, lexicon
        self._payloads = payloads or self.engine.payloads
        """Reads kinds and tags; an index knows them even for entries without vectors in its engine."""
        self._known_filters = filters
        self._where: Filter | None = None
        """The filter of what was found last, which holds for the scores of its parts too."""
        self._weighting: Weighting | None = None
        """How terms are weighted, if not as the lexical index weights them."""

    @property
    def engine(self) -> Engine:
        """The engine that holds the vectors."""
        if self._engine is None:
            raise MathAMRError("this ranking needs vectors, and the index has none yet")
        return self._engine

    @property
    def _filters(self) -> PostFilters:
        """What passes a filter."""
        if self._known_filters is None:
            raise MathAMRError("this ranking has no index whose entries could be filtered")
        return self._known_filters

    @property
    def _weighed_as(self) -> QueryKind:
        """The kind of query whose weights hold."""
        return self.context.query.kind

    @property
    def notes(self) -> list[str]:
        """Notes for the user on how the query was interpreted."""
        return []

    @property
    def query(self) -> Query:
        """The query, misspelt words of it corrected."""
        return self.context.query

    def rank(self, ranking: Ranking, options: SearchOptions, name: str) -> list[RankedResult]:
        """Return the results of a ranking, best first; `name` labels the evidence of a ranking without components."""
        return self._results(self.find(ranking, options), options, name)

    def rank_among(
        self, ranking: Ranking, ids: Sequence[str], options: SearchOptions, name: str
    ) -> list[RankedResult]:
        """Return the results of a ranking among given ones, best first."""
        return self._results(self._scored(ranking, ids) if ids else FoundHits([]), options, name)

    def _results(self, found: FoundHits, options: SearchOptions, name: str) -> list[RankedResult]:
        if not found.evidence:
            found.evidence = {name: {hit.id: hit.score for hit in found.hits}}
        with self.context.timer("rank"):
            return self._finished(found, options)

    def score(self, ranking: Ranking, ids: Sequence[str]) -> Sequence[Scored]:
        """Score given results by a ranking, best first; ids that the index lacks are left out."""
        return self._scored(ranking, ids).hits if ids else []

    def find(self, ranking: Ranking, options: SearchOptions) -> FoundHits:
        """Find results by a ranking, best first, as the entries that the leaves score."""
        self._where = options.where
        match ranking:
            case Rerank():
                return self._reranked(ranking, options)
            case Adjust():
                step = self._suited(self._steps, ranking)
                if self.context.query.kind in ranking.kinds_deepened:
                    options = replace(options, depth=max(ranking.pool, options.depth))
                found = self.find(ranking.first, options)
                found.may_grow = True
                return step(ranking, found)
            case Fuse():
                return self._fused_found(ranking.suited(self._weighed_as), options)
        leaf = self._suited(self._leaves, ranking)
        if leaf.find is None:
            name = type(ranking).__name__
            raise MathAMRError(f"{name} can only rerank: write Rerank(first=…, then={name}(…))")
        with self.context.timer(leaf.stage) if leaf.stage else nullcontext():
            return FoundHits(leaf.find(ranking, options))

    def _scored(self, ranking: Ranking, ids: Sequence[str]) -> FoundHits:
        """Score given results by a ranking, best first."""
        match ranking:
            case Rerank():
                return self._scored(ranking.then, ids)
            case Adjust():
                step = self._suited(self._steps, ranking)
                return step(ranking, self._scored(ranking.first, ids))
            case Fuse():
                ranking = ranking.suited(self._weighed_as)
                parts = {part.name: self._scored(part.ranking, ids).hits for part in ranking.asked}
                # A score of 0 is no evidence.
                evidence = {
                    name: {hit.id: hit.score for hit in hits if hit.score} for name, hits in parts.items()
                }
                return FoundHits(self._fuse(ranking, JoinedRankings.of(list(parts.values()))), evidence)
        leaf = self._suited(self._leaves, ranking)
        with self.context.timer(leaf.stage) if leaf.stage else nullcontext():
            return FoundHits(leaf.score(ranking, ids))

    def _suited(self, known: Mapping[type, T], ranking: Ranking) -> T:
        """Return what a table says of a ranking; raise an error if the task does not support it."""
        if type(ranking) not in known:
            kind = type(ranking)
            raise unsuited(UNSUITED.get(kind, f"of the type {kind.__name__}"), self.task)
        return known[type(ranking)]

    @property
    def _leaves(self) -> Mapping[type, Leaf]:
        """How rankings that score by themselves find and score results; kept, it would be a circle that holds files of the index open."""
        by_field = Leaf(
            lambda leaf, options: self._totalled(leaf, self._by_field(leaf, options)),
            lambda leaf, ids: self._totalled(leaf, self._field_scores(leaf.field, ids, leaf.field)),
        )
        return {
            Nearest: by_field,
            MaxSim: by_field,
            NearestRows: by_field,
            Lexical: Leaf(
                lambda _, options: self._by_words(self._lexicon(), options),
                lambda _, ids: self._lexicon().score(self.context.terms, ids, self._weighting),
            ),
            Mutual: Leaf(None, lambda leaf, ids: self._mutual_scores(leaf.field, ids)),
            MeanMaxSim: Leaf(
                None,
                lambda leaf, ids: _mean(
                    self._field_scores(name, ids, leaf.fields[0]) for name in leaf.fields
                ),
            ),
        }

    @property
    def _steps(self) -> Mapping[type, Step]:
        """How rankings adjust the scores of what another one found."""
        return {Unhub: self._unhubbed, Promote: self._promoted_in_time}

    def _promoted_in_time(self, ranking: Promote, found: FoundHits) -> FoundHits:
        with self.context.timer("rank"):
            return self._promoted(ranking, found)

    def _fused_found(self, ranking: Fuse, options: SearchOptions) -> FoundHits:
        """Fuse the results of the parts."""
        deep = replace(options, depth=max(options.depth, ranking.depth))
        depth = max(options.depth, self._reordered)
        hits = [self.find(part.ranking, deep).hits for part in ranking.asked]
        with self.context.timer("rank"):
            parts = JoinedRankings.of(hits)
            fused = self._reorder(self._fuse(ranking, parts, None if self._uses_all else depth))
            ids = ScoredColumns.of(fused).ids
            if self._rare is not None:
                ids = [*ids[:depth], *self._rare.intersection(ids[depth:])]
            evidence = parts.scores_of(ids)
            return FoundHits(fused, dict(zip((part.name for part in ranking.asked), evidence, strict=True)))

    def _fuse(self, ranking: Fuse, parts: JoinedRankings, k: int | None = None) -> Sequence[Scored]:
        """Return the best `k` results of a fusion of its parts."""
        return _fused(ranking, parts, k)

    def _reorder(self, fused: Sequence[Scored]) -> Sequence[Scored]:
        """Return the results of a fusion in the order that holds whatever their scores are."""
        return fused

    @property
    def _reordered(self) -> int:
        """How many of the first results are reordered afterwards."""
        return 0

    @property
    def _uses_all(self) -> bool:
        """True if all results of a fusion are used."""
        return True

    @property
    def _rare(self) -> frozenset[str] | None:
        """If the query is a name, the results that are used whatever their rank is."""
        return None

    def _reranked(self, ranking: Rerank, options: SearchOptions) -> FoundHits:
        pool = ranking.pool or max(options.pool, options.depth)
        deep = replace(options, depth=max(pool, options.depth) if ranking.keeps_rest else pool)
        first = self.find(ranking.first, deep)
        pooled = [hit.id for hit in first.hits[:pool]]
        again = self._scored(ranking.then, pooled) if pooled else FoundHits([])
        if not ranking.keeps_rest:
            return FoundHits(again.hits[: options.depth], again.evidence)
        evidence = {name: first.evidence.get(name, {}) | found for name, found in again.evidence.items()}
        return FoundHits(followed(again.hits, first.hits[pool:]), evidence)

    def _unhubbed(self, ranking: Unhub, found: FoundHits) -> FoundHits:
        """Lower the scores of hubs among the first results; the other results follow."""
        is_asked = self.context.query.kind in ranking.kinds and PARENT not in found.evidence
        if not is_asked or len(found.hits) < ranking.pool:
            return found
        pooled = found.hits[: ranking.pool]
        with self.context.timer("rank"):
            rows = self.engine[ranking.field].fetch([hit.id for hit in pooled])
            near = hubness(
                {each: own.vectors[0] for each, own in rows.items() if len(own)}, ranking.neighbours
            )
            ordered = penalise_hubs(pooled, near, ranking.share)
        evidence = {**found.named(ranking.first), HUBNESS: near}
        return FoundHits(followed(ordered, found.hits[ranking.pool :]), evidence)

    def _totalled(self, ranking: Nearest | MaxSim | NearestRows, hits: Sequence[Scored]) -> Sequence[Scored]:
        """Multiply the means of MaxSim by the number of the query's rows if the ranking wants sums."""
        if not isinstance(ranking, MaxSim) or not ranking.total:
            return hits
        rows = len(self.context.rows(self.engine[ranking.field].field))
        return [Scored(hit.id, hit.score * rows) for hit in hits]

    def _mutual_scores(self, name: str, ids: Sequence[str]) -> Sequence[Scored]:
        """Score entries by MaxSim in both directions, best first; entries without rows are left out."""
        field = self.engine[name]
        if field.field.of == "formulas":
            raise MathAMRError(
                f"the field {name!r} has rows of single formulas: use MaxSim, which compares one way, instead of Mutual"
            )
        query = self.context.rows(field.field).vectors
        scored = [
            Scored(each, mutual_maxsim(query, rows.vectors))
            for each, rows in field.fetch(ids).items()
            if len(rows)
        ]
        return sorted(scored, key=lambda hit: (-hit.score, hit.id))

    @abstractmethod
    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, options: SearchOptions) -> Sequence[Scored]:
        """Find the best results by vectors."""

    @abstractmethod
    def _by_words(self, lexicon: LexicalPart, options: SearchOptions) -> Sequence[Scored]:
        """Find the best results by words."""

    @abstractmethod
    def _field_scores(self, name: str, ids: Sequence[str], query_field: str) -> Sequence[Scored]:
        """Score given results by vectors of the field `name`, best first; the query's vectors are of `query_field`."""

    @abstractmethod
    def _promoted(self, ranking: Promote, found: FoundHits) -> FoundHits:
        """Rank exact matches before all other results."""

    @abstractmethod
    def _finished(self, found: FoundHits, options: SearchOptions) -> list[RankedResult]:
        """Convert hits to results."""


def followed(first: Sequence[Scored], rest: Sequence[Scored]) -> ScoredColumns:
    """Return reranked results, then the rest in their old order, with scores scaled to lie below the first.

    Positive scores stay positive.

    >>> [hit.id for hit in followed([Scored("a", -0.5)], [Scored("b", 0.9)])]
    ['a', 'b']
    >>> 0 < followed([Scored("a", 0.5)], [Scored("b", 0.9)])[1].score < 0.5
    True
    """
    before, after = ScoredColumns.of(first), ScoredColumns.of(rest)
    scores = after.scores
    if len(before) and len(after):
        lowest, highest = before.scores.min(), scores.max()
        is_positive = lowest > 0 and scores.min() > 0
        scores = _BEHIND * lowest / highest * scores if is_positive else lowest - 1 - (highest - scores)
    joined = np.concatenate([before.scores, scores])
    if isinstance(after, ScoredRows) and after.names.is_read:
        rows = after.names.find(before.ids)
        if rows.min(initial=0) >= 0:
            return ScoredRows(after.names, np.concatenate([rows, after.rows]), joined)
    return ScoredColumns([*before.ids, *after.ids], joined)


def filtered(
    search: Callable[[int], Sequence[Scored]],
    depth: int,
    share: float,
    passing: Callable[[Sequence[str]], set[str]],
) -> Sequence[Scored]:
    """Return the best results of a search over entries that it cannot filter; `share` is the share of them that pass.

    The search asks for as many as probably contain enough, and grows until enough pass or none are left.
    """
    if not share:
        return []
    wanted = math.ceil(2 * depth / share)
    while True:
        found = search(wanted)
        allowed = passing([hit.id for hit in found])
        passed = [hit for hit in found if hit.id in allowed]
        if len(passed) >= depth or len(found) < wanted:
            return passed[:depth]
        wanted *= 4


def _mean(parts: Iterable[Sequence[Scored]]) -> Sequence[Scored]:
    """Return the mean over the parts that score a result, best first."""
    sums: dict[str, tuple[float, int]] = {}
    for hits in parts:
        for hit in hits:
            total, count = sums.get(hit.id, (0.0, 0))
            sums[hit.id] = (total + hit.score, count + 1)
    means = (Scored(name, total / count) for name, (total, count) in sums.items())
    return sorted(means, key=lambda hit: (-hit.score, hit.id))


def of_rows(
    field: FieldReader, vectors: FloatArray, rows: int, where: Filter | None, *, exact: bool
) -> Sequence[Scored]:
    """Find entries by the nearest `rows` rows of each query row; every entry once, by its best row.

    An approximate engine searches entries row by row, since finding the nearest rows would fetch all of them.
    """
    found: list[Sequence[Scored]] = (
        field.search_rows(vectors, rows, where)
        if exact
        else [field.search(row, rows, where, exact=False) for row in vectors]
    )
    best: dict[str, float] = {}
    for hits in found:
        for hit in hits:
            best[hit.id] = max(best.get(hit.id, hit.score), hit.score)
    return sorted((Scored(*each) for each in best.items()), key=lambda hit: (-hit.score, hit.id))


def _fused(
    ranking: Fuse, parts: Sequence[Sequence[tuple[str, float]]], k: int | None = None
) -> Sequence[Scored]:
    weights = [part.weight for part in ranking.asked]
    normalisation = ranking.normalisation if takes_normalisation(ranking.fusion) else None
    return fuse(ranking.fusion, parts, weights, k, normalisation)


def unsuited(ranking: str, task: str) -> MathAMRError:
    """Return the error for a ranking that a task does not support."""
    return MathAMRError(f"a ranking {ranking} cannot rank {task}")
