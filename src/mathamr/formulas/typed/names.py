"""Words that mean something in a typed formula, and phrases of them: Greek letters, functions, `sum from n=1 to oo of`."""

from __future__ import annotations

import re

from mathamr.core.listing import names
from mathamr.formulas.latex import symbols

GREEK = frozenset(symbols.GREEK) | {"eps"}
"""Names of Greek letters; `greek` returns their LaTeX."""
OPERATORS = names(
    "tr rank rk im Im Re tg ctg cotg arctg cosec sinc coker span sgn lcm Hom End Aut Gal Ext Tor Spec Var Cov Cor diag vol diam supp nullity"
    " var cov Beta curl grad Res Ind Stab Orb char adj conv erf arcsec arccsc arccot arsinh arcosh artanh sech csch id"
)
"""Functions that have no command of their own in LaTeX, or only in a package."""
_GROUPS = names("GL SL SO SU PGL PSL Sp")
LIMITS = {
    "lim": r"\lim", "limit": r"\lim", "limsup": r"\limsup", "liminf": r"\liminf", "sup": r"\sup", "inf": r"\inf", "max": r"\max",
    "min": r"\min", "sum": r"\sum", "prod": r"\prod", "product": r"\prod", "int": r"\int", "integral": r"\int",
    "iint": r"\iint", "oint": r"\oint", "argmax": r"\operatorname*{argmax}", "argmin": r"\operatorname*{argmin}",
    "bigcup": r"\bigcup", "bigcap": r"\bigcap",
}  # fmt: skip
"""Operators that take everything up to the next relation or sum as their argument, and bounds."""
_COMMANDS = symbols.FUNCTIONS - LIMITS.keys()
CALLED = _COMMANDS | OPERATORS | _GROUPS | names("max min sup inf lim sqrt cbrt abs binom floor ceil")
"""What is surely a formula with a bracket right behind it: `Hom(`."""
INFINITY = frozenset(["oo", "infinity", "infty"])
BLACKBOARD = frozenset(["RR", "ZZ", "QQ", "NN", "CC", "FF"])
CONSTANTS = dict.fromkeys(INFINITY, r"\infty") | {word: rf"\mathbb{{{word[0]}}}" for word in BLACKBOARD}
RELATIONS = {
    "in": r"\in", "notin": r"\notin", "subset": r"\subset", "subseteq": r"\subseteq", "supset": r"\supset", "iff": r"\iff",
    "implies": r"\implies", "to": r"\to", "approx": r"\approx", "equiv": r"\equiv", "cong": r"\cong", "sim": r"\sim",
    "leq": r"\le", "geq": r"\ge", "neq": r"\ne", "divides": r"\mid",
}  # fmt: skip
OPERATIONS = {
    "times": r"\times", "cross": r"\times", "oplus": r"\oplus", "otimes": r"\otimes", "cdot": r"\cdot", "cup": r"\cup",
    "union": r"\cup", "cap": r"\cap", "intersect": r"\cap", "setminus": r"\setminus", "circ": r"\circ", "wedge": r"\wedge",
    "mod": r"\bmod",
}  # fmt: skip
CONNECTIVES = {
    "and": r"\text{ and }", "or": r"\text{ or }", "not": r"\neg ", "forall": r"\forall ", "exists": r"\exists ",
    "if": r"\text{ if }", "then": r"\text{ then }",
}  # fmt: skip
WRAPPED = {
    "sqrt": r"\sqrt{%s}", "cbrt": r"\sqrt[3]{%s}", "abs": r"|%s|", "norm": r"\|%s\|", "floor": r"\lfloor %s\rfloor ",
    "ceil": r"\lceil %s\rceil ", "hat": r"\hat{%s}", "bar": r"\bar{%s}", "vec": r"\vec{%s}", "tilde": r"\tilde{%s}",
    "conj": r"\overline{%s}",
}  # fmt: skip
"""Names whose argument is wrapped."""
ACCENTS = {name: WRAPPED[name] for name in ("hat", "bar", "tilde", "vec")} | {"star": "%s^*"}
"""Subscripts that mean an accent of their base, as in `beta_hat`."""
PAIRS = {"binom": r"\binom{%s}{%s}", "frac": r"\frac{%s}{%s}", "choose": r"\binom{%s}{%s}"}
"""Names with two arguments, `binom(n,k)`."""


NAMES = frozenset().union(
    GREEK, _COMMANDS, OPERATORS, LIMITS, CONSTANTS, RELATIONS, OPERATIONS, CONNECTIVES, WRAPPED, PAIRS
) - names("inf id im Im Re tr tg rk var cov Res Ind char conv adj span supp vol union product integral limit")
"""Names that are known inside a word, too."""


def greek(word: str) -> str | None:
    """Return the LaTeX of the name of a Greek letter.

    >>> greek("beta"), greek("eps"), greek("apple")
    ('\\\\beta', '\\\\varepsilon', None)
    """
    if word == "eps":
        return r"\varepsilon"
    return f"\\{word}" if word in GREEK else None


def function(word: str) -> str | None:
    """Return the LaTeX of the name of a function.

    >>> function("sin"), function("rank"), function("apple")
    ('\\\\sin', '\\\\operatorname{rank}', None)
    """
    if word in _COMMANDS:
        return f"\\{word}"
    return f"\\operatorname{{{word}}}" if word in OPERATORS or word in _GROUPS else None


def is_name(word: str) -> bool:
    """Return True for a word that belongs in a formula and is hardly an English word."""
    return bool(
        word in GREEK
        or word in INFINITY
        or word in BLACKBOARD
        or word in _COMMANDS
        or (word in OPERATORS and word not in names("Re char span rank id im Im supp hom var cov Beta"))
        or word in _GROUPS
        or word in ("lim", "limsup", "liminf", "int", "iint", "oint", "sqrt", "cbrt", "binom")
    )


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
