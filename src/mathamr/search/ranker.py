"""`Ranker`: the one interpreter of rankings: it ranks by them, and scores given results by them.

What a ranking means is written here once, for every task; what its leaves ask an index is the task's own
(`PostRanker`, `FormulaRanker`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import Engine, FieldReader, FieldTarget, Filter, Payload
from mathamr.index.engines.maxsim import mutual_maxsim
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.scored import Scored, ScoredColumns
from mathamr.search.fusion import JoinedRankings, fuse, looks_at_scores, takes_normalisation
from mathamr.search.hubness import HUBNESS, hubness, penalise_hubs
from mathamr.search.options import SearchOptions
from mathamr.search.querycontext import QueryContext
from mathamr.search.results import RankedResult
from mathamr.systems.ranking import (
    Aligned,
    AlikeNodes,
    Fuse,
    Lexical,
    MaxSim,
    MeanMaxSim,
    Mutual,
    Nearest,
    NearestRows,
    Promote,
    Ranking,
    Rerank,
    Unhub,
)

_CHECKED_AT_A_TIME = 100
_MORE = 80
"""So many more than the wanted results are scored exactly, where scores that may be a little off have chosen them."""
_BEHIND = 0.99
"""What the best result that was not ranked again has of the lowest score of those that were."""


@dataclass(slots=True)
class FoundHits:
    """Results, best first, and what each component gave them."""

    hits: Sequence[Scored]
    evidence: dict[str, dict[str, float]] = field(default_factory=dict)
    """Scores by the component's name, then by result."""

    shares: dict[str, float] = field(default_factory=dict)
    """Scores as shares of the best, before anything was put first."""

    @property
    def own_shares(self) -> dict[str, float]:
        """Shares of the best score; of what was put first, those it had before."""
        return self.shares_of(self.hits)

    def shares_of(self, hits: Sequence[Scored]) -> dict[str, float]:
        """The same of some of the hits."""
        if self.shares or not self.hits:
            return self.shares
        best = float(ScoredColumns.of(self.hits).scores.max())
        return {
            hit.id: min(1.0, max(0.0, hit.score / best)) if best > 0 else float(hit.score >= best)
            for hit in hits
        }

    def named(self, ranking: Ranking) -> dict[str, dict[str, float]]:
        """The evidence; where a ranking has no components, its scores under its own name."""
        return self.evidence or {type(ranking).__name__.lower(): {hit.id: hit.score for hit in self.hits}}

    def of(self, identifier: str) -> dict[str, float]:
        """The evidence of one result."""
        return {name: scores[identifier] for name, scores in self.evidence.items() if identifier in scores}


Payloads = Callable[[FieldTarget, Sequence[str]], dict[str, Payload]]


