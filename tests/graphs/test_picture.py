from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from lxml import etree

from mathamr import read_posts, sample
from mathamr.graphs.configuration import TREELESS, Auxiliary, FormulaMode, GraphConfiguration, Structure
from mathamr.graphs.flatgraph import AUXILIARY_EDGE
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.picture import folded, picture
from mathamr.graphs.virtual import flatten
from tests.amr.rule_parser import RuleParser
from tests.cases import cases
from tests.graphs.small import small_graph
from tests.graphs.strategies import math_graphs

SVG = "{http://www.w3.org/2000/svg}"


def nodes(svg: str) -> list[tuple[str, str]]:
    """(kind, label) of every node drawn below the legend."""
    root = etree.fromstring(svg.encode())
    groups = [group for group in root.iter(f"{SVG}g") if float(group.find(f"{SVG}rect").get("y")) > 30]
    return [(group.get("class").split()[1], group.find(f"{SVG}text").text) for group in groups]


def test_every_node_is_drawn_once_in_the_colour_of_its_part() -> None:
    drawn = nodes(picture(small_graph()))
    assert len(drawn) == len(set(drawn))
    assert {label for kind, label in drawn if kind == "amr"} == {"multi-sentence", "odd", "find-01"}
    assert {label for kind, label in drawn if kind == "formula"} == {"FORMULA_0", "FORMULA_1"}
    assert {label for kind, label in drawn if kind == "opt"} == {
        "U!plus",
        "V!𝑎",
        "V!𝑏",
        "O!SUP",
        "V!𝑥",
        "N!2",
    }
    assert {label for kind, label in drawn if kind == "slt"} == {"V!a", "+", "V!b", "V!x", "N!2"}
    assert {label for kind, label in drawn if kind == "virtual"} == {
        "VIRTUAL_DOCUMENT",
        "sentence 0",
        "sentence 1",
        "formula 0",
        "formula 1",
    }


def test_modes_leave_out_the_other_tree() -> None:
    assert not [label for kind, label in nodes(picture(small_graph(), "opt")) if kind == "slt"]
    assert not [label for kind, label in nodes(picture(small_graph(), "none")) if kind in ("opt", "slt")]


def lines(svg: str) -> int:
    """The number of auxiliary edges: those between virtual nodes that are not dotted."""
    root = etree.fromstring(svg.encode())
    return sum(each.get("class").split() == ["line", "virtual"] for each in root.iter(f"{SVG}polyline"))


@cases(("auxiliary", "expected"), [("none", 0), ("sequential", 3), ("circular", 4), ("full", 6)])
def test_auxiliary_edges_are_drawn_as_a_tensor_has_them(auxiliary: Auxiliary, expected: int) -> None:
    graph, configuration = small_graph(), GraphConfiguration(auxiliary=auxiliary)
    assert lines(picture(graph, auxiliary=auxiliary)) == expected
    assert sum(role == AUXILIARY_EDGE for _, role, _ in flatten(graph, configuration).edges) == expected


def test_virtual_nodes_are_those_of_the_structure() -> None:
    def virtual(structure: Structure) -> list[str]:
        found = nodes(picture(small_graph(), structure=structure))
        return [label for kind, label in found if kind == "virtual"]

    assert virtual("none") == []
    assert virtual("global") == ["VIRTUAL_DOCUMENT"]
    assert len(virtual("hierarchy")) == 5
    dotted = etree.fromstring(picture(small_graph(), structure="global").encode()).iter(f"{SVG}path")
    drawn = [kind for kind, _ in nodes(picture(small_graph(), structure="none"))]
    assert sum("dotted" in path.get("class") for path in dotted) == len(drawn)


