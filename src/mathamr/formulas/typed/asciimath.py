"""AsciiMath as a dialect of typed formulas: https://asciimath.org, whose every text is a formula."""

from __future__ import annotations

from mathamr.core.listing import names
from mathamr.formulas.typed.reader import typed_to_latex
from mathamr.formulas.typed.tokens import Dialect

_CHARACTERS = """
    xx × -: ÷ |>< ⋉ o+ ⊕ ox ⊗ o. ⊙ @ ∘ ^^ ∧ vv ∨ nn ∩ uu ∪ !in ∉ -< ≺ >- ≻ -<= ⪯ >-= ⪰ -= ≡ sub ⊂ sup ⊃ sube ⊆ supe ⊇
    prop ∝ AA ∀ EE ∃ _|_ ⊥ TT ⊤ |-- ⊢ |== ⊨ uarr ↑ darr ↓ rarr → larr ← harr ↔ rArr ⇒ lArr ⇐ hArr ⇔ del ∂ grad ∇
    O/ ∅ :. ∴ :' ∵ /_ ∠ *** ⋆ ** ∗ diamond ⋄ (: ⟨ :) ⟩ << ⟨ >> ⟩ // ∕ lt < gt > le ≤ ge ≥ ne ≠
    """
_COMMANDS = """
    partial nabla pm div vee models vdash aleph cdots vdots ddots ldots quad qquad ast star prec succ supseteq propto
    Leftrightarrow Rightarrow rightarrow leftarrow leftrightarrow emptyset angle triangle square neg land lor lfloor rfloor
    lceil rceil ell hbar bot top
    """
_SPELLED = _CHARACTERS.split()
_FONTS = {
    "bb": "mathbf", "bbb": "mathbb", "cc": "mathcal", "tt": "mathtt", "fr": "mathfrak", "sf": "mathsf", "bar": "overline",
    "ul": "underline", "ubrace": "underbrace", "obrace": "overbrace",
} | {name: name for name in names("overline dot ddot cancel mathbf mathbb mathcal mathfrak")}  # fmt: skip
ASCIIMATH = Dialect(
    dict(zip(_SPELLED[::2], _SPELLED[1::2], strict=True))
    | {name: f"\\{name}" for name in names(_COMMANDS)}
    | {"{:": "", ":}": ""},
    {name: f"\\{command}{{%s}}" for name, command in _FONTS.items()},
    {name: f"\\{name}{{%s}}{{%s}}" for name in ("frac", "stackrel", "overset", "underset", "binom")}
    | {"root": r"\sqrt[%s]{%s}"},
)


def asciimath_to_latex(formula: str) -> str:
    r"""Return a formula in AsciiMath as LaTeX.

    >>> print(asciimath_to_latex("sum_(i=1)^n i^3=((n(n+1))/2)^2"))
    \sum_{i=1}^n i^3=(\frac{n(n+1)}{2})^2
    >>> print(asciimath_to_latex("[[a,b],[c,d]] x in RR"), asciimath_to_latex("sqrt x / 2"))
    \begin{bmatrix}a & b \\ c & d\end{bmatrix} x \in \mathbb{R} \frac{\sqrt{x}}{2}
    """
    return typed_to_latex(formula, ASCIIMATH)
