"""Unicode characters in formulas mean what LaTeX's commands mean."""

from __future__ import annotations

import pytest

from mathamr.formulas.latex.display.formula import display_mathml
from mathamr.formulas.latex.unicode import unicode_to_latex
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula
from tests.bounded import bounded
from tests.cases import cases

PAIRS = [
    ("ℝ^n", r"\mathbb{R}^n"),
    ("x² ≤ y₁", r"x^2 \le y_1"),
    ("∑ᵢ₌₁ⁿ xᵢ²", r"\sum_{i=1}^n x_i^2"),
    ("∀ε>0 ∃δ>0", r"\forall\varepsilon>0\ \exists\delta>0".replace("\\ ", " ")),
    ("A ⊆ B ∪ C", r"A \subseteq B \cup C"),
    ("A ∖ B = ∅", r"A \setminus B = \emptyset"),
    ("e^{iπ} + 1 = 0", r"e^{i\pi} + 1 = 0"),
    ("½ x", r"\frac12 x"),
    ("√2", r"\sqrt2"),
    ("√(x+1)", r"\sqrt{x+1}"),
    ("√12 + ∛x", r"\sqrt{12} + \sqrt[3]x"),
    ("A⁻¹", "A^{-1}"),
    ("xₐ + yᵒ", "x_a + y^o"),
    ("f′(x)", "f'(x)"),
    ("f″", "f''"),
    ("x − y", "x - y"),
    ("a·b × c", r"a\cdot b \times c"),
    ("⟨x, y⟩", r"\langle x, y\rangle"),
    (r"\left‖x\right‖", r"\left\|x\right\|"),
    ("x̄ + ŷ", r"\bar{x} + \hat{y}"),
    ("𝔤 ⊕ 𝒪", r"\mathfrak{g} \oplus \mathcal{O}"),
    ("x_α^β", r"x_\alpha^\beta"),
    (r"\hat ℝ", r"\hat{\mathbb{R}}"),
    ("2^ℵ₀", r"2^{\aleph}_0"),
    ("90°", r"90^\circ"),
    ("ℝ²\u00a0", r"\mathbb{R}^2"),
    (r"x² \text{ für } x ∈ ℝ", r"x^2 \text{ für } x \in \mathbb{R}"),
    ("（a，b）", "(a,b)"),
    ("𝑥 + 𝐯", r"x + \mathbf{v}"),
    ("ℓ + ℜ z", r"\ell + \Re z"),
    ("∂f/∂x = ∇g", r"\partial f/\partial x = \nabla g"),
]


@cases("reading", ["published", "mathematician"])
def test_a_formula_in_unicode_has_the_trees_of_its_latex(reading: str) -> None:
    for typed, latex in PAIRS:
        (opt, slt), _ = trees_of(Formula("1", typed), (), reading)
        assert slt is not None
        assert (opt, slt) == trees_of(Formula("2", latex), (), reading)[0], typed


def test_a_formula_in_unicode_is_drawn_as_its_latex() -> None:
    assert not [typed for typed, latex in PAIRS if _drawn(typed) != _drawn(latex)]


def _drawn(latex: str) -> str:
    return display_mathml(latex).partition("<semantics>")[2].partition("<annotation")[0]


def test_macros_may_be_defined_in_unicode() -> None:
    (opt, _), _ = trees_of(Formula("1", r"x \in \R"), (r"\newcommand{\R}{ℝ}",))
    (meant, _), _ = trees_of(Formula("2", r"x \in \mathbb{R}"))
    assert opt == meant


def test_the_published_trees_keep_unicode_characters_as_letters() -> None:
    assert "V!≤" in parse("a≤b").slt.labels


def test_words_keep_their_letters() -> None:
    assert unicode_to_latex(r"\text{größer als ½ $x²$}é") == r"\text{größer als ½ $x^{2}$}é"


HOSTILE = """
from mathamr.formulas.latex.unicode import unicode_to_latex
texts = ["√(" * 40_000, "\\\\text{" * 15_000 + "é", "²₁" * 40_000, "x" + "\\u0304" * 90_000, "√" * 90_000]
print([len(unicode_to_latex(text)) > 1000 for text in texts])
"""


@pytest.mark.slow
def test_hostile_text_takes_bounded_time() -> None:
    assert bounded(HOSTILE).stdout.split() == ["[True,", "True,", "True,", "True,", "True]"]
