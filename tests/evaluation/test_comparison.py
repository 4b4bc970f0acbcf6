from __future__ import annotations

import json

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import paired_t_test
from mathamr.evaluation.table import means_table, significance_table, topics_table

TOPICS = [f"A.{number}" for number in range(8)]
BASE = [0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 0.4]
BETTER = [0.4, 0.5, 0.7, 0.7, 0.4, 0.4, 0.6, 0.7]


def scores(name: str, ndcg: list[float], bpref: list[float]) -> Scores:
    return Scores(
        name, {"nDCG'": dict(zip(TOPICS, ndcg, strict=True)), "Bpref": dict(zip(TOPICS, bpref, strict=True))}
    )


def three() -> list[Scores]:
    return [scores("base", BASE, BASE), scores("better", BETTER, BASE), scores("same", BASE, BETTER[::-1])]


def test_every_other_run_is_tested_on_every_measure_and_corrected_for_all_tests() -> None:
    comparison = compare(three(), "base")
    assert comparison.tests == 4
    difference = comparison.difference("better", "nDCG'")
    assert difference is not None
    expected = paired_t_test(BETTER, BASE).p_value
    assert expected is not None
    assert difference.test.p_value == expected
    assert difference.corrected == pytest.approx(4 * expected)
    assert difference.is_significant
    assert comparison.difference("base", "nDCG'") is None
    unchanged = comparison.difference("better", "Bpref")
    assert unchanged is not None
    assert (unchanged.corrected, unchanged.is_significant, unchanged.stars) == (1, False, "")


def test_measures_that_are_not_tested_do_not_count_for_the_correction() -> None:
    comparison = compare(three(), "base", tested=["nDCG'"])
    assert comparison.tests == 2
    assert comparison.difference("better", "Bpref") is None


def test_without_a_baseline_nothing_is_tested() -> None:
    assert compare(three()).differences == ()


def test_runs_must_have_names_of_their_own_and_be_measured_alike() -> None:
    with pytest.raises(MathAMRError, match="two runs are named 'base'"):
        compare([three()[0], three()[0]])
    with pytest.raises(MathAMRError, match="'other' is not among the runs: base, better, same"):
        compare(three(), "other")
    short = Scores("short", {"nDCG'": {"A.0": 1.0}, "Bpref": {"A.0": 1.0}})
    with pytest.raises(MathAMRError, match="'short' was not measured on the same topics"):
        compare([*three(), short])
    with pytest.raises(MathAMRError, match="at least one run"):
        compare([])


def test_json_holds_means_intervals_tests_and_on_request_every_value() -> None:
    comparison = compare(three(), "base")
    row = json.loads(json.dumps(comparison.to_json(per_topic=True), allow_nan=False))
    assert (row["topics"], row["baseline"], row["tests"]) == (8, "base", 4)
    better = row["runs"][1]
    assert better["run"] == "better"
    assert better["measures"]["nDCG'"]["mean"] == pytest.approx(sum(BETTER) / 8)
    assert better["measures"]["nDCG'"]["significant"] is True
    assert better["measures"]["nDCG'"]["difference"] == pytest.approx((sum(BETTER) - sum(BASE)) / 8)
    assert better["per_topic"]["A.0"] == {"nDCG'": 0.4, "Bpref": 0.1}
    assert "p" not in row["runs"][0]["measures"]["nDCG'"]
    assert "per_topic" not in comparison.to_json()["runs"][0]


def test_a_difference_without_variance_still_gives_json() -> None:
    ones, zeros = [1.0] * 8, [0.0] * 8
    comparison = compare([scores("base", zeros, zeros), scores("all", ones, zeros)], "base")
    row = json.loads(json.dumps(comparison.to_json(), allow_nan=False))
    assert row["runs"][1]["measures"]["nDCG'"]["p"] == 0
    assert row["runs"][1]["measures"]["nDCG'"]["t"] is None


def test_tables_show_means_differences_stars_and_the_floor() -> None:
    comparison = compare(three(), "base")
    lines = means_table(comparison, [scores("random order", BASE[::-1], BASE)]).splitlines()
    assert lines[0].split() == ["nDCG'", "Bpref"]
    assert lines[1].split() == ["base", "†", "0.250", "0.250"]
    assert lines[2].split() == ["better", "0.550", "+0.300***", "0.250", "+0.000"]
    assert lines[4].split() == ["random", "order", "0.250", "0.250"]
    tested = significance_table(comparison).splitlines()
    assert tested[0].split() == ["difference", "95%", "interval", "t", "p", "p", "×", "4"]
    assert tested[1].split()[:3] == ["better", "nDCG'", "+0.3000"]
    assert len(topics_table(comparison).splitlines()) == 1 + 8 * 3
