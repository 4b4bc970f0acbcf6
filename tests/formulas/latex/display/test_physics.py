from __future__ import annotations

import pytest

from tests.formulas.latex.display.drawing import drawn, shown, text_of


@pytest.mark.parametrize(
    ("latex", "same"),
    [
        (r"\dv{f}{x}", r"\frac{\mathrm{d}f}{\mathrm{d}x}"),
        (r"\dv{x}", r"\frac{\mathrm{d}}{\mathrm{d}x}"),
        (r"\pdv[2]{f}{x}", r"\frac{\partial^{2}f}{\partial x^{2}}"),
        (r"\pdv{f}{x}{y}", r"\frac{\partial^2f}{\partial x\,\partial y}"),
        (r"\abs{x}", r"\left|x\right|"),
        (r"\ket{\psi}", r"\left|\psi\right\rangle"),
        (r"\order{x}", r"\mathcal{O}\left(x\right)"),
        (r"a\qif b", r"a\quad\text{if}\quad b"),
        (r"a\qq*{if so}b", r"a\text{if so}\quad b"),
        (r"\vb{a}\vdot\vb{b}", r"\mathbf{a}\cdot\mathbf{b}"),
    ],
)
def test_abbreviations_visual_like_what_they_stand_for(latex: str, same: str) -> None:
    assert shown(latex) == shown(same)


def test_one_argument_or_two() -> None:
    assert text_of(drawn(r"\braket{a}{b}")) == "⟨a|b⟩"
    assert text_of(drawn(r"\ev{A}{\psi}")) == "⟨ψ|A|ψ⟩"
    assert text_of(drawn(r"\ketbra{a}{b}")) == "|a⟩⟨b|"
    assert text_of(drawn(r"\vu*{n}")) == "𝒏ˆ"
