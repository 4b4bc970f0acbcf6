"""LaTeX to both trees of a formula: `parse` is the entry point for LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

from mathamr.core.cancellation import check_cancelled
from mathamr.core.errors import UnknownNameError
from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError, Repair
from mathamr.formulas.latex.content import mean
from mathamr.formulas.latex.expandedlatex import ExpandedLatex
from mathamr.formulas.latex.lexer import MAX_LENGTH, unescaped
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.latex.node import Node
from mathamr.formulas.latex.nodes import NodeWalk
from mathamr.formulas.latex.presentation import present
from mathamr.formulas.latex.reader import is_command
from mathamr.formulas.mathml.element import MathMLError
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.operatortree import opt
from mathamr.formulas.meaning.mathematician import meaning
from mathamr.formulas.notation import outline, to_string
from mathamr.formulas.tree import Opt, Slt

__all__ = [
    "READINGS",
    "FormulaError",
    "FormulaParser",
    "Macros",
    "ParsedFormula",
    "Repair",
    "both_readings",
    "check_reading",
    "is_command",
    "parse",
]

READINGS: dict[str, str] = {
    "published": "the trees of Tangent-S and ARQMath, as LaTeXML groups the formula",
    "mathematician": "what the formula means: application, bound variables, derivatives, quantifiers",
}
"""The readings of an operator tree, with a description; the layout tree is the same in all."""

NO_MACROS = Macros()


@dataclass(frozen=True, slots=True)
class ParsedFormula:
    """A formula as both trees, with the repairs that parsing needed."""

    latex: str
    slt: Slt
    opt: Opt
    repairs: tuple[Repair, ...]
    reading: str = "published"
    macros: Macros = field(default=NO_MACROS, compare=False, repr=False)

    def presentation_mathml(self, *, display: bool = False) -> str:
        """Return Presentation MathML for display, valid and safe to put in a page."""
        # The typesetter is imported on use: most programs need only the trees.
        from mathamr.formulas.latex.display.formula import display_mathml

        return display_mathml(self.latex, self.macros, display=display)

    def to_dict(self) -> dict[str, object]:
        """Return the formula for JSON: trees as Tangent strings."""
        repairs = [{"message": repair.message, "offset": repair.offset} for repair in self.repairs]
        found: dict[str, object] = {
            "latex": self.latex,
            "slt": to_string(self.slt),
            "opt": to_string(self.opt),
            "repairs": repairs,
        }
        if self.reading != "published":
            found["reading"] = self.reading
        return found

    def lines(self) -> list[str]:
        """Return the formula as text: both trees indented, then the repairs."""
        result = [self.latex, "  layout (SLT)", *(f"    {line}" for line in outline(self.slt))]
        result += ["  operators (OPT)", *(f"    {line}" for line in outline(self.opt))]
        return result + [f"  repaired: {repair}" for repair in self.repairs]


def parse(
    latex: str,
    macros: Macros | Iterable[str] = (),
    *,
    wildcards: bool = False,
    reading: str = "published",
) -> ParsedFormula:
    """Parse both trees of a formula; raise `FormulaError` if there is nothing to parse or a limit is exceeded.

    `macros` are those of the document (`Macros`, or texts with `\\newcommand` and the like); definitions in the
    formula itself always apply. With `wildcards`, `?x` is a wildcard of a query; `\\qvar{x}` always is.

    The operator tree is the published one, or with `reading="mathematician"` expresses the formula's meaning.

    >>> formula = parse(r"\\frac{1}{2}")
    >>> formula.slt.labels, formula.opt.labels
    (('O!divide', 'N!1', 'N!2'), ('O!divide', 'N!1', 'N!2'))
    """
    return _parse(latex, Macros.of(macros) if macros else NO_MACROS, wildcards=wildcards, reading=reading)


def check_reading(reading: str) -> None:
    """Raise `UnknownNameError` for an unknown reading."""
    if reading not in READINGS:
        raise UnknownNameError("reading", reading, list(READINGS))


def both_readings(latex: str, macros: Macros | Iterable[str] = ()) -> tuple[ParsedFormula, ParsedFormula]:
    """Return the published and the mathematician's reading of a formula that is parsed once.

    >>> published, meant = both_readings("f(x)")
    >>> published.opt.labels[0], meant.opt.labels[0]
    ('U!times', 'F!𝑓')
    """
    published, node = _published(latex, Macros.of(macros) if macros else NO_MACROS, wildcards=False)
    return published, _meant(published, node)


def _parse(latex: str, macros: Macros, *, wildcards: bool, reading: str) -> ParsedFormula:
    check_reading(reading)
    published, node = _published(latex, macros, wildcards=wildcards)
    return published if reading == "published" else _meant(published, node)


def _published(latex: str, macros: Macros, *, wildcards: bool) -> tuple[ParsedFormula, Node]:
    """Return the published reading, and the node that any other reading starts from."""
    check_cancelled()
    if len(latex) > MAX_LENGTH:
        raise FormulaError(f"longer than {MAX_LENGTH} characters", latex, MAX_LENGTH)
    budget = Budget(len(latex))
    try:
        node, repairs = _read(ExpandedLatex(latex, macros, budget), wildcards=wildcards)
        layout = slt(present(node), budget.elements)
        tree = opt(mean(node), budget.elements)
    except RecursionError:
        raise FormulaError("nested too deeply", latex, 0) from None
    except (MathMLError, SpentError) as error:
        raise FormulaError(str(error), latex, 0) from error
    return ParsedFormula(latex, layout, tree, repairs, macros=macros), node


def _meant(published: ParsedFormula, node: Node) -> ParsedFormula:
    """Return the mathematician's reading of a formula; one without a tree in it keeps its published tree."""
    budget = Budget(len(published.latex))
    tree = published.opt
    with suppress(MathMLError, SpentError, RecursionError):
        tree = opt(mean(meaning(node, budget)), budget.elements)
    return replace(published, opt=tree, reading="mathematician")


def _read(source: ExpandedLatex, *, wildcards: bool) -> tuple[Node, tuple[Repair, ...]]:
    reader = source.reader(wildcards=wildcards)
    reader.repairs.extend(
        Repair("an escape that was escaped again", place) for place in unescaped(source.latex)[1]
    )
    reader.repairs.extend(Repair(message, offset) for message, offset in source.notes)
    try:
        syntax = reader.read()
        walk = NodeWalk(reader)
        if nodes := walk.walk(syntax):
            node = walk.expression(nodes, trailing=True)
            return node, tuple(sorted(reader.repairs, key=lambda repair: repair.offset))
    except SpentError as error:
        raise FormulaError(str(error), source.latex, reader.offset()) from None
    uncommented = source.uncommented()
    if uncommented is None:
        raise FormulaError("an empty formula", source.latex, 0)
    shown, place = uncommented
    node, repairs = _read(shown, wildcards=wildcards)
    return node, (Repair("a comment hides the formula; read without %", place), *repairs)


class FormulaParser:
    """Parses the formulas of one document or corpus; repeated formulas come from a cache."""

    def __init__(
        self,
        macros: Macros | Iterable[str] = (),
        *,
        wildcards: bool = False,
        remembered: int = 20_000,
    ) -> None:
        self.macros = Macros.of(macros)
        self.wildcards = wildcards
        self._parse = lru_cache(maxsize=remembered)(self._parse_one)

    def _parse_one(self, latex: str) -> ParsedFormula:
        return _parse(latex, self.macros, wildcards=self.wildcards, reading="published")

    def parse(self, latex: str) -> ParsedFormula:
        """Parse both trees of a formula, like the function `parse`."""
        return self._parse(latex)
