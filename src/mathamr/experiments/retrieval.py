"""The stage that searches: the topics of a test set against the indexed posts, by one strategy, as a TREC run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from mathamr.errors import MathAMRError
from mathamr.evaluation.runs import Hit, Run, write_run
from mathamr.experiments.collection import TestSet
from mathamr.experiments.experiment import Strategy
from mathamr.experiments.graphs import Catalogue
from mathamr.experiments.stage import Figures
from mathamr.experiments.vectors import Floats, Places, VectorTable
from mathamr.graphs.virtual import Level
from mathamr.index.engines.engine import Engine, Entry, Field, create_engine, open_engine
from mathamr.index.engines.maxsim import maxsim
from mathamr.systems.vectors import Vectors

APPROXIMATE = "edge"
"""The engine whose approximate search is measured."""
OPTIONS = {"hnsw": "all"}
"""MaxSim has a graph to follow, too."""
BATCH = 512


class NotApplicableError(MathAMRError):
    """What a variant cannot do: search for formulas where graphs have none, or single vectors where posts have none."""


class Searcher(Protocol):
    """Ranks candidates for the vectors of one topic."""

    def ranked(self, topic: Vectors, depth: int, key: str = "") -> list[Hit]:
        """The best candidates, at most `depth`."""
        ...


class ExactAnswers:
    """Answers by exact search in memory."""

    def __init__(self, table: VectorTable, strategy: Strategy) -> None:
        self._table, self._strategy = table, strategy
        self._documents = None if strategy.ranking == "maxsim" else _documents(table)
        self._pool = strategy.pool_size(len(table.ids))

    def ranked(self, topic: Vectors, depth: int, key: str = "") -> list[Hit]:
        """By MaxSim with all, by MaxSim with those that the document vectors choose, or by these alone."""
        if self._documents is None:
            return self._best(maxsim(topic.vectors, self._table.vectors, self._table.starts[:-1]), depth)
        scores = self._documents @ _document(topic)
        if self._strategy.ranking == "single":
            return self._best(scores, depth)
        places = _top(scores, max(self._pool, depth))
        pool = places[: self._pool]
        rows, starts = self._table.rows(pool)
        found = maxsim(topic.vectors, self._table.vectors[rows], starts[:-1])
        first = [Hit(self._table.ids[pool[place]], float(found[place])) for place in _top(found, depth)]
        rest = [Hit(self._table.ids[place], float(scores[place])) for place in places[self._pool : depth]]
        return followed(first, rest)

    def _best(self, scores: Floats, depth: int) -> list[Hit]:
        return [Hit(self._table.ids[place], float(scores[place])) for place in _top(scores, depth)]


class ApproximateAnswers:
    """Answers by an engine's approximate search."""

    def __init__(self, engine: Engine, strategy: Strategy) -> None:
        self._document, self._parts, self._strategy = engine["document"], engine["parts"], strategy
        self._pool = strategy.pool_size(engine.count("posts"))

    def ranked(self, topic: Vectors, depth: int, key: str = "") -> list[Hit]:
        """As `ExactAnswers`, with what the engine finds in its approximate index."""
        if self._strategy.ranking == "maxsim":
            found = self._parts.search_maxsim(topic.vectors, depth, exact=False)
        elif self._strategy.ranking == "single":
            found = self._document.search(_document(topic), depth, exact=False)
        else:
            chosen = self._document.search(_document(topic), max(self._pool, depth), exact=False)
            pool = self._parts.score(topic.vectors, [each.id for each in chosen[: self._pool]])
            rest = [Hit(each.id, each.score) for each in chosen[self._pool : depth]]
            return followed([Hit(each.id, each.score) for each in pool[:depth]], rest)
        return [Hit(each.id, each.score) for each in found]


def followed(first: list[Hit], rest: list[Hit]) -> list[Hit]:
    """Reranked hits, then those that were not reranked, in the order of their document vectors.

    Where the pool is as deep as the run, as in the thesis, nothing follows. Both kinds of scores are cosines from -1
    to 1: those that follow are moved below.

    >>> [hit.id for hit in followed([Hit("a", -0.5)], [Hit("b", 0.9)])]
    ['a', 'b']
    """
    return [*first, *(Hit(hit.id, hit.score - 3) for hit in rest)]


