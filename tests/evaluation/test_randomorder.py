from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.randomorder import known_items, random_scores
from mathamr.evaluation.runs import Run

QRELS = Qrels({"A.1": {"a": 3, "b": 0, "c": 0, "d": 2}, "A.2": {"a": 0, "e": 2}})


def test_the_expectation_of_simple_measures_is_met() -> None:
    # One relevant item of two: precision at 1 is 1/2 in A.2; two of four: 1/2 in A.1.
    scores = random_scores(QRELS, measures(["P@1", "recall@2"]), 0, shuffles=4000)
    assert scores.mean("P@1") == pytest.approx(0.5, abs=0.02)
    # Any two of four hold one of the two relevant items on average; both items of A.2 are among its first two.
    assert scores.values["recall@2"]["A.1"] == pytest.approx(0.5, abs=0.02)
    assert scores.values["recall@2"]["A.2"] == 1


@pytest.mark.slow
def test_only_the_first_thousand_of_many_candidates_count() -> None:
    scores = random_scores(QRELS, measures(["recall"]), 4000, shuffles=2000)
    assert scores.mean("recall") == pytest.approx(0.25, abs=0.03)


def test_the_same_seed_gives_the_same_figures() -> None:
    first = random_scores(QRELS, measures(["nDCG'"]), 50)
    assert random_scores(QRELS, measures(["nDCG'"]), 50) == first
    assert random_scores(QRELS, measures(["nDCG'"]), 50, seed=1) != first


def test_fewer_candidates_than_judged_items_are_refused() -> None:
    with pytest.raises(MathAMRError, match="3 items cannot hold the 4 judged ones"):
        random_scores(QRELS, measures(["nDCG'"]), 3)


def test_known_items_are_those_of_judgments_and_runs() -> None:
    assert known_items(QRELS, [Run.of("mine", {"A.1": [("a", 1.0), ("x", 0.5)], "A.9": [("y", 1.0)]})]) == 7
