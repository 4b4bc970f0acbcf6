from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.graphs import notation
from mathamr.graphs.store import GraphStore, StoredPost
from mathamr.graphs.tensor import tensorise
from tests.graphs.small import small_graph
from tests.graphs.test_tensor import vocabularies


def stored(post_id: str, kind: str = "question", parent: str | None = None) -> StoredPost:
    graph = replace(small_graph(), post_id=post_id)
    return StoredPost(
        post_id, kind, parent, None, b"d", 17, 16, 2, {}, StoredPost.packed(notation.write(graph))
    )


def test_graph_comes_back_and_a_replaced_post_loses_its_tensors(tmp_path: Path) -> None:
    with GraphStore(tmp_path, create=True) as store:
        store.put([stored("q7")])
        graph = store.graph("q7")
        assert graph == small_graph()
        tensor = tensorise(graph, *vocabularies(graph))
        store.put_tensors("both-hierarchy-none", [("q7", tensor.to_bytes())])
        assert store.tensor("both-hierarchy-none", "q7") == tensor
        store.put([stored("q7")])
        assert len(store) == 1
        assert store.count_tensors("both-hierarchy-none") == 0
        with pytest.raises(MathAMRError, match="has no tensor"):
            store.tensor("both-hierarchy-none", "q7")


def test_pairs_are_answers_with_their_stored_questions(tmp_path: Path) -> None:
    with GraphStore(tmp_path, create=True) as store:
        accepted = replace(stored("q1"), accepted="a2")
        store.put(
            [
                accepted,
                stored("a1", "answer", "q1"),
                stored("a2", "answer", "q1"),
                stored("a3", "answer", "q9"),
            ]
        )
        assert list(store.pairs()) == [("q1", "a1"), ("q1", "a2")]
        assert list(store.pairs(accepted_only=True)) == [("q1", "a2")]


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    with GraphStore(tmp_path, create=True) as store:
        with pytest.raises(AttributeError), store.transaction():
            store.put([stored("q1"), None])  # type: ignore[list-item]
        assert len(store) == 0


def test_missing_foreign_and_newer_stores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="mathamr graph"):
        GraphStore(tmp_path / "nowhere")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "graphs.db").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(MathAMRError, match=r"graphs\.db is damaged"):
        GraphStore(foreign)
    with GraphStore(tmp_path / "newer", create=True) as store:
        store.set_meta("format", "99")
    with pytest.raises(MathAMRError, match="format 99"):
        GraphStore(tmp_path / "newer")
