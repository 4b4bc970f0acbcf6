"""One tree for what authors write in several ways, and different trees for different formulas."""

from __future__ import annotations

from mathamr.formulas.canonicalform import canonical_form
from mathamr.formulas.containment import Subformula
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt
from tests.cases import cases


def read(latex: str) -> Opt:
    opt = parse(latex, reading="mathematician").opt
    assert opt is not None
    return opt


def is_same(one: str, other: str) -> bool:
    part, whole = Subformula(read(one)), read(other)
    return part.is_as_large_as(whole) and part.inside(whole) == "same letters"


@cases(
    ("one", "other"),
    [
        (r"\frac12x", "x/2"),
        (r"\frac12n(n+1)", r"\frac{n(n+1)}2"),
        (r"\tfrac32x", r"\frac{3x}2"),
        (r"\frac1{\sqrt{2\pi}}e^{-x^2/2}", r"\frac{e^{-\frac12x^2}}{\sqrt{2\pi}}"),
        (r"\frac{a}{b}\cdot\frac{c}{d}", r"\frac{ac}{bd}"),
        (r"\frac{a/b}{c}", r"\frac{a}{bc}"),
        (r"-\frac ab", r"\frac{-a}b"),
        ("a-b+c", "c+a-b"),
        ("a-(b-c)", "a-b+c"),
        (r"\sqrt{x}", "x^{1/2}"),
        (r"\prod_p(1-p^{-s})^{-1}", r"\prod_p\frac1{1-p^{-s}}"),
        ("p^{-s}", r"\frac1{p^s}"),
        ("e^{-x}", r"\frac1{\exp(x)}"),
        (r"\text{Cov}(X,Y)", r"\operatorname{Cov}(X,Y)"),
        ("Cov(X,Y)", r"\mathrm{Cov}(X,Y)"),
        (r"\text{Var}[X]", "Var(X)"),
        (r"\text{Var}(aX)=a^2\text{Var}(X)", r"\operatorname{Var}(aX)=a^2\operatorname{Var}(X)"),
        (r"a^p\equiv a\ (\text{mod }p)", r"a^p\equiv a\pmod p"),
        (r"a^p\equiv a\ (\mathrm{mod}\ p)", r"a^p\equiv a\bmod p"),
        ("a^p\\equiv a\\ (mod\\ p)", r"a^p\equiv a\mod p"),
        (r"\int f(x)\,\mathrm dx", r"\int f(x)dx"),
        (r"\mathrm e^{\mathrm i\pi}", r"e^{i\pi}"),
        (r"\Pr(A)", "P(A)"),
        (r"\ln x", r"\log x"),
        (r"\text{rank}(AB)", r"\operatorname{rank}(AB)"),
        ("f(x):=x^2", "x^2=f(x)"),
        (r"a\cdot b", r"b\times a"),
        ("a=b=c", "b=a=c"),
        ("a<b=c", "c=b>a"),
        (r"\frac{dy}{dx}", "y'"),
        (r"\frac{d}{dx}f(x)=0", "f'(x)=0"),
        (r"\frac{d^2y}{dx^2}", "y''"),
        (r"\dot x", r"\frac{dx}{dt}"),
        (r"A^\top A", r"A^{\mathrm T}A"),
        (r"\vec x+1", "x+1"),
        (r"\mathbb EX^2", r"\mathbb E[X^2]"),
    ],
)
def test_spellings_of_the_same_have_one_form(one: str, other: str) -> None:
    assert is_same(one, other)
    assert is_same(other, one)


@cases(
    ("one", "other"),
    [
        ("x/2", "2/x"),
        ("x/2", "2x"),
        ("a-b", "b-a"),
        ("a-b", "a+b"),
        ("-a+b", "-(a+b)"),
        (r"\frac{a}{bc}", r"\frac{ab}{c}"),
        ("f^{-1}(x)", r"\frac1{f(x)}"),
        (r"\sin^{-1}x", r"\frac1{\sin x}"),
        ("A^{-1}", r"\frac1A"),
        ("x^{1/3}", r"\sqrt x"),
        (r"\text{Var}(X)", r"\text{Cov}(X)"),
        (r"\frac{d}{dx}f(y)", "f'(y)"),
        ("a<b=c", "a<c=d"),
        (r"a\equiv b\pmod n", r"a\equiv n\pmod b"),
    ],
)
def test_different_formulas_have_different_forms(one: str, other: str) -> None:
    assert not is_same(one, other)


def test_a_chain_of_equations_has_all_its_equations() -> None:
    chain = read(r"\operatorname{Var}(X)=E[(X-\mu)^2]=E[X^2]-E[X]^2")
    assert Subformula(read("Var(X)=E[X^2]-E[X]^2")).inside(chain) == "same letters"
    assert Subformula(read("Var(X)=E[X^2]+E[X]^2")).inside(chain) is None


@cases(
    ("part", "is_inside"),
    [
        ("a<d^2", True),
        ("a<b", True),
        ("c=d^2", True),
        (r"b\le d^2", True),
        ("d^2>a", True),
        ("b=d^2", False),
        ("d^2<a", False),
    ],
)
def test_a_chain_of_inequalities_has_what_follows_from_it(part: str, is_inside: bool) -> None:
    for chain in (r"a<b\le c=d^2", r"d^2=c\ge b>a"):
        assert (Subformula(read(part)).inside(read(chain)) == "same letters") == is_inside


@cases("relation", [r"\simeq", r"\cong", r"\approx", r"\equiv"])
def test_another_relation_of_equality_counts_like_other_letters(relation: str) -> None:
    typed, written = read(r"\Omega(S^1)=\mathbb Z"), read(rf"\Omega(S^1){relation}\mathbb Z")
    assert Subformula(typed).inside(written) == "other letters"
    assert Subformula(typed).inside(read(r"\Omega(S^1)\ne\mathbb Z")) is None


def test_chains_inside_of_chains_do_not_explode() -> None:
    latex = "a<b<c"
    for _ in range(30):
        latex = rf"\left({latex}\right)<b<c"
    hostile = read(latex)
    assert Subformula(hostile).inside(hostile) == "same letters"
    assert len(canonical_form(hostile).labels) == len(hostile)
