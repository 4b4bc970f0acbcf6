"""The same question in other letters: what is renamed, and what is not."""

from __future__ import annotations

import re

import pytest

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr_lab.systems.text.letters import Letters, drawn, letters_for, renamed, variables_of


def _post(body: str, markup: str = "latex") -> Post:
    return Post("7", "question", body, markup=markup, formulas=formulas_of("7", "", body, markup))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("latex", "variables"),
    [
        (r"x^2+y^2=z^2", ["x", "y", "z"]),
        (r"\int_0^1 f(x)\,dx", ["f", "x"]),
        (r"e^{i\theta}=\cos\theta+i\sin\theta", ["\\theta"]),
        (r"\sum_{i=1}^n a_i", ["i", "n", "a"]),
        (r"\mathbb{R}\to\text{set of } \mathcal{F}", ["F"]),
        (r"\operatorname{rank}A+\pi", ["A"]),
        (r"\xymatrix{X \ar[r]^f & Y}", ["X", "f", "Y"]),
    ],
)
def test_only_letters_that_stand_for_something_are_variables(latex: str, variables: list[str]) -> None:
    assert variables_of([latex]) == variables


def test_a_renaming_is_one_to_one_and_leaves_no_variable_as_it_was() -> None:
    post = _post(
        r"Let $f(x)=ax+b$, $\alpha<\beta$ and $X\subset Y$. Then \[\int_0^1 f(x)\,dx = \frac{a}{2}+b.\]"
    )
    for salt in range(20):
        names = letters_for(post, str(salt), usual=salt % 2 == 1).names
        assert set(names) == {"f", "x", "a", "b", "\\alpha", "\\beta", "X", "Y"}
        assert len(set(names.values())) == len(names)
        assert all(name != letter for letter, name in names.items())


def test_renaming_back_gives_the_source_again() -> None:
    post = _post(
        r"Let $f_n(x) \le \text{if } n$ and \begin{align} f&=g\\ \alpha&=xn \end{align} for $\sin n$."
    )
    letters = letters_for(post, "any")
    other = renamed(post, letters)
    assert other.body != post.body
    back = renamed(other, Letters({name: letter for letter, name in letters.names.items()}))
    assert back.body == post.body


def test_words_outside_formulas_and_escapes_in_html_stay() -> None:
    body = '<p>Is a <span class="math-container" id="5">$a&lt;x$</span> and x?</p>'
    post = _post(body, "html")
    other = renamed(post, Letters({"a": "c", "x": "t"}))
    assert other.body == body.replace("$a&lt;x$", "$c&lt;t$")
    assert [formula.latex for formula in other.formulas] == ["c<t"]
    assert [formula.id for formula in other.formulas] == ["5"]


def test_the_shape_of_latex_does_not_change() -> None:
    latex = r"\frac{d}{dx}\left(x^{n}\right)=nx^{n-1}"
    import numpy as np

    found = drawn(variables_of([latex]), np.random.default_rng(1))(latex)
    assert re.sub("[a-z]", "", found) == re.sub("[a-z]", "", latex)
    assert found.startswith(r"\frac{d}{d")
