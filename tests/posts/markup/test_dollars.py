"""Dollars: formulas that begin with a digit are read, prices stay prices."""

from __future__ import annotations

import re

import pytest

from mathamr.posts.markup import marked_pieces
from mathamr.posts.markup.dollars import openings
from tests.cases import cases

FORMULAS = [
    ("If $1+i$ is a root then $x^2$ holds and $0<a<1$ too.", ["1+i", "x^2", "0<a<1"]),
    ("The roots are $2+i$ and $2-i$.", ["2+i", "2-i"]),
    ("Then $1/a$ is the inverse of $a$.", ["1/a", "a"]),
    ("For $0<i<k$ and $1<a<p$ we have $a_i$.", ["0<i<k", "1<a<p", "a_i"]),
    ("Here $4p=A^2+27B^2$ and $A^2$, so $B$.", ["4p=A^2+27B^2", "A^2", "B"]),
    (
        "$2a=(a+b)+(a-b)$ and $2b=(a+b)-(a-b)$. Then $d$ divides $4(a-b)$.",
        ["2a=(a+b)+(a-b)", "2b=(a+b)-(a-b)", "d", "4(a-b)"],
    ),
    ("Write [$2,a$] or [$2,1,a$], where $a$ is last.", ["2,a", "2,1,a", "a"]),
    ("Solve $3 = ax + by$ in integers.", ["3 = ax + by"]),
    ("Every $x and y$ commute.", ["x and y"]),
    ("Between $2 and 3$ there is $e$, and $\\pi$ is not.", ["2 and 3", "e", "\\pi"]),
    ("Take $1$, $2$ and $3$ of $5$ apples.", ["1", "2", "3", "5"]),
    ("We have $ 2 $ and $ x $ and $ y $ left.", ["2", "x", "y"]),
    ("So $1, 2, 3$ are in $A$, but $4$ is not.", ["1, 2, 3", "A", "4"]),
    ("Of $10$ dollars $x$ are spent and $y$ are kept.", ["10", "x", "y"]),
    ("$a$$b$ and $$1+i$$ and $1+i$", ["a", "b", "1+i", "1+i"]),
    ("the $5$-cell and $3$-manifolds of $2 \\times 2$ matrices", ["5", "3", "2 \\times 2"]),
    ("$100k+1$ is odd if $k$ is even", ["100k+1", "k"]),
    ("$0 \\le a$, $0 < a$ or $1 > a > 0$ in $(0, 1)$", ["0 \\le a", "0 < a", "1 > a > 0", "(0, 1)"]),
    ("so $1+i+j+k$ is a unit", ["1+i+j+k"]),
    ("$3|(j-i)j(j+i)$ is clear", ["3|(j-i)j(j+i)"]),
]
PRICES = [
    ("it costs $5 and then $10", []),
    ("from $1 to $2 million", []),
    ("$20,000-$30,000", []),
    ("a salary of $20,000-$30,000 or $35k", []),
    ("You win $5 or lose $5 each time.", []),
    ("$5, $10 and $20 notes", []),
    ("$5,$10,$15", []),
    ("$5/$10 per head", []),
    ("It rose from $1.2M in 2019 to $3.4M in 2020.", []),
    ("Tickets are $5 (children $3).", []),
    ("He pays $12.50 now and $7.50 later, $20 in all.", []),
    ("The plan is $5/month, then $10/month.", []),
    ("Between US$5 and US$6.", []),
    ("Set $HOME and $PATH in the shell.", []),
    ("the envelope has $100, the other $200; let $x$ be the sum", ["x"]),
    ("I paid $5. Let $x$ be a number and $1+i$ another.", ["x", "1+i"]),
    ("A die costs $1 and pays $n$ dollars with $1<n<6$.", ["n", "1<n<6"]),
    ("For $10 you get $x$ apples and $y$ pears, and another $20 are left.", ["x", "y"]),
    ("The price is $5 but $p(x) = 2x$ is the demand.", ["p(x) = 2x"]),
    ("between $1,000 and $2,000 per unit", []),
    ("for some $ in the field, and $x$", ["x"]),
    ("$100k in the bank, and $x$", ["x"]),
    ("he has \\$5 and $x$ is \\$6", ["x"]),
]


def read(text: str, markup: str = "text") -> list[str]:
    return [piece.text for piece in marked_pieces(text, markup) if piece.kind == "formula"]


@cases("markup", ["text", "markdown", "html"])
def test_formulas_are_read_and_prices_stay_prices(markup: str) -> None:
    escaped = str.maketrans({"&": "&amp;", "<": "&lt;"}) if markup == "html" else {}
    found = [(text, read(text.translate(escaped), markup)) for text, _ in (*FORMULAS, *PRICES)]
    assert found == [*FORMULAS, *PRICES]


def test_a_doubtful_pair_is_judged_by_the_whole_paragraph_and_no_further() -> None:
    assert read("The fee is $5 and\n\n$x$ is free") == ["x"]
    assert read("Between $2 and 3$ lies $x$.\n\nIt costs $2 and $3.") == ["2 and 3", "x"]


@pytest.mark.parametrize("unit", ["$5 and ", "$x and the ", "$ ", "$$ ", "{$5 ", "\\$$", "$2 and 3$ "])
def test_many_dollars_are_judged_once(unit: str) -> None:
    """Every paragraph is scanned once: the dollars that `openings` looks at are at most those of the text."""
    text = unit * 2000
    assert openings(text, 0)[1] == len(text)
    assert len(read(text)) <= len(re.findall(r"\$", text))
