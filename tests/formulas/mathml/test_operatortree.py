from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from mathamr.formulas.budget import SpentError
from mathamr.formulas.mathml.element import Element, MathMLError
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.operatortree import opt
from mathamr.formulas.notation import to_string
from tests.cases import cases
from tests.formulas.generated import CONTENT, is_tree
from tests.formulas.gold import published


def tree(markup: str) -> str:
    return to_string(opt(read(f"<math>{markup}</math>")))


def symbol(cd: str, name: str) -> str:
    return f'<csymbol cd="{cd}">{name}</csymbol>'


X, Y, TWO = "<ci>x</ci>", "<ci>y</ci>", '<cn type="integer">2</cn>'
SUP, UNKNOWN = symbol("ambiguous", "superscript"), symbol("unknown", "a") + symbol("unknown", "b")
SHARED = "[U!and,0[U!eq,0[V!x],1[V!y]],1[O!leq,0[V!y],1[N!2]]]"


def chain(href: str) -> str:
    first = f"<apply><eq/>{X}<ci id='m'>y</ci></apply>"
    return f"<apply><and/>{first}<apply><leq/><share href='{href}'/>{TWO}</apply></apply>"


@cases(
    ("markup", "expected"),
    [
        (X, "[V!x]"),
        ("<ci/>", "[W!]"),
        ("<ci><mtext>if</mtext></ci>", "[W!]"),
        ("<cn type='rational'>1<sep/>2</cn>", "[N!1]"),
        (f"<apply><plus/>{X}{TWO}</apply>", "[U!plus,0[V!x],1[N!2]]"),
        (f"<apply><minus/>{X}</apply>", "[O!minus,0[V!x]]"),
        (f"<apply><ci>f</ci>{X}</apply>", "[F!f,0[V!x]]"),
        (f"<apply><determinant/>{X}</apply>", "[F!det,0[V!x]]"),
        ("<infinity/>", "[C!infinity]"),
        (f"<apply>{SUP}{X}{TWO}</apply>", "[O!SUP,0[V!x],1[N!2]]"),
        (f"<apply><apply>{SUP}<sin/>{TWO}</apply>{X}</apply>", "[+!F!sin,0[O!SUP,0[F!sin],1[N!2]],1[V!x]]"),
        (f"<apply><apply><compose/>{X}{Y}</apply>{TWO}</apply>", "[+!,0[O!compose,0[V!x],1[V!y]],1[N!2]]"),
        (f"<apply><root/>{X}</apply>", "[O!root,0[V!x],1[N!2]]"),
        (f"<apply><root/><degree><cn>3</cn></degree>{X}</apply>", "[O!root,0[V!x],1[N!3]]"),
        (f"<apply><int/>{X}</apply>", "[O!int,0[V!x],1[W!],2[W!]]"),
        (f"<vector>{X}{Y}</vector>", "[M!V-2,0[V!x],1[V!y]]"),
        (f"<set>{X}</set>", "[M!S-1,0[V!x]]"),
        (f"<interval closure='open-closed'>{X}{Y}</interval>", "[O!interval(O-C),0[V!x],1[V!y]]"),
        (f"<interval>{X}{Y}</interval>", "[O!interval(C-C),0[V!x],1[V!y]]"),
        (
            f"<matrix><matrixrow>{X}{Y}</matrixrow><matrixrow>{TWO}</matrixrow></matrix>",
            "[M!M-2x2,0[M!R!,0[V!x],1[V!y]],1[M!R!,0[N!2],1[E!]]]",
        ),
        (f"<apply>{symbol('latexml', 'delimited-[]')}{X}</apply>", "[M!D-lsqb;&rsqb;,0[V!x]]"),
        (f"<apply>{symbol('latexml', 'for-all')}{X}</apply>", "[O!forall,0[V!x]]"),
        (symbol("latexml", "3"), "[N!3.0]"),
        (symbol("unknown", "E"), "[-!e]"),
        (f"<apply>{symbol('latexml', 'Differential-D')}{X}</apply>", "[O!differential-d,0[V!x]]"),
        (f"<apply><power/>{X}{TWO}</apply>", "[O!power,0[V!x],1[N!2]]"),
        ("<qvar name='q'/>", "[?q]"),
        ("<apply/>", "[W!]"),
        # runs of unknown letters in an error become a text
        (
            f"<cerror>{symbol('ambiguous', 'fragments')}{UNKNOWN}{X}</cerror>",
            "[E!,0[O!fragments],1[T!ab],2[V!x]]",
        ),
        (f"<cerror>{symbol('unknown', 'c')}{X}</cerror>", "[E!,0[-!c],1[V!x]]"),
        # a share is a copy of what it points at, and white without a target
        *((chain(href), SHARED) for href in ("#m", "#.cmml", "")),
        ("<apply><sin/><share href='#none'/></apply>", "[F!sin,0[W!]]"),
    ],
)
def test_elements_become_operators_and_operands(markup: str, expected: str) -> None:
    assert tree(markup) == expected


def test_a_share_of_itself_is_refused() -> None:
    with pytest.raises(SpentError, match="repeats itself"):
        tree("<apply id='a'><sin/><share href='#a'/></apply>")


def test_shares_of_shares_cannot_fill_the_memory() -> None:
    doubling = "".join(
        f"<apply id='s{level + 1}'><plus/><share href='#s{level}'/><share href='#s{level}'/></apply>"
        for level in range(60)
    )
    with pytest.raises(SpentError):
        tree(f"<list><ci id='s0'>x</ci>{doubling}</list>")


def test_more_operands_than_edges_are_halved_under_the_same_label() -> None:
    halves = opt(read(f"<apply><plus/>{X * 70}</apply>"))
    assert halves.labels.count("U!plus") == 3
    assert halves.labels.count("V!x") == 70
    assert opt(read(f"<list>{X * 70}</list>")).labels.count("M!L-70") == 3


def test_filling_a_ragged_matrix_cannot_fill_the_memory() -> None:
    rows = f"<matrixrow>{X * 1000}</matrixrow>" + f"<matrixrow>{X}</matrixrow>" * 1000
    with pytest.raises(SpentError):
        tree(f"<matrix>{rows}</matrix>")


def test_a_math_element_with_two_formulas_is_refused() -> None:
    with pytest.raises(MathMLError, match="exactly one"):
        tree(X + Y)


@given(CONTENT)
def test_any_content_markup_gives_a_tree_or_a_clear_error(element: Element) -> None:
    try:
        found = opt(element)
    except (MathMLError, SpentError):
        return
    assert is_tree(found)


def test_depth_costs_no_recursion() -> None:
    depth = 9000
    assert len(opt(read("<apply><sin/>" * depth + X + "</apply>" * depth))) == depth + 1


def test_trees_equal_the_published_ones(data: Path) -> None:
    rows = published(data)
    wrong = [row["latex"] for row in rows if to_string(opt(read(row["cmml"]))) != row["opt"]]
    assert len(rows) > 4000
    assert not wrong