class Ranker(ABC):
    """Ranks the entries of one task for one query."""

    def __init__(
        self,
        context: QueryContext,
        engine: Engine | None,
        lexicon: Callable[[], LexicalPart],
        payloads: Payloads | None = None,
    ) -> None:
        self.context, self._engine, self._lexicon = context, engine, lexicon
        self._payloads = payloads or self.engine.payloads
        """What entries are found by; an index knows it also of those that its engine has no vectors of."""

    @property
    def engine(self) -> Engine:
        """Where vectors are searched; words need none."""
        if self._engine is None:
            raise MathAMRError("there are no vectors to rank by")
        return self._engine

    @property
    def notes(self) -> list[str]:
        """What the person should know about how the query was read."""
        return []

    @property
    def corrections(self) -> list[str]:
        """Words that misspelt ones of the query were taken for."""
        return []

    def rank(self, ranking: Ranking, options: SearchOptions, name: str) -> list[RankedResult]:
        """What a ranking finds, best first; `name` is the component's where there is only one."""
        found = self._found(ranking, options)
        if not found.evidence:
            found.evidence = {name: {hit.id: hit.score for hit in found.hits}}
        with self.context.timer("rank"):
            return self._finished(found, options)

    def score(self, ranking: Ranking, ids: Sequence[str]) -> Sequence[Scored]:
        """Given results, best first, by what a ranking ranks by; those that the index lacks are left out."""
        return self._scored(ranking, ids).hits if ids else []

    def _scored(self, ranking: Ranking, ids: Sequence[str]) -> FoundHits:
        match ranking:
            case Rerank(then=then):
                return self._scored(then, ids)
            case Unhub(first=first):
                return self._unhubbed(ranking, self._scored(first, ids))
            case Fuse():
                ranking = ranking.suited(self.context.query.kind)
                parts = {part.name: self._scored(part.ranking, ids).hits for part in ranking.asked}
                # A part that knows nothing of a result is no evidence for it.
                evidence = {
                    name: {hit.id: hit.score for hit in hits if hit.score} for name, hits in parts.items()
                }
                return FoundHits(_fused(ranking, list(parts.values())), evidence)
            case Promote(inner):
                return self._promoted(self._scored(inner, ids))
            case Lexical():
                with self.context.timer("search"):
                    return FoundHits(self._lexicon().score(self.context.terms, ids))
            case Aligned():
                with self.context.timer("align"):
                    return FoundHits(self._aligned(ids))
            case AlikeNodes(model):
                with self.context.timer("align"):
                    return FoundHits(self._alike(ids, model))
            case MeanMaxSim(names):
                with self.context.timer("search"):
                    return FoundHits(_mean(self._field_scores(name, ids, names[0]) for name in names))
            case Mutual(name):
                with self.context.timer("search"):
                    return FoundHits(self._mutual_scores(name, ids))
            case Nearest(name) | MaxSim(name) | NearestRows(name):
                with self.context.timer("search"):
                    return FoundHits(self._field_scores(name, ids, name))

    def _found(self, ranking: Ranking, options: SearchOptions) -> FoundHits:
        match ranking:
            case Rerank():
                return self._reranked(ranking, options)
            case Unhub(first=first, pool=pool):
                deep = replace(options, depth=max(pool, options.depth))
                return self._unhubbed(ranking, self._found(first, deep))
            case Fuse():
                ranking = ranking.suited(self.context.query.kind)
                return self._fused_found(ranking, options)
            case Promote(inner):
                found = self._found(inner, options)
                with self.context.timer("rank"):
                    return self._promoted(found)
            case Lexical():
                with self.context.timer("search"):
                    return FoundHits(self._by_words(self._lexicon(), options))
            case Nearest() | MaxSim() | NearestRows():
                with self.context.timer("search"):
                    return FoundHits(self._by_field(ranking, options))
            case Aligned() | AlikeNodes() | Mutual():
                raise MathAMRError(
                    "trees are aligned and their nodes compared, and rows compared both ways, of what was found already: put it into a Rerank,"
                    " as `then`"
                )
            case MeanMaxSim():
                raise MathAMRError(
                    "several representations are compared of what was found already: put it into a Rerank, as `then`"
                )

    def _fused_found(self, ranking: Fuse, options: SearchOptions) -> FoundHits:
        """What the parts of a fusion find; who may be among the results is decided by scores that may be a little off."""
        deep = replace(options, depth=max(options.depth, ranking.depth))
        exactly = options.depth + _MORE
        approximates = (
            options.approximate_candidates and 4 * exactly <= deep.depth and looks_at_scores(ranking.fusion)
        )
        skimmed = {
            part.name: found
            for part in ranking.asked
            if approximates and (found := self._skimmed(part.ranking, deep))
        }
        hits = [skimmed.get(part.name) or self._found(part.ranking, deep).hits for part in ranking.asked]
        with self.context.timer("rank"):
            parts = JoinedRankings.of(hits)
            contenders = _fused(ranking, parts, exactly) if skimmed else []
        for number, part in enumerate(ranking.asked):
            if part.name in skimmed:
                exact = self._scored(part.ranking, [hit.id for hit in contenders]).hits
                parts = parts.rescored(number, exact)
        with self.context.timer("rank"):
            fused = _fused(ranking, parts, self._kept(options))
            evidence = parts.scores_of(hit.id for hit in fused)
            return FoundHits(fused, dict(zip((part.name for part in ranking.asked), evidence, strict=True)))

    def _kept(self, options: SearchOptions) -> int | None:
        """How many results of a fusion are looked at; `None`: all of them."""
        return None

    def _skimmed(self, ranking: Ranking, options: SearchOptions) -> Sequence[Scored]:
        """About what a ranking finds, where the index can tell it quicker than exactly; else nothing."""
        return []

    def _reranked(self, ranking: Rerank, options: SearchOptions) -> FoundHits:
        pool = ranking.pool or max(options.pool, options.depth)
        deep = replace(options, depth=max(pool, options.depth) if ranking.keeps_rest else pool)
        first = self._found(ranking.first, deep)
        pooled = [hit.id for hit in first.hits[:pool]]
        again = self._scored(ranking.then, pooled) if pooled else FoundHits([])
        if not ranking.keeps_rest:
            return FoundHits(again.hits[: options.depth], again.evidence)
        evidence = {name: first.evidence.get(name, {}) | found for name, found in again.evidence.items()}
        return FoundHits(followed(again.hits, first.hits[pool:]), evidence)

    def _unhubbed(self, ranking: Unhub, found: FoundHits) -> FoundHits:
        """The first of what was found, less for those that are near to many others, the rest behind."""
        if self.context.query.kind not in ranking.kinds or len(found.hits) < ranking.pool:
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

    def _mutual_scores(self, name: str, ids: Sequence[str]) -> Sequence[Scored]:
        """Given entries by MaxSim both ways, best first; those without rows are left out."""
        field = self.engine[name]
        if field.field.of == "formulas":
            raise MathAMRError(
                f"the field {name!r} has rows of formulas at their places: it is compared one way (MaxSim)"
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
        """The best results by vectors."""

    @abstractmethod
    def _by_words(self, lexicon: LexicalPart, options: SearchOptions) -> Sequence[Scored]:
        """The best results by words."""

    @abstractmethod
    def _field_scores(self, name: str, ids: Sequence[str], asked_by: str) -> Sequence[Scored]:
        """Given results by vectors of a field, best first; the query's are those of the field `asked_by`."""

    @abstractmethod
    def _aligned(self, ids: Sequence[str]) -> Sequence[Scored]:
        """Given results by how their trees align with the query's, best first."""

    @abstractmethod
    def _alike(self, ids: Sequence[str], model: str) -> Sequence[Scored]:
        """Given results by how alike the nodes of their trees are to the query's in a network, best first."""

    @abstractmethod
    def _promoted(self, found: FoundHits) -> FoundHits:
        """What is just what was asked for before all others."""

    @abstractmethod
    def _finished(self, found: FoundHits, options: SearchOptions) -> list[RankedResult]:
        """Results as they are handed out."""


def followed(first: Sequence[Scored], rest: Iterable[Scored]) -> Sequence[Scored]:
    """Results that were ranked again, then those that were not, in their old order, with scores below the first's.

    Scores that are positive stay so.

    >>> [hit.id for hit in followed([Scored("a", -0.5)], [Scored("b", 0.9)])]
    ['a', 'b']
    >>> 0 < followed([Scored("a", 0.5)], [Scored("b", 0.9)])[1].score < 0.5
    True
    """
    others = list(rest)
    if not first or not others:
        return [*first, *others]
    lowest, highest = min(hit.score for hit in first), max(hit.score for hit in others)
    if lowest > 0 and min(hit.score for hit in others) > 0:
        scale = _BEHIND * lowest / highest
        return [*first, *(Scored(hit.id, scale * hit.score) for hit in others)]
    return [*first, *(Scored(hit.id, lowest - 1 - (highest - hit.score)) for hit in others)]


def filtered(
    search: Callable[[int], Sequence[Scored]],
    options: SearchOptions,
    passing: Callable[[Sequence[str]], set[str]],
) -> Sequence[Scored]:
    """The best results of a search that pass the filter: more are asked for until there are enough or no more."""
    if not options.where:
        return search(options.depth)
    kept: list[Scored] = []
    asked, done = 2 * options.depth, 0
    while True:
        found = search(asked)
        while done < len(found):
            few = found[done : done + _CHECKED_AT_A_TIME]
            allowed = passing([hit.id for hit in few])
            kept += [hit for hit in few if hit.id in allowed]
            if len(kept) >= options.depth:
                return kept[: options.depth]
            done += len(few)
        if len(found) < asked:
            return kept
        asked *= 4


def _mean(parts: Iterable[Sequence[Scored]]) -> Sequence[Scored]:
    """The mean over the parts that know a result, best first."""
    sums: dict[str, tuple[float, int]] = {}
    for hits in parts:
        for hit in hits:
            total, count = sums.get(hit.id, (0.0, 0))
            sums[hit.id] = (total + hit.score, count + 1)
    means = (Scored(name, total / count) for name, (total, count) in sums.items())
    return sorted(means, key=lambda hit: (-hit.score, hit.id))


def of_rows(
    field: FieldReader, vectors: FloatArray, rows: int, where: Filter | None, exact: bool
) -> Sequence[Scored]:
    """Entries that the rows of a query find, so many nearest rows each; every entry once, by its best row.

    An engine that approximates is asked for entries, row by row: it would have to fetch all their rows to say which is nearest.
    """
    found: list[Sequence[Scored]] = (
        [[Scored(hit.id, hit.score) for hit in hits] for hits in field.search_rows(vectors, rows, where)]
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
    """For a ranking that means nothing for a task."""
    return MathAMRError(f"the ranking {ranking} is not for {task}")
