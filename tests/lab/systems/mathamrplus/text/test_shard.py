from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr_lab.systems.mathamrplus.text.shard import TextShard, export_texts
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
    with pytest.raises(MathAMRError, match="not a shard of texts"):
        TextShard.load(text_files / "pairs.npz")
