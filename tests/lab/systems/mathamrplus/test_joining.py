from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.postencoder import Shares
from mathamr.text.encoder import TextEncoder
from mathamr_lab.systems.mathamrplus.joining import (
    Trial,
    between,
    chosen_shares,
    trial,
    with_learned_projection,
    with_principal_components,
    without_head,
)
from mathamr_lab.systems.mathamrplus.text.shard import TextShard
from tests.models import tiny_model
from tests.text.small import small_text_encoder


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory, text_files: Path) -> tuple[Trial, TextShard]:
    shard, text = shards.load(text_files / "pairs.npz"), small_text_encoder(projection=8)
    texts = TextShard.load(text_files / "texts.npz")
    model = tiny_model(tmp_path_factory.mktemp("joining") / "model", text_files / "graphs")
    return trial(shard, texts, GraphEncoder.load(model, "cpu"), text, validation=0.4, others=5), texts


def test_the_shares_that_are_tried_best_are_chosen(tried: tuple[Trial, TextShard]) -> None:
    shares, rows = chosen_shares(tried[0], 8, (0.0, 0.5, 1.0))
    assert len(rows) == 5
    assert max(row["mrr"] for row in rows) == pytest.approx(tried[0].reciprocal(shares, 8))
    assert all(0 <= row["mrr"] <= 1 for row in rows)


def test_the_reciprocal_rank_is_that_of_a_plain_loop(tried: tuple[Trial, TextShard]) -> None:
    made, shares = tried[0], Shares(0.5, 0.5, 0.5)
    total = 0.0
    for place, (question, answer) in enumerate(made.pairs.tolist()):
        ours = made._joined(question, shares, 8)
        score = {
            int(document): float((ours @ made._joined(int(document), shares, 8).T).max(1).mean())
            for document in made.documents
        }
        better = sum(
            score[int(document)] > score[answer] + 1e-7
            for document, ignored in zip(made.documents, made.ignored[place], strict=True)
            if not ignored
        )
        total += 1 / (better + 1) if better < 10 else 0
    assert made.reciprocal(shares, 8) == pytest.approx(total / len(made.pairs), abs=1e-4)


def test_all_principal_components_keep_every_cosine(tried: tuple[Trial, TextShard]) -> None:
    encoder, texts = small_text_encoder(projection=8), tried[1]
    plain, whole = without_head(encoder), with_principal_components(encoder, texts, 16)
    fewer = with_principal_components(encoder, texts, 4)
    assert (plain.size, whole.size, fewer.size) == (16, 16, 4)
    one, other = (
        np.concatenate([row.vectors for row in each.encode_pieces(texts.posts[:5])])
        for each in (plain, whole)
    )
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-2)
    with pytest.raises(MathAMRError, match="too few"):
        with_principal_components(encoder, texts, 16, most=0)


def test_a_learned_projection_keeps_neighbours_better_than_principal_components(
    tried: tuple[Trial, TextShard],
) -> None:
    encoder, texts = small_text_encoder(projection=8), tried[1]
    plain = np.concatenate([row.vectors for row in without_head(encoder).encode_pieces(texts.posts)])

    def lost(projected: TextEncoder) -> float:
        rows = np.concatenate([row.vectors for row in projected.encode_pieces(texts.posts)])
        wanted, found = (np.exp(each @ each.T / 0.04) for each in (plain, rows))
        wanted, found = wanted / wanted.sum(1, keepdims=True), found / found.sum(1, keepdims=True)
        return float((wanted * np.log(wanted / found)).sum(1).mean())

    learned = with_learned_projection(encoder, texts, 4, steps=150)
    assert learned.size == 4
    assert lost(learned) < lost(with_principal_components(encoder, texts, 4))


def test_between_two_encoders_lie_their_weights() -> None:
    base, tuned = small_text_encoder(), small_text_encoder(projection=8, seed=1)
    middle = between(base, tuned, 0.25).model.state_dict()
    before, after = base.model.state_dict(), tuned.model.state_dict()
    for name, weights in before.items():
        np.testing.assert_allclose(middle[name], 0.75 * weights + 0.25 * after[name], atol=1e-6)
    assert (middle["head.weight"] == after["head.weight"]).all()
    with pytest.raises(MathAMRError, match="from 0 to 1"):
        between(base, tuned, 2)
