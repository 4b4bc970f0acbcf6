"""The open form of a formula is the same with bounds, differentials and arrows and without."""

from mathamr.formulas.openform import omits, open_form
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt
from tests.cases import cases


def read(latex: str) -> Opt:
    tree = parse(latex, reading="mathematician").opt
    assert tree is not None
    return tree


@cases(
    ("whole", "half"),
    [
        (r"\sum_{n=1}^\infty \frac{1}{n^2}", r"\sum \frac{1}{n^2}"),
        (r"\sum_n a_n b_n", r"\sum a_n b_n"),
        (r"\prod_{p} (1-\frac1p)", r"\prod (1-\frac1p)"),
        (r"\lim_{x\to 0} \frac{\sin x}{x}", r"\lim \frac{\sin x}{x}"),
        (r"\limsup_{n\to\infty} a_n", r"\limsup a_n"),
        (r"\sup_{x\in X} f(x)", r"\sup f(x)"),
        (r"\max_{x} f(x)", r"\max f(x)"),
        (r"\bigcup_{i\in I} A_i", r"\bigcup A_i"),
        (r"\bigoplus_{i} A_i", r"\bigoplus A_i"),
        (r"\int_0^1 e^{-x^2}\,dx", r"\int e^{-x^2}"),
        (r"\int_0^1 e^{-x^2}\,dx", r"\int e^{-x^2} dx"),
        (r"\int_0^1 x f(x)\,\mathrm{d}x", r"\int x f(x)"),
        (r"\int_X f\,d\mu", r"\int f"),
        (r"\int_1^2 \frac{dx}{x}", r"\int \frac{1}{x}"),
        (r"\int_0^1 dx", r"\int 1"),
        (r"1 + \sum_{n} a_n = b", r"1 + \sum a_n = b"),
    ],
)
def test_a_whole_formula_and_its_half_have_the_same_open_form(whole: str, half: str) -> None:
    assert open_form(read(whole)) == open_form(read(half))
    assert omits(read(half))


@cases(
    ("one", "other"),
    [
        (r"\sum \frac{1}{n}", r"\sum_{n=1}^\infty \frac{1}{n^2}"),
        (r"\int f", r"\int_0^1 g\,dx"),
        (r"\sum a", r"\prod a"),
        (r"\max(a,b)", r"\max(a,c)"),
    ],
)
def test_another_body_or_operator_has_another_open_form(one: str, other: str) -> None:
    assert open_form(read(one)) != open_form(read(other))


@cases("latex", ["a+b", r"A\cap B", r"\max(a,b)", r"\forall x\, f(x)", r"\{x \mid x>0\}"])
def test_a_formula_without_big_operators_omits_nothing_and_stays_as_it_is(latex: str) -> None:
    assert open_form(read(latex)) == read(latex)
    assert not omits(read(latex))


def test_a_formula_with_its_bounds_omits_nothing() -> None:
    for latex in (r"\sum_{n=1}^\infty a_n", r"\int_0^1 f\,dx", r"\lim_{x\to0} f(x)"):
        assert not omits(read(latex))
