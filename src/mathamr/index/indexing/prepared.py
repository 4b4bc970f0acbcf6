"""Computes the vectors of posts that are about to be stored, while the index can still be searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathamr.core.batches import batches
from mathamr.core.workers import Lost
from mathamr.graphs import notation
from mathamr.graphs.corpus import stored_post
from mathamr.graphs.mathgraph import MathGraph
from mathamr.index.archive import Archive
from mathamr.index.indexing.encoding import Prepared, ReadFormula, made_tensor, source_digest, visual_formula
from mathamr.index.indexing.entries import says_nothing
from mathamr.posts.post import Post
from mathamr.systems.system import Encoded, Item
from mathamr.systems.vectors import Vectors

VISUALS = 8
"""Visual classes that are encoded at a time; a query waits for so many at most."""


def prepare(archive: Archive, posts: Sequence[Post], visuals: Sequence[Sequence[str]]) -> Prepared:
    """Encodes new posts and new visual classes, given with each post, without holding up queries for long."""
    known = archive.catalogue.known_meanings(posts)
    targets = {each.of for each in archive.manifest.model.fields}
    encoded: dict[str, Encoded] = {}
    tensors: dict[str, bytes] = {}
    for post in posts:
        if targets & {"posts", "formulas"} and post.id not in known and not says_nothing(post):
            item = _item(archive, post)
            if item is None:
                continue
            with archive.encoding.yielding():
                (encoded[post.to_json()],) = archive.system.encode([item])
            if item.tensor is not None:
                tensors[post.id] = item.tensor.to_bytes()
    return Prepared(encoded, tensors, _visuals(archive, posts, visuals) if "visual" in targets else {})


def _item(archive: Archive, post: Post) -> Item | None:
    """The post with the graph and the tensor that the system needs; None if it has no graph."""
    graph = _graph(archive, post) if archive.has_graphs else None
    if archive.has_graphs and graph is None:
        return None
    tensors = archive.system.graphs
    return Item(
        post=post,
        graph=graph if "graph" in archive.needs else None,
        tensor=made_tensor(graph, tensors) if graph and tensors and "tensor" in archive.needs else None,
    )


def _graph(archive: Archive, post: Post) -> MathGraph | None:
    """The graph as it will be read from the store; the worker process has made it already."""
    answer = archive.work([post.to_json()])
    return None if isinstance(answer, Lost) else notation.read(stored_post(answer[0]).text, post.id)


def _visuals(
    archive: Archive, posts: Sequence[Post], visuals: Sequence[Sequence[str]]
) -> dict[bytes, Mapping[str, Vectors]]:
    first: dict[str, ReadFormula] = {}
    for post, keys in zip(posts, visuals, strict=True):
        for formula, key in zip(post.formulas, keys, strict=True):
            first.setdefault(key, (formula, post.macros))
    known = archive.catalogue.visuals(list(first))
    needs_trees = "trees" in archive.needs
    encoded: dict[bytes, Mapping[str, Vectors]] = {}
    for batch in batches(((key, read) for key, read in first.items() if key not in known), VISUALS):
        with archive.encoding.yielding():
            vectors = archive.system.encode_visuals([visual_formula(*each, needs_trees) for each in batch])
            for (_, read), rows in zip(batch, vectors, strict=True):
                encoded[source_digest(*read)] = rows
    return encoded
