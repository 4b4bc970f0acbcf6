from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.workers import Lost
from mathamr.graphs.store import GraphStore
from mathamr.index.catalogue.journal import unpacked
from mathamr.index.catalogue.postrow import row_of
from mathamr.index.engines.entry import Payload
from mathamr.index.indexing import encoding
from mathamr.index.indexing.analysis import visual_keys
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.encoding import Derived, Encoders, Material
from mathamr.index.storage import GRAPHS, IndexStorage
from mathamr.posts.post import Post
from mathamr.systems.models import load_system, model_folder
from mathamr.systems.system import Encoded
from mathamr.systems.text.system import TextSystem
from tests.index.small import note


def materials(archive: IndexStorage) -> list[Material]:
    """Of every post, with the graph in the store."""
    posts = archive.catalogue.posts(sorted(archive.catalogue.ids())).values()
    with GraphStore(archive.folder / GRAPHS, read_only=True) as store:
        return [Material(row_of(post, visual_keys(post)).packed, graph=store.text(post.id)) for post in posts]


def vectors_of(found: Iterable[Derived | Lost]) -> list[Encoded]:
    return [each.encoded for each in found if isinstance(each, Derived)]


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
    with IndexStorage.open(small_index) as archive:
        given = materials(archive)
        here = vectors_of(encoding.derive(archive.system, given))
        assert len(here) == len(given)
        with Encoders(archive, BuildPool(1), 1) as alone:
            assert same(vectors_of(alone.derive(given)), here)
        with Encoders(archive, BuildPool(2), 1000) as encoders:
            assert encoders._workers is not None
            assert same(vectors_of(encoders.derive(given)), here)
            # A worker that is lost over some posts costs nothing: they are encoded one by one.
            pool = encoders._workers.map
            monkeypatch.setattr(
                encoders._workers,
                "map",
                lambda requests: (
                    (request, Lost("worker died", "gone") if number == 1 else answer)
                    for number, (request, answer) in enumerate(pool(requests))
                ),
            )
            assert same(vectors_of(encoders.derive(given)), here)


def test_a_post_that_makes_the_code_fail_costs_no_other(
    small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexStorage.open(small_index) as archive:
        given = materials(archive)
        payload_of = encoding.payload_of
        hard = unpacked(given[1].packed).id

        def failing(post: Post) -> Payload:
            if post.id == hard:
                raise ZeroDivisionError("no way")
            return payload_of(post)

        monkeypatch.setattr(encoding, "payload_of", failing)
        with Encoders(archive, BuildPool(1), 1) as encoders:
            found = list(encoders.derive(given))
    assert [isinstance(each, Lost) for each in found] == [place == 1 for place in range(len(given))]
    assert found[1] == Lost("cannot be encoded", "ZeroDivisionError: no way")


def test_word_pieces_cut_apart_give_the_same_vectors() -> None:
    posts = [
        note("one", "Let $x>0$. Then $x$ is positive."),
        note("two", "Every sequence has a limit. " * 60),
    ]
    given = [Material(row_of(post, visual_keys(post)).packed) for post in posts]
    system = load_system("mathamr-3", "cpu", "onnx")
    assert isinstance(system, TextSystem)
    cut = encoding.PiecesWork(str(model_folder("mathamr-3")))
    assert cut.identity == system.fingerprint
    pieces = [each.pieces for each in cut(given) if isinstance(each, Derived)]
    assert same(system.encode_pieces(pieces), vectors_of(encoding.derive(system, given)))
