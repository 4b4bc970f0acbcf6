"""Names of formal libraries as words: `isCompact_iff_finite_subcover` is "is compact iff finite subcover"."""

from __future__ import annotations

import re
from functools import lru_cache

from mathamr.formulas.latex.unicode import LOWERED_DIGITS

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+|\d+")


@lru_cache(maxsize=20_000)
def name_words(name: str) -> str:
    """Return the words of a name in lower case: cut at dots, underscores and capitals; primes and subscripts are left out.

    >>> name_words("isCompact_iff_finite_subcover"), name_words("Nat.add_comm'"), name_words("LTSeries.x₁_of_pAdic")
    ('is compact iff finite subcover', 'nat add comm', 'lt series x 1 of p adic')
    """
    return " ".join(_WORD.findall(name.translate(LOWERED_DIGITS))).lower()
