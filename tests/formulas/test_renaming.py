"""Formulas that differ in the names of their letters alone, and those that do not."""

from __future__ import annotations

import pytest

from mathamr.formulas.parse import parse
from mathamr.formulas.renaming import form_key


def key(latex: str) -> str:
    return form_key(parse(latex).slt)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a+b=c", "x+y=z"),
        ("a+b=a", "n+K=n"),
        (r"\alpha^n", "x^m"),
        (r"\mathbf{v}+\mathbf{w}", r"\mathbf{x}+\mathbf{y}"),
        (r"\frac{a}{b}", r"\dfrac{p}{q}"),
        (r"\left(a+b\right)^2", "(x+y)^2"),
    ],
)
def test_a_change_of_names_keeps_the_form(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a+b=c", "x+y=x"),
        ("a+b=a", "x+y=y"),
        ("a^2", "a^3"),
        ("a+b", "a-b"),
        (r"\sin x", r"\cos x"),
        (r"x\in\mathbb{R}", r"x\in\mathbb{N}"),
        (r"2\pi r", r"2sr"),
        (r"\mathbf{v}+w", "v+w"),
        ("x_1", "x_n"),
    ],
)
def test_another_form_is_another_key(one: str, other: str) -> None:
    assert key(one) != key(other)
