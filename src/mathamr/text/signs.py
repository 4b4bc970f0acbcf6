"""Mathematical signs as words: the vocabularies of word pieces lack most of them, and a word with an unknown sign is lost as a whole."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mathamr.text.wording import Wording

WORDS = {
    "∀": "for all", "∃": "exists", "∄": "not exists", "≠": "not =", "∉": "not ∈", "⊄": "not ⊂", "⊈": "not ⊆", "∤": "not divides",
    "ℕ": "nat", "ℤ": "integer", "ℚ": "rational", "ℝ": "real", "ℂ": "complex", "ℍ": "quaternion", "ℵ": "aleph", "𝓝": "neighborhood",
    "∑": "sum", "∏": "product", "∐": "coproduct", "∫": "integral", "∮": "integral", "√": "root", "∣": "divides", "∥": "parallel",
    "⊤": "top", "⊥": "bottom", "⊔": "sup", "⊓": "inf", "⨆": "supremum", "⨅": "infimum", "⋃": "union", "⋂": "intersection",
    "⊇": "superset", "⊃": "superset", "∖": "minus", "△": "difference", "∆": "difference",
    "≃": "equivalence", "≅": "isomorphism", "≌": "equivalence", "≡": "congruent", "≈": "approximately", "∼": "similar", "≪": "much less",
    "⟶": "→", "⟹": "⇒", "⟺": "↔", "⥤": "functor", "⋙": "compose", "≫": "compose", "↪": "embedding", "↠": "surjection", "⊣": "adjoint",
    "𝟙": "identity", "𝟭": "identity", "⧸": "quotient", "⋊": "semidirect product", "⨯": "product", "⨿": "coproduct", "⊞": "⊕", "⨁": "direct sum", "⨂": "tensor",
    "∠": "angle", "∡": "angle", "⊢": "proves", "⦃": "{", "⦄": "}", "⟪": "inner", "⟫": ",", "⌊": "floor", "⌋": ",", "⌈": "ceiling", "⌉": ",",
    "∇": "gradient", "⋆": "star", "∗": "*", "⁅": "[", "⁆": "]", "⋯": "...", "…": "...", "⨍": "average", "∎": "", "▸": "", "⇑": "", "↑": "", "↥": "",
}  # fmt: skip
"""The words for signs; other letters of mathematical alphabets are read as the plain letter."""

_ALPHABETS = "\U0001d400-\U0001d7ffℊℋℌℐℑℒℓ℘ℙℛℜℨ℩ℬℭℰℱℳℴ"
_SIGN = re.compile(f"[{re.escape(''.join(WORDS))}{_ALPHABETS}]")


def sign_words(text: str) -> str:
    """Text with signs as words.

    >>> sign_words("∀ n : ℕ, ∑ i ∈ s, 𝔞 i ≠ 0")
    ' for all  n :  nat ,  sum  i ∈ s, a i  not =  0'
    """
    return _SIGN.sub(_spelled, text)


def with_sign_words(wording: Wording) -> Wording:
    """A wording with signs as words, and its spans at their new places."""
    signs = list(_SIGN.finditer(wording.text))
    if not signs:
        return wording
    starts = np.array([sign.start() for sign in signs])
    grown = np.array([0, *accumulate(len(_spelled(sign)) - len(sign[0]) for sign in signs)])

    def place(old: int) -> int:
        return old + int(grown[np.searchsorted(starts, old)])

    spans = (replace(span, start=place(span.start), end=place(span.end)) for span in wording.spans)
    return replace(wording, text=sign_words(wording.text), spans=tuple(spans))


def _spelled(sign: re.Match[str]) -> str:
    words = WORDS.get(sign[0])
    return unicodedata.normalize("NFKC", sign[0]) if words is None else f" {words} "
