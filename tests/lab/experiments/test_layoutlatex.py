"""LaTeX of layout trees: what is written from a tree is laid out like it."""

from __future__ import annotations

import pytest

from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr_lab.experiments.layoutlatex import latex_of


@pytest.mark.parametrize(
    "latex",
    [
        "x",
        "x^2+1",
        r"\frac{a_1}{b^{n+1}}",
        r"\sqrt{x}+\sqrt[3]{y}",
        r"\sum_{n=1}^{\infty}\frac{1}{n^2}",
        r"\left(\frac{1}{2}\right)^n",
        r"\overline{z}+\hat{f}",
        r"\begin{pmatrix}a & b \\ c & d\end{pmatrix}",
        r"f:\mathbb{R}\to\mathbb{R}",
        r"\int_0^1 x\,dx \leq \|f\|",
        r"\alpha\in\mathcal{A}\cap\{1,2\}",
    ],
)
def test_what_is_written_is_laid_out_like_the_tree(latex: str) -> None:
    tree = parse(latex).slt
    assert to_string(parse(latex_of(tree)).slt) == to_string(tree)
