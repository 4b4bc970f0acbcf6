"""`QueryEncoder`: encodes queries through the same stages as the posts of an index."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mathamr.core.cache import Cache
from mathamr.core.prioritylock import PriorityLock
from mathamr.formulas.visualkey import visual_key
from mathamr.posts.post import Formula
from mathamr.search.query import Query
from mathamr.search.querycontext import StageTimer
from mathamr.systems.system import Encoded, Item, System, VisualFormula
from mathamr.systems.vectors import Vectors

if TYPE_CHECKING:
    from mathamr.amr.parser import AmrParser
    from mathamr.graphs.maker import GraphMaker, MadeGraph
    from mathamr.graphs.mathgraph import MathGraph

CACHED_QUERIES = 256
"""Queries whose vectors are cached: the next page and the explanation of a hit need the same vectors."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQuery:
    """The vectors of a query, and its graph if the system needs one."""

    encoded: Encoded
    graph: MathGraph | None = None
    notes: tuple[str, ...] = ()
    """Notes for the user: if the AMR parser fails, the graph holds words and formulas alone."""


class QueryEncoder:
    """Parses one query at a time, and encodes one; parser and system are loaded when the first query needs them.

    `encoding` is held while the system is used, which others may use too. While one query is parsed, which may happen in
    another process, another one is encoded.
    """

    def __init__(
        self, parser: Callable[[], AmrParser], system: Callable[[], System], encoding: PriorityLock
    ) -> None:
        self._load_parser, self._load_system = parser, system
        self._maker: GraphMaker | None = None
        self._posts: Cache[str, EncodedQuery] = Cache(CACHED_QUERIES)
        self._visuals: Cache[str, Mapping[str, Vectors]] = Cache(CACHED_QUERIES)
        self._parsing, self._encoding = threading.Lock(), encoding

    def encoded(self, query: Query, timer: StageTimer) -> Encoded:
        """Return the vectors of a query."""
        return self.encode(query, timer).encoded

    def encode(self, query: Query, timer: StageTimer) -> EncodedQuery:
        """Encode a query; the time counts for the stages load, amr and encode."""

        return self._posts.get_or_make(query.key, lambda: self._encoded_now(query, timer))

    def notes(self, query: Query) -> tuple[str, ...]:
        """Return the notes on a query; none if it was not encoded."""
        found = self._posts.get(query.key)
        return found.notes if found is not None else ()

    def visual(self, query: Query, formula: Formula, timer: StageTimer) -> Mapping[str, Vectors]:
        """Return the vectors of one formula of a query, for fields of visual classes."""

        def make() -> Mapping[str, Vectors]:
            opt, slt = query.trees[formula.id]
            key = visual_key(slt) if slt is not None else ""
            with timer("load"):
                system = self._load_system()
            with self._encoding, timer("encode"), _one_thread():
                (found,) = system.encode_visuals([VisualFormula(key=key, formula=formula, opt=opt, slt=slt)])
            return found

        return self._visuals.get_or_make(f"{formula.id}\n{query.key}", make)

    def _encoded_now(self, query: Query, timer: StageTimer) -> EncodedQuery:
        with timer("load"):
            system = self._load_system()
        item = Item(post=query.post, passage=query.passage, is_query=True)
        notes = tuple[str, ...]()
        if {"graph", "tensor"} & system.needs:
            item, notes = self._with_graph(query, system, timer)
        with self._encoding, timer("encode"), _one_thread():
            (encoded,) = system.encode([item])
        return EncodedQuery(encoded, item.graph, notes)

    def _with_graph(self, query: Query, system: System, timer: StageTimer) -> tuple[Item, tuple[str, ...]]:
        from mathamr.graphs.configuration import GraphConfiguration
        from mathamr.graphs.maker import GraphMaker
        from mathamr.graphs.tensor import tensorise

        with self._parsing:
            with timer("load"):
                if self._maker is None:
                    self._maker = GraphMaker(self._load_parser())
            with timer("amr"):
                (made,) = self._maker.make([query.post])
        notes = _failed(made)
        if system.graphs is None:
            return Item(post=query.post, graph=made.graph, is_query=True), notes
        with timer("encode"):
            read = system.graphs
            configuration = GraphConfiguration.from_name(read.configuration)
            tensor = tensorise(made.graph, read.vocabulary, read.relations, configuration)
        return Item(post=query.post, graph=made.graph, tensor=tensor, is_query=True), notes


def _failed(made: MadeGraph) -> tuple[str, ...]:
    """Return the note for the user if the AMR parser failed."""
    prefix = "sentence: "
    causes = {
        cause.removeprefix(prefix): n for cause, n in made.fallbacks.items() if cause.startswith(prefix)
    }
    if not causes:
        return ()
    counted = ", ".join(f"{cause}, {count} times" if count > 1 else cause for cause, count in causes.items())
    return (
        f"the AMR parser could not parse the query ({counted}); only its words and formulas are used; see mathamr doctor",
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit torch, if it is loaded, to this thread: for one small graph, waking others costs more than they save."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
