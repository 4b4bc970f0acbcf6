"""Declarations of a formal library among search results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mathamr.index.engines.engine import FieldTarget, Payload
from mathamr.index.scored import Scored
from mathamr.search.postranker import central_first
from mathamr.search.ranker import FoundHits
from mathamr.search.searcher import Index


def ordered(tags: dict[str, tuple[str, ...]], scores: dict[str, float]) -> list[str]:
    """The results after auxiliary declarations were lowered."""

    def payloads(_: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        return {each: Payload("theorem", tags[each]) for each in ids}

    found = central_first(FoundHits([Scored(*each) for each in scores.items()]), payloads)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    return [hit.id for hit in found.hits]


def test_documented_declarations_come_before_auxiliary_ones_of_nearly_the_same_score() -> None:
    library = ("module:A",)
    tags = {
        "generated": (*library, "undocumented", "generated"),
        "undocumented": (*library, "undocumented"),
        "documented": library,
        "far": library,
    }
    scores = {"generated": 3.02, "undocumented": 3.01, "documented": 3.0, "far": 1.0}
    assert ordered(tags, scores) == ["documented", "undocumented", "generated", "far"]
    scores = {"generated": 3.02, "undocumented": 3.01, "documented": 2.0, "far": 1.0}
    assert ordered(tags, scores) == ["undocumented", "generated", "documented", "far"]


def test_tags_of_other_posts_mean_nothing() -> None:
    assert ordered({"a": ("undocumented",), "b": ()}, {"a": 1.01, "b": 1.0}) == ["a", "b"]


def test_tags_are_not_read_where_no_post_is_a_declaration(
    small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index.open(small_index, device="cpu") as index:
        assert not index.has_declarations
        monkeypatch.setattr(index.archive, "payloads", lambda *given: pytest.fail("payloads were read"))
        assert index.search("the limit of a sequence")
