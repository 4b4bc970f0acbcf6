from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.text.files import load_text_encoder
from mathamr_lab.systems.mathamrplus.text.shard import TextShard, export_texts
from mathamr_lab.systems.mathamrplus.text.table import text_table
from tests.text.small import small_text_encoder


def test_texts_round_trip_and_belong_to_their_graphs(text_files: Path, tmp_path: Path) -> None:
    shard, texts = shards.load(text_files / "pairs.npz"), TextShard.load(text_files / "texts.npz")
    assert len(texts) == len(shard)
    for place, post in enumerate(texts.posts):
        assert len(post) <= 60
        assert len(post.of)
        assert int(post.of.max()) < len(shard[place].representatives)
    with pytest.raises(MathAMRError, match="are not among the posts given"):
        export_texts([], shard, small_text_encoder().pieces, 60, tmp_path / "none.npz")
    with pytest.raises(MathAMRError, match="no shard of texts"):
        TextShard.load(text_files / "pairs.npz")


def test_a_table_has_the_vector_of_every_representative_that_has_text(text_files: Path) -> None:
    shard, texts = shards.load(text_files / "pairs.npz"), TextShard.load(text_files / "texts.npz")
    encoder = load_text_encoder(text_files / "base", "cpu")
    table = text_table(encoder, shard, texts)
    assert table.size == encoder.size
    assert len(table.rows) == int(shard.starts["reps"][-1])
    (third,) = encoder.encode_pieces([texts.posts[3]])
    for place, vector in zip(third.of, third.vectors, strict=True):
        found = table.vectors[table.rows[shard.starts["reps"][3] + place]]
        assert abs(found.astype("f4") - vector).max() < 0.05
    assert (table.rows >= 0).sum() == sum(len(post.of) for post in texts.posts)
