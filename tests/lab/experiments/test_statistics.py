"""The counts of a collection, as the thesis's Table 4.3 has them, and the sizes of graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr import sample
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.tensor import tensorise
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.post import Formula, Post
from mathamr_lab.experiments.collection import collection_of
from mathamr_lab.experiments.statistics import collection_counts, graph_sizes, main
from tests.amr.rule_parser import RuleParser


def test_the_sample_is_counted() -> None:
    collection = collection_of([sample.folder()])
    counts = dict(collection_counts(collection))
    assert counts["questions"] + counts["answers"] == counts["posts"] == 336
    judged = [
        grades
        for test in collection.tests
        if test.task == "formulas"
        for grades in test.qrels.grades.values()
    ]
    assert counts["Task 2 judgments"] == sum(map(len, judged))
    assert 0 < counts["pairs with an accepted answer"] <= counts["questions"]


def test_virtual_nodes_and_trees_are_measured() -> None:
    post = Post(
        "p",
        "answer",
        "So $x^2>0$. Then $x>0$.",
        markup="text",
        formulas=(Formula("p:0", "x^2>0"), Formula("p:1", "x>0")),
    )
    (made,) = GraphMaker(RuleParser()).make([post])
    counts = VocabularyCounts()
    vocabularies = Vocabulary.build(counts), RelationVocabulary.build(counts)
    sizes = dict(graph_sizes(iter([tensorise(made.graph, *vocabularies)])))
    assert sizes["formula virtual nodes a post"] == 2
    assert sizes["sentence virtual nodes a post"] == 2
    assert sizes["virtual nodes a post"] == 5
    # x^2>0 is gt(x^2, 0) with five operators and operands, and x, 2, >, 0 in a line with a script; x>0 has three of both.
    assert sizes["SLT nodes a formula"] == np.mean([4, 3])
    assert sizes["OPT nodes a formula"] == np.mean([5, 3])


def test_a_store_without_graphs_is_a_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--corpus", str(tmp_path / "nowhere")]) == 1
    assert "no such file or folder" in capsys.readouterr().err
