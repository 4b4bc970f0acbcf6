"""Declarations of a formal library among search results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from mathamr.index.engines.engine import FieldTarget, Payload
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.scored import Scored
from mathamr.search.library import lean_query
from mathamr.search.options import SearchOptions
from mathamr.search.postranker import PostRanker, central_first
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext, QueryVectors
from mathamr.search.ranker import FoundHits
from mathamr.search.searcher import Index
from mathamr.systems.ranking import Component, Fuse, Lexical, Promote
from mathamr.text.wording import wording_alone


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


def test_a_documented_declaration_is_raised_however_few_results_are_wanted() -> None:
    """Fifty undocumented declarations come before a documented one of nearly the same score, far ones behind it."""
    scores = {f"undocumented{place}": 3.0 for place in range(50)} | {"documented": 2.99}
    scores |= {f"far{place}": 1.0 for place in range(60)}

    class Recorded(PostRanker):
        def _by_words(self, lexicon: object, options: SearchOptions) -> list[Scored]:
            return [Scored(*each) for each in scores.items()][: options.depth]

    def payloads(_: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        lacking = {each: ("undocumented",) if each.startswith("undocumented") else () for each in ids}
        return {each: Payload("theorem", ("module:A", *tags)) for each, tags in lacking.items()}

    context = QueryContext(Query.of_text("compact"), cast(QueryVectors, None))
    ranker = Recorded(context, None, lambda: cast(LexicalPart, None), payloads)
    words = Fuse(parts=(Component("lexical", Lexical()),), normalisation="z")
    for depth in (1, 12, 100):
        assert ranker.rank(Promote(words), SearchOptions(depth), "words")[0].id == "documented"


def test_tags_of_other_posts_mean_nothing() -> None:
    assert ordered({"a": ("undocumented",), "b": ()}, {"a": 1.01, "b": 1.0}) == ["a", "b"]


def test_tags_are_not_read_where_no_post_is_a_declaration(
    small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index.open(small_index, device="cpu") as index:
        assert not index.has_declarations
        monkeypatch.setattr(index.archive, "payloads", lambda *given: pytest.fail("payloads were read"))
        assert index.search("the limit of a sequence")


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("∑ i ∈ Finset.range (n + 1), i = n * 2", r"\sum_{i \in \operatorname{range}(n + 1)} i = n \cdot 2"),
        ("(h : 0 < a) : a ^ 2 ≠ 0", r"a^{2} \ne 0"),
        ("IsCompact s → IsClosed s", r"\operatorname{IsCompact}(s) \to \operatorname{IsClosed}(s)"),
    ],
)
def test_a_statement_typed_in_lean_is_read_like_those_of_the_library(typed: str, latex: str) -> None:
    asked = lean_query(Query.of_text(typed))
    assert [formula.latex for formula in asked.formulas] == [latex]
    assert wording_alone(asked.post)[0].text.removeprefix(": ") == typed


@pytest.mark.parametrize("typed", ["Heine-Borel theorem", "sum_union", r"$\sum_i a_i = 0$", "x + y = y + x"])
def test_other_queries_stay_as_they_were_typed(typed: str) -> None:
    query = Query.of_text(typed)
    assert lean_query(query) is query
