"""The encoding stage: the vectors of a model for all posts and topics, in one engine each, as in an index."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.graphs.store import GraphStore
from mathamr.index.engines.engine import Engine, create_engine, open_engine
from mathamr.index.engines.entry import Entry, Payload
from mathamr.posts.level import Level
from mathamr.posts.post import Formula, Post
from mathamr.search.query import Query
from mathamr.search.querycontext import StageTimer
from mathamr.systems.field import Field
from mathamr.systems.models import load_system
from mathamr.systems.system import Encoded, Item, System
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.collection import TestCollection
from mathamr_lab.experiments.graphs import CorpusCatalogue
from mathamr_lab.experiments.setting import EXACT
from mathamr_lab.experiments.stage import Figures

OPTIONS: dict[str, dict[str, Any]] = {"qdrant": {"hnsw": "all"}}
"""The options of engines here: MaxSim also has a graph."""
TOPICS = "topics"
NAMING = 2
"""The version of the names of vectors: those of an older one are made again."""
BATCH = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Everything that a model's vectors are computed from."""

    collection: TestCollection
    catalogue: CorpusCatalogue
    posts: Path
    """The graph store of the posts."""
    topics: Path
    """The graph store of the topics."""


def encode_all(model: Path, corpus: Corpus, folder: Path, device: str) -> Figures:
    """Encode the posts and the topics with a model, each into an exact engine in the folder.

    The network reads graphs alone, so that the posts of the collection need not be read again for every model.
    """
    system = load_system(model, device)
    searched, asked = corpus.catalogue.posts, corpus.collection.topic_posts()
    began = time.monotonic()
    with GraphStore(corpus.posts) as store, Progress("encoding", "posts", total=len(searched)) as progress:
        posts = (Post(post_id, "note", "") for post_id in searched)
        figures = _fill(folder / EXACT, system, progress.each(posts), store, corpus.catalogue)
    seconds = time.monotonic() - began
    with GraphStore(corpus.topics) as store:
        _fill(folder / TOPICS, system, asked, store)
    return {**figures, "posts a second": len(searched) / max(seconds, 1e-9)}


def _fill(
    folder: Path,
    system: System,
    posts: Iterable[Post],
    store: GraphStore,
    catalogue: CorpusCatalogue | None = None,
) -> Figures:
    """Fill an engine with the vectors of posts; with a catalogue, only of the answers and visual classes that are searched."""
    answers = None if catalogue is None else set(catalogue.answers)
    levels: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    with engine_in(folder, EXACT, system.fields) as engine:
        for batch in batches(posts, BATCH):
            made = list(system.encode(_items(system, batch, store)))
            kinds = {post.id: Payload(kind=post.kind) for post in batch}
            found = [
                Entry(each.id, each.post, kinds[each.id])
                for each in made
                if each.post and (answers is None or each.id in answers)
            ]
            formulas = list(_formulas(made, kinds, catalogue))
            for entry in (*found, *formulas):
                rows.update({name: len(vectors) for name, vectors in entry.rows.items()})
            for each in made:
                for vectors in each.post.values():
                    levels.update(Level(int(level)).name.lower() for level in vectors.levels)
            engine.upsert("posts", found)
            engine.upsert("formulas", formulas)
        engine.flush()
    sizes = {field.name: 4 * field.size * rows[field.name] for field in system.fields}
    return {"rows": dict(rows), "bytes": sizes, "by level": dict(levels)}


def _items(system: System, posts: Iterable[Post], store: GraphStore) -> Iterator[Item]:
    for post in posts:
        if system.graphs is not None:
            yield Item(post=post, tensor=store.tensor(system.graphs.configuration, post.id))
        elif "graph" in system.needs:
            yield Item(post=post, graph=store.graph(post.id))
        else:
            yield Item(post=post)


def _formulas(
    made: Iterable[Encoded], payloads: Mapping[str, Payload], catalogue: CorpusCatalogue | None
) -> Iterator[Entry]:
    """Yield the formulas of posts, each id once; with a catalogue only those that have a visual class.

    Without one the posts are topics, whose formulas are named with them: those of other years have the same ids.
    """
    for each in made:
        names = dict.fromkeys(name for name, _ in each.formulas)
        wanted = names.keys() if catalogue is None else catalogue.visuals.visuals_of(list(names)).keys()
        seen: set[str] = set()
        for name, fields in each.formulas:
            if name not in seen and name in wanted:
                seen.add(name)
                shown = _in_topic(each.id, name) if catalogue is None else name
                yield Entry(shown, fields, replace(payloads[each.id], post=each.id))


def _in_topic(topic: str, formula: str) -> str:
    return f"{topic} {formula}"


class engine_in:  # noqa: N801 - a context, used like a function
    """Create an engine in an emptied folder, close it at the end, and remove it when something fails."""

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
    """The precomputed vectors of topics, which a ranker uses instead of a system."""

    def __init__(self, topics: Engine) -> None:
        self._topics = topics

    def encoded(self, query: Query, _timer: StageTimer) -> Encoded:
        """Return the vectors of a topic, whose post has the topic's key as its id."""
        key = query.post.id
        post: dict[str, Vectors] = {}
        formulas: dict[str, dict[str, Vectors]] = {}
        names = {_in_topic(key, formula.id): formula.id for formula in query.post.formulas}
        for field in self._topics.fields:
            found = self._topics[field.name].fetch([key] if field.of == "posts" else list(names))
            for name, vectors in found.items():
                (post if field.of == "posts" else formulas.setdefault(names[name], {}))[field.name] = vectors
        return Encoded(id=key, post=post, formulas=tuple(formulas.items()))

    def visual(self, _query: Query, _formula: Formula, _timer: StageTimer) -> Mapping[str, Vectors]:
        """Raise an error: visual classes are not stored for topics."""
        raise MathAMRError("an experiment on stored vectors has no vectors of visual classes")
