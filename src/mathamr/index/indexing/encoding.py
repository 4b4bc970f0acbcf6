"""`Encoders`: compute the vectors of many posts or visual classes in parallel processes, and of a few in this process.

Each process uses one thread, since threads would mostly wait for each other in such small networks. A post without a graph
gets it from the process that encodes it; for other posts a worker reads graphs and tensors from the index itself, so that only
posts are sent and vectors come back.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from mathamr.core.batches import batches
from mathamr.core.closing import Closing
from mathamr.core.workers import Lost, Pool
from mathamr.formulas.trees import trees_of
from mathamr.graphs import notation
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import ALLOWANCE, MINIMAL, GraphWork, stored_post, with_trees
from mathamr.graphs.maker import MadeGraph
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.store import GraphStore, StoredPost
from mathamr.graphs.tensor import GraphTensor, tensorise
from mathamr.index.archive import GRAPHS, Archive, needs_graphs, recorded_model
from mathamr.index.catalogue.storedpassages import StoredPassage, stored_passage
from mathamr.index.indexing.buildpool import FEW, BuildPool, understood
from mathamr.posts.post import Formula, Post
from mathamr.systems.models import load_system
from mathamr.systems.system import Encoded, GraphInput, Item, VisualFormula
from mathamr.systems.vectors import Vectors
from mathamr.text.backend import FLOAT, ONNX

CHUNK = 48
"""Number of short posts that a worker gets at a time: enough to parse their sentences together."""
LETTERS = 84_000
"""Total characters of such posts, about a second's work, so that progress is visible and little is lost."""
VISUALS = 64
ReadFormula = tuple[Formula, tuple[str, ...]]
"""A formula, and the macros for parsing it."""


@dataclass(frozen=True, slots=True)
class NewPost:
    """The results for a new post: its sentences, its graph, its tensor if the system needs one, and its vectors."""

    passage: StoredPassage
    graph: StoredPost
    tensor: bytes | None
    encoded: Encoded


@dataclass(frozen=True, slots=True)
class Prepared:
    """Vectors that were computed before, by their sources: posts as JSON, and the digests of formulas."""

    posts: Mapping[str, Encoded] = field(default_factory=dict)
    tensors: Mapping[str, bytes] = field(default_factory=dict)
    """The tensors of these posts, by post id."""
    visuals: Mapping[bytes, Mapping[str, Vectors]] = field(default_factory=dict)


NOTHING = Prepared()
"""No vectors."""


