"""Which formulas contain another one."""

from __future__ import annotations

from mathamr.formulas.containment import LARGEST, Subformula
from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula
from tests.cases import cases


def inside(part: str, whole: str) -> str | None:
    (one, _), _ = trees_of(Formula("", part), (), "mathematician")
    (other, _), _ = trees_of(Formula("", whole), (), "mathematician")
    assert one is not None
    assert other is not None
    return Subformula(one).inside(other)


GAUSS = r"\int_{-\infty}^{\infty}e^{-x^2}\,dx=\sqrt{\pi}"


@cases(
    ("part", "whole", "found"),
    [
        # sides, summands and integrals are contained
        (r"\int_{-\infty}^\infty e^{-x^2}\,dx", GAUSS, "same letters"),
        ("a+b", "c+b+a=0", "same letters"),
        (r"\frac{1}{n^2}", r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{6}", "same letters"),
        ("x^2+y^2=z^2", "x^2+y^2=z^2", "same letters"),
        (r"P(X>s)P(X>t)", r"P(X>s+t)=P(X>s)P(X>t)", "same letters"),
        # one renaming of all letters is allowed
        (r"\int_{-\infty}^\infty e^{-t^2}\,dt", GAUSS, "other letters"),
        (r"S(K>v)S(K>u)", r"P(X>s+t)=P(X>s)P(X>t)", "other letters"),
        ("u^2+v^3", "a^2+1+b^3=c", "other letters"),
        ("x^2+x", "a^2+b=c", None),  # one letter cannot become two
        # whichever operand comes first
        (r"(x+y)^n=\sum_k\binom nkx^{n-k}y^k", r"(a+b)^m=\sum_i\binom mia^ib^{m-i}", "other letters"),
        ("(x+y)^2=x^2+2xy+y^2", "(b+a)^2=a^2+2ab+b^2", "other letters"),
        ("x+y=xz", "a+b=bc", "other letters"),
        ("x+y=xz+y", "a+b=bc+b", None),
        # exp is a power of e
        (r"\int_{-\infty}^\infty e^{-x^2}\,dx", r"\int_{-\infty}^\infty\exp(-t^2)\,dt=1", "other letters"),
        (r"\exp(-x^2)", "e^{-x^2}+1", "same letters"),
        (r"\exp(x)", r"\exp(x)", "same letters"),
        # a relation may be read from its other side
        (r"\frac{a+b}2\ge\sqrt{ab}", r"\sqrt{ab}\le\frac{a+b}2", "same letters"),
        ("a>b", "x=1, b<a", "same letters"),
        ("a>b^2", "x>y^2>z", "other letters"),
        ("a>b^2", "y^2>x", None),
        ("x^2+y", "a^2+a=c", None),  # and two cannot become one
        ("x^2+y^2=z^2", "x^2+y^2", None),
        (r"\sin x", r"\cos x+1", None),
        ("a^2-b", "b-a^2=c", None),
    ],
)
def test_a_part_is_found_inside(part: str, whole: str, found: str | None) -> None:
    assert inside(part, whole) == found


def test_many_operands_of_one_shape_are_judged_soon() -> None:
    letters = "abcdefghijklmnopqrstuvw"
    part = "=".join(
        ["+".join(f"{each}^2" for each in letters), "+".join(f"{each}_1" for each in letters[:-1]) + "+x_1"]
    )
    assert inside(part, part.replace("x", "a")) is None


def test_a_formula_of_any_size_is_judged_at_once() -> None:
    """A larger formula contains nothing, so that no formula costs more than a bounded amount of work."""
    assert inside("a+b", "+".join(f"x_{{{number}}}" for number in range(LARGEST))) is None
