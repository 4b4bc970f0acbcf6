from __future__ import annotations

from html import escape

import pytest
from hypothesis import given

from mathamr.formulas.mathml.dialect import in_latexml_style, is_latexml
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.markup import slt_from_mathml
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.rows import regrouped
from mathamr.formulas.notation import to_string
from tests.cases import cases
from tests.formulas.generated import PRESENTATION, is_tree


def flat(symbols: str) -> str:
    """A flat row, as converters other than LaTeXML write it: letters are `mi`, digits `mn`, the rest `mo`."""
    tags = ["mi" if each.isalpha() else "mn" if each.isdigit() else "mo" for each in symbols]
    tokens = [f"<{tag}>{escape(each)}</{tag}>" for tag, each in zip(tags, symbols, strict=True)]
    return f"<math><mrow>{''.join(tokens)}</mrow></math>"


@cases(
    ("symbols", "expected"),
    [
        ("(a)+(b)", "[M!()1x1[+[M!()1x1,w[V!b]]],w[V!a]]"),
        ("f(x,g(y))", "[V!f[M!()1x2,w[V!x[&comma;],e[V!g[M!()1x1,w[V!y]]]]]]"),
        ("[0,1)", "[M!&lsqb;)1x2,w[N!0[&comma;],e[N!1]]]"),
        ("|a|+|b|", "[M!||1x1[+[M!||1x1,w[V!b]]],w[V!a]]"),
        ("2|a|", "[N!2[M!||1x1,w[V!a]]]"),
        ("P(A|B)", "[V!P[M!()1x1,w[V!A[|[V!B]]]]]"),
        ("{x||x|<1}", "[M!{}1x1,w[V!x[|[M!||1x1[<[N!1]],w[V!x]]]]]"),
        ("⟨x|A|y⟩", "[⟨[V!x[|[V!A[|[V!y[⟩]]]]]]]"),
        ("a)+(b", "[V!a[)[+[([V!b]]]]]"),
        ("((a", "[([([V!a]]]"),
        ("a-b", "[V!a[−[V!b]]]"),
    ],
)
def test_flat_rows_are_regrouped(symbols: str, expected: str) -> None:
    assert to_string(slt_from_mathml(flat(symbols))) == expected


def test_a_script_on_a_closing_fence_is_one_on_the_group() -> None:
    markup = "<math><mo>(</mo><mi>a</mi><msup><mo>)</mo><mn>2</mn></msup><mo>!</mo></math>"
    assert to_string(slt_from_mathml(markup)) == "[M!()1x1[!],a[N!2],w[V!a]]"


def test_the_form_of_a_bar_decides() -> None:
    markup = "<math><mi>a</mi><mo form='prefix'>|</mo><mi>b</mi><mo form='postfix'>|</mo><mo form='infix'>|</mo><mi>c</mi></math>"
    assert to_string(slt_from_mathml(markup)) == "[V!a[M!||1x1[|[V!c]],w[V!b]]]"


def test_alphabets_become_characters_and_symbols_change_their_tag() -> None:
    markup = (
        "<math><msub><mi>lim</mi><mi>∞</mi></msub><mi mathvariant='fraktur'>g</mi><mo>∞</mo><mi>:</mi></math>"
    )
    assert to_string(slt_from_mathml(markup)) == "[lim[V!𝔤[V!∞[:]]],u[V!∞]]"


@pytest.mark.parametrize(
    "markup",
    [
        "<math class='ltx_Math'><mo>(</mo><mi>a</mi><mo>)</mo><mo>(</mo><mi>b</mi><mo>)</mo></math>",
        "<math><mrow><mn>2</mn><mo>\u2062</mo><mi>:</mi></mrow></math>",
    ],
)
def test_the_output_of_latexml_stays_as_it_is(markup: str) -> None:
    element = read(markup)
    assert is_latexml(element)
    assert in_latexml_style(element) is element


def test_operators_of_older_latexml_are_those_of_today() -> None:
    markup = "<math class='ltx_Math'><mrow><mi>x</mi><mo>-</mo><mi>y</mi><mo>||</mo><mtext>a-b</mtext></mrow></math>"
    assert to_string(slt_from_mathml(markup)) == "[V!x[−[V!y[‖[T!a-b]]]]]"


def test_regrouping_twice_changes_nothing_more() -> None:
    once = regrouped(read(flat("((a)+[b])(c)")))
    assert regrouped(once) == once


@given(PRESENTATION)
def test_any_markup_can_be_adapted(element: Element) -> None:
    tree = slt(in_latexml_style(element))
    assert is_tree(tree)


@pytest.mark.slow
def test_very_long_rows_stay_cheap() -> None:
    assert len(slt_from_mathml(flat("|a" * 20_000))) > 20_000
    assert len(slt_from_mathml(flat("(" * 9000))) == 9000
