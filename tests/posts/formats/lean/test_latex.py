"""Lean's notation as LaTeX."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.parse import parse
from mathamr.posts.formats.lean.latex import latex_of
from tests.cases import cases


@cases(
    ("term", "latex"),
    [
        ("a * b = b * a", "a b = b a"),
        ("2 * (a + b)", r"2 \cdot (a + b)"),
        ("a / (b + 1)", r"\frac{a}{b + 1}"),
        ("x ^ (n + 1)", "x^{n + 1}"),
        ("x⁻¹ * x = 1", "x^{-1} x = 1"),
        ("a - b - c", "a - b - c"),
        ("p → q → r", r"p \to q \to r"),
        ("¬ p ∨ q", r"\neg p \lor q"),
        (
            "∃ t : Finset ι, s ⊆ ⋃ i ∈ t, U i",
            r"\exists t \in \operatorname{Finset}(\iota), s \subseteq \bigcup_{i \in t} U(i)",
        ),
        (
            "∀ ε > 0, ∃ N, ∀ n ≥ N, |x n| < ε",
            r"\forall \varepsilon > 0, \exists N, \forall n \ge N, |x(n)| < \varepsilon",
        ),
        ("∏ i : Fin n, f i = 1", r"\prod_{i \in \operatorname{Fin}(n)} f(i) = 1"),
        ("∫ x in a..b, f x", r"\int_{a}^{b} f(x) \, dx"),
        ("∫ x, f x ∂μ", r"\int f(x) \, d\mu"),
        ("{x | p x} ∩ sᶜ = ∅", r"\{x \mid p(x)\} \cap s^c = \emptyset"),
        ("{x ∈ s | 0 < x}", r"\{x \in s \mid 0 < x\}"),
        ("f '' s ⊆ f ⁻¹' t", r"f(s) \subseteq f^{-1}(t)"),
        ("a ≡ b [MOD n]", r"a \equiv b \pmod{n}"),
        ("n.choose k * k ! = Nat.choose n k", r"\binom{n}{k} k! = \binom{n}{k}"),
        ("Real.sqrt 2 * √3", r"\sqrt{2} \sqrt{3}"),
        ("Set.Icc a b ⊆ Set.Ioo c d", r"[a, b] \subseteq (c, d)"),
        ("M →ₗ[R] N", r"M \to N"),
        ("⟪x, y⟫_ℝ ≤ ‖x‖ * ‖y‖", r"\langle x, y\rangle \le \|x\| \|y\|"),
        ("((n : ℕ) : ℝ) = x₁ + x'", "n = x_{1} + x'"),
        ("(fun x ↦ f x + g x) ∘ h", r"(x \mapsto f(x) + g(x)) \circ h"),
        ("s.card = Finset.card t", r"\operatorname{card}(s) = \operatorname{card}(t)"),
        ("2 ∣ n ^ 2", r"2 \mid n^{2}"),
    ],
)
def test_a_term_is_written_as_mathematicians_do(term: str, latex: str) -> None:
    assert latex_of(term) == latex
    parse(latex)


@cases("term", ["", "by simp", "a +", "(a", "if p then a else b", "x = )", "let y := 2; y", "(" * 500])
def test_what_cannot_be_read_gives_no_formula(term: str) -> None:
    assert latex_of(term) == ""


@given(st.text(alphabet="ab1 ()[]{}|‖∑∀∈,:=>+-*/^→⁻¹.'xfun↦⟨⟩⌊⌋!_\\", max_size=60))
def test_any_text_gives_latex_or_nothing(term: str) -> None:
    assert isinstance(latex_of(term), str)
