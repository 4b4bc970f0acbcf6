from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from lxml import etree

from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import NodePair, parts
from mathamr.formulas.notation import opt_from_string, slt_from_string
from mathamr.formulas.parse import parse
from mathamr.formulas.picture import COLOURS, MAX_NODES, TreePair, match_svg, svg
from mathamr.formulas.tree import Opt, Slt
from tests.formulas.generated import OPTS, SLTS

SVG = "{http://www.w3.org/2000/svg}"


def boxes(document: str) -> list[tuple[float, float, float, float]]:
    """The rectangles of the nodes: those that carry a label beside them in a group."""
    groups = ElementTree.fromstring(document).iter(f"{SVG}g")
    found = [group.find(f"{SVG}rect") for group in groups]
    return [
        tuple(float(box.get(name, "")) for name in ("x", "y", "width", "height"))
        for box in found
        if box is not None
    ]  # type: ignore[misc]


def test_both_trees_are_drawn_with_every_node_and_edge() -> None:
    document = svg(
        slt_from_string("[V!x[+[N!1]],a[N!2]]"), opt_from_string("[U!plus,0[V!x],1[N!1]]"), "x^2+1"
    )
    assert len(boxes(document)) == 4 + 3
    assert "Symbol layout tree" in document
    assert "Operator tree" in document
    assert len(re.findall("<path", document)) == 3 + 2


def test_a_missing_tree_is_left_out() -> None:
    assert "Operator tree" not in svg(slt_from_string("[V!x]"), None)


@given(SLTS, OPTS)
def test_any_trees_give_well_formed_svg_in_which_boxes_do_not_overlap(slt: Slt, opt: Opt) -> None:
    for document in (svg(slt, None), svg(None, opt)):
        placed = boxes(document)
        assert len(placed) == len(slt if "Symbol" in document else opt)
        for number, (x, y, width, height) in enumerate(placed):
            for other_x, other_y, other_width, other_height in placed[:number]:
                apart_across = x >= other_x + other_width or other_x >= x + width
                apart_down = y >= other_y + other_height or other_y >= y + height
                assert apart_across or apart_down


def test_nothing_in_a_label_or_in_the_latex_becomes_markup() -> None:
    evil = '</text><script>alert(1)</script><text onload="x">&\x00\ud800'
    document = svg(Slt((evil, "T!" + evil), (-1, 0), "-n"), Opt((evil,), (-1,), "-"), evil)
    root = ElementTree.fromstring(document)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "title",
        "text",
        "g",
        "rect",
        "path",
    }
    assert not any(name.startswith("on") for element in root.iter() for name in element.keys())  # noqa: SIM118


def test_nothing_is_fetched_from_elsewhere() -> None:
    document = svg(slt_from_string("[V!x]"), opt_from_string("[V!x]"), "x")
    assert re.findall(r"https?://[^\"]*", document) == ["http://www.w3.org/2000/svg"]


def test_a_tree_too_large_to_read_is_refused() -> None:
    count = MAX_NODES + 1
    with pytest.raises(MathAMRError, match="at most"):
        svg(Slt(("x",) * count, tuple(range(-1, count - 1)), "-" + "n" * (count - 1)), None)


def node_boxes(picture: str) -> list[tuple[str, str, str | None]]:
    """Of every node its label, what is said of it, and the colour of its frame."""
    found = []
    for group in etree.fromstring(picture.encode()).iter(f"{SVG}g"):
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        if title is not None and rect is not None:
            label, _, said = (title.text or "").partition(" (")
            found.append((label, said, rect.get("stroke") if group.get("opacity") is None else None))
    return found


def test_matched_nodes_have_the_same_colour_and_the_others_are_pale() -> None:
    query, found = parse("a+b").opt, parse("x+b=1").opt
    met = parts(query, found)
    drawn = node_boxes(match_svg([TreePair("operators", query, found, met)]))
    ours, theirs = drawn[: len(query)], drawn[len(query) :]
    assert [label for label, _, _ in ours] == list(query.labels)
    for number, each in enumerate(sorted(met)):
        assert ours[each.node][2] == theirs[each.other][2] == COLOURS[number]
    alone = set(range(len(found))) - {each.other for each in met}
    assert alone
    assert all(theirs[node][2] is None for node in alone)


def test_pointing_at_a_node_says_what_it_matched_and_how_well() -> None:
    query, found = parse("a").opt, parse("b").opt
    said = [
        each[1]
        for each in node_boxes(match_svg([TreePair("operators", query, found, [NodePair(0, 0, 0.6)])]))
    ]
    assert said[0].endswith("matched 𝑏, 0.60")
    assert said[1].endswith("matched 𝑎, 0.60")


def test_several_nodes_that_matched_one_share_its_colour_and_it_names_the_best() -> None:
    query, found = parse("a+b").opt, parse("c").opt
    met = [NodePair(0, 0, 0.1), NodePair(1, 0, 0.9), NodePair(2, 0, 0.5)]
    drawn = node_boxes(match_svg([TreePair("operators", query, found, met)]))
    assert [colour for _, _, colour in drawn] == [COLOURS[0]] * 4
    assert drawn[3][1].endswith("matched 𝑎, 0.90")


def test_labels_are_text_and_trees_without_end_are_refused() -> None:
    evil = Opt(("V!<script>alert(1)</script>",), (-1,), "-")
    assert "<script>" not in match_svg([TreePair("operators", evil, evil, [NodePair(0, 0, 1.0)])], "<b>")
    large = Opt(("U!plus",) * (MAX_NODES + 1), (-1, *([0] * MAX_NODES)), "-" + "0" * MAX_NODES)
    with pytest.raises(MathAMRError, match="at most"):
        match_svg([TreePair("operators", evil, large, [])])