class Encoders(Closing):
    """Computes vectors for an index that is being built; a context manager."""

    def __init__(self, archive: Archive, pool: BuildPool, count: int, prepared: Prepared = NOTHING) -> None:
        self._archive, self._pool, self.prepared = archive, pool, prepared
        self._workers: Pool | None = None
        backend = archive.manifest.model.text_backend
        model = archive.model_source or recorded_model(archive.manifest.model)
        here = pool.has_index and backend == FLOAT
        parser = archive.manifest.parser
        # One process is worth starting if it parses too: it reads the text of a post once for graph and vectors.
        if (pool.is_alone and parser is None) or count <= FEW or model is None or here:
            return
        read_with = (parser.name, parser.model) if parser else (None, None)
        workers = pool.workers_for(
            "mathamr.index.indexing.encoding:EncodingWork",
            (str(archive.folder), str(model), *read_with, pool.device, backend),
            allowance=ALLOWANCE if parser else None,
            made_with=f"{parser.fingerprint if parser else ''} on {pool.device} by {backend}",
        )
        if workers.hello == archive.system.fingerprint:
            self._workers = workers
        else:
            workers.close()  # the caller passed a system that is not the one of that folder

    @property
    def are_apart(self) -> bool:
        """True if separate processes do the work, which can also compute graphs."""
        return self._workers is not None

    @property
    def scale(self) -> int:
        """The factor by which batches are larger than two processes need."""
        return self._pool.scale

    def new(self, posts: Iterable[Post]) -> Iterator[NewPost | Lost]:
        """The results for new posts, in order; `Lost` for a post over which every process was lost."""
        if self._workers is None:
            raise AssertionError("graphs are computed by separate processes")
        for request, answer in self._workers.map(
            ["new", *chunk] for chunk in portions(posts, self._pool.portion, self._pool.kept.trees)
        ):
            if isinstance(answer, Lost):
                for line in request[1:]:
                    yield self._alone(self._workers, line)
            else:
                yield from understood(_new_post, request, answer)

    def _alone(self, workers: Pool, line: str) -> NewPost | Lost:
        """Encodes one post of a chunk over which a process was lost: with its own graph, a minimal one, or none."""
        ((_, answer),) = workers.map([["new", line]])
        if not isinstance(answer, Lost):
            return next(understood(_new_post, ["new", line], answer))
        ((_, minimal),) = workers.map([["new", MINIMAL + line]])
        if isinstance(minimal, Lost):
            return minimal
        result = next(understood(_new_post, ["new", line], minimal))
        result.graph.fallbacks[f"post: {answer.cause}"] = 1
        return result

    def posts(
        self, posts: Sequence[Post], here: Callable[[Sequence[Post]], Iterable[Item]]
    ) -> Iterator[Encoded]:
        """The vectors of posts, in order; `here` gives the items of posts that are encoded in this process."""
        prepared = {post.id: self.prepared.posts.get(post.to_json()) for post in posts}
        encoded = self._encoded([post for post in posts if prepared[post.id] is None], here)
        for post in posts:
            yield prepared[post.id] or next(encoded)
        yield from encoded  # there is no more, but a generator that is left early ends its processes

    def _encoded(
        self, posts: Sequence[Post], here: Callable[[Sequence[Post]], Iterable[Item]]
    ) -> Iterator[Encoded]:
        if self._workers is None:
            yield from self._archive.system.encode(here(posts))
            return
        requests: Iterable[list[Any]] = (["posts", *chunk] for chunk in portions(posts))
        if not self._pool.has_index:
            requests = (["items", *chunk] for chunk in batches(map(_item_row, here(posts)), CHUNK))
        for request, answer in self._workers.map(requests):
            if not isinstance(answer, Lost):
                yield from understood(_encoded, request, answer)
            elif request[0] == "items":
                yield from self._archive.system.encode(map(_item_of, request[1:]))
            else:
                yield from self._archive.system.encode(here([*map(Post.from_json, request[1:])]))

    def visuals(self, visuals: Sequence[tuple[str, ReadFormula]]) -> Iterator[Mapping[str, Vectors]]:
        """The vectors of visual classes, in order."""
        prepared = {key: self.prepared.visuals.get(source_digest(*read)) for key, read in visuals}
        encoded = self._encoded_visuals([each for each in visuals if prepared[each[0]] is None])
        for key, _ in visuals:
            rows = prepared[key]
            yield next(encoded) if rows is None else rows
        yield from encoded

    def _encoded_visuals(self, visuals: Sequence[tuple[str, ReadFormula]]) -> Iterator[Mapping[str, Vectors]]:
        needs_trees = "trees" in self._archive.needs
        if self._workers is None:
            yield from self._archive.system.encode_visuals(
                visual_formula(*each, needs_trees) for each in visuals
            )
            return
        rows = ((key, asdict(formula), macros) for key, (formula, macros) in visuals)
        for request, answer in self._workers.map(["visual", *chunk] for chunk in batches(rows, VISUALS)):
            if isinstance(answer, Lost):
                again = (
                    visual_formula(key, (Formula(**row), tuple(m)), needs_trees)
                    for key, row, m in request[1:]
                )
                yield from self._archive.system.encode_visuals(again)
            else:
                yield from understood(_fields, request, answer)

    def close(self) -> None:
        """Ends the processes, if there are any."""
        if self._workers is not None:
            self._workers.close()


def portions(
    posts: Iterable[Post], seconds: int = 1, trees: Callable[[Post], str] = lambda _: ""
) -> Iterator[list[str]]:
    """Groups posts as JSON into portions of about a second's work, or several; known trees are sent with them.

    Long portions also end at posts that a hash selects, so that a build that resumes in the middle arrives at the same
    portions again.
    """
    portion: list[str] = []
    letters = 0
    ends = False
    for post in posts:
        line = post.to_json()
        full = len(portion) == seconds * CHUNK or letters + len(line) > seconds * LETTERS
        if portion and (full or ends):
            yield portion
            portion, letters = [], 0
        portion.append(with_trees(line, trees(post)))
        letters += len(line)
        ends = seconds > 1 and _is_end(line, seconds)
    if portion:
        yield portion


def _is_end(line: str, seconds: int) -> bool:
    """True if a long portion ends with this post: on average at a quarter of its limit, so hardly any portion is full."""
    share = 4 / seconds * max(1 / CHUNK, len(line) / LETTERS)
    return crc32(line.encode("utf-8", "surrogatepass")) < share * 2**32


