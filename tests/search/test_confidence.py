"""How surely a hit is what was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import write_model_folder
from mathamr.search.confidence import STRONG, WEAK, Confidence, formula_match, isotonic
from mathamr.search.formulagrade import CONTAINED, CONTAINED_RENAMED, RENAMED
from mathamr.search.hits import Hit, Hits, Match, reason_of
from mathamr.search.labelweights import (
    DEFAULT_WEIGHTS,
    ConfidenceWeights,
    Features,
    Group,
    LabelWeights,
    read_label_weights,
)
from mathamr.search.query import Query
from mathamr.search.results import GRADE, RankedResult
from mathamr.search.searcher import Index
from mathamr.systems.models import model_folder
from tests.cases import cases

NOTHING = Features(0.3, 0.2, 0.02, 0.45, 0.5, 0.05)
ANSWER = Features(1.0, 1.0, 0.3, 0.75, 0.6, 0.3)


MEASURED = read_label_weights(model_folder("mathamr-3"))


@cases("group", DEFAULT_WEIGHTS)
def test_what_has_the_words_and_the_formula_is_more_probable(group: Group) -> None:
    for weights in (MEASURED[group], DEFAULT_WEIGHTS[group]):
        assert 0 < weights.probability(NOTHING) < weights.probability(ANSWER) < 1
        assert weights.probability(Features(*[1e6] * 6)) <= 1
        if group != "question":
            assert weights.probability(NOTHING) < WEAK < STRONG < weights.probability(ANSWER)


def test_values_that_never_rise_are_the_nearest_ones() -> None:
    assert isotonic([0.9, 0.5, 0.1]) == [0.9, 0.5, 0.1]
    assert isotonic([0.1, 0.2, 0.9]) == pytest.approx([0.4, 0.4, 0.4])
    assert isotonic([]) == []


def test_formulas_match_up_to_renaming_and_if_they_contain_the_query() -> None:
    assert formula_match(RankedResult("f", 1.0, exact=True)) == "strong"
    assert formula_match(RankedResult("f", 1.0, {GRADE: RENAMED})) == "strong"
    assert formula_match(RankedResult("f", 1.0, {GRADE: CONTAINED})) == "strong"
    assert formula_match(RankedResult("f", 1.0, {GRADE: CONTAINED_RENAMED})) == "weak"
    assert formula_match(RankedResult("f", 1.0, {GRADE: 0.45})) == "weak"
    assert formula_match(RankedResult("f", 1.0, {GRADE: 0.3})) == "similar"


@cases(
    ("matches", "similar_from"),
    [((), 0), (("similar", "similar"), 0), (("strong", "weak", "similar", "similar"), 2), (("weak",), 1)],
)
def test_hits_say_from_where_on_they_are_only_similar(matches: tuple[Match, ...], similar_from: int) -> None:
    hits = tuple(Hit(str(place), place, 1.0, "note", match=each) for place, each in enumerate(matches, 1))
    assert Hits(Query.of_text("x"), "answers", "hybrid", hits).similar_from == similar_from


@pytest.fixture(scope="module")
def index(small_index: Path) -> Index:
    return Index.open(small_index, device="cpu")


def judged(
    index: Index, text: str, *evidence: dict[str, float], weights: LabelWeights = MEASURED
) -> list[Match]:
    """The labels of results with this evidence, which stand before results with hardly any."""
    query = Query.of_text(text)
    poor = {"lexical": 0.05, "single": 0.3, "maxsim": 0.3}
    ranked = [RankedResult(f"r{place}", 1.0, each) for place, each in enumerate((*evidence, *[poor] * 12))]
    return Confidence(query, index.archive.lexical.posts, weights, ranked).matches()[: len(evidence)]


def test_a_very_similar_declaration_matches_although_it_shares_few_words(index: Index) -> None:
    """Right theorems of Mathlib stood under "Nothing here seems to be what was asked"."""
    query = Query.of_text("every bounded sequence has a convergent subsequence")
    poor = {"lexical": 0.05, "single": 0.3, "maxsim": 0.5}
    near, far = ({"lexical": 0.06, "single": 0.5, "maxsim": similar} for similar in (0.55, 0.35))
    for declared, expected in (({"r0"}, ["weak", "similar"]), ({"r1"}, ["similar", "similar"])):
        for first, match in zip((near, far), expected, strict=True):
            least = {**poor, "maxsim": min(poor["maxsim"], first["maxsim"]) - 0.02}
            ranked = [
                RankedResult(f"r{place}", 1.0, each) for place, each in enumerate((first, *[least] * 12))
            ]
            lexicon = index.archive.lexical.posts
            found = Confidence(query, lexicon, MEASURED, ranked, declarations=declared)
            assert found.matches()[0] == match


@pytest.mark.parametrize("weights", [MEASURED, DEFAULT_WEIGHTS])
def test_a_post_with_the_formula_matches_for_every_model(index: Index, weights: LabelWeights) -> None:
    """Exact hits of systems whose cosines were never measured stood under "nothing here"."""
    same = {GRADE: 1.0, "lexical": 0.3, "formula": 1.4, "single": 0.4, "maxsim": 0.4}
    assert judged(index, "$a^2+b^2=c^2$", same, weights=weights) == ["strong"]
    contained = {**same, GRADE: CONTAINED, "lexical": 0.06}
    assert judged(index, "$a^2+b^2=c^2$", contained, weights=weights)[0] in ("strong", "weak")


def test_labels_agree_with_the_order(index: Index) -> None:
    same, other = {GRADE: 1.0, "lexical": 0.4}, {GRADE: 0.1, "lexical": 0.06}
    assert judged(index, "$x^2+1$", same, other) == ["strong", "similar"]
    one, two = judged(index, "$x^2+1$", other, same)
    assert one == two != "similar"


def test_a_post_with_the_formula_is_never_only_similar_whatever_stands_before_it(index: Index) -> None:
    poor, holding = {GRADE: 0.05, "lexical": 0.05}, {GRADE: CONTAINED, "lexical": 0.05}
    labels = judged(index, "$x^2+1$", poor, poor, poor, holding, poor)
    assert labels[3] != "similar"
    assert labels[4] == "similar"


def test_a_name_in_a_title_is_what_was_asked(index: Index) -> None:
    assert judged(index, "continuous function", {"name": 0.5, "lexical": 0.1}) == ["strong"]


def test_a_word_that_nothing_has_is_not_found(index: Index) -> None:
    good = {"lexical": 0.4, "single": 0.8, "maxsim": 0.9}
    assert judged(index, "Cantelli inequality", good) == ["similar"]


def test_an_answer_in_other_words_is_never_surely_absent(index: Index) -> None:
    """Of titles of forum questions, of whose answers one was among the first three, a third was told that there is nothing."""
    poor = {"lexical": 0.01, "single": 0.4, "maxsim": 0.4}

    def is_absent(text: str, ahead: float, answers: frozenset[str]) -> bool:
        first = {**poor, "maxsim": poor["maxsim"] + ahead}
        ranked = [RankedResult(f"r{place}", 1.0, each) for place, each in enumerate((first, *[poor] * 12))]
        lexicon = index.archive.lexical.posts
        return Confidence(Query.of_text(text), lexicon, MEASURED, ranked, answers=answers).is_surely_absent

    short = "simplifying radicals of this sort"
    long = "ratio of the number of rectangles to squares inside chess boards"
    first, fourth = frozenset(["r0"]), frozenset(["r3"])
    assert is_absent(short, 0.02, first)
    assert is_absent(short, 0.2, fourth)
    assert is_absent(long, 0.02, frozenset())
    assert not is_absent(short, 0.2, first)
    assert not is_absent(long, 0.02, first)


def test_the_share_of_words_comes_from_the_lexical_index(index: Index) -> None:
    text = "continuous function"
    ranked, _ = index.rank(text, "answers", "lexical", 30)
    confidence = Confidence(Query.of_text(text), index.archive.lexical.posts, DEFAULT_WEIGHTS, ranked)
    shares = {each.id: confidence.features(each).words for each in ranked}
    posts = index.archive.catalogue.posts(list(shares))
    has_all = {
        name for name, post in posts.items() if all(word in f"{post.title} {post.body}".lower() for word in ("continuous", "function"))
    }  # fmt: skip
    assert has_all
    assert all(shares[name] == pytest.approx(1.0) for name in has_all)
    assert any(share < 1 for share in shares.values())


@pytest.mark.parametrize("text", ["continuous function", "$\\sum_{n=1}^\\infty \\frac{1}{n^2}$", "zebra"])
def test_what_was_found_does_not_depend_on_how_many_hits_are_shown(index: Index, text: str) -> None:
    assert (
        len({index.search(text, k=k, offset=offset).found for k, offset in ((1, 0), (3, 0), (20, 0), (2, 5))})
        == 1
    )


def test_a_hit_says_why_it_was_found() -> None:
    assert reason_of({GRADE: 1.0, "lexical": 0.2}) == "has the formula"
    assert reason_of({GRADE: CONTAINED}) == "has a formula that contains it"
    assert (
        reason_of({"lexical": 0.1, "formula": 0.4, "maxsim": 0.5}) == "by words, similar formulas and meaning"
    )
    assert reason_of({}) == ""


def test_a_model_has_the_weights_of_its_configuration_whatever_its_name(tmp_path: Path) -> None:
    """They were chosen by the beginning of a name: a model of one's own had other rules without a word."""
    write_model_folder(tmp_path / "mathamr-3-of-mine", {"system": "text"})
    assert read_label_weights(tmp_path / "mathamr-3-of-mine") == DEFAULT_WEIGHTS
    labels = {"text": {"intercept": -1, "words": 2, "parts_ahead": 3.5}}
    write_model_folder(tmp_path / "mine", {"system": "text", "labels": labels})
    found = read_label_weights(tmp_path / "mine")
    assert found["text"] == ConfidenceWeights(-1.0, Features(words=2.0, parts_ahead=3.5))
    assert found["formula"] == DEFAULT_WEIGHTS["formula"]
    assert read_label_weights(model_folder("mathamr-2")) == MEASURED != DEFAULT_WEIGHTS


