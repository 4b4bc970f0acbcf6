"""Values of measures: worked by hand from the published definitions, and against trec_eval on random cases."""

from __future__ import annotations

import random
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.evaluation.measures import measure
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from tests.cases import cases

GRADES = {"a": 3, "b": 0, "c": 2, "d": 1, "e": 0, "f": 2}
"""Three relevant items (a, c, f) and three that are not; x, y, z are unjudged."""

RANKED = ["x", "b", "a", "y", "d", "c", "z"]


def of(name: str, ranked: list[str] = RANKED, grades: dict[str, int] = GRADES) -> float:
    return measure(name).of(ranked, grades)


IDEAL = 3 / log2(2) + 2 / log2(3) + 2 / log2(4) + 1 / log2(5)


@cases(
    ("name", "value"),
    [
        # discounted grades, divided by those of the best order; the ranks of nDCG' are those among judged results
        ("nDCG", (3 / log2(4) + 1 / log2(6) + 2 / log2(7)) / IDEAL),
        ("nDCG'", (0 / log2(2) + 3 / log2(3) + 1 / log2(4) + 2 / log2(5)) / IDEAL),
        ("nDCG'@2", (3 / log2(3)) / (3 / log2(2) + 2 / log2(3))),
        # average precision is divided by all relevant items, found or not
        ("MAP", (1 / 3 + 2 / 6) / 3),
        ("MAP'", (1 / 2 + 2 / 4) / 3),
        # precision is divided by k even with fewer results; a threshold decides what is relevant
        ("P@10", 2 / 10),
        ("P@3", 1 / 3),
        ("P'@2", 1 / 2),
        ("P(rel=1)@10", 3 / 10),
        ("P(rel=3)@10", 1 / 10),
        # recall is the share of the relevant items that were found
        ("recall@3", 1 / 3),
        ("recall@100", 2 / 3),
        ("recall(rel=3)", 1),
        # the rank of the first relevant result
        ("MRR", 1 / 3),
        ("MRR'", 1 / 2),
        ("MRR@2", 0),
        # results with a judgment
        ("judged@5", 3 / 5),
        ("judged@10", 4 / 10),
        # R = 3, N = 3: above a stands one judged non-relevant result (b), above c two (b, d); f was not found
        ("Bpref", (1 - 1 / 3 + 1 - 2 / 3) / 3),
    ],
)
def test_values_are_those_worked_by_hand(name: str, value: float) -> None:
    assert of(name) == pytest.approx(value, abs=1e-12)


def test_bpref_divides_by_the_smaller_of_relevant_and_non_relevant() -> None:
    # R = 3 and N = 1: one non-relevant result above is all there can be, as in trec_eval.
    grades = {"a": 3, "b": 0, "c": 2, "f": 2}
    assert of("Bpref", ["a", "b", "c"], grades) == pytest.approx((1 + 0) / 3)
    # R = 1 and N = 3: what is beyond the first R non-relevant results does not count further.
    grades = {"a": 3, "b": 0, "d": 1, "e": 0}
    assert of("Bpref", ["b", "d", "e", "a"], grades) == 0
    assert of("Bpref", ["a", "b", "d", "e"], grades) == 1


def test_bpref_is_one_for_found_items_where_nothing_was_judged_non_relevant() -> None:
    assert of("Bpref", ["x", "a", "y", "c"], {"a": 3, "c": 2}) == 1
    assert of("Bpref", ["x", "a"], {"a": 3, "c": 2}) == 0.5


@cases("name", ["nDCG'", "MAP'", "P'@10", "Bpref", "recall@10", "MRR"])
def test_without_relevant_items_or_results_a_topic_scores_zero(name: str) -> None:
    assert of(name, RANKED, {"a": 0, "b": 0}) == 0
    assert of(name, [], GRADES) == 0
    assert of(name, ["x", "y"], GRADES) == 0
    assert of(name, RANKED, {}) == 0


def test_ties_are_broken_like_in_trec_eval_the_larger_id_first() -> None:
    run = Run.of("tied", {"T": [("1", 1.0), ("2", 1.0), ("10", 1.0), ("0", 2.0)]})
    assert run.ids("T") == ["0", "2", "10", "1"]
    scores = evaluate(run, Qrels({"T": {"2": 2, "10": 0}}), [measure("MRR")])
    assert scores.values["MRR"]["T"] == 0.5


