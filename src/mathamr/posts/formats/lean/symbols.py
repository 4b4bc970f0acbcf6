"""Lean's symbols: what each is in LaTeX, how strongly it binds, and what is not written in LaTeX."""

from __future__ import annotations

import re

from mathamr.formulas.latex import symbols, unicode

MODIFIERS = "ᶜᵀᴴˣᵒᵖᵐᵈᗮ"
GREEK = {letter: name for name, letter in reversed(symbols.GREEK.items())}
_KNOWN = unicode.symbols()
SYMBOLS = {sign: _KNOWN.get(sign) or unicode.letter(sign) or sign for sign in "ℕℤℚℝℂℍ∞⊤⊥∅𝓝πℓ∂𝓟℘·⋯"} | {
    "𝕜": r"\mathbb{k}", "ℝ≥0": r"\mathbb{R}_{\ge 0}", "ℝ≥0∞": r"[0, \infty]", "𝟙": r"\mathrm{id}", "Real.pi": r"\pi",
    "Complex.I": "i", "True": r"\top", "False": r"\bot", "ℵ₀": r"\aleph_0", "_": r"\_", "*": "*",
}  # fmt: skip
FUNCTIONS = symbols.FUNCTIONS - {"hom", "sec"}
"""Names that are functions; morphisms and sections are none."""
RELATIONS = {sign: _KNOWN.get(sign, sign) for sign in "=≠<≤>≥∈∉∋⊆⊂⊇⊃∣≡≃≅≈∼≪⟂≺⊑⋖∤⊢⊣≫"} | {
    "~": r"\sim", "∥": r"\parallel", "≼": r"\preceq", "⊨": r"\models", "≟": "=", "≌": r"\cong",
}  # fmt: skip
INFIX: dict[str, tuple[int, bool, str]] = {
    # sign: (precedence, groups to the right, LaTeX)
    "↔": (20, False, r"\iff"), "→": (25, True, r"\to"), "⟶": (26, True, r"\to"), "⥤": (26, True, r"\to"),
    "↪": (26, True, r"\hookrightarrow"), "⟹": (25, True, r"\implies"), "↠": (26, True, r"\twoheadrightarrow"),
    "∨": (30, True, r"\lor"), "∧": (35, True, r"\land"), "×": (36, True, r"\times"), "⊕": (36, True, r"\oplus"),
    **{sign: (50, False, latex) for sign, latex in RELATIONS.items()},
    "∪": (65, False, r"\cup"), "+": (65, False, "+"), "-": (65, False, "-"), "⊔": (68, False, r"\sqcup"),
    "∩": (70, False, r"\cap"), "\\": (70, False, r"\setminus"), "*": (70, False, ""), "/": (70, False, "/"),
    "%": (70, False, r"\bmod"), "⊓": (69, False, r"\sqcap"), "•": (73, True, r"\cdot"), "^": (75, True, "^"),
    "⊗": (72, False, r"\otimes"), "∘": (90, True, r"\circ"), "×ˢ": (82, False, r"\times"), "⬝": (72, False, r"\cdot"),
    "∆": (70, False, r"\triangle"), "⋆": (72, False, r"\star"), "⊞": (65, False, r"\oplus"), "↑": (75, True, r"\uparrow"),
    "≫": (80, True, r"\circ"), "⧸": (70, False, "/"), "∗": (70, False, "*"), "⨯": (70, False, r"\times"),
}  # fmt: skip
BIG = {sign: _KNOWN[sign] for sign in "∑∏⋃⋂⨁⨂∐"} | {"∑'": r"\sum", "∏'": r"\prod", "⨆": r"\sup", "⨅": r"\inf"}
QUANTIFIERS = {"∀": r"\forall", "∃": r"\exists", "∃!": r"\exists!"}
CLOSING = {
    "(": ")", "[": "]", "{": "}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "⟪": "⟫", "⁅": "⁆", "‖": "‖", "|": "|",
}  # fmt: skip
FENCES = {
    "⌊": (r"\lfloor ", r"\rfloor"), "⌈": (r"\lceil ", r"\rceil"), "⟪": (r"\langle ", r"\rangle"), "‖": (r"\|", r"\|"),
    "|": ("|", "|"), "⟨": ("(", ")"), "[": ("[", "]"), "⁅": ("[", "]"),
}  # fmt: skip
INTERVALS = {"Icc": "[]", "Ioo": "()", "Ico": "[)", "Ioc": "(]"}
POSTFIX = {
    "ᶜ": "^c", "ᵀ": "^T", "ᴴ": "^H", "ˣ": r"^\times", "ᵒᵖ": r"^{\mathrm{op}}", "ᵐᵒᵖ": r"^{\mathrm{op}}",
    "ᵈ": "^d", "ᗮ": r"^\perp", "⁺": "^+",
}  # fmt: skip
COERCIONS = frozenset("↑⇑↥@")
REFUSED = frozenset([
    "by", ":=", "match", "let", "have", "show", "from", "do", "if", "then", "else", "where", "calc", "$", "`",
])  # fmt: skip
SUBSCRIPTS = unicode.LOWERED_DIGITS | str.maketrans("ₙₖᵢⱼ", "nkij")
INDEXED = re.compile(r"([^\W\d_]|[^\W\d_]{1,3})_?([\d₀-₉ₙₖᵢⱼ]+)('*)\Z")


UNSEEN = (
    (re.compile(r"\([↑⇑]\)"), " coe "),
    (re.compile(r"\.\{[^{}]*\}|\(\w+ := [^()]*\)"), ""),  # universes, and arguments by name
    (re.compile(r"([∀∃]ᵐ [^,∂]*)∂[^,]*,"), r"\1,"),  # almost everywhere
    (re.compile(r"([=≤<])[ᵐᶠ]+\[[^\]]*\]"), r"\1"),
    (re.compile(r"([∀∃=≤<→≃↪⟶∘⋆⊗×+∪∩⊕⊔⊓≅↑∗•∣‖])[ₐ-ₜᵢᵣᵤᵥⱼ₊⁎ᵐᶠˡʳᵍ]+"), r"\1"),  # ∘ₗ, ↑ₐ, ‖x‖₊
)
"""What Lean needs and LaTeX does not write."""
