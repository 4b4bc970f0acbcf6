"""`Encoders`: the vectors of many posts or looks, made by processes side by side; few are made here and now.

One thread a process: for networks as small as these, threads of one process wait for each other most of the time. A worker
reads graphs and tensors from the index itself, so that only posts go to it, and vectors come back.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from mathamr.batches import batches
from mathamr.formulas.trees import trees_of
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import GraphTensor, tensorise
from mathamr.index.archive import GRAPHS, Archive, needs_graphs, recorded_model
from mathamr.index.making.crew import FEW
from mathamr.layers.language.reading import computes_on_processor
from mathamr.posts.post import Formula, Post
from mathamr.systems.modelfolder import load_system
from mathamr.systems.system import Encoded, GraphInput, Item, Look
from mathamr.systems.vectors import Vectors
from mathamr.workers import Lost, WorkerPool

CHUNK = 8
"""Posts that a worker encodes at a time: about a second's work, so that progress is seen and little is lost."""
LOOKS = 64
ReadFormula = tuple[Formula, tuple[str, ...]]
"""A formula, and the macros it is read with."""


class Encoders:
    """Makes vectors for an index that is being built; a context manager."""

    def __init__(self, archive: Archive, workers: int, count: int) -> None:
        self._archive = archive
        self._pool: WorkerPool | None = None
        model = archive.model_source or recorded_model(archive.manifest.model)
        if workers < 2 or count <= FEW or model is None or not computes_on_processor(archive.device):
            return
        pool = WorkerPool(
            "mathamr.index.making.encoding:EncodingWork", (str(archive.folder), str(model)), workers=workers
        )
        if pool.hello == archive.system.fingerprint:
            self._pool = pool
        else:
            pool.close()  # the system was given, and is not the one of that folder

    def posts(
        self, posts: Sequence[Post], here: Callable[[Sequence[Post]], Iterable[Item]]
    ) -> Iterator[Encoded]:
        """The vectors of posts, in order; `here` gives the items of posts that are encoded in this process."""
        if self._pool is None:
            yield from self._archive.system.encode(here(posts))
            return
        for request, answer in self._pool.map(
            ["posts", *(post.to_json() for post in chunk)] for chunk in batches(posts, CHUNK)
        ):
            if isinstance(answer, Lost):
                yield from self._archive.system.encode(here([*map(Post.from_json, request[1:])]))
            else:
                yield from map(_encoded, answer)

    def looks(self, looks: Sequence[tuple[str, ReadFormula]]) -> Iterator[Mapping[str, Vectors]]:
        """The vectors of looks, in order."""
        needs_trees = "trees" in self._archive.needs
        if self._pool is None:
            yield from self._archive.system.encode_looks(_look(*each, needs_trees) for each in looks)
            return
        rows = ((key, asdict(formula), macros) for key, (formula, macros) in looks)
        for request, answer in self._pool.map(["looks", *chunk] for chunk in batches(rows, LOOKS)):
            if isinstance(answer, Lost):
                again = (_look(key, (Formula(**row), tuple(m)), needs_trees) for key, row, m in request[1:])
                yield from self._archive.system.encode_looks(again)
            else:
                yield from map(_fields, answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close()


class EncodingWork:
    """What a worker does: posts or looks as JSON become their vectors."""

    def __init__(self, folder: str, model: str) -> None:
        self._system = load_system(Path(model), "cpu")
        self._store: GraphStore | None = None
        if needs_graphs(self._system.needs):
            self._store = GraphStore(Path(folder) / GRAPHS, read_only=True)
        self.hello = self._system.fingerprint

    def __call__(self, request: list[Any]) -> list[Any]:
        """One answer an item; the request begins with what the items are."""
        wanted, *items = request
        if wanted == "looks":
            needs_trees = "trees" in self._system.needs
            looks = (_look(key, (Formula(**row), tuple(macros)), needs_trees) for key, row, macros in items)
            return [_fields_row(fields) for fields in self._system.encode_looks(looks)]
        posts = map(Post.from_json, items)
        return [_row(encoded) for encoded in self._system.encode(map(self._item, posts))]

    def _item(self, post: Post) -> Item:
        store, needs = self._store, self._system.needs
        if store is None:
            return Item(post=post)
        graphs = self._system.graphs
        return Item(
            post=post,
            graph=store.graph(post.id) if "graph" in needs else None,
            tensor=read_tensor(store, post.id, graphs) if "tensor" in needs and graphs else None,
        )


def read_tensor(store: GraphStore, post_id: str, graphs: GraphInput) -> GraphTensor:
    """The stored tensor of a post, or one made now."""
    if store.has_tensor(graphs.configuration, post_id):
        return store.tensor(graphs.configuration, post_id)
    configuration = GraphConfiguration.from_name(graphs.configuration)
    return tensorise(store.graph(post_id), graphs.vocabulary, graphs.relations, configuration)


def _look(key: str, read: ReadFormula, needs_trees: bool) -> Look:
    opt, slt = trees_of(*read)[0] if needs_trees else (None, None)
    return Look(key=key, formula=read[0], opt=opt, slt=slt)


def _row(encoded: Encoded) -> list[Any]:
    return [
        encoded.id,
        _fields_row(encoded.post),
        [[name, _fields_row(fields)] for name, fields in encoded.formulas],
    ]


def _encoded(row: list[Any]) -> Encoded:
    identifier, post, formulas = row
    return Encoded(
        id=identifier,
        post=_fields(post),
        formulas=tuple((name, _fields(fields)) for name, fields in formulas),
    )


def _fields_row(fields: Mapping[str, Vectors]) -> dict[str, Any]:
    return {
        name: [
            base64.b64encode(np.ascontiguousarray(rows.vectors, np.float32).tobytes()).decode(),
            rows.vectors.shape[1],
            rows.levels.tolist(),
            rows.references,
        ]
        for name, rows in fields.items()
    }


def _fields(row: Mapping[str, Any]) -> dict[str, Vectors]:
    return {
        name: Vectors(
            np.frombuffer(base64.b64decode(numbers), np.float32).reshape(-1, size),
            np.array(levels, np.int8),
            tuple(references),
        )
        for name, (numbers, size, levels, references) in row.items()
    }
