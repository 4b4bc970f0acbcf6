"""Phrases of a typed formula in the notation that the reader knows: `sum from n=1 to oo of`, `n choose k`, sets such as `R` after `in`."""

from __future__ import annotations

import re

_SET = r"(?<![A-Za-z\\])"
_DOUBLE = dict(zip("RZQNC", "ℝℤℚℕℂ", strict=True))
_REWRITTEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b(sum|prod|product|integral|int)\s+from\s+(\S+?)\s+to\s+(\S+?)\s+(?:of\s+)?", r"\1_(\2)^(\3) "),
        (r"\b(sum|prod|product)\s+([a-z]\s*=\s*\S+?)\s+to\s+(\S+?)\s+(?:of\s+)?", r"\1_(\2)^(\3) "),
        (
            r"\b(?:limit|lim)\s+(?:as\s+)?([a-z]\s*(?:->|→|to)\s*[^\s,]+)\s+(?:of\s+)?(?=\S)",
            r"lim_(\1) ",
        ),
        (r"\b(lim|sum|prod)_([a-z](?:=|->|→|>=|≥|<=|≤)[^\s^()]+)", r"\1_(\2)"),
        (r"\b(sum|product|integral|limit)\s+of\s+", r"\1 "),
        (r"((?<!\w)\w++|\([^()]*\))\s+choose\s+(\w+|\([^()]*\))", r"binom(\1,\2)"),
        (r"\bfor all\b", "forall"),
        (r"\bthere exists\b", "exists"),
        (r"\bnot in\b", "notin"),
    )
)
_SETS = (
    re.compile(_SET + r"(Z)(?=/(?:\d+|[a-z])(?:Z\b|(?![A-Za-z0-9(])))"),
    re.compile(r"(?<=/\d)(Z)(?![A-Za-z])|(?<=/[a-z])(Z)(?![A-Za-z])|(?<=/\d\d)(Z)(?![A-Za-z])"),
    re.compile(r"(?:(?<=\bin )|(?<=∈ )|(?<=∈))([RZQNC])(?![A-Za-z(])"),
    re.compile(_SET + r"(R)(?=\^[\({]?[nmdk23]\b)"),
    re.compile(_SET + r"(Z)(?=\[)|" + _SET + r"(Q)(?=\((?:sqrt|√|i\b|zeta|ζ|α|alpha))"),
    re.compile(_SET + r"([RZQNC])(?=(?:\^\w)?\s*(?:->|→)\s*[RZQNC](?![A-Za-z]))"),
    re.compile(r"(?:(?<=[ℝℤℚℕℂ] -> )|(?<=[ℝℤℚℕℂ]->)|(?<=[ℝℤℚℕℂ] → )|(?<=[ℝℤℚℕℂ]→))([RZQNC])(?![A-Za-z])"),
)


def rewritten(text: str) -> str:
    """Return the text with its phrases rewritten.

    >>> rewritten("sum from n=1 to oo of 1/n"), rewritten("x in R")
    ('sum_(n=1)^(oo) 1/n', 'x in ℝ')
    """
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    for pattern in _SETS:
        text = pattern.sub(lambda match: _DOUBLE[match.group()], text)
    return text
