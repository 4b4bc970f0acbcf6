from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.posts.formats.asciidoc.asciimath import latex_of

SAME = {
    "x^2+y^2 <= 1": r"x^2+y^2 \le 1",
    "sum_(i=1)^n i^3": r"\sum_{i=1}^n i^3",
    "sqrt(x)/2": r"\frac{\sqrt{x}}{2}",
    "lim_(h->0) (f(x+h)-f(x))/h": r"\lim_{h \to 0} \frac{f(x+h)-f(x)}{h}",
    "int_0^1 f(x)dx": r"\int_0^1 f(x)dx",
    "[[a,b],[c,d]]": r"\begin{bmatrix}a & b \\ c & d\end{bmatrix}",
    "x in RR": r"x \in \mathbb{R}",
    "alpha_1 xx beta": r"\alpha_1 \times \beta",
    "root(3)(x)": r"\sqrt[3]{x}",
    "{x in NN}": r"\{x \in \mathbb{N}\}",
    "vec v != 0": r"\vec{v} \neq 0",
}


@pytest.mark.parametrize("asciimath", SAME)
def test_a_formula_has_the_layout_of_its_latex(asciimath):
    assert to_string(parse(latex_of(asciimath)).slt) == to_string(parse(SAME[asciimath]).slt)


@given(
    st.text(st.sampled_from('ab12()[]{}^_/,|:"+-*<>= sqrtfracomegatext')),
)
def test_any_text_is_a_formula(text):
    assert isinstance(latex_of(text), str)
