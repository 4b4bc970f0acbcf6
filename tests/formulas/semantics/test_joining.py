"""Neighbours that are one symbol: what is set above or below a sign says the same as its scripts."""

from __future__ import annotations

import pytest

from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse


def read(latex: str) -> str:
    return to_string(parse(latex, reading="mathematician").opt)


@pytest.mark.parametrize(
    ("placed", "scripted"),
    [
        ("\\underset{x\\to0}{\\lim}f(x)", "\\lim_{x\\to0}f(x)"),
        ("\\underset{x\\in A}{\\max}f(x)", "\\max_{x\\in A}f(x)"),
        ("\\underset{i=1}{\\overset{n}{\\sum}}i^2", "\\sum_{i=1}^n i^2"),
        ("\\overunderset{n}{i=1}{\\prod}i", "\\prod_{i=1}^n i"),
        ("a\\overset{\\text{def}}{=}b", "a\\stackrel{\\text{def}}{=}b"),
        ("X_n\\overset{d}{\\to}X", "X_n\\xrightarrow{d}X"),
        ("f:A\\overset{\\sim}{\\to}B", "f:A\\to B"),
    ],
)
def test_what_is_placed_at_a_sign_is_read_as_its_script(placed: str, scripted: str) -> None:
    assert read(placed) == read(scripted)


def test_a_relation_with_something_above_still_relates_its_sides() -> None:
    assert read("a\\overset{!}{=}b") == "[+!U!eq,0[O!SUP,0[U!eq],1[O!factorial]],1[V!𝑎],2[V!𝑏]]"


def test_lines_and_accents_stay_what_they_are() -> None:
    assert read("\\underline{\\lim}") == "[F!¯,0[O!limit]]"
    assert read("\\hat{x}") == "[O!hat,0[V!𝑥]]"
    assert read("\\underset{x}{y}") == "[F!𝑥,0[V!𝑦]]"
