"""Whatever is typed gives LaTeX in bounded time, and a query of it is a query or a clear error."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.formulas.typed import reader
from mathamr.formulas.typed.asciimath import asciimath_to_latex
from mathamr.formulas.typed.reader import typed_to_latex
from mathamr.formulas.typed.sentences import formula_spans
from mathamr.search.query import Query
from tests.bounded import bounded
from tests.cases import cases

NESTING = ["x^", "√", "sqrt ", "x^-", "\\a{", "x^(", "x_{", "(mod ", "binom(", "<a,", "|(", "sin(", "e^-", "2^a^", "log_", "x ", "⟩", "|", ")"]  # fmt: skip
"""What opens or continues something that the next part may stand in, and some that close it."""

ASCIIMATH = {
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
    "sin(x)/2": r"\frac{\sin(x)}{2}",
    "1/2x": r"\frac{1}{2}x",
    "x^(1/2)": r"x^{\frac{1}{2}}",
    "O/ sube A": r"\emptyset \subseteq A",
    'text(if) "x" > 0': r"\text{if} \text{x} > 0",
    "vec v != 0": r"\vec{v} \neq 0",
}


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(NESTING), st.sampled_from([1, 2, 30, 400])).map(
            lambda part: part[0] * part[1]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_nesting_gives_latex_and_a_query_or_a_clear_error(parts: list[str]) -> None:
    text = "".join(parts)
    assert isinstance(typed_to_latex(text), str)
    assert isinstance(asciimath_to_latex(text), str)
    for task in ("answers", "formulas"):
        with suppress(MathAMRError):
            assert Query.of_text(text, task).post.body


@cases("part", ["x^", "√", "\\a{", "x^(", "(mod ", "x^-"])
def test_scripts_and_arguments_nested_too_deeply_are_taken_for_latex(part: str) -> None:
    nested = part * 400
    assert typed_to_latex(nested).count(part.strip() if part != "√" else "\\sqrt") == 400


def test_bars_that_open_nothing_are_not_tried_again_and_again() -> None:
    code = "from mathamr.formulas.typed.reader import typed_to_latex; print(len(typed_to_latex('|(' * 30 + 'x⟩' + ' |' * 30)))"
    done = bounded(code, seconds=10)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 90


@cases(("asciimath", "latex"), ASCIIMATH.items())
def test_asciimath_has_the_layout_of_its_latex(asciimath: str, latex: str) -> None:
    assert to_string(parse(asciimath_to_latex(asciimath)).slt) == to_string(parse(latex).slt)


@cases(
    ("typed", "latex"),
    [
        ("int sin(x)/xdx", r"\int\frac{\sin(x)}{x}dx"),
        ("int_0^oo(ln(1+x))/(1+x^2)dx=pi", r"\int_0^\infty\frac{\ln(1+x)}{1+x^2}dx=\pi"),
        ("int dy/y=1/(2x)", r"\int\frac{dy}{y}=\frac1{2x}"),
        ("dy/dx=1/(1+x)dx", r"\frac{dy}{dx}=\frac{1}{(1+x)dx}"),
    ],
)
def test_the_differential_of_an_integral_is_no_factor_of_a_denominator(typed: str, latex: str) -> None:
    (formula,) = Query.of_text(typed).formulas
    assert to_string(parse(formula.latex).slt) == to_string(parse(latex).slt)


@given(st.text(st.sampled_from('ab12()[]{}^_/,|:"+-*<>= sqrtfracomegatext')))
def test_any_text_is_a_formula_of_asciimath(text: str) -> None:
    assert isinstance(asciimath_to_latex(text), str)


@pytest.mark.parametrize("part", ["|→", "|[≤", "| |x", "||→|"])
def test_bars_that_close_nothing_are_not_read_again_and_again(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    read = reader._Reader._next

    def counted(self: reader._Reader, **arguments: bool) -> object:
        nonlocal calls
        calls += 1
        return read(self, **arguments)

    monkeypatch.setattr(reader._Reader, "_next", counted)
    assert typed_to_latex(part * 900)
    assert calls < 40 * 900


@pytest.mark.parametrize(
    ("typed", "latex"), [("x =_A y", "x =_A y"), ("a ~_R b", r"a \sim_R b"), ("a = _2", "a = {}_2")]
)
def test_an_index_right_behind_a_relation_is_its_own(typed: str, latex: str) -> None:
    assert typed_to_latex(typed) == latex


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("binom(n,k)", r"\binom{n}{k}"),
        ("binom(n+1,(k))^2", r"\binom{n+1}{(k)}^2"),
        ("frac(a,b+1)", r"\frac{a}{b+1}"),
    ],
)
def test_a_name_with_two_arguments_in_parentheses_has_both(typed: str, latex: str) -> None:
    assert to_string(parse(typed_to_latex(typed)).slt) == to_string(parse(latex).slt)


@pytest.mark.parametrize(
    "typed",
    [
        "arctan(x)",
        "Ext(A,B)",
        "sup(A)",
        "Pr(A|B)",
        "hom(A,B)",
        "coth t",
        "lg n",
        "arg z",
        "span(v,w)",
        "ctg(x)",
    ],
)
def test_a_function_with_its_argument_is_a_formula_among_words(typed: str) -> None:
    text = f"why is {typed} bounded here"
    assert [text[start:end] for start, end in formula_spans(text)] == [typed]
