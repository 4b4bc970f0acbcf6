from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import tensorise
from mathamr_lab.training.export import export_store
from tests.graphs.small import small_graph
from tests.graphs.test_store import stored
from tests.graphs.test_tensor import vocabularies

NAME = GraphConfiguration().name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six questions and their answers."""
    with GraphStore(tmp_path / "store", create=True) as store:
        vocabulary, relations = vocabularies(small_graph())
        vocabulary.save(store.vocabulary_path)
        relations.save(store.relations_path)
        for number in range(6):
            store.put([stored(f"p{number}/q"), stored(f"p{number}/a", "answer", f"p{number}/q")])
        for number, post_id in enumerate(store.ids()):
            graph = replace(small_graph(dropped=bool(number % 2)), post_id=post_id)
            store.put_tensors(NAME, [(post_id, tensorise(graph, vocabulary, relations).to_bytes())])
    return tmp_path / "store"


def test_held_out_pairs_are_left_out_and_counted(folder: Path, tmp_path: Path) -> None:
    held = tmp_path / "held.txt"
    held.write_text("p1/q\np4\n\nunknown\n")
    said = export_store(folder, NAME, tmp_path / "deep" / "pairs.npz", without=[held])
    read = shards.load(tmp_path / "deep" / "pairs.npz")
    assert [read.ids[a] for a, _ in read.pairs] == ["p0/q", "p2/q", "p3/q", "p5/q"]
    assert said.startswith("4 pairs of 8 posts")
    assert said.endswith("2 pairs left out")


def test_missing_tensors_and_missing_pairs_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="no tensors of the configuration opt-global-none; make them with"):
        export_store(folder, "opt-global-none", tmp_path / "pairs.npz")
    with pytest.raises(MathAMRError, match="0 pairs of question and answer to train on"):
        export_store(folder, NAME, tmp_path / "pairs.npz", accepted_only=True)
    with pytest.raises(MathAMRError, match="cannot read the ids"):
        export_store(folder, NAME, tmp_path / "pairs.npz", without=[tmp_path / "missing"])
