from __future__ import annotations

import re

import pytest
from lxml import etree

from mathamr.evaluation.report.chart import Bar, bars, difference_bars


def heights(svg: str, kind: str) -> list[float]:
    return [float(value) for value in re.findall(rf'class="{kind}"[^>]*height="([\d.]+)"', svg)]


def test_bars_are_ranked_and_as_high_as_their_values() -> None:
    svg = bars("values", [Bar("A.1", -0.2, "one"), Bar("A.2", 0.4, "two"), Bar("A.3", 0.1, "three")])
    up, down = heights(svg, "better"), heights(svg, "worse")
    assert up == pytest.approx([4 * up[1], up[1]], rel=0.01)
    assert down == pytest.approx([2 * up[1]], rel=0.01)
    assert svg.index("two") < svg.index("three") < svg.index("one")


def test_a_difference_is_that_of_the_run_to_the_baseline_and_links_where_it_can() -> None:
    svg = difference_bars(
        "d", ("mine", "base"), {"A.1": 0.5, "A.2": 0.1}, {"A.1": 0.2, "A.2": 0.1}, {"A.1": "#x"}
    )
    assert "A.1: +0.300 (mine 0.500, base 0.200)" in svg
    assert svg.count('<a href="#x">') == 1
    assert len(heights(svg, "same")) == 1


@pytest.mark.parametrize("values", [[], [0.0], [1.0], [-1.0], [0.0, 0.0], [0.001, -0.001], [0.5] * 1500])
def test_any_values_give_well_formed_svg_within_its_frame(values: list[float]) -> None:
    svg = bars("<hostile & title>", [Bar(f"<{place}>", value, "<&>") for place, value in enumerate(values)])
    root = etree.fromstring(svg)
    for shape in root.iter("{*}rect"):
        assert float(shape.get("y") or 0) >= 0
        assert float(shape.get("y") or 0) + float(shape.get("height") or 0) <= 241
