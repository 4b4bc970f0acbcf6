from __future__ import annotations

from dataclasses import replace

import penman
import pytest
from hypothesis import given
from penman.models.amr import model

from mathamr.amr.graph import Amr
from mathamr.core.errors import ParseError
from mathamr.formulas.tree import Slt
from mathamr.graphs import notation
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.mathgraph import FormulaPart, MathGraph
from mathamr.graphs.unify import unified
from mathamr.graphs.virtual import flatten
from tests.cases import cases
from tests.graphs.small import small_graph
from tests.graphs.strategies import math_graphs


def key(graph: MathGraph) -> tuple[object, ...]:
    """What a graph says, without the order of its triples."""
    amr = graph.amr
    triples = (amr.top, set(amr.instances), set(amr.edges), set(amr.attributes))
    return graph.post_id, triples, graph.sentences, graph.formulas, graph.texts


@given(math_graphs())
def test_text_reads_back_to_the_same_graph(graph: MathGraph) -> None:
    for one_line in (False, True):
        assert key(notation.read(notation.write(graph, one_line=one_line))) == key(graph)


@given(math_graphs())
def test_what_is_written_is_the_unified_graph_and_is_known_as_it_will_be_read(graph: MathGraph) -> None:
    for mode in ("both", "opt", "slt"):
        for one_line in (False, True):
            expected = unified(graph, mode).to_penman(one_line=one_line)
            assert notation.write(graph, mode, one_line=one_line).endswith(f"\n{expected}")
    text, read = notation.write_and_read(graph)
    assert text == notation.write(graph, one_line=True)
    assert read == notation.read(text)
    flat = flatten(graph, GraphConfiguration(structure="none"))
    assert (graph.nodes, graph.edges) == (len(flat.labels), len(flat.edges))


def test_inverse_roles_and_constants_like_nodes_of_trees_are_known_as_they_will_be_read() -> None:
    graph = small_graph(dropped=True)
    f0, a = "f0", "a"
    amr = replace(
        graph.amr,
        instances=(*graph.amr.instances, ("r", "run-01")),
        edges=(*graph.amr.edges, ("r", ":consist-of", f0), ("r", ":ARG0", a)),
        attributes=(*graph.amr.attributes, (a, ":op1", "o0_1"), (f0, ":quant", "3")),
        tokens=("odd",),
        alignments=((a, (0,)),),
    )
    text, read = notation.write_and_read(replace(graph, amr=amr))
    assert "-of (r / run-01" in text
    assert ':op1 "o0_1"' in text
    assert read == notation.read(text)


@given(math_graphs())
def test_penman_reads_the_same_triples(graph: MathGraph) -> None:
    decoded = penman.decode(notation.write(graph), model=model)
    whole = unified(graph)
    assert set(decoded.triples) == set(whole.triples())
    assert set(decoded.metadata) == {"id", "formula_map", "formulas", "sentences", "texts"}


SMALL = """
(m / multi-sentence :snt1 (a / odd :domain (f0 / FORMULA_0
  :opt (o0_0 / U!plus :op0 (o0_1 / V!𝑎) :op0 (o0_2 / V!𝑏))
  :slt (s0_0 / V!a :n (s0_1 / + :n (s0_2 / V!b)))))
  :snt2 (b / find-01 :mode imperative)
  :math (f1 / FORMULA_1 :opt (o1_0 / O!SUP :op0 (o1_1 / V!𝑥) :op1 (o1_2 / N!2))
  :slt (s1_0 / V!x :a (s1_1 / N!2))))
"""


def test_small_graph_reads_as_a_person_would_write_it() -> None:
    text = notation.write(small_graph(dropped=True))
    assert text[text.index("(m") :].split() == SMALL.split()


@pytest.mark.parametrize(("mode", "there", "missing"), [("opt", ":opt", ":slt"), ("slt", ":slt", ":opt")])
def test_a_mode_writes_only_its_tree(mode: str, there: str, missing: str) -> None:
    text = notation.write(small_graph(), mode)  # type: ignore[arg-type]
    assert there in text
    assert missing not in text


def test_formula_of_ten_thousand_symbols_survives() -> None:
    size = 10_000
    slt = Slt(("V!x",) * size, tuple(range(-1, size - 1)), "-" + "n" * (size - 1))
    amr = Amr("f", (("f", "FORMULA_0"),))
    graph = MathGraph(
        "p", amr, (("f",),), (FormulaPart("FORMULA_0", "p:0", "f", 0, None, slt),), ("FORMULA_0",)
    )
    assert notation.read(notation.write(graph, one_line=True)) == graph


@cases(
    ("damage", "message"),
    [
        (lambda text: text[:-1], "closing parenthesis should stand"),
        (lambda text: text + ")", "text follows"),
        (lambda text: text + "(a / b)", "text follows"),
        (lambda text: text.replace('# ::id "q7"\n', ""), "lack id"),
        (lambda text: text.replace("(f0 / FORMULA_0", "(f0 FORMULA_0"), "should stand here"),
        (lambda text: text.replace(":mode imperative", ":mode"), "has no target"),
        (lambda text: text.replace("::formulas [[", "::formulas [q7["), "not JSON"),
        (lambda text: text.replace("(o0_1 /", "(o0_9 /"), "do not agree"),
    ],
)
def test_damaged_text_is_refused_with_its_place(damage, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ParseError, match=message):
        notation.read(damage(notation.write(small_graph())), "q7")
