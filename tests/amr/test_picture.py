"""Pictures: valid SVG that shows every concept, constant and role, with no two nodes on each other."""

from __future__ import annotations

import re
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from mathamr.amr.graph import Amr
from mathamr.amr.picture import svg
from tests.amr.strategies import graphs

SVG = "{http://www.w3.org/2000/svg}"
BOUND = Amr.from_penman(
    "(w / wonder-01 :ARG0 (i / i) :ARG1 (h / have-03 :polarity - :ARG0 (f / FORMULA_0) :ARG1 (b / bound :poss i)))"
)


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in etree.fromstring(picture.encode()).iter(f"{SVG}text")]


def boxes(picture: str) -> list[tuple[float, float, float, float]]:
    groups = etree.fromstring(picture.encode()).iter(f"{SVG}g")
    return [
        tuple(float(rect.get(name, "nan")) for name in ("x", "y", "width", "height"))  # type: ignore[misc]
        for group in groups
        for rect in group.iter(f"{SVG}rect")
    ]


def test_every_part_of_the_graph_is_shown() -> None:
    shown = texts(svg(BOUND, "Why has FORMULA_0 no bound?"))
    assert shown[0] == "Why has FORMULA_0 no bound?"
    assert {"wonder-01", "i", "have-03", "FORMULA_0", "bound"} <= set(shown)
    assert sorted(text for text in shown if text.startswith(":")) == [
        ":ARG0",
        ":ARG0",
        ":ARG1",
        ":ARG1",
        ":polarity -",
        ":poss ↪",
    ]


def test_kinds_have_their_own_colours() -> None:
    picture = svg(BOUND)
    for kind, count in {"amr": 2, "concept": 2, "formula": 1}.items():
        assert picture.count(f'class="node {kind}"') == count
        assert picture.count(f'class="region {kind}"') == 1  # the legend
        assert len(set(re.findall(rf"node\.{kind} rect{{fill:(#\w+)", picture))) == 2  # light and dark


def test_an_edge_to_a_node_drawn_elsewhere_is_dashed() -> None:
    assert svg(BOUND).count('again"') == 1
    assert 'again"' not in svg(Amr.from_penman("(w / want-01 :ARG0 (b / boy))"))


def test_long_labels_and_titles_are_cut() -> None:
    picture = svg(Amr("a", (("a", "x" * 500),)), "word " * 2000)
    assert max(map(len, texts(picture))) < 200
    assert "x" * 39 + "…" in texts(picture)


def test_a_big_graph_is_drawn() -> None:
    size = 3000
    chain = Amr(
        "n0",
        tuple((f"n{n}", "x") for n in range(size)),
        tuple((f"n{n}", ":r", f"n{n + 1}") for n in range(size - 1)),
    )
    assert len(boxes(svg(chain))) == size


@given(graphs(), st.text(max_size=60))
def test_any_graph_is_valid_svg_without_overlapping_boxes(amr: Amr, title: str) -> None:
    picture = svg(amr, title)
    found = boxes(picture)
    assert len(found) == len(amr)
    for (x1, y1, w1, h1), (x2, y2, w2, h2) in combinations(found, 2):
        assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1
    width, height = (float(n) for n in re.findall(r'viewBox="0 0 (\d+) (\d+)"', picture)[0])
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in found)
    constants = {variable for variable, _, _ in amr.attributes}
    assert sum(text.startswith(":") for text in texts(picture)) >= len(amr.edges) + len(constants)
