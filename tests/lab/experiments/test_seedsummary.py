from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.scores import Scores
from mathamr_lab.experiments.seedsummary import Spread, summarise


def scores(ndcg: list[float], bpref: list[float]) -> Scores:
    topics = [f"A.{number}" for number in range(len(ndcg))]
    return Scores(
        "mine",
        {"nDCG'": dict(zip(topics, ndcg, strict=True)), "Bpref": dict(zip(topics, bpref, strict=True))},
    )


SEEDS = {
    3: scores([0.2, 0.4], [0.9, 0.9]),
    1: scores([0.5, 0.5], [0.1, 0.1]),
    2: scores([0.3, 0.7], [0.2, 0.4]),
}


def test_the_best_seed_has_the_highest_mean_and_among_equals_is_the_smallest() -> None:
    summary = summarise(SEEDS)
    assert summary.best_seed == 1
    assert summary.best is SEEDS[1]


def test_another_measure_may_choose() -> None:
    assert summarise(SEEDS, "Bpref").best_seed == 3


def test_all_seeds_together_give_mean_and_sample_deviation() -> None:
    spread = summarise(SEEDS).spreads["nDCG'"]
    assert spread.mean == pytest.approx((0.3 + 0.5 + 0.5) / 3)
    assert spread.deviation == pytest.approx(0.2 / 3**0.5)
    assert str(spread) == "0.433 ± 0.115"


def test_one_seed_has_no_deviation() -> None:
    assert str(summarise({7: SEEDS[3]}).spreads["Bpref"]) == "0.900"
    assert summarise({7: SEEDS[3]}).spreads["Bpref"] == Spread(0.9, 0.0, 1)


def test_seeds_must_be_measured_alike() -> None:
    with pytest.raises(MathAMRError, match="seed 2 was not measured on the same topics"):
        summarise({1: SEEDS[1], 2: scores([0.1], [0.1])})
    with pytest.raises(MathAMRError, match="no seeds"):
        summarise({})
