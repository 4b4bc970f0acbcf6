from __future__ import annotations

import pytest

from mathamr.formulas.parse import parse


def labels(latex: str) -> tuple[str, ...]:
    return parse(latex).slt.labels


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("1234", ("N!1234",)),
        ("1.5", ("N!1.5",)),
        (".5", ("N!.5",)),
        (r"10\,000", ("N!10\u2009000",)),
        ("1,5", ("N!1", "&comma;", "N!5")),
        ("1{2}3", ("N!123",)),
        ("x12", ("V!x", "N!12")),
        (r"\mathrm{ab1}", ("V!ab1",)),
        (r"\mathrm{1ab}", ("N!1", "V!a", "V!b")),
        (r"\rm a b", ("V!ab",)),
        ("ab", ("V!a", "V!b")),
        (r"\mathbf{ab}c", ("V!𝐚𝐛", "V!c")),
        ("n!!", ("V!n", "!!")),
        ("x:=1", ("V!x", ":=", "N!1")),
        ("a...b", ("V!a", "V!…", "V!b")),
        (r"\cdot\cdot\cdot", ("V!⋯",)),
        (r"x\not\in A", ("V!x", "∉", "V!A")),
        (r"x\not\sim y", ("V!x", "∼\u0338", "V!y")),
    ],
)
def test_neighbours_that_are_one_symbol(latex: str, expected: tuple[str, ...]) -> None:
    assert labels(latex) == expected


def test_a_number_before_a_fraction_of_numbers_is_added() -> None:
    assert parse(r"2\frac{1}{3}").opt.labels[0] == "U!plus"
    assert parse(r"2\frac{x}{3}").opt.labels[0] == "U!times"


@pytest.mark.parametrize(
    ("space", "separates"),
    [(r"\quad", True), (r"\;\;\;\;", True), (r"\;", False), (r"\hspace{1cm}", True), (r"\hspace{1pt}", False),
     (r"\phantom{abcdef}", False), (r"\mkern18mu", True)],
)  # fmt: skip
def test_wide_space_separates(space: str, separates: bool) -> None:
    assert parse(f"a{space} b").opt.labels[0] == ("M!L-2" if separates else "U!times")
