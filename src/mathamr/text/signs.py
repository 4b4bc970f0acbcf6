"""Mathematical signs as words: the vocabularies of word pieces lack most of them, and a word with an unknown sign is lost as a whole."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.arrays import IntArray

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
    """Return the text with mathematical signs as words.

    >>> sign_words("∀ n : ℕ, ∑ i ∈ s, 𝔞 i ≠ 0")
    ' for all  n :  nat ,  sum  i ∈ s, a i  not =  0'
    """
    return _SIGN.sub(_spelled, text)


def with_sign_words(wording: Wording) -> Wording:
    """Return a wording with signs as words, and its spans at their new places."""
    if not _SIGN.search(wording.text):
        return wording
    bounds = np.array([(span.start, span.end) for span in wording.spans], np.int64)
    text, bounds = with_words(wording.text, bounds)
    spans = zip(wording.spans, bounds.tolist(), strict=True)
    return replace(
        wording, text=text, spans=tuple(replace(span, start=start, end=end) for span, (start, end) in spans)
    )


def with_words(text: str, places: IntArray) -> tuple[str, IntArray]:
    """Return a text with signs as words, and the new places of some of its characters."""
    signs = list(_SIGN.finditer(text))
    if not signs:
        return text, places
    starts = np.array([sign.start() for sign in signs])
    grown = np.array([0, *accumulate(len(_spelled(sign)) - len(sign[0]) for sign in signs)])
    return sign_words(text), places + grown[np.searchsorted(starts, places)]


def _spelled(sign: re.Match[str]) -> str:
    words = WORDS.get(sign[0])
    return unicodedata.normalize("NFKC", sign[0]) if words is None else f" {words} "
