from __future__ import annotations

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.text.encoder import TextEncoder
from mathamr.text.wordpieces import Pieces
from mathamr_lab.systems.text.joining import (
    between,
    with_learned_projection,
    with_principal_components,
    without_head,
)
from mathamr_lab.systems.text.shard import TextShard
from tests.text.small import PIECES, small_text_encoder


@pytest.fixture(scope="module")
def texts() -> TextShard:
    draw, pieces = np.random.default_rng(3), []
    for _ in range(40):
        numbers = draw.integers(4, len(PIECES), 14).astype(np.uint16)
        columns = (np.array(each, np.int32) for each in ([0, 1, 2], [0, 5, 0], [5, 9, 14]))
        pieces.append(Pieces(numbers, *columns))
    return TextShard(tuple(pieces))


def test_all_principal_components_keep_every_cosine(texts: TextShard) -> None:
    encoder = small_text_encoder(projection=8)
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
    texts: TextShard,
) -> None:
    encoder = small_text_encoder(projection=8)
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
