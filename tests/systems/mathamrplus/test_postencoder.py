from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.graphs.store import GraphStore
from mathamr.posts.level import Level
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.postencoder import PostEncoder, Shares, load_post_encoder, save_joined
from mathamr.text.torchfolder import save_text_encoder
from mathamr.text.wording import wording
from tests.models import graph_store, sample_posts, tiny_model
from tests.text.small import small_text_encoder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return graph_store(tmp_path_factory.mktemp("post-encoder") / "graphs", sample_posts(6))


@pytest.fixture(scope="module")
def joined(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joined")
    tiny_model(folder / "graph", store)
    save_text_encoder(folder / "text", small_text_encoder(projection=8))
    save_joined(folder, "tiny", Shares(formula=0.25, sentence=0.5, document=1.0))
    return folder


def items(store: Path, encoder: PostEncoder):  # type: ignore[no-untyped-def]
    with GraphStore(store) as graphs:
        return [(post, graphs.tensor(encoder.graphs, post.id)) for post in sample_posts(6)]


def test_joined_vectors_have_the_weighted_mean_of_both_cosines(store: Path, joined: Path) -> None:
    encoder = load_post_encoder(joined, "cpu")
    chosen = items(store, encoder)
    found = list(encoder.encode(chosen))
    graphs = list(GraphEncoder.load(joined / "graph", "cpu").encode(tensor for _, tensor in chosen))
    assert encoder.text is not None
    texts = list(encoder.text.encode(wording(post, tensor) for post, tensor in chosen))
    assert len(found) == len(chosen)
    share = {Level.FORMULA: 0.25, Level.SENTENCE: 0.5, Level.DOCUMENT: 1.0}
    for vectors, graph, text in zip(found, graphs, texts, strict=True):
        assert vectors.vectors.shape == (len(graph), encoder.size)
        np.testing.assert_allclose(np.linalg.norm(vectors.vectors, axis=1), 1, atol=1e-5)
        for level, part in share.items():
            rows = [row for row in text.of if graph.levels[row] == level]
            places = [list(text.of).index(row) for row in rows]
            expected = part * text.vectors[places] @ text.vectors[places].T
            expected += (1 - part) * graph.vectors[rows] @ graph.vectors[rows].T
            np.testing.assert_allclose(vectors.vectors[rows] @ vectors.vectors[rows].T, expected, atol=1e-5)


def test_a_representative_without_text_has_its_graph_alone(store: Path, joined: Path) -> None:
    encoder = load_post_encoder(joined, "cpu")
    ((post, tensor), *_) = items(store, encoder)
    from dataclasses import replace

    wordless = replace(post, title="", body="", formulas=())
    (found,) = encoder.encode([(wordless, tensor)])
    (graph,) = GraphEncoder.load(joined / "graph", "cpu").encode([tensor])
    rows = [row for row, level in enumerate(graph.levels) if level == Level.FORMULA]
    np.testing.assert_allclose(found.vectors[rows, 8:], graph.vectors[rows], atol=1e-6)
    assert not found.vectors[rows, :8].any()


def test_a_graph_model_alone_is_a_post_encoder_too(store: Path, joined: Path) -> None:
    encoder = load_post_encoder(joined / "graph", "cpu")
    assert encoder.text is None
    chosen = items(store, encoder)
    for ours, theirs in zip(
        encoder.encode(chosen), encoder.graph.encode(tensor for _, tensor in chosen), strict=True
    ):
        np.testing.assert_array_equal(ours.vectors, theirs.vectors)
    assert encoder.fingerprint == encoder.graph.fingerprint


def test_the_fingerprint_knows_graph_text_and_shares(store: Path, joined: Path) -> None:
    encoder = load_post_encoder(joined, "cpu")
    same = PostEncoder(encoder.graph, encoder.text, encoder.shares)
    shared = PostEncoder(encoder.graph, encoder.text, Shares(document=0.9))
    worded = PostEncoder(encoder.graph, small_text_encoder(projection=8, seed=1), encoder.shares)
    assert same.fingerprint == encoder.fingerprint
    assert len({encoder.fingerprint, shared.fingerprint, worded.fingerprint, encoder.graph.fingerprint}) == 4


def test_foreign_and_damaged_folders_are_refused(tmp_path: Path, joined: Path) -> None:
    with pytest.raises(MathAMRError, match=r"no model in .*: it has no config.json"):
        load_post_encoder(tmp_path, "cpu")
    config = tmp_path / "config.json"
    for text, said in (
        (json.dumps({"format": 1, "encoder": "joined"}), "how vectors are joined"),
        (json.dumps({"format": 1, "encoder": "joined", "shares": {"colour": 1}}), "how vectors are joined"),
        (json.dumps({"format": 1, "encoder": "joined", "shares": {"formula": "x"}}), "may not choose"),
        (json.dumps({"format": 1, "encoder": "joined", "shares": {}}), "no model in"),
    ):
        config.write_text(text, encoding="utf-8")
        with pytest.raises(MathAMRError, match=said):
            load_post_encoder(tmp_path, "cpu")