@cases(
    "labels",
    [{"text": {}}, {"text": {"intercept": 1, "wrds": 2}}, {"text": {"intercept": "x"}}, {"text": 1}, 5],
)
def test_weights_that_are_none_are_an_error_that_names_the_file(tmp_path: Path, labels: object) -> None:
    write_model_folder(tmp_path, {"labels": labels})
    with pytest.raises(MathAMRError, match=r"config\.json"):
        read_label_weights(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "how do I prove continuous function",
        "where is continuous function explained?",
        "I am looking for continuous function",
    ],
)
def test_the_words_of_asking_are_not_what_is_asked_for(index: Index, text: str) -> None:
    """Of questions that name an entry word for word nearly half stood under "perhaps not what you asked"."""
    ranked, _ = index.rank("continuous function", "answers", "lexical", 30)
    shares = [
        [each.words for each in map(index.confidence(Query.of_text(asked), ranked).features, ranked)]
        for asked in ("continuous function", text)
    ]
    assert shares[0] == shares[1]
    assert max(shares[0]) == 1


@cases("text", ["mean value theorem", "explained variance", "explain", "how to prove"])
def test_words_of_asking_count_where_they_are_what_is_asked_for(text: str) -> None:
    words = {"mean", "explained", "explain", "prove"} & set(text.split())
    assert words <= set(Query.of_text(text).content)
