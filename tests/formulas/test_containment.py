"""Which formulas contain another one."""

from __future__ import annotations

import pytest

from mathamr.formulas.containment import LARGEST, Subformula
from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula


def inside(part: str, whole: str) -> str | None:
    (one, _), _ = trees_of(Formula("", part), (), "mathematician")
    (other, _), _ = trees_of(Formula("", whole), (), "mathematician")
    assert one is not None
    assert other is not None
    return Subformula(one).inside(other)


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        (r"\int_{-\infty}^\infty e^{-x^2}\,dx", r"\int_{-\infty}^{\infty}e^{-x^2}\,dx=\sqrt{\pi}"),
        ("a+b", "c+b+a=0"),
        (r"\frac{1}{n^2}", r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{6}"),
        ("x^2+y^2=z^2", "x^2+y^2=z^2"),
        (r"P(X>s)P(X>t)", r"P(X>s+t)=P(X>s)P(X>t)"),
    ],
)
def test_sides_summands_and_integrals_are_contained(part: str, whole: str) -> None:
    assert inside(part, whole) == "same letters"


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        (r"\int_{-\infty}^\infty e^{-t^2}\,dt", r"\int_{-\infty}^{\infty}e^{-x^2}\,dx=\sqrt{\pi}"),
        (r"S(K>v)S(K>u)", r"P(X>s+t)=P(X>s)P(X>t)"),
        ("u^2+v^3", "a^2+1+b^3=c"),
    ],
)
def test_one_renaming_of_all_letters_is_allowed(part: str, whole: str) -> None:
    assert inside(part, whole) == "other letters"


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("x^2+x", "a^2+b=c"),  # one letter cannot become two
        ("x^2+y", "a^2+a=c"),  # and two cannot become one
        ("x^2+y^2=z^2", "x^2+y^2"),
        (r"\sin x", r"\cos x+1"),
        ("a^2-b", "b-a^2=c"),
    ],
)
def test_what_differs_is_not_contained(part: str, whole: str) -> None:
    assert inside(part, whole) is None


def test_a_formula_of_any_size_is_judged_at_once() -> None:
    """A larger formula contains nothing, so that no formula costs more than a bounded amount of work."""
    assert inside("a+b", "+".join(f"x_{{{number}}}" for number in range(LARGEST))) is None
