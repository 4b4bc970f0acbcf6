"""Tokens for lexical search: stems of words, and runs of LaTeX tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from Stemmer import Stemmer

_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_LATEX = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[^\W\d_]|[^\s{}&]")
_UNSEEN = re.compile(r"\\(?:left|right|displaystyle|textstyle|limits|nolimits|q?quad|[bB]igg?[lr]?|[,;:!\s])")
_SAME = {
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\ne": r"\neq",
    r"\to": r"\rightarrow",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\dots": r"\ldots",
    r"\lbrace": r"\{",
    r"\rbrace": r"\}",
    r"\land": r"\wedge",
    r"\lor": r"\vee",
}
"""Commands that mean the same, so that authors' habits do not hide a match."""


def word_tokens(text: str) -> list[str]:
    """The Porter stems of the words in a text, in lower case.

    >>> word_tokens("Proving that groups have cyclic quotients")
    ['prove', 'that', 'group', 'have', 'cyclic', 'quotient']
    """
    stems: list[str] = _stemmer().stemWords(_WORD.findall(text.lower()))
    return stems


def latex_tokens(latex: str) -> list[str]:
    """The tokens of a formula: commands, letters, numbers and signs; braces and what only spaces are left out.

    >>> latex_tokens(r"\\left( \\dfrac{1}{2n} \\right)")
    ['(', '\\\\frac', '1', '2', 'n', ')']
    """
    return [_SAME.get(token, token) for token in _LATEX.findall(latex) if not _UNSEEN.fullmatch(token)]


def ngrams(tokens: Sequence[str], longest: int) -> Iterator[str]:
    """All runs of 1 to `longest` tokens, marked as of a formula.

    >>> list(ngrams(["a", "+", "b"], 2))
    ['$a', '$+', '$b', '$a +', '$+ b']
    """
    for length in range(1, longest + 1):
        for start in range(len(tokens) - length + 1):
            yield "$" + " ".join(tokens[start : start + length])


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer:
    from Stemmer import Stemmer

    return Stemmer("porter")
