from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import tensorise
from tests.graphs.small import small_graph
from tests.graphs.test_store import stored
from tests.graphs.test_tensor import vocabularies


@pytest.fixture
def exported(tmp_path: Path) -> tuple[GraphStore, Path]:
    store = GraphStore(tmp_path, create=True)
    vocabulary, relations = vocabularies(small_graph())
    vocabulary.save(store.vocabulary_path)
    relations.save(store.relations_path)
    store.put([stored("q1"), stored("a1", "answer", "q1"), stored("a2", "answer", "q1")])
    for number, post_id in enumerate(store.ids()):
        graph = replace(small_graph(dropped=bool(number % 2)), post_id=post_id)
        tensor = tensorise(graph, vocabulary, relations)
        store.put_tensors(GraphConfiguration().name, [(post_id, tensor.to_bytes())])
    path = tmp_path / "pairs.npz"
    shard.export(store, GraphConfiguration().name, store.pairs(), path)
    return store, path


def test_shard_holds_the_same_tensors_pairs_and_vocabularies(exported: tuple[GraphStore, Path]) -> None:
    store, path = exported
    read = shard.load(path)
    assert [(read.ids[a], read.ids[b]) for a, b in read.pairs] == [("q1", "a1"), ("q1", "a2")]
    for number, post_id in enumerate(read.ids):
        assert read[number] == store.tensor(GraphConfiguration().name, post_id)
    assert (read.vocabulary.labels, read.relations) == (
        store.vocabularies()[0].labels,
        store.vocabularies()[1],
    )


def test_a_shard_whose_parts_do_not_agree_is_refused(
    exported: tuple[GraphStore, Path], tmp_path: Path
) -> None:
    with np.load(exported[1]) as file:
        arrays = {name: file[name] for name in file.files}
    head = json.loads(arrays["head"].tobytes())

    def saved(**changed: object) -> Path:
        whole = np.frombuffer(json.dumps({**head, **changed}).encode(), np.uint8)
        np.savez(tmp_path / "other.npz", **{**arrays, "head": whole})
        return tmp_path / "other.npz"

    assert len(shard.load(saved()).ids) == 3
    for changed in ({"ids": head["ids"][1:]}, {"references": head["references"][1:]}):
        with pytest.raises(MathAMRError, match="numbers of graphs do not agree"):
            shard.load(saved(**changed))
    with pytest.raises(MathAMRError, match="export it again"):
        shard.load(saved(format=head["format"] + 1))


def test_damaged_and_foreign_files_are_refused(exported: tuple[GraphStore, Path], tmp_path: Path) -> None:
    _, path = exported
    cut = tmp_path / "cut.npz"
    cut.write_bytes(path.read_bytes()[:-200])
    foreign = tmp_path / "foreign.npz"
    np.savez(foreign, weights=np.zeros(3))
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, head=np.array([{"format": 1}], dtype=object))
    for file in (cut, foreign, pickled, tmp_path / "missing.npz"):
        with pytest.raises(MathAMRError, match="not a shard of graphs"):
            shard.load(file)
