"""Means over groups of topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.columnfile import FormatError
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.strata import by_formulas, by_stratum, read_strata
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Formula, Post

COMPARISON = compare(
    [
        Scores(name, {"MRR": {"B.1": low, "B.2": 0.5, "B.3": 0.25}})
        for name, low in (("one", 1.0), ("two", 0.0))
    ],
    "one",
)


def test_every_stratum_has_the_means_of_its_topics(tmp_path: Path) -> None:
    path = tmp_path / "complexity.tsv"
    path.write_text("B.3\thigh\nB.1\tlow\nB.2\tlow\nB.9\tmedium\n", encoding="utf-8")
    found = dict(by_stratum(COMPARISON, read_strata(path)))
    assert {name: each.topics for name, each in found.items()} == {"low": ("B.1", "B.2"), "high": ("B.3",)}
    assert [scores.mean("MRR") for scores in found["low"].scores] == [0.75, 0.25]
    assert found["high"].of("two").mean("MRR") == 0.25


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "complexity.tsv"
    for text, said in (("B.1\n", "expected a topic and its stratum"), ("B.1 a\nB.1 b\n", "two strata")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=said):
            read_strata(path)
    with pytest.raises(MathAMRError, match="none of the judged topics has a stratum"):
        dict(by_stratum(COMPARISON, {"A.1": "low"}))


def topic(name: str, *latex: str, asked: int | None = None) -> Topic:
    formulas = tuple(Formula(str(place), each) for place, each in enumerate(latex))
    return Topic(name, Post(name, "question", "", formulas=formulas), None if asked is None else str(asked))


def test_thirds_are_by_the_operator_tree_of_the_query_or_the_largest() -> None:
    large = r"\frac{a+b+c+d}{e+f}"
    topics = [topic("B.1", "x", large, asked=0), topic("B.2", "x+y", "x"), topic("B.3", "x", large)]
    assert by_formulas(topics) == {"B.1": "low", "B.2": "medium", "B.3": "high"}
    assert by_formulas([topic("B.4"), topic("B.5", "x")]) == {"B.4": "low", "B.5": "medium"}
