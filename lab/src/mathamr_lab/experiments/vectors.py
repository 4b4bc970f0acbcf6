"""The encoding stage: the vectors of a model for all posts, in an engine as in an index, and those of topics."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.coreference import coreferent
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import tensorise
from mathamr.index.engines.engine import Engine, create_engine, open_engine
from mathamr.index.engines.entry import Entry, Payload
from mathamr.posts.level import Level
from mathamr.posts.post import Formula, Post
from mathamr.search.query import Query
from mathamr.search.querycontext import StageTimer
from mathamr.systems.field import Field
from mathamr.systems.system import Encoded, Item, System
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.graphs import CorpusCatalogue
from mathamr_lab.experiments.setting import EXACT
from mathamr_lab.experiments.stage import Figures

OPTIONS: dict[str, dict[str, Any]] = {"qdrant": {"hnsw": "all"}}
"""The options of engines here: MaxSim also has a graph."""
NAMING = 3
"""The version of the names of vectors: those of an older one are made again."""
BATCH = 512


def encode_posts(
    system: System, catalogue: CorpusCatalogue, store: Path, folder: Path, *, coreference: bool = False
) -> Figures:
    """Encode the answers and visual classes that are searched, into an exact engine in the folder.

    Systems read graphs alone, so that the posts of the collection need not be read again for every model.
    """
    answers, searched = set(catalogue.answers), catalogue.posts
    levels: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    began = time.monotonic()
    with (
        GraphStore(store) as graphs,
        Progress("encoding", "posts", total=len(searched)) as progress,
        engine_in(folder / EXACT, EXACT, system.fields) as engine,
    ):
        posts = (Post(post_id, "note", "") for post_id in searched)
        for batch in batches(progress.each(posts), BATCH):
            made = list(system.encode(_items(system, batch, graphs, coreference=coreference)))
            kinds = {post.id: Payload(kind=post.kind) for post in batch}
            found = [
                Entry(each.id, each.post, kinds[each.id]) for each in made if each.post and each.id in answers
            ]
            formulas = list(_formulas(made, kinds, catalogue))
            for entry in (*found, *formulas):
                rows.update({name: len(vectors) for name, vectors in entry.rows.items()})
            for each in made:
                for vectors in each.post.values():
                    levels.update(Level(int(level)).name.lower() for level in vectors.levels)
            engine.upsert("posts", found)
            if formulas:
                engine.upsert("formulas", formulas)
        engine.flush()
    seconds = time.monotonic() - began
    sizes = {field.name: 4 * field.size * rows[field.name] for field in system.fields}
    rate = len(searched) / max(seconds, 1e-9)
    return {"rows": dict(rows), "bytes": sizes, "by level": dict(levels), "posts a second": rate}


def encode_topics(
    system: System, test: TestSet, store: Path, *, coreference: bool = False
) -> dict[str, Encoded]:
    """Encode the topics of a test set; return their vectors by the topic's key."""
    posts = [replace(post, id=key) for key, post in test.posts()]
    with GraphStore(store) as graphs:
        return {
            each.id: each for each in system.encode(_items(system, posts, graphs, coreference=coreference))
        }


def _items(system: System, posts: Iterable[Post], store: GraphStore, *, coreference: bool) -> Iterator[Item]:
    """Yield the posts with what the system reads; with `coreference` words of one thing share a node of the graph."""
    read = system.graphs
    # A model of the box numbers labels by its own vocabulary.
    is_stored = read is not None and store.vocabularies() == (read.vocabulary, read.relations)
    for post in posts:
        if read is not None and is_stored and not coreference:
            yield Item(post=post, tensor=store.tensor(read.configuration, post.id))
            continue
        graph = store.graph(post.id)
        graph = coreferent(graph) if coreference else graph
        if read is not None:
            form = GraphConfiguration.from_name(read.configuration)
            yield Item(post=post, tensor=tensorise(graph, read.vocabulary, read.relations, form))
        else:
            yield Item(post=post, graph=graph)


def _formulas(
    made: Iterable[Encoded], payloads: Mapping[str, Payload], catalogue: CorpusCatalogue
) -> Iterator[Entry]:
    """Yield the formulas of posts that have a visual class, each id once."""
    for each in made:
        first: dict[str, Mapping[str, Vectors]] = {}
        for name, fields in each.formulas:
            first.setdefault(name, fields)
        known = catalogue.visuals.visuals_of(list(first))
        for name in (name for name in first if name in known):
            yield Entry(name, first[name], replace(payloads[each.id], post=each.id))


class engine_in:  # noqa: N801 - a context, used like a function
    """A context with an engine in an emptied folder; closes the engine at the end, and removes the folder if something fails."""

    def __init__(self, folder: Path, name: str, fields: Sequence[Field]) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._folder = folder
        self._engine = create_engine(folder, fields, name, OPTIONS.get(name))

    def __enter__(self) -> Engine:
        return self._engine

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._engine.close()
        if kind is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def copy_into(index: Path, name: str) -> Figures:
    """Copy the vectors of a model into another engine, prepared for approximate search."""
    source = open_engine(index / EXACT, read_only=True)
    try:
        with engine_in(index / name, name, source.fields) as engine:
            for of in dict.fromkeys(field.of for field in source.fields):
                fields = [field.name for field in source.fields if field.of == of]
                for ids in batches(source.ids(of), BATCH):
                    payloads = source.payloads(of, ids)
                    rows = {field: source[field].fetch(ids) for field in fields}
                    engine.upsert(
                        of,
                        [
                            Entry(
                                each,
                                {field: found[each] for field, found in rows.items() if each in found},
                                payloads[each],
                            )
                            for each in ids
                        ],
                    )
            engine.flush()
            engine.optimize()
    finally:
        source.close()
    size = sum(file.stat().st_size for file in (index / name).rglob("*") if file.is_file())
    return {"bytes on disk": size}


class StoredQueries:
    """The vectors of topics by their keys, which a ranker uses instead of a system."""

    def __init__(self, topics: Mapping[str, Encoded]) -> None:
        self._topics = topics

    def encoded(self, query: Query, _timer: StageTimer) -> Encoded:
        """Return the vectors of a topic, whose post has the topic's key as its id."""
        return self._topics[query.post.id]

    def visual(self, _query: Query, _formula: Formula, _timer: StageTimer) -> Mapping[str, Vectors]:
        """Raise an error: visual classes are not stored for topics."""
        raise MathAMRError("an experiment on stored vectors has no vectors of visual classes")
