"""The search stage: ranks the topics of a test set like a user's queries, by one strategy, as a TREC run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, cast

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runs import Run
from mathamr.evaluation.topics import Topic
from mathamr.formulas.trees import Trees
from mathamr.index.engines.engine import Engine, open_engine
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.scored import Scored
from mathamr.search.formularanker import FormulaRanker
from mathamr.search.options import SearchOptions
from mathamr.search.postranker import PostRanker
from mathamr.search.query import Query, QueryError
from mathamr.search.querycontext import QueryContext
from mathamr.systems.ranking import Ranking, Rerank, fields_of
from mathamr.systems.system import Encoded, System
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.experiment import Strategy
from mathamr_lab.experiments.graphs import CorpusCatalogue
from mathamr_lab.experiments.plan import NotApplicableError
from mathamr_lab.experiments.stage import Figures
from mathamr_lab.experiments.vectors import StoredQueries
from mathamr_lab.experiments.visualtable import VisualTable


class Searcher:
    """Ranks the candidates of a test set for its topics, with the classes of `search/`."""

    def __init__(
        self, test: TestSet, ranking: Ranking, engine: Engine, asked: Mapping[str, Encoded], *, exact: bool
    ) -> None:
        self._test, self._ranking, self._engine = test, ranking, engine
        self._demand = SearchOptions(test.depth, exact=exact)
        self._queries = StoredQueries(asked)

    def asked(self, topic: Topic) -> QueryContext | None:
        """Return a topic as a query with its vectors; `None` if its formula is not in its graph."""
        formula_id = topic.formula_id if self._test.task == "formulas" else None
        post = replace(topic.post, id=self._test.key(topic))
        query = Query.of_post(post, formula_id)
        formula = query.target()[0] if self._test.task == "formulas" else None
        asked = QueryContext(query, self._queries, formula=formula)
        try:
            for name in fields_of(self._ranking):
                asked.rows(self._engine[name].field)
        except QueryError:
            return None
        return asked

    def ranked(self, asked: QueryContext, visuals: VisualTable) -> Sequence[Scored]:
        """Return answers by id, or visual classes by visual id."""
        if self._test.task == "answers":
            posts = PostRanker(asked, self._engine, _no_words).rank(self._ranking, self._demand, "")
            return [Scored(each.id, each.score) for each in posts]
        ranker = FormulaRanker(asked, self._engine, _no_words, visuals)
        return [Scored(each.visual, each.score) for each in ranker.rank(self._ranking, self._demand, "")]


def search(
    test: TestSet,
    strategy: Strategy,
    system: type[System],
    asked: Mapping[str, Encoded],
    engine: Path,
    catalogue: CorpusCatalogue,
) -> tuple[Run, Figures]:
    """Rank the candidates for every topic; `asked` has the vectors of topics by key, `engine` is the folder with those of
    the candidates.

    The speed is the processor time of searching alone, one topic after the other: other work on the
    machine does not count, and the times of several threads are added.
    """
    opened = open_engine(engine, read_only=True)
    try:
        ranking = ranking_of(strategy, system, test.task, len(catalogue.answers))
        if not all(opened[name].count() for name in fields_of(ranking)):
            raise NotApplicableError(f"the graphs have no {test.task} to find")
        visuals = catalogue.visuals
        searcher = Searcher(test, ranking, opened, asked, exact=strategy.exact)
        queries = [searcher.asked(topic) for topic in test.topics]
        for first in queries[:1]:
            if first is not None:
                searcher.ranked(
                    first, visuals
                )  # loads what is loaded on first use, outside the measured time
        began = time.process_time()
        found = [[] if query is None else searcher.ranked(query, visuals) for query in queries]
        seconds = time.process_time() - began
    finally:
        opened.close()
    rankings = {topic.id: hits for topic, hits in zip(test.topics, found, strict=True) if hits}
    if not rankings:
        raise NotApplicableError("no topic's formula is in its graph")
    return Run.of(strategy.name, rankings), {
        "topics": len(test.topics),
        "without hits": len(test.topics) - len(rankings),
        "queries a second": len(queries) / max(seconds, 1e-9),
        "fields": list(dict.fromkeys(fields_of(ranking))),
    }


def ranking_of(strategy: Strategy, system: type[System], task: str, candidates: int) -> Ranking:
    """Return the system's ranking of that name; its pool is a share of the candidates, and the rest follows."""
    named = system.rankings["answers" if task == "answers" else "formulas"]
    ranking = named[strategy.ranking]
    if isinstance(ranking, Rerank):
        return replace(ranking, pool=strategy.pool_size(candidates), keeps_rest=True)
    return ranking


class _NoWords:
    """What an experiment on stored vectors has instead of a lexical index: no trees, and an error for anything else."""

    def trees(self, _visuals: Sequence[str]) -> dict[str, Trees]:
        """Return nothing: experiments compare vectors, not trees."""
        return {}

    def __getattr__(self, name: str) -> NoReturn:
        raise MathAMRError("an experiment on stored vectors has no lexical index")


def _no_words() -> LexicalPart:
    return cast(LexicalPart, _NoWords())
