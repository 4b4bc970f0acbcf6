from __future__ import annotations

import pytest

from mathamr.formulas.mathml.element import Element, rebuilt


def nested(depth: int) -> Element:
    element = Element("mi", "x")
    for _ in range(depth):
        element = Element("mrow", "", [element])
    return element


def test_elements_are_equal_by_content() -> None:
    assert Element("mi", "x", (), {"id": "1"}) == Element("mi", "x", [], {"id": "1"})
    assert Element("mi", "x") != Element("mi", "y")
    assert Element("mi", "x") != Element("mi", "x", (), {"id": "1"})
    assert Element("mrow", "", [Element("mi", "x")]) != Element("mrow")
    assert Element("mi", "x") != "x"


def test_iteration_is_in_document_order() -> None:
    tree = Element("a", "", [Element("b", "", [Element("c")]), Element("d")])
    assert [element.tag for element in tree.iterate()] == ["a", "b", "c", "d"]


def test_rebuilding_meets_children_before_parents_and_keeps_their_order() -> None:
    tree = Element("a", "", [Element("b", "", [Element("c"), Element("d")]), Element("e")])
    assert rebuilt(tree, lambda element, children: Element(element.tag, "", children)) == tree
    joined = rebuilt(tree, lambda element, parts: Element(element.tag + "".join(part.tag for part in parts)))
    assert joined.tag == "abcde"


@pytest.mark.slow
def test_depth_costs_no_recursion() -> None:
    deep = nested(50_000)
    assert deep == nested(50_000)
    assert repr(deep).count("<mrow>") == 50_000
    assert rebuilt(deep, lambda element, children: Element(element.tag, element.text, children)) == deep
