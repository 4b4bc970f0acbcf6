from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from lxml import etree

from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.picture import picture
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
