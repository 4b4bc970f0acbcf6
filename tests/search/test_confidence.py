"""How surely a hit is what was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.search.confidence import (
    BACKGROUND,
    BY_WORDS,
    CALIBRATED,
    STRONG,
    WEAK,
    WEAK_DECLARATION,
    Confidence,
    ConfidenceWeights,
    Features,
    formula_match,
)
from mathamr.search.hits import Hit, Hits, Match
from mathamr.search.query import Query
from mathamr.search.results import RankedResult
from mathamr.search.searcher import Index

NOTHING = Features(0.45, 0.5, 0.05, 0.02, 0.3)
ANSWER = Features(0.75, 0.8, 0.3, 0.3, 1.0)


@pytest.mark.parametrize("weights", [*CALIBRATED["mathamr-2"], *CALIBRATED["mathamr-3"], BY_WORDS])
def test_what_stands_out_is_more_probable_than_what_does_not(weights: ConfidenceWeights) -> None:
    assert 0 < weights.probability(NOTHING) < weights.probability(ANSWER) < 1
    assert weights.probability(Features(1e6, 1e6, 1e6, 1e6, 1e6)) <= 1


def test_a_name_is_told_from_nothing() -> None:
    for weights in CALIBRATED.values():
        assert weights.short.probability(NOTHING) < WEAK < STRONG < weights.short.probability(ANSWER)


def test_formulas_match_up_to_renaming() -> None:
    assert formula_match(RankedResult("f", 1.0, exact=True)) == "strong"
    assert formula_match(RankedResult("f", 1.0, {"renamed": 1.0, "aligned": 0.5})) == "strong"
    assert formula_match(RankedResult("f", 1.0, {"aligned": 0.8})) == "weak"
    assert formula_match(RankedResult("f", 1.0, {"aligned": 0.4})) == "similar"


@pytest.mark.parametrize(
    ("matches", "found", "similar_from"),
    [
        ((), "nothing", 0),
        (("similar", "similar"), "similar", 0),
        (("weak", "similar", "strong", "similar"), "strong", 3),
        (("weak",), "weak", 1),
    ],
)
def test_hits_say_what_was_found_and_from_where_on_they_are_only_similar(
    matches: tuple[Match, ...], found: str, similar_from: int
) -> None:
    hits = tuple(Hit(str(place), place, 1.0, "note", match=each) for place, each in enumerate(matches, 1))
    searched = Hits(Query.of_text("x"), "answers", "hybrid", hits)
    assert (searched.found, searched.similar_from) == (found, similar_from)
    assert searched.to_json()["found"] == found


@pytest.mark.parametrize(
    "text",
    ["continuous function", "sum of the series", "the limit of $a_n$", "prime numbers", "Zorn's lemma"],
)
def test_a_stored_passage_has_the_words_that_the_markup_has(small_index: Path, text: str) -> None:
    with Index.open(small_index, device="cpu") as index:
        ranked, _ = index.rank(text, "answers", "lexical", 30)
        confidence = Confidence(Query.of_text(text), index.archive.lexical.posts, "", ranked)
        posts = index.archive.catalogue.posts([each.id for each in ranked])
        for each in ranked:
            post = posts[each.id]
            assert confidence.features(post, each.evidence, passage(post)) == confidence.features(
                post, each.evidence
            )


def test_a_declaration_is_a_weak_match_sooner_than_a_note(small_index: Path) -> None:
    evidence = {"single": 0.6, "maxsim": 0.7, "lexical": 0.3}
    ranked = [
        RankedResult(str(n), 1.0, {"maxsim": 0.6, "lexical": 0.2}, share=1.0) for n in range(BACKGROUND.stop)
    ]
    with Index.open(small_index, device="cpu") as index:
        query = Query.of_text("limit of a sequence")
        asked = Confidence(query, index.archive.lexical.posts, "mathamr-3", ranked)
        chance = CALIBRATED["mathamr-3"].short.probability(asked._of_scores(evidence))
        assert WEAK_DECLARATION <= chance < WEAK
        found = {
            markup: asked.match(Post("a", "theorem", "", markup=markup), evidence)
            for markup in ("text", "declaration")
        }
    assert found == {"text": "similar", "declaration": "weak"}