class EncodingWork:
    """The task of a worker: it turns posts or visual classes as JSON into vectors, and new posts also into graphs."""

    def __init__(
        self,
        folder: str,
        model: str,
        parser: str | None = None,
        parser_model: str | None = None,
        device: str = "cpu",
        text_backend: str = ONNX,
    ) -> None:
        self._system = load_system(Path(model), device, text_backend)
        self._folder, self._parser = Path(folder), (parser or "builtin", parser_model)
        self.hello = self._system.fingerprint

    @cached_property
    def _store(self) -> GraphStore | None:
        """The graph store of the index; in a new index it appears when the first posts are written."""
        needed = needs_graphs(self._system.needs)
        return GraphStore(self._folder / GRAPHS, read_only=True) if needed else None

    @cached_property
    def _graphs(self) -> GraphWork:
        return GraphWork(*self._parser)

    def __call__(self, request: list[Any]) -> list[Any]:
        """One answer per item; the first element of the request names the kind of the items."""
        wanted, *items = request
        if wanted == "visual":
            needs_trees = "trees" in self._system.needs
            visuals = (
                visual_formula(key, (Formula(**row), tuple(macros)), needs_trees)
                for key, row, macros in items
            )
            return [_fields_row(fields) for fields in self._system.encode_visuals(visuals)]
        if wanted == "new":
            return self._new([*items])
        if wanted == "items":
            return [_row(encoded) for encoded in self._system.encode(map(_item_of, items))]
        posts = map(Post.from_json, items)
        return [_row(encoded) for encoded in self._system.encode(map(self._item, posts))]

    def _new(self, lines: list[str]) -> list[Any]:
        """The sentences of posts, their graphs as rows of the store, their tensors, and their vectors.

        The text encoder's states that the parser has read wait for the vectors, so a few posts are made at a time.
        """
        return [row for made in batches(self._graphs.made(lines), CHUNK) for row in self._made(made)]

    def _made(self, found: list[tuple[dict[str, Any], MadeGraph]]) -> Iterator[tuple[Any, ...]]:
        rows, items = [], []
        needs, graphs = self._system.needs, self._system.graphs
        for row, made in found:
            rows.append((_passage_row(stored_passage(made.post, made.passage)), row))
            items.append(
                Item(
                    post=made.post,
                    graph=made.graph if "graph" in needs else None,
                    tensor=made_tensor(made.graph, graphs) if "tensor" in needs and graphs else None,
                    passage=made.passage,
                )
            )
        blobs = [item.tensor and base64.b64encode(item.tensor.to_bytes()).decode() for item in items]
        encoded = map(_row, self._system.encode(items))
        return ((*row, blob, vectors) for row, blob, vectors in zip(rows, blobs, encoded, strict=True))

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
    """The stored tensor of a post, or a newly computed one."""
    if store.has_tensor(graphs.configuration, post_id):
        return store.tensor(graphs.configuration, post_id)
    return made_tensor(store.graph(post_id), graphs)


def made_tensor(graph: MathGraph, graphs: GraphInput) -> GraphTensor:
    """The tensor of a graph, numbered by the model's vocabularies."""
    configuration = GraphConfiguration.from_name(graphs.configuration)
    return tensorise(graph, graphs.vocabulary, graphs.relations, configuration)


def source_digest(formula: Formula, macros: tuple[str, ...]) -> bytes:
    """A digest of the formula from which the vectors of a visual class are computed."""
    said = (formula.latex, formula.presentation_mathml or "", formula.content_mathml or "", *macros)
    return blake2b("\0".join(said).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def visual_formula(key: str, read: ReadFormula, needs_trees: bool) -> VisualFormula:
    """A visual class with the trees of one of its formulas, if the system needs them."""
    opt, slt = trees_of(*read)[0] if needs_trees else (None, None)
    return VisualFormula(key=key, formula=read[0], opt=opt, slt=slt)


def _item_row(item: Item) -> list[str | None]:
    """A post with its graph for a process that cannot read the index."""
    return [
        item.post.to_json(),
        None if item.graph is None else notation.write(item.graph, one_line=True),
        None if item.tensor is None else base64.b64encode(item.tensor.to_bytes()).decode(),
    ]


def _item_of(row: list[Any]) -> Item:
    line, text, blob = row
    post = Post.from_json(line)
    return Item(
        post=post,
        graph=None if text is None else notation.read(text, post.id),
        tensor=None if blob is None else GraphTensor.from_bytes(base64.b64decode(blob)),
    )


def _row(encoded: Encoded) -> list[Any]:
    return [
        encoded.id,
        _fields_row(encoded.post),
        [[name, _fields_row(fields)] for name, fields in encoded.formulas],
    ]


def _passage_row(stored: StoredPassage) -> tuple[str, str]:
    return stored.rules, base64.b64encode(stored.packed).decode()


def _new_post(row: list[Any]) -> NewPost:
    (rules, passage), graph, tensor, encoded = row
    stored = StoredPassage(str(rules), base64.b64decode(passage))
    return NewPost(
        stored, stored_post(graph), base64.b64decode(tensor) if tensor else None, _encoded(encoded)
    )


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
