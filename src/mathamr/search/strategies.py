"""Strategies: ways to rank the posts of an index for a query (thesis, section 3.5.2), and lexical search beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mathamr.errors import UnknownNameError
from mathamr.index.engines.engine import Engine
from mathamr.index.engines.entry import Filter, Scored
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import Terms
from mathamr.search.analysis import Analysis
from mathamr.search.hybrid import HybridConfiguration
from mathamr.search.ranked import Demand, Ranked
from mathamr.search.stopwatch import Stopwatch

STRATEGIES = ("hybrid", "maxsim", "rerank", "single", "lexical")
"""The names of the strategies, the default first."""


_CHECKED_AT_A_TIME = 100


def check_strategy(name: str) -> None:
    """Refuses what is no strategy."""
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, list(STRATEGIES))


@dataclass(frozen=True, slots=True)
class PostSearch:
    """Everything that ranks posts for one query; the analysis is made only for strategies that need vectors."""

    engine: Engine
    lexicon: LexicalPart
    terms: Callable[[], Terms]
    analysis: Callable[[], Analysis]
    configuration: HybridConfiguration
    watch: Stopwatch

    def rank(self, strategy: str, demand: Demand) -> list[Ranked]:
        """The posts a strategy finds, best first."""
        check_strategy(strategy)
        if strategy == "hybrid":
            return self._hybrid(demand)
        return [Ranked(hit.id, hit.score, {strategy: hit.score}) for hit in self._component(strategy, demand)]

    def score(self, strategy: str, ids: Sequence[str]) -> list[Scored]:
        """Given posts, best first, by what a strategy ranks by; those that the index lacks are left out."""
        check_strategy(strategy)
        if strategy != "hybrid":
            return self._scored(strategy, ids) if ids else []
        blend = self.configuration.answers
        return blend.fused({name: self._scored(name, ids) if ids else [] for name in blend.components})

    def _scored(self, component: str, ids: Sequence[str]) -> list[Scored]:
        with self.watch("search"):
            if component == "lexical":
                return self.lexicon.score(self.terms(), ids)
            if component == "single":
                return self._by_document(ids)
            return self.engine["parts"].score(self.analysis().vectors.vectors, ids)

    def _by_document(self, ids: Sequence[str]) -> list[Scored]:
        """By the cosine of the document vectors."""
        return self.engine["document"].score(self.analysis().document[None], ids)

    def single(self, demand: Demand) -> list[Scored]:
        """By the cosine of the document vectors."""
        return self.engine["document"].search(
            self.analysis().document, demand.depth, demand.where, demand.exact
        )

    def rerank(self, demand: Demand) -> list[Scored]:
        """The first `pool` posts by document vector, ranked again by exact MaxSim over all vectors."""
        analysis = self.analysis()
        pool = max(demand.pool, demand.depth)
        found = self.engine["document"].search(analysis.document, pool, demand.where, demand.exact)
        ids = [hit.id for hit in found]
        return self.engine["parts"].score(analysis.vectors.vectors, ids)[: demand.depth] if ids else []

    def maxsim(self, demand: Demand) -> list[Scored]:
        """By MaxSim over all vectors: every vector of the query looks for its best match."""
        vectors = self.analysis().vectors.vectors
        return self.engine["parts"].search_maxsim(vectors, demand.depth, demand.where, demand.exact)

    def lexical(self, demand: Demand) -> list[Scored]:
        """By BM25 over words, LaTeX and paths of formula trees."""
        return filtered(
            self.lexicon, self.terms(), demand, lambda ids: _passing(self.engine, ids, demand.where)
        )

    def _component(self, name: str, demand: Demand) -> list[Scored]:
        with self.watch("search"):
            found: list[Scored] = getattr(self, name)(demand)
        return found

    def _hybrid(self, demand: Demand) -> list[Ranked]:
        """Several components fused; each brings its best candidates."""
        deep = Demand(max(demand.depth, self.configuration.depth), demand.where, demand.exact, demand.pool)
        blend = self.configuration.answers
        rankings = {name: self._component(name, deep) for name in blend.components}
        with self.watch("rank"):
            return with_evidence(blend.fused(rankings)[: demand.depth], rankings)


def with_evidence(joined: Sequence[Scored], rankings: Mapping[str, Sequence[Scored]]) -> list[Ranked]:
    """Fused hits, each with the score of every component that found it."""
    scores = {name: {hit.id: hit.score for hit in ranking} for name, ranking in rankings.items()}
    return [
        Ranked(hit.id, hit.score, {name: found[hit.id] for name, found in scores.items() if hit.id in found})
        for hit in joined
    ]


def filtered(
    lexicon: LexicalPart, terms: Terms, demand: Demand, passing: Callable[[Sequence[str]], set[str]]
) -> list[Scored]:
    """The best entries of a lexicon that pass the filter: more are asked for until there are enough or no more."""
    if not demand.where:
        return lexicon.search(terms, demand.depth)
    kept: list[Scored] = []
    asked, done = 2 * demand.depth, 0
    while True:
        found = lexicon.search(terms, asked)
        while done < len(found):
            few = found[done : done + _CHECKED_AT_A_TIME]
            allowed = passing([hit.id for hit in few])
            kept += [hit for hit in few if hit.id in allowed]
            if len(kept) >= demand.depth:
                return kept[: demand.depth]
            done += len(few)
        if len(found) < asked:
            return kept
        asked *= 4


def _passing(engine: Engine, ids: Sequence[str], where: Filter | None) -> set[str]:
    payloads = engine.payloads("posts", ids)
    return {identifier for identifier, payload in payloads.items() if where is None or where.passes(payload)}
