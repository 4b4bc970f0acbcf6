r"""Named formulas: `gaussian integral` means \int_{-\infty}^\infty e^{-x^2}\,dx, whether or not a post says so.

`namedformulas.tsv` lists the names and formulas of mathematics, from school to graduate courses. Formulas are compared up to the names of
letters, with what one of them leaves open as a wildcard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mathamr.core.listing import names as names_in
from mathamr.formulas.formula import Formula
from mathamr.formulas.openform import has_big_operator, open_form
from mathamr.formulas.trees import Trees, trees_of
from mathamr.formulas.typed.names import GREEK
from mathamr.formulas.visualkey import visual_key
from mathamr.index.lexical.terms import READING, latex_tokens, stems, word_tokens, words
from mathamr.search.formulagrade import COMPLETED, RENAMED, FormulaGrader

FEWEST_RENAMED = 8
"""The fewest symbols of a formula that is recognised in other letters: `F=ma` in other letters is any product."""
GENERAL = names_in("theorem lemma formula identity inequality law rule principle equation equations problem")
"""What a name may leave out at its end: "cauchy schwarz", "chinese remainder"."""
FEWEST_IN_SIDE = 6
"""The fewest nodes, bounds left out, of a side of an equation that is searched alone."""
_ANY_FUNCTION = re.compile(r"F!.|V![𝑎𝑏𝑐𝑓𝑔𝐹𝐺]")
"""The letters of functions and coefficients that may be any."""
FEWEST_WORDS = 2
"""The fewest words of a name that is recognised beside other words."""
_LETTERS = frozenset(f"\\{letter}" for letter in GREEK)
_OPEN = names_in(
    r"\infty \to \rightarrow \in \mathrm \operatorname \limits \cdot \left \right \quad \ldots \cdots"
)
"""Commands that bounds, fonts and spacing need: formulas that differ in these may be the same."""


@dataclass(frozen=True, slots=True)
class NamedFormula:
    """The names of one thing, the usual one first, and the formulas that state it."""

    names: tuple[str, ...]
    latex: tuple[str, ...]

    @property
    def sides(self) -> tuple[str, ...]:
        r"""The sums, integrals and limits on one side of these formulas that tell by themselves what is meant.

        >>> NamedFormula(("a",), (r"\gamma=\lim_{n\to\infty}(\sum_{k=1}^n\frac1k-\ln n)", r"\int_a^bf(x)\,dx=F(b)-F(a)")).sides
        ('\\lim_{n\\to\\infty}(\\sum_{k=1}^n\\frac1k-\\ln n)',)
        """
        found = (side for latex in self.latex for side in _sides(latex) if _is_telling_side(side))
        return tuple(side for side in dict.fromkeys(found) if side not in self.latex)


@cache
def named_formulas() -> tuple[NamedFormula, ...]:
    """Return the table."""
    text = (resources.files("mathamr.search") / "namedformulas.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(NamedFormula(tuple(listed.split("; ")), tuple(latex)) for listed, *latex in rows)


def formulas_of(name: str) -> tuple[str, ...]:
    r"""Return the formulas of a name, as LaTeX; none if the table does not have it.

    >>> formulas_of("Euler's identity")
    ('e^{i\\pi}+1=0', 'e^{i\\pi}=-1')
    """
    found = _by_name().get(tuple(word_tokens(name)))
    return found.latex if found is not None else ()


def named_in(found: Sequence[str]) -> NamedFormula | None:
    """Return what the stems of a short text name, alone or beside other words: the longest name of the table in it.

    >>> named_in(word_tokens("proof of the Cauchy-Schwarz inequality")).names[0]
    'cauchy-schwarz inequality'
    >>> named_in(word_tokens("variance of a stopping time")) is None
    True
    """
    known = _by_name()
    if (whole := known.get(tuple(found))) is not None:
        return whole
    for size in range(min(len(found), _longest_name()), FEWEST_WORDS - 1, -1):
        for start in range(len(found) - size + 1):
            if (named := known.get(tuple(found[start : start + size]))) is not None:
                return named
    return None


def names_of(latex: str, macros: tuple[str, ...] = ()) -> tuple[str, ...]:
    r"""Return the names of a formula: those of the same one, in other letters too, and with bounds that it leaves out.

    >>> names_of(r"u^2+v^2=w^2")[0], names_of(r"\int e^{-t^2}dt")[0], names_of("a+b")
    ('pythagorean theorem', 'gaussian integral', ())
    """
    trees, _ = trees_of(Formula("", latex), macros, READING)
    if trees[1] is None:
        return ()
    grader = FormulaGrader(trees, visual_key(trees[1]), lambda _: True)
    found: dict[str, None] = {}
    for number, other in _by_signs().get(_signs(latex), ()):
        own = _trees(other)
        least = RENAMED if own[1] is not None and len(own[1]) >= FEWEST_RENAMED else COMPLETED
        if own[1] is not None and grader.grade_having(visual_key(own[1]), own) >= least:
            found |= dict.fromkeys(named_formulas()[number].names)
    return tuple(found)


def _sides(latex: str) -> list[str]:
    """Return the sides of an equation; none if a formula is not one."""
    depth, sides = 0, [""]
    for letter in latex:
        depth += (letter in "{(") - (letter in "})")
        if letter == "=" and not depth:
            sides.append("")
        else:
            sides[-1] += letter
    return sides if len(sides) > 1 else []


@cache
def _is_telling_side(latex: str) -> bool:
    """Return True for a sum or the like that is large enough, and is not of any function."""
    opt, _ = _trees(latex)
    if opt is None or not has_big_operator(opt) or len(open_form(opt)) < FEWEST_IN_SIDE:
        return False
    return not any(_ANY_FUNCTION.fullmatch(label) for label in opt.labels)


@cache
def _by_name() -> dict[tuple[str, ...], NamedFormula]:
    """Return the named formulas by their names as stems, also without a last word that says what kind of thing it is."""
    found: dict[tuple[str, ...], NamedFormula] = {}
    for named in reversed(named_formulas()):
        for name in named.names:
            own = words(name)
            found[tuple(stems(own))] = named
            if own[-1] in GENERAL and len(own) > FEWEST_WORDS:
                found.setdefault(tuple(stems(own[:-1])), named)
    return found


@cache
def _longest_name() -> int:
    return max(map(len, _by_name()))


@cache
def _by_signs() -> dict[frozenset[str], list[tuple[int, str]]]:
    """Return the numbers and formulas of the table by the signs in them, since parsing all of them takes seconds."""
    found: dict[frozenset[str], list[tuple[int, str]]] = {}
    for number, named in enumerate(named_formulas()):
        for latex in named.latex:
            found.setdefault(_signs(latex), []).append((number, latex))
    return found


def _signs(latex: str) -> frozenset[str]:
    """Return the commands and relations of a formula, but for letters and what is left out with bounds."""
    tokens = {"\\frac" if token == "/" else token for token in latex_tokens(latex)}
    return (
        frozenset(token for token in tokens if token in "=<>!|" or token.startswith("\\")) - _LETTERS - _OPEN
    )


@cache
def _trees(latex: str) -> Trees:
    return trees_of(Formula("", latex), (), READING)[0]
