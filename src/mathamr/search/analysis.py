"""`Analysis`: a query on its way to vectors, through the same stages as the posts of the index."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mathamr.amr.parser import AmrParser
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.tensor import tensorise
from mathamr.graphs.virtual import Level
from mathamr.index.engines.entry import Floats
from mathamr.search.query import Query, QueryError
from mathamr.search.stopwatch import Stopwatch
from mathamr.systems.mathamrplus.postencoder import PostEncoder
from mathamr.systems.vectors import Vectors

REMEMBERED = 256
"""Queries whose vectors are kept: the next page and the explanation of a hit ask for the same ones again."""


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """The graph of a query and its vectors."""

    graph: MathGraph
    vectors: Vectors

    @property
    def document(self) -> Floats:
        """The vector of the whole query; the mean of its vectors where the model gives posts none."""
        document = self.vectors.document
        if document is None:
            document = self.vectors.vectors.mean(axis=0)
        return document

    def formula(self, identifier: str) -> Floats:
        """The vector of one formula of the query."""
        references, vectors = self.vectors.at(Level.FORMULA)
        if identifier not in references:
            raise QueryError(f"the model gives the formula {identifier!r} of the query no vector")
        found: Floats = vectors[references.index(identifier)]
        return found


class Analyser:
    """Makes analyses, one at a time; parser and encoder are loaded when the first query needs them."""

    def __init__(self, parser: Callable[[], AmrParser], encoder: Callable[[], PostEncoder]) -> None:
        self._load_parser, self._load_encoder = parser, encoder
        self._maker: GraphMaker | None = None
        self._remembered: OrderedDict[str, Analysis] = OrderedDict()
        self._working, self._looking = threading.Lock(), threading.Lock()

    def analyse(self, query: Query, watch: Stopwatch) -> Analysis:
        """The analysis of a query; the time goes to the stages load, amr and encode."""
        key = query.post.to_json()
        with self._looking:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        with self._working:
            made = self._made(query, watch)
        with self._looking:
            self._remembered[key] = made
            while len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return made

    def _made(self, query: Query, watch: Stopwatch) -> Analysis:
        with watch("load"):
            encoder = self._load_encoder()
            if self._maker is None:
                self._maker = GraphMaker(self._load_parser())
        with watch("amr"):
            (made,) = self._maker.make([query.post])
        with watch("encode"):
            configuration = GraphConfiguration.from_name(encoder.graphs)
            tensor = tensorise(made.graph, encoder.vocabulary, encoder.relations, configuration)
            with _one_thread():
                (vectors,) = encoder.encode([(query.post, tensor)])
        return Analysis(made.graph, vectors)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Lets torch compute on this thread alone: for one small graph, waking others costs more than they save."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
