from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import ParseError
from mathamr.formulas.notation import opt_from_string
from mathamr.graphs.mathamr import linearise, linearised_tree, mathamr
from tests.graphs.published import agreement, published, readable
from tests.graphs.small import small_graph


def test_operator_tree_takes_the_place_of_the_formula() -> None:
    assert mathamr(small_graph()).to_penman(one_line=True) == (
        "(m / multi-sentence :snt1 (a / odd :math (f0 / plus :op0 (o0_1 / 𝑎) :op0 (o0_2 / 𝑏)))"
        " :snt2 (b / find-01 :mode imperative :math (f1 / SUP :op0 (o1_1 / 𝑥) :op1 (o1_2 / 2))))"
    )


def test_linearisation_orders_children_by_role_and_names_a_node_once() -> None:
    text = '(w / want-01 :ARG0 (b / boy :mod (t / tall) :mod (o / "old :x")) :ARG1 (g / go-02 :ARG0 b) :polarity -)'
    assert linearise(text) == "want-01 boy old :x tall go-02 -"
    assert linearise("(a / and :op2 (x / x :ARG0-of (y / y)) :op1 (z / z :ARG1 y))") == "and z y x"


def test_linearisation_of_the_published_graphs_gives_the_published_strings(data: Path) -> None:
    graphs, strings = published(data, "mathamr_topics.tsv"), published(data, "linearized_mathamr_topics.tsv")
    unreadable, different = [], []
    for topic, text in graphs.items():
        try:
            line = linearise(readable(text))
        except ParseError:
            unreadable.append(topic)
            continue
        if line.split() != strings[topic].split():
            different.append(topic)
    assert len(graphs) == 185
    assert unreadable == ["B.40"]  # its parentheses do not match
    assert different == []


def test_our_formula_trees_in_their_graphs_give_their_strings(data: Path) -> None:
    found = agreement(data)
    assert (found.topics, found.formulas) == (185, 610)
    assert found.agreeing >= 111
    assert (
        found.same_formulas >= 498
    )  # most others have a macro that their LaTeXML did not know, or its differential


def test_a_tree_by_itself_reads_as_it_does_inside_a_graph() -> None:
    powers = ",".join(f"{place}[O!SUP,0[V!{letter}],1[V!n]]" for place, letter in enumerate("xyz"))
    assert linearised_tree(opt_from_string(f"[U!plus,{powers}]")) == "plus SUP z n SUP y n SUP x n"
    assert (
        linearised_tree(opt_from_string("[+!O!sum,0[O!SUB,0[O!sum],1[V!i]],1[W!],2[N!1]]"))
        == "sum SUB sum i 1"
    )
    assert linearised_tree(opt_from_string("[O!interval(O-C),0[N!0],1[N!1]]")) == "interval$O-C$$ 0 1"
    part = small_graph().formulas[0]
    assert part.opt is not None
    assert linearised_tree(part.opt) in linearise(mathamr(small_graph()).to_penman(one_line=True))
