from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate

QRELS = Qrels({"A.1": {"7": 3, "8": 0}, "A.2": {"7": 2}, "A.3": {"9": 0}})


def test_missing_topics_and_those_without_relevant_items_count_as_zero() -> None:
    run = Run.of("mine", {"A.1": [("7", 2.0), ("8", 1.0)], "A.3": [("9", 1.0)], "A.4": [("9", 1.0)]})
    scores = evaluate(run, QRELS, measures(["MAP'", "Bpref"]))
    assert scores.values["MAP'"] == {"A.1": 1, "A.2": 0, "A.3": 0}
    assert scores.mean("MAP'") == pytest.approx(1 / 3)
    assert (scores.missing, scores.unjudged) == (("A.2",), ("A.4",))
    assert (scores.topics, scores.measures) == (("A.1", "A.2", "A.3"), ("MAP'", "Bpref"))


def test_a_run_of_other_topics_is_an_error_that_shows_both() -> None:
    with pytest.raises(
        MathAMRError, match=r"no topic in common: the run has B\.1, the judgments A\.1, A\.2, A\.3"
    ):
        evaluate(Run.of("mine", {"B.1": [("7", 1.0)]}), QRELS, measures(["MAP'"]))


def test_no_measure_is_an_error() -> None:
    with pytest.raises(MathAMRError, match="at least one measure"):
        evaluate(Run.of("mine", {"A.1": [("7", 1.0)]}), QRELS, [])
