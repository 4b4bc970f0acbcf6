from __future__ import annotations

from mathamr.graphs.mathamr import linearise, mathamr
from mathamr.graphs.sentencegraph import sentence_graph
from tests.graphs.small import small_graph


def test_a_sentence_has_its_own_concepts_and_formulas() -> None:
    graph = small_graph()
    strings = [
        linearise(mathamr(sentence_graph(graph, number)).to_penman(one_line=True)) for number in (0, 1)
    ]
    assert strings == ["odd plus 𝑏 𝑎", "find-01 SUP 𝑥 2 imperative"]
    assert [part.placeholder for part in sentence_graph(graph, 1).formulas] == ["FORMULA_1"]


def test_a_formula_that_the_parser_dropped_hangs_from_its_sentence() -> None:
    found = mathamr(sentence_graph(small_graph(dropped=True), 1))
    assert linearise(found.to_penman(one_line=True)) == "find-01 SUP 𝑥 2 imperative"
