from __future__ import annotations

import csv
import re
from pathlib import Path

from mathamr.errors import ParseError
from mathamr.graphs.mathamr import linearise, mathamr
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


def published(data: Path, name: str) -> dict[str, str]:
    """Topic to text, as the authors of MathAMR published it."""
    with (data / "mathamr" / name).open(encoding="utf-8", newline="") as file:
        return dict(csv.reader(file, delimiter="\t"))


def readable(text: str) -> str:
    """Their graphs with names for empty concepts, and without the mark where a formula was put in."""
    return re.sub(r":\S+ MATH\b", "", re.sub(r"/\s+(?=[:)])", '/ "" ', text))


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