def test_nothing_below_the_thousandth_result_counts() -> None:
    ranked = [f"x{place}" for place in range(999)]
    assert of("nDCG'", [*ranked, "a"], {"a": 3}) == 1
    assert of("nDCG'", [*ranked, "b", "a"], {"a": 3}) == 0


CASES = 1000
TREC_EVAL = {
    "nDCG'": ("ndcg", 1),
    "nDCG'@10": ("ndcg_cut_10", 1),
    "MAP'": ("map", 2),
    "MAP'@10": ("map_cut_10", 2),
    "P'@10": ("P_10", 2),
    "P'@5": ("P_5", 2),
    "P'(rel=1)@5": ("P_5", 1),
    "Bpref": ("bpref", 2),
    "Bpref(rel=1)": ("bpref", 1),
    "nDCG": ("ndcg", 1),
    "MAP": ("map", 2),
    "P@10": ("P_10", 2),
    "recall@5": ("recall_5", 2),
    "recall@100": ("recall_100", 2),
    "MRR": ("recip_rank", 2),
    "MRR@10": ("recip_rank", 2),
    "MRR(rel=3)": ("recip_rank", 3),
}
"""Our measures; their names in trec_eval, with the least grade of a relevant item."""


@pytest.fixture(scope="module")
def cases() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Random judgments with an item of each grade, and runs that find some of them among unjudged ones, with ties."""
    generator = random.Random(8)
    grades: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, float]] = {}
    for number in range(CASES):
        topic = f"T{number:04}"
        judged = [f"d{place}" for place in range(generator.randint(4, 40))]
        grades[topic] = {item: generator.choice((0, 0, 0, 1, 2, 3)) for item in judged}
        grades[topic] |= dict(zip(judged, (0, 1, 2, 3), strict=False))
        pool = judged + [f"u{place}" for place in range(generator.choice((0, 5, 50, 120)))]
        found = generator.sample(pool, generator.randint(1, len(pool)))
        runs[topic] = {item: float(generator.randint(0, 50)) for item in found}
    return grades, runs


@pytest.mark.parametrize("name", list(TREC_EVAL))
def test_measures_equal_trec_eval_on_a_thousand_random_cases(
    name: str, cases: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]
) -> None:
    oracle = pytest.importorskip("pytrec_eval", reason="trec_eval has no package for this processor")
    grades, runs = cases
    ours = measure(name)
    kept = runs
    if ours.prime:
        kept = {
            topic: {item: score for item, score in found.items() if item in grades[topic]} or {"nothing": 0.0}
            for topic, found in runs.items()
        }
    if name == "MRR@10":  # which trec_eval does not cut
        kept = {
            topic: dict(sorted(found.items(), key=lambda item: (item[1], item[0]), reverse=True)[:10])
            for topic, found in kept.items()
        }
    theirs, least = TREC_EVAL[name]
    found = oracle.RelevanceEvaluator(grades, {theirs}, relevance_level=least).evaluate(kept)
    scores = evaluate(Run.of("random", {t: list(r.items()) for t, r in runs.items()}), Qrels(grades), [ours])
    assert len(found) == len(scores.values[name]) == CASES
    apart = {topic: abs(value - found[topic][theirs]) for topic, value in scores.values[name].items()}
    assert max(apart.values()) < 1e-9, max(apart, key=apart.__getitem__)


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3)),
    st.lists(st.sampled_from("abcdefghxyz"), unique=True),
    st.sampled_from(list(TREC_EVAL)),
)
def test_values_lie_between_zero_and_one(grades: dict[str, int], ranked: list[str], name: str) -> None:
    assert 0 <= measure(name).of(ranked, grades) <= 1 + 1e-12


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3)),
    st.sampled_from(["nDCG'", "MAP'", "Bpref"]),
)
def test_the_best_order_scores_one_where_anything_is_relevant(grades: dict[str, int], name: str) -> None:
    best = sorted(grades, key=lambda item: -grades[item])
    has_relevant = any(grade >= (1 if name == "nDCG'" else 2) for grade in grades.values())
    assert measure(name).of(best, grades) == pytest.approx(1.0 if has_relevant else 0.0)