class Formulas:
    """Formulas by the cosine of their vectors, each look once."""

    def __init__(self, table: VectorTable, looks: dict[str, str], formula_of: dict[str, str]) -> None:
        rows = [
            row
            for row in np.flatnonzero(table.levels == Level.FORMULA).tolist()
            if table.references[row] in looks
        ]
        if not rows:
            raise NotApplicableError("the graphs have no formulas to find")
        names = [looks[table.references[row]] for row in rows]
        self._looks = sorted(set(names))
        place = {look: number for number, look in enumerate(self._looks)}
        owners = np.array([place[name] for name in names], np.int64)
        order = np.argsort(owners, kind="stable")
        self.vectors = table.vectors[np.array(rows)[order]]
        self._starts = np.searchsorted(owners[order], np.arange(len(self._looks)))
        self._formula_of = formula_of

    def ranked(self, topic: Vectors, depth: int, key: str = "") -> list[Hit]:
        """By the best of the formulas that look the same."""
        references, vectors = topic.at(Level.FORMULA)
        wanted = self._formula_of[key]
        if wanted not in references:
            return []
        scores = np.maximum.reduceat(self.vectors @ vectors[references.index(wanted)], self._starts)
        return [Hit(self._looks[place], float(scores[place])) for place in _top(scores, depth)]


def search(
    test: TestSet, strategy: Strategy, index: Path, catalogue: Catalogue, engine: Path | None, path: Path
) -> Figures:
    """Ranks for every topic and writes the run.

    The speed is that of searching alone, one topic after the other, in the processor's time: other work on the
    machine does not count, and several threads count together.
    """
    posts, topics = VectorTable.load(index / "posts.npz"), VectorTable.load(index / "topics.npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    opened: Engine | None = None
    try:
        if test.task == "formulas":
            formulas = Formulas(
                posts, catalogue.looks, {test.key(topic): topic.formula_id or "" for topic in test.topics}
            )
            searcher: Searcher = formulas
            vectors = formulas.vectors
        elif engine is None:
            table = posts.chosen(catalogue.answers)
            searcher, vectors = ExactAnswers(table, strategy), table.vectors
        else:
            opened = open_engine(engine, read_only=True)
            searcher, vectors = (
                ApproximateAnswers(opened, strategy),
                posts.chosen(catalogue.answers).vectors,
            )
        keys = [test.key(topic) for topic in test.topics]
        queries = [topics.of_post(key) for key in keys]
        searcher.ranked(queries[0], test.depth, keys[0])  # what is loaded on first use is no part of a query
        began = time.process_time()
        found = [searcher.ranked(query, test.depth, key) for query, key in zip(queries, keys, strict=True)]
        seconds = time.process_time() - began
    finally:
        if opened is not None:
            opened.close()
    rankings = {topic.id: hits for topic, hits in zip(test.topics, found, strict=True) if hits}
    if not rankings:
        raise NotApplicableError("no topic's formula is in its graph")
    write_run(Run.of(strategy.name, rankings), path)
    return {
        "topics": len(test.topics),
        "without hits": len(test.topics) - len(rankings),
        "queries a second": len(queries) / max(seconds, 1e-9),
        "vectors": len(vectors),
        "index bytes": vectors.nbytes,
    }


def build_engine(index: Path, catalogue: Catalogue, folder: Path) -> Figures:
    """The answers in an engine with an approximate index."""
    table = VectorTable.load(index / "posts.npz").chosen(catalogue.answers)
    shutil.rmtree(folder, ignore_errors=True)
    size = table.vectors.shape[1]
    fields = (
        Field(name="document", of="posts", size=size),
        Field(name="parts", of="posts", size=size, many=True),
    )
    engine = create_engine(folder, fields, APPROXIMATE, OPTIONS)
    try:
        for entries in _batches(table):
            engine.upsert("posts", entries)
        engine.flush()
        engine.optimize()
    finally:
        engine.close()
    taken = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"posts": len(table.ids), "bytes on disk": taken}


def _batches(table: VectorTable) -> Iterator[list[Entry]]:
    for start in range(0, len(table.ids), BATCH):
        ids = table.ids[start : start + BATCH]
        vectors = [table.of_post(post_id) for post_id in ids]
        yield [
            Entry(
                post_id,
                {"document": Vectors.one(_document(each), Level.DOCUMENT, post_id), "parts": each},
            )
            for post_id, each in zip(ids, vectors, strict=True)
        ]


def _documents(table: VectorTable) -> Floats:
    """The document vector of every post: always its last."""
    last = table.starts[1:] - 1
    if not (table.levels[last] == Level.DOCUMENT).all():
        raise NotApplicableError("posts of these graphs have no document vector")
    return table.vectors[last]


def _document(post: Vectors) -> Floats:
    document = post.document
    if document is None:
        raise NotApplicableError("a post of these graphs has no document vector")
    return document


def _top(scores: Floats, count: int) -> Places:
    """The places of the highest scores, highest first, equal ones in their order."""
    if count < len(scores):
        chosen = np.argpartition(-scores, count - 1)[:count]
        chosen.sort()
    else:
        chosen = np.arange(len(scores))
    places: Places = chosen[np.argsort(-scores[chosen], kind="stable")].astype(np.int64)
    return places
