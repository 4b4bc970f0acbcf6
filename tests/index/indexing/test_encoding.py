from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.workers import Lost
from mathamr.graphs.store import GraphStore
from mathamr.index.archive import GRAPHS, Archive
from mathamr.index.indexing import encoding
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.encoding import Encoders, read_tensor
from mathamr.posts.post import Post
from mathamr.systems.system import Encoded, Item


def items(archive: Archive, posts: list[Post]) -> list[Item]:
    assert archive.system.graphs is not None
    with GraphStore(archive.folder / GRAPHS, read_only=True) as store:
        return [Item(post=post, tensor=read_tensor(store, post.id, archive.system.graphs)) for post in posts]


def same(ours: list[Encoded], theirs: list[Encoded]) -> bool:
    """Whether vectors are the same up to rounding, which depends on what is computed beside them."""

    def rows(encoded: Encoded) -> list[tuple[object, ...]]:
        return [
            (encoded.id, where, name, own.references, own.levels.tolist())
            for where, fields in (("", encoded.post), *encoded.formulas)
            for name, own in fields.items()
        ]

    def vectors(found: list[Encoded]) -> list[np.ndarray]:
        return [
            own.vectors
            for each in found
            for fields in (each.post, *(fields for _, fields in each.formulas))
            for own in fields.values()
        ]

    return [*map(rows, ours)] == [*map(rows, theirs)] and all(
        np.allclose(a, b, rtol=0, atol=2e-6) for a, b in zip(vectors(ours), vectors(theirs), strict=True)
    )


def test_processes_give_what_is_made_here_in_the_same_order(
    small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "CHUNK", 3)
    with Archive.open(small_index) as archive:
        posts = list(archive.catalogue.posts(sorted(archive.catalogue.ids())).values())
        here = list(archive.system.encode(items(archive, posts)))
        with Encoders(archive, BuildPool(1), 1000) as alone:
            assert same(list(alone.posts(posts, lambda chosen: items(archive, list(chosen)))), here)
        with Encoders(archive, BuildPool(2), 1000) as encoders:
            assert encoders._workers is not None
            assert same(list(encoders.posts(posts, lambda _: [])), here)
            # A worker that is lost over some posts costs nothing: they are encoded here.
            pool = encoders._workers.map
            monkeypatch.setattr(
                encoders._workers,
                "map",
                lambda requests: (
                    (request, Lost("worker died", "gone") if number == 1 else answer)
                    for number, (request, answer) in enumerate(pool(requests))
                ),
            )
            found = list(encoders.posts(posts, lambda chosen: items(archive, list(chosen))))
            assert same(found, here)


def test_few_posts_are_not_worth_processes(small_index: Path) -> None:
    with Archive.open(small_index) as archive, Encoders(archive, BuildPool(2), encoding.FEW) as encoders:
        assert encoders._workers is None
