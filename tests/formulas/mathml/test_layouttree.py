from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from mathamr.formulas.mathml.element import Element, MathMLError
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.notation import to_string
from tests.cases import cases
from tests.formulas.generated import PRESENTATION, is_tree
from tests.formulas.gold import published


def tree(markup: str) -> str:
    return to_string(slt(read(markup)))


def row(markup: str) -> str:
    return tree(f"<math><mrow>{markup}</mrow></math>")


X, Y, TWO = "<mi>x</mi>", "<mi>y</mi>", "<mn>2</mn>"
OPEN, CLOSE, COMMA, PLUS, SUM = "<mo>(</mo>", "<mo>)</mo>", "<mo>,</mo>", "<mo>+</mo>", "<mo>∑</mo>"


def table(*rows: str) -> str:
    return "<mtable>" + "".join(f"<mtr>{cells}</mtr>" for cells in rows) + "</mtable>"


def cells(*contents: str) -> str:
    return "".join(f"<mtd>{content}</mtd>" for content in contents)


@cases(
    ("markup", "expected"),
    [
        (X + PLUS + TWO, "[V!x[+[N!2]]]"),
        (f"<mtext> if </mtext>{X}", "[T!if[V!x]]"),
        (f"{X}<mo>\u2062</mo><mspace width='1em'/>{Y}", "[V!x[V!y]]"),
        (f"<mrow>{X}{Y}</mrow>{TWO}", "[V!x[V!y[N!2]]]"),
        (f"<msup>{X}{TWO}</msup>{Y}", "[V!x[V!y],a[N!2]]"),
        (f"<msub>{SUM}{X}</msub>{Y}", "[∑[V!y],u[V!x]]"),
        (f"<msubsup>{SUM}{X}{TWO}</msubsup>", "[∑,o[N!2],u[V!x]]"),
        (f"<mover>{X}<mo>¯</mo></mover>", "[V!x,o[¯]]"),
        (f"<mover><mrow>{X}{Y}</mrow><mo>¯</mo></mover>", "[M!1x1,o[¯],w[V!x[V!y]]]"),
        (f"<msub><msub>{X}{Y}</msub>{TWO}</msub>", "[M!1x1,b[N!2],w[V!x,b[V!y]]]"),
        (f"<msup><mi/>{TWO}</msup>", "[W!,a[N!2]]"),
        (f"<msup>{X}{Y}{TWO}</msup>", "[V!x[V!y[N!2]]]"),
        (f"<mfrac>{X}{TWO}</mfrac>", "[O!divide,o[V!x],u[N!2]]"),
        (f"<msqrt>{X}{PLUS}{TWO}</msqrt>", "[O!root,w[V!x[+[N!2]]]]"),
        (f"<mroot>{X}{TWO}</mroot>", "[O!root,c[N!2],w[V!x]]"),
        (f"<menclose notation='box'>{X}</menclose>", "[box,w[V!x]]"),
        ("<merror><mtext>\\foo</mtext></merror>", "[E!]"),
        ("<mo>[</mo>", "[&lsqb;]"),
        ("<qvar name='q'/>", "[?q]"),
        # scripts on all four corners; further pairs follow on the base line
        (
            f"<mmultiscripts>{X}{TWO}<none/><mprescripts/>{Y}{TWO}</mmultiscripts>",
            "[V!x,b[N!2],c[N!2],d[V!y]]",
        ),
        (f"<mmultiscripts>{X}{TWO}<none/>{Y}<none/></mmultiscripts>", "[V!x,b[N!2[V!y]]]"),
        # fences become groups
        (OPEN + X + CLOSE, "[M!()1x1,w[V!x]]"),
        (OPEN + X + COMMA + Y + CLOSE, "[M!()1x2,w[V!x[&comma;],e[V!y]]]"),
        (f"{OPEN}<mrow>{X}{COMMA}{Y}</mrow>{CLOSE}", "[M!()1x2,w[V!x[&comma;],e[V!y]]]"),
        (
            f"{OPEN}{X}{COMMA}<mrow>{Y}{COMMA}{TWO}</mrow>{CLOSE}",
            "[M!()1x2,w[V!x[&comma;],e[V!y[&comma;[N!2]]]]]",
        ),
        (f"<mo>[</mo>{X}{CLOSE}", "[M!&lsqb;)1x1,w[V!x]]"),
        (OPEN + CLOSE, "[([)]]"),
        (f"<mo>⟨</mo>{X}<mo>⟩</mo>", "[⟨[V!x[⟩]]]"),
        (f"<mfenced>{X}{Y}</mfenced>", "[M!()1x2,w[V!x[,],e[V!y]]]"),
        (f"<mfenced open='|' close='|'>{X}</mfenced>", "[M!||1x1,w[V!x]]"),
        # tables are linked row by row
        (table(cells(X, Y), cells(TWO, "")), "[M!2x2,w[V!x,e[V!y,e[N!2,e[W!]]]]]"),
        (OPEN + table(cells(X), cells(Y)) + CLOSE, "[M!()2x1,w[V!x,e[V!y]]]"),
        (table(cells(X), cells(Y)) + table(cells(TWO), cells(X)), "[M!2x2,w[V!x,e[N!2,e[V!y,e[V!x]]]]]"),
        (table(cells(X)) + table(cells(Y), cells(Y)), "[M!1x1[M!2x1,w[V!y,e[V!y]]],w[V!x]]"),
        ("<mtable/>", "[M!0x0]"),
    ],
)
def test_elements_become_symbols_groups_and_tables(markup: str, expected: str) -> None:
    assert row(markup) == expected


def test_a_row_of_very_many_tables_stays_cheap() -> None:
    one = Element("mtable", "", [Element("mtr", "", [Element("mtd", "", [Element("mi", "x")])])])
    assert slt(Element("mrow", "", [one] * 5000)).labels.count("V!x") == 5000


def test_content_elements_are_refused_by_name() -> None:
    with pytest.raises(MathMLError, match="<plus>"):
        slt(Element("apply", "", [Element("plus")]))


@given(PRESENTATION)
def test_any_presentation_markup_gives_a_tree(element: Element) -> None:
    tree = slt(element)
    assert is_tree(tree)


@pytest.mark.slow
def test_nested_rows_of_a_hundred_kilobytes() -> None:
    depth = 9000
    tree = slt(read("<mrow>" * depth + X + "<mo>+</mo></mrow>" * depth))
    assert len(tree) == depth + 1
    scripts = slt(read("<msup>" * depth + X + f"{TWO}</msup>" * depth))
    assert len(scripts) == 2 * depth


def test_trees_equal_the_published_ones(data: Path) -> None:
    rows = published(data)
    wrong = [row["latex"] for row in rows if tree(row["pmml"]) != row["slt"]]
    assert len(rows) > 4000
    assert not wrong
