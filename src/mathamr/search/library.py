"""`Index`: an index directory to search in; the one class a program needs.

>>> from mathamr import Index                                                      # doctest: +SKIP
>>> with Index.open("my-index") as index:                                          # doctest: +SKIP
...     for hit in index.search("Why does $\\\\sum \\\\frac1n$ diverge?"):
...         print(hit)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from mathamr.amr.parser import AmrParser, recorded_parser
from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.graphs.virtual import Level
from mathamr.index.archive import Archive
from mathamr.index.catalogue.occurrences import FormulaEntry
from mathamr.index.engines.entry import Filter, Scored
from mathamr.index.lexical.terms import Terms, post_terms
from mathamr.posts.kinds import KINDS
from mathamr.posts.post import Post
from mathamr.search.alignment import Alignment, align
from mathamr.search.analysis import Analyser, Analysis
from mathamr.search.formulas import FormulaSearch
from mathamr.search.fragment import plain
from mathamr.search.hits import FormulaHit, Hit, Hits
from mathamr.search.hybrid import HybridConfiguration
from mathamr.search.query import Query, Task
from mathamr.search.ranked import POOL, Demand, Ranked
from mathamr.search.snippet import Wanted, snippet, title
from mathamr.search.stopwatch import Stopwatch
from mathamr.search.strategies import PostSearch, check_strategy
from mathamr.systems.mathamrplus.postencoder import PostEncoder
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem

TASKS: tuple[Task, ...] = ("answers", "formulas")


class UnknownPostError(MathAMRError):
    """An id that no post or formula of the index has."""


class Index:
    """Posts and formulas to search; any number of threads may search at the same time.

    Model and parser are loaded when the first query needs them; `warm` loads them beforehand.
    """

    def __init__(self, archive: Archive, configuration: HybridConfiguration | None = None) -> None:
        self.archive = archive
        self.configuration = configuration or HybridConfiguration()
        self._loading = threading.Lock()
        self._loaded_parser: AmrParser | None = None
        self._analyser = Analyser(self._parser, lambda: _encoder(archive))

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        device: str = "auto",
        model: Path | None = None,
        configuration: HybridConfiguration | None = None,
    ) -> Index:
        """The index in a folder, for reading."""
        return cls(Archive.open(path, device=device, model=model), configuration)

    def __len__(self) -> int:
        return len(self.archive.catalogue)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the folder."""
        self.archive.close()

    def warm(self) -> None:
        """Loads everything that a first query would load: the parser beside the model, in a thread of its own."""
        failures: list[BaseException] = []

        def load(part: Callable[[], object]) -> None:
            try:
                part()
            except BaseException as error:
                failures.append(error)

        loading = threading.Thread(target=load, args=(lambda: self.archive.system,))
        loading.start()
        load(lambda: self._parser().parse(["Let FORMULA_0 hold."]))
        loading.join()
        if failures:
            raise failures[0]
        self.search("$x$", k=1)
        self.search("$x$", "formulas", k=1)

    def search(
        self,
        query: Query | Post | str,
        task: Task = "answers",
        strategy: str = "hybrid",
        k: int = 10,
        *,
        offset: int = 0,
        exact: bool = True,
        where: Filter | None = None,
        pool: int = POOL,
    ) -> Hits:
        """The `k` best hits from place `offset` on.

        A query is typed text with ``$latex$``, a `Query`, or a whole `Post`. `where` narrows what is searched; `pool`
        is how many posts the strategy `rerank` looks at again. Without `exact` an engine may search approximately.
        """
        if k < 1:
            raise MathAMRError(f"the number of results must be at least 1, not {k}")
        if offset < 0:
            raise MathAMRError(f"results begin at offset 0, not {offset}")
        _check(task, where)
        watch = Stopwatch()
        with watch("parse"):
            asked = self._query(query, task)
        ranked, notes = self.rank(
            asked, task, strategy, offset + k + 1, exact=exact, where=where, pool=pool, watch=watch
        )
        page = ranked[offset : offset + k]
        with watch("snippet"):
            wanted = Wanted(asked)
            if wanted.is_empty:
                notes.append("the query has only common words; add some that say what it is about")
            analysis = None if strategy == "lexical" else self._analyser.analyse(asked, Stopwatch())
            hits = self._hits(page, offset, task, wanted, analysis)
        return Hits(
            asked,
            task,
            strategy,
            hits,
            offset,
            len(ranked) > offset + k,
            watch.seconds,
            (*asked.notes, *notes),
        )

    def rank(
        self,
        query: Query | Post | str,
        task: Task = "answers",
        strategy: str = "hybrid",
        depth: int = 1000,
        *,
        exact: bool = True,
        where: Filter | None = None,
        pool: int = POOL,
        watch: Stopwatch | None = None,
    ) -> tuple[list[Ranked], list[str]]:
        """Only ids and scores, best first, and notes: what an evaluation needs of a search."""
        check_strategy(strategy)
        watch = watch or Stopwatch()
        _check(task, where)
        asked = self._query(query, task)
        demand = Demand(depth, where or None, exact, pool)
        with watch("load"):
            engine, lexical = self.archive.engine, self.archive.lexical
        formula, note = asked.target() if task == "formulas" else (None, None)
        analysis = lru_cache(1)(partial(self._analyser.analyse, asked, watch))
        if strategy != "lexical":
            analysis()
        if formula is not None:
            search: FormulaSearch | PostSearch = FormulaSearch(
                asked,
                formula,
                engine,
                lexical.formulas,
                self.archive.catalogue,
                analysis,
                self.configuration,
                watch,
            )
        else:
            search = self._post_search(asked, analysis, watch)
        found = search.rank(strategy, demand)
        remark = _remark(found, strategy, where) if len(self) else "the index is empty"
        return found, [each for each in (note, remark) if each]

    def score(self, query: Query | Post | str, ids: Sequence[str], strategy: str = "hybrid") -> list[Scored]:
        """Given posts, whoever found them, best first by a strategy; ids that the index lacks are left out."""
        asked = self._query(query, "answers")
        watch = Stopwatch()
        analysis = lru_cache(1)(partial(self._analyser.analyse, asked, watch))
        return self._post_search(asked, analysis, watch).score(strategy, ids)

    def explain(self, query: Query | Post | str, identifier: str) -> Alignment:
        """Why a post is found: every part of the query against every part of the post.

        The identifier is that of a post, or of a formula, whose post is explained then.
        """
        formula: FormulaEntry | None = None
        catalogue = self.archive.catalogue
        post = catalogue.posts([identifier]).get(identifier)
        if post is None:
            formula = catalogue.formulas([identifier]).get(identifier)
            post = catalogue.posts([formula.post]).get(formula.post) if formula else None
        if post is None:
            raise self._unknown(identifier)
        asked = self._query(query, "formulas" if formula else "answers")
        vectors = self._analyser.analyse(asked, Stopwatch()).vectors
        shown = self._titled(post, catalogue.posts([post.parent]) if post.parent else {})
        formula_id = formula.formula.id if formula else None
        try:
            stored = self.archive.vectors(post.id)
        except MathAMRError as error:
            if post.id not in catalogue:  # deleted between the first look and now
                raise self._unknown(identifier) from error
            raise
        return align(asked.post, vectors, post, stored, plain(title(shown)), formula_id)

    def _unknown(self, identifier: str) -> UnknownPostError:
        return UnknownPostError(
            f"no post or formula {identifier!r} in the index {self.archive.folder};"
            " ids are in the output of mathamr search"
        )

    def _post_search(self, asked: Query, analysis: Callable[[], Analysis], watch: Stopwatch) -> PostSearch:
        engine, lexicon = self.archive.engine, self.archive.lexical.posts
        terms: Callable[[], Terms] = lru_cache(1)(partial(post_terms, asked.post))
        return PostSearch(engine, lexicon, terms, analysis, self.configuration, watch)

    def _query(self, query: Query | Post | str, task: Task) -> Query:
        if isinstance(query, Query):
            return query
        return Query.of_post(query) if isinstance(query, Post) else Query.of_text(query, task)

    def use_parser(self, parser: AmrParser) -> None:
        """Gives the index the AMR parser for its queries, which is loaded already; it must be the one of its graphs."""
        with self._loading:
            self._loaded_parser = parser

    def _parser(self) -> AmrParser:
        """The parser that made the graphs of the index."""
        with self._loading:
            if self._loaded_parser is None:
                record = self.archive.manifest.parser
                if record is None:
                    raise MathAMRError(
                        f"the index {self.archive.folder} has no graphs, and no parser made them"
                    )
                self._loaded_parser = recorded_parser(record.name, record.model, self.archive.folder)
            return self._loaded_parser

    def _hits(
        self, page: Sequence[Ranked], offset: int, task: Task, wanted: Wanted, analysis: Analysis | None
    ) -> tuple[Hit, ...]:
        catalogue = self.archive.catalogue
        entries = catalogue.formulas([each.id for each in page]) if task == "formulas" else {}
        of_post = {each.id: entries[each.id].post if each.id in entries else each.id for each in page}
        posts = catalogue.posts(list(dict.fromkeys(of_post.values())))
        parents = catalogue.posts(sorted({post.parent for post in posts.values() if post.parent}))
        near = self._similarities(list(posts), analysis) if analysis is not None else {}
        hits: list[Hit] = []
        for place, each in enumerate(page, offset + 1):
            post = posts.get(of_post[each.id])
            if post is None:
                continue  # deleted between the search and now
            entry = entries.get(each.id)
            inside = entry.formula.id if entry else None
            hits.append(
                Hit(
                    post.id,
                    place,
                    each.score,
                    post.kind,
                    title(self._titled(post, parents), wanted),
                    snippet(post, wanted, near.get(post.id), inside),
                    self._titled(post, parents).tags or post.tags,
                    post.parent,
                    post.date,
                    post.score,
                    post.source,
                    self._formula_hit(entry, each) if entry else None,
                    each.evidence,
                )
            )
        return tuple(hits)

    def _formula_hit(self, entry: FormulaEntry, ranked: Ranked) -> FormulaHit:
        return FormulaHit(
            entry.id,
            entry.latex,
            entry.look,
            entry.visual_id,
            entry.display,
            len(self.archive.catalogue.with_look(entry.look)),
            ranked.exact,
        )

    def _titled(self, post: Post, parents: Mapping[str, Post]) -> Post:
        """The post whose title a post is shown under: an answer's question."""
        return parents.get(post.parent, post) if post.parent and not post.title else post

    def _similarities(self, ids: Sequence[str], analysis: Analysis) -> dict[str, dict[int, float]]:
        """For every sentence of some posts how near the query's nearest vector is."""
        found: dict[str, dict[int, float]] = {}
        for identifier, stored in self.archive.engine["parts"].fetch(ids).items():
            numbers, sentences = stored.at(Level.SENTENCE)
            if len(sentences):
                best = (analysis.vectors.vectors @ sentences.T).max(axis=0)
                found[identifier] = dict(zip(map(int, numbers), np.asarray(best).tolist(), strict=True))
        return found


def _encoder(archive: Archive) -> PostEncoder:
    """The encoder of the only system that this search knows."""
    system = archive.system
    if not isinstance(system, MathAMRPlusSystem):
        raise MathAMRError(f"an index of the system {system.kind!r} cannot be searched yet")
    return system.encoder


def _check(task: str, where: Filter | None) -> None:
    if task not in TASKS:
        raise UnknownNameError("task", task, list(TASKS))
    if not where:
        return
    for kind in where.kinds:
        if kind not in KINDS:
            raise UnknownNameError("kind of post", kind, list(KINDS))
    if where.times == (None, None):
        return
    after, before = where.times
    if after is not None and before is not None and after >= before:
        raise MathAMRError(f"nothing is dated from {where.after} on and earlier than {where.before}")


def _remark(found: Sequence[Ranked], strategy: str, where: Filter | None) -> str | None:
    """What a person should know who wonders about the hits."""
    if not found and where:
        return "nothing that passes the filter meets the query"
    if strategy in ("hybrid", "lexical") and not any("lexical" in each.evidence for each in found):
        similar = "; the hits are only similar in meaning" if found else ""
        return f"no word or formula of the query occurs in what is searched{similar}"
    return None
