"""Pictures of two formulas whose nodes met."""

from __future__ import annotations

import pytest
from lxml import etree

from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import NodePair, parts
from mathamr.formulas.matchpicture import COLOURS, TreePair, match_svg
from mathamr.formulas.parse import parse
from mathamr.formulas.picture import MAX_NODES
from mathamr.formulas.tree import Opt

SVG = "{http://www.w3.org/2000/svg}"


def boxes(picture: str) -> list[tuple[str, str, str | None]]:
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
    drawn = boxes(match_svg([TreePair("operators", query, found, met)]))
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
        each[1] for each in boxes(match_svg([TreePair("operators", query, found, [NodePair(0, 0, 0.6)])]))
    ]
    assert said[0].endswith("matched 𝑏, 0.60")
    assert said[1].endswith("matched 𝑎, 0.60")


def test_several_nodes_that_matched_one_share_its_colour_and_it_names_the_best() -> None:
    query, found = parse("a+b").opt, parse("c").opt
    met = [NodePair(0, 0, 0.1), NodePair(1, 0, 0.9), NodePair(2, 0, 0.5)]
    drawn = boxes(match_svg([TreePair("operators", query, found, met)]))
    assert [colour for _, _, colour in drawn] == [COLOURS[0]] * 4
    assert drawn[3][1].endswith("matched 𝑎, 0.90")


def test_labels_are_text_and_trees_without_end_are_refused() -> None:
    evil = Opt(("V!<script>alert(1)</script>",), (-1,), "-")
    assert "<script>" not in match_svg([TreePair("operators", evil, evil, [NodePair(0, 0, 1.0)])], "<b>")
    large = Opt(("U!plus",) * (MAX_NODES + 1), (-1, *([0] * MAX_NODES)), "-" + "0" * MAX_NODES)
    with pytest.raises(MathAMRError, match="at most"):
        match_svg([TreePair("operators", evil, large, [])])
