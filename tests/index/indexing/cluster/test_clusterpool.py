from __future__ import annotations

import pytest

from mathamr.index.indexing.cluster.clusterpool import identity
from mathamr.index.indexing.cluster.workspec import WorkSpec


def test_vectors_of_another_backend_or_precomputed_ones_have_shards_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = set()
    for settings in ({}, {"MATHAMR_TEXT": "float"}, {"MATHAMR_VECTORS": "ahead"}):
        with monkeypatch.context() as environment:
            for name in ("MATHAMR_TEXT", "MATHAMR_VECTORS"):
                environment.delenv(name, raising=False)
            for name, value in settings.items():
                environment.setenv(name, value)
            keys.add(WorkSpec.of("a:B", (), None, identity("a model")).key("a post"))
    assert len(keys) == 3
    usual = WorkSpec.of("a:B", (), None, {"made with": "a model"}).key("a post")
    assert usual in keys, "shards of before are still found"
