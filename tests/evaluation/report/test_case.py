from __future__ import annotations

from mathamr.evaluation.comparison import compare
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.report.case import Standing, case, differing, find_texts, hardest
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from tests.evaluation.small import POSTS


def test_topics_that_gain_most_come_first_then_those_that_lose_most() -> None:
    base = dict.fromkeys("abcdef", 0.5)
    values = {"a": 0.6, "b": 0.9, "c": 0.5, "d": 0.1, "e": 0.4, "f": 0.8}
    assert differing(values, base, 2) == ["b", "f", "d", "e"]
    assert differing(values, base, 10) == ["b", "f", "a", "d", "e"]
    assert differing(base, base) == []


def test_a_run_alone_shows_its_hardest_topics() -> None:
    assert hardest({"a": 0.6, "b": 0.1, "c": 0.1}, 2) == ["b", "c"]


def test_a_case_tells_where_judged_items_stand_in_both_runs() -> None:
    qrels = Qrels({"A.1": {"7": 0, "8": 3, "9": 2}})
    runs = [Run.of("x", {"A.1": [("7", 2.0), ("8", 1.0)]}), Run.of("y", {"A.1": [("9", 1.0), ("5", 0.5)]})]
    comparison = compare([evaluate(run, qrels, measures(["MRR"])) for run in runs])
    reported = case("A.1", comparison, runs, qrels, "MRR")
    assert reported.values == (0.5, 1.0)
    assert reported.standings == (
        Standing("8", 3, (2, None)),
        Standing("9", 2, (None, 1)),
        Standing("7", 0, (1, None)),
    )
    assert reported.items == {"7", "8", "9", "5"}


def test_texts_are_found_as_posts_or_as_formulas() -> None:
    assert list(find_texts(POSTS, {"11", "99"}, are_formulas=False).posts) == ["11"]
    formulas = find_texts(POSTS, {"v3", "11"}, are_formulas=True).formulas
    assert {visual: (formula.latex, post.id) for visual, (formula, post) in formulas.items()} == {
        "v3": ("A=A^T", "12")
    }
