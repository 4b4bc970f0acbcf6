from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.systems.mathamrplus.graphbackend import (
    NumpyGraphEncoder,
    load_graph_backend,
    torch_graph_encoder,
)
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from tests.systems.mathamrplus.test_graphencoder import encoder_of


@pytest.fixture
def folder(shard: Shard, tmp_path: Path) -> Path:
    encoder = encoder_of(shard)
    torch.manual_seed(3)
    for (
        parameter
    ) in encoder.model.parameters():  # no part may be left out unnoticed because it starts at zero
        torch.nn.init.normal_(parameter, std=0.3)
    encoder.save(tmp_path / "graph", half=True)
    return tmp_path / "graph"


def test_vectors_are_those_of_torch(shard: Shard, folder: Path) -> None:
    tensor = shard[0]
    bare = replace(tensor, edge_index=np.zeros((2, 0), np.int32), relation_ids=np.zeros(0, np.int32))
    tensors = [shard[number] for number in range(len(shard))] + [bare]
    ours, theirs = load_graph_backend(folder, "cpu"), GraphEncoder.load(folder, "cpu")
    assert isinstance(ours, NumpyGraphEncoder)
    assert (ours.fingerprint, ours.size, ours.graphs) == (theirs.fingerprint, theirs.size, theirs.graphs)
    expected = list(theirs.encode(tensors))
    for first, second in zip(ours.encode(iter(tensors)), expected, strict=True):
        assert first.references == second.references
        assert np.array_equal(first.levels, second.levels)
        np.testing.assert_allclose(first.vectors, second.vectors, atol=2e-5)
    assert list(ours.encode([])) == []


def test_torch_reads_where_it_is_asked_to(
    folder: Path, shard: Shard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = load_graph_backend(folder, "cpu")
    assert isinstance(torch_graph_encoder(ours), GraphEncoder)
    encoder_of(shard, start="mean").save(tmp_path / "mean")
    assert isinstance(load_graph_backend(tmp_path / "mean", "cpu"), GraphEncoder)
    monkeypatch.setenv("MATHAMR_TEXT", "float")
    assert isinstance(load_graph_backend(folder, "cpu"), GraphEncoder)


def test_what_does_not_fit_is_refused(folder: Path, shard: Shard) -> None:
    ours = load_graph_backend(folder, "cpu")
    foreign = replace(shard[0], node_ids=shard[0].node_ids + 10_000)
    with pytest.raises(MathAMRError, match="label number outside"):
        list(ours.encode([foreign]))
    row = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for change, match in (({"layers": 1}, "another model"), ({"bases": 7}, "the configuration requires")):
        (folder / "config.json").write_text(
            json.dumps({**row, "model": {**row["model"], **change}}), encoding="utf-8"
        )
        with pytest.raises(MathAMRError, match=match):
            load_graph_backend(folder, "cpu")