@cases("mode", get_args(FormulaMode))
def test_virtual_nodes_lead_to_what_they_gather(mode: FormulaMode) -> None:
    """The document's to the root and to the other virtual nodes, a formula's to its trees, a sentence's to its concepts (figure 3.2)."""
    root = etree.fromstring(picture(small_graph(), mode).encode())
    at = {}
    for group in root.iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect")
        place = (round(float(box.get("x"))), round(float(box.get("y")) + 9))
        at[place] = group.find(f"{SVG}text").text
        at[place[0] + round(float(box.get("width"))), place[1]] = at[place]
    drawn = []
    for path in root.iter(f"{SVG}path"):
        if "dotted" in path.get("class"):
            ends = [part.lstrip("MC") for part in path.get("d").split()]
            drawn.append(
                tuple(at[round(float(x)), round(float(y))] for x, y in (ends[k].split(",") for k in (0, 3)))
            )
    trees = {"opt": ["U!plus", "O!SUP"], "slt": ["V!a", "V!x"]}
    formulas = [] if mode in TREELESS else ["formula 0", "formula 1"]
    gathered = [
        (virtual, roots[number])
        for number, virtual in enumerate(formulas)
        for tree, roots in trees.items()
        if mode in ("both", tree)
    ]
    document = [
        ("VIRTUAL_DOCUMENT", each) for each in ("multi-sentence", "sentence 0", "sentence 1", *formulas)
    ]
    assert sorted(drawn) == sorted([*document, *gathered, ("sentence 0", "odd"), ("sentence 1", "find-01")])


def test_hostile_labels_stay_text() -> None:
    graph = small_graph()
    hostile = replace(graph, post_id='"/><script>alert(1)</script>', texts=("</title><script>", "&"))
    root = etree.fromstring(picture(hostile).encode())
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "title", "style", "rect", "polyline", "path", "text", "g")
    }


@settings(max_examples=40)
@given(math_graphs())
def test_any_graph_gives_valid_xml(graph: MathGraph) -> None:
    etree.fromstring(picture(graph).encode())


def test_a_folded_picture_has_every_formula_of_a_post_as_one_node_in_two_columns_of_sentences() -> None:
    posts = read_posts(sample.folder() / "Posts.xml")
    (made,) = GraphMaker(RuleParser()).make(post for post in posts if post.id == "2048")
    latex = {formula.id: formula.latex for formula in made.post.formulas}
    assert len(latex) > 20
    svg = etree.fromstring(folded(made.graph, latex))
    texts = [each.text or "" for each in svg.iter("{*}text")]
    nodes = [each for each in svg.iter("{*}g") if "formula" in each.get("class", "")]
    assert len(nodes) == len(made.graph.formulas) + 1  # and one in the legend
    assert not [
        each for each in svg.iter("{*}g") if each.get("class") in ("node opt", "node slt", "node virtual")
    ]
    assert not any("FORMULA_" in each for each in texts)
    headings = [each for each in svg.iter("{*}text") if "heading" in each.get("class", "")]
    lefts = sorted({float(each.get("x", "0")) for each in headings if float(each.get("y", "0")) > 40})
    assert len(lefts) == 2
    said = " ".join(each.text or "" for each in headings)
    for sentence in made.graph.texts:
        for word in re.findall(r"[a-z]{4,}", sentence):
            assert word in said
    whole = etree.fromstring(picture(made.graph))
    assert float(svg.get("height", "0")) < float(whole.get("height", "0")) / 3


def test_the_sentences_of_a_folded_picture_do_not_overlap() -> None:
    posts = read_posts(sample.folder() / "Posts.xml")
    (made,) = GraphMaker(RuleParser()).make(post for post in posts if post.id == "2048")
    svg = etree.fromstring(folded(made.graph, {}))
    boxes = []
    for each in svg.iter("{*}g"):
        (box,) = each.iter("{*}rect")
        x, y, width, height = (float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
        boxes.append((x, y, x + width, y + height))
    for number, (left, top, right, bottom) in enumerate(boxes):
        for x, y, end, under in boxes[number + 1 :]:
            assert right <= x or end <= left or bottom <= y or under <= top
