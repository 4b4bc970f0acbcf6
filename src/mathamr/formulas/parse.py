"""LaTeX to both trees of a formula: `parse` is the entry point for LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from mathamr.core.cancellation import check_cancelled
from mathamr.core.errors import UnknownNameError
from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError, Repair
from mathamr.formulas.latex.content import mean
from mathamr.formulas.latex.lexer import MAX_LENGTH, tokenize, unescaped, without_comment_signs
from mathamr.formulas.latex.macros import Macros, expanded
from mathamr.formulas.latex.node import Node
from mathamr.formulas.latex.nodes import NodeWalk
from mathamr.formulas.latex.presentation import present
from mathamr.formulas.latex.reader import Reader, is_command
from mathamr.formulas.mathml.element import Element, MathMLError
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.operatortree import opt
from mathamr.formulas.mathml.writing import to_mathml
from mathamr.formulas.notation import to_string
from mathamr.formulas.outline import outline
from mathamr.formulas.semantics.decision import EMPTY, Context, Decision
from mathamr.formulas.semantics.mathematician import KEPT, meaning
from mathamr.formulas.tree import Opt, Slt

__all__ = [
    "EMPTY",
    "READINGS",
    "Context",
    "Decision",
    "FormulaError",
    "FormulaParser",
    "Macros",
    "ParsedFormula",
    "Repair",
    "both_readings",
    "check_reading",
    "context_of",
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
    presentation: Element = field(compare=False, repr=False)
    reading: str = "published"
    decisions: tuple[Decision, ...] = ()
    """The ambiguities, how they were resolved and why; the published reading records none."""
    macros: Macros = field(default=NO_MACROS, compare=False, repr=False)

    def presentation_mathml(self, *, display: bool = False) -> str:
        """Returns Presentation MathML for display, valid and safe to put in a page; trees are built from `presentation`."""
        # The typesetter is imported on use: most programs need only the trees.
        from mathamr.formulas.latex.display.formula import display_mathml

        return display_mathml(self.latex, self.macros, display=display)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles the formula with its markup as text."""
        markup = to_mathml(self.presentation)
        return _restored, (
            self.latex, self.slt, self.opt, self.repairs, markup, self.reading, self.decisions, self.macros,
        )  # fmt: skip

    def to_dict(self) -> dict[str, object]:
        """Returns the formula for JSON: trees as Tangent strings."""
        repairs = [{"message": repair.message, "offset": repair.offset} for repair in self.repairs]
        found: dict[str, object] = {
            "latex": self.latex,
            "slt": to_string(self.slt),
            "opt": to_string(self.opt),
            "repairs": repairs,
        }
        if self.reading != "published":
            found |= {"reading": self.reading, "decisions": [each._asdict() for each in self.decisions]}
        return found

    def lines(self) -> list[str]:
        """Returns the formula as text: both trees indented, then the repairs."""
        result = [self.latex, "  layout (SLT)", *(f"    {line}" for line in outline(self.slt))]
        result += ["  operators (OPT)", *(f"    {line}" for line in outline(self.opt))]
        result += [f"  decided: {decision}" for decision in self.decisions]
        return result + [f"  repaired: {repair}" for repair in self.repairs]


def _restored(
    latex: str,
    slt: Slt,
    opt: Opt,
    repairs: tuple[Repair, ...],
    markup: str,
    reading: str,
    decisions: tuple[Decision, ...],
    macros: Macros,
) -> ParsedFormula:
    return ParsedFormula(latex, slt, opt, repairs, read(markup), reading, decisions, macros)


def parse(
    latex: str,
    macros: Macros | Iterable[str] = (),
    wildcards: bool = False,
    *,
    reading: str = "published",
    context: Context = EMPTY,
) -> ParsedFormula:
    """Parses both trees of a formula; raises `FormulaError` if there is nothing to parse or a limit is exceeded.

    `macros` are those of the document (`Macros`, or texts with `\\newcommand` and the like); definitions in the
    formula itself always apply. With `wildcards`, `?x` is a wildcard of a query; `\\qvar{x}` always is.

    The operator tree is the published one, or with `reading="mathematician"` expresses the formula's meaning; then
    `context` is what the post's other formulas say about its letters (`context_of`), and `decisions` lists the resolved
    ambiguities.

    >>> formula = parse(r"\\frac{1}{2}")
    >>> formula.slt.labels, formula.opt.labels
    (('O!divide', 'N!1', 'N!2'), ('O!divide', 'N!1', 'N!2'))
    """
    return _parse(latex, Macros.of(macros) if macros else NO_MACROS, wildcards, reading, context)


def check_reading(reading: str) -> None:
    """Raises `UnknownNameError` for an unknown reading."""
    if reading not in READINGS:
        raise UnknownNameError("reading", reading, list(READINGS))


def context_of(formulas: Iterable[str], macros: Macros | Iterable[str] = ()) -> Context:
    """Collects what the formulas of a post say about its letters: one that is applied somewhere is a function.

    >>> context = context_of([r"f:A\\to B", "y(0)=1", "n(n+1)"])
    >>> sorted(context.functions), sorted(context.variables)
    (['f', 'y'], ['n'])
    """
    known = Macros.of(macros) if macros else NO_MACROS
    functions: set[str] = set()
    variables: set[str] = set()
    for latex in formulas:
        try:
            found = meaning(_read(latex, known, False, Budget(len(latex)))[0], Budget(len(latex)))
        except (FormulaError, RecursionError):
            continue
        functions |= found.functions
        variables |= found.variables
    return Context(frozenset(functions), frozenset(variables - functions))


def both_readings(
    latex: str, macros: Macros | Iterable[str] = (), context: Context = EMPTY
) -> tuple[ParsedFormula, ParsedFormula]:
    """Returns the published and the mathematician's reading of a formula that is parsed once.

    >>> published, meant = both_readings("f(x)")
    >>> published.opt.labels[0], meant.opt.labels[0]
    ('U!times', 'F!𝑓')
    """
    published, node = _published(latex, Macros.of(macros) if macros else NO_MACROS, False)
    return published, _meant(published, node, context)


def _parse(latex: str, macros: Macros, wildcards: bool, reading: str, context: Context) -> ParsedFormula:
    check_reading(reading)
    published, node = _published(latex, macros, wildcards)
    return published if reading == "published" else _meant(published, node, context)


def _published(latex: str, macros: Macros, wildcards: bool) -> tuple[ParsedFormula, Node]:
    """Returns the published reading, and the node that any other reading starts from."""
    check_cancelled()
    if len(latex) > MAX_LENGTH:
        raise FormulaError(f"longer than {MAX_LENGTH} characters", latex, MAX_LENGTH)
    budget = Budget(len(latex))
    try:
        node, repairs = _read(latex, macros, wildcards, budget)
        presentation = present(node)
        layout = slt(presentation, budget.elements)
        tree = opt(mean(node), budget.elements)
    except RecursionError:
        raise FormulaError("nested too deeply", latex, 0) from None
    except (MathMLError, SpentError) as error:
        raise FormulaError(str(error), latex, 0) from error
    return ParsedFormula(latex, layout, tree, repairs, presentation, macros=macros), node


def _meant(published: ParsedFormula, node: Node, context: Context) -> ParsedFormula:
    """Returns the mathematician's reading of a formula; one without a tree in it keeps its published tree."""
    budget = Budget(len(published.latex))
    found = meaning(node, budget, context)
    tree, decisions = published.opt, found.decisions
    if found.node is not node:
        try:
            tree = opt(mean(found.node), budget.elements)
        except (MathMLError, SpentError, RecursionError):
            decisions = (KEPT,)
    return ParsedFormula(
        published.latex, published.slt, tree, published.repairs, published.presentation,
        "mathematician", decisions, published.macros,
    )  # fmt: skip


def _read(latex: str, macros: Macros, wildcards: bool, budget: Budget) -> tuple[Node, tuple[Repair, ...]]:
    tokens, offsets = tokenize(latex)
    tokens, offsets, notes = expanded(tokens, offsets, latex, macros, budget)
    reader = Reader(tokens, offsets, latex, budget, wildcards=wildcards)
    reader.repairs.extend(Repair("an escape that was escaped again", place) for place in unescaped(latex)[1])
    reader.repairs.extend(Repair(message, offset) for message, offset in notes)
    try:
        syntax = reader.read()
        walk = NodeWalk(reader)
        if nodes := walk.walk(syntax):
            node = walk.expression(nodes, trailing=True)
            return node, tuple(sorted(reader.repairs, key=lambda repair: repair.offset))
    except SpentError as error:
        raise FormulaError(str(error), latex, reader.offset()) from None
    uncommented = without_comment_signs(latex)
    if uncommented is None:
        raise FormulaError("an empty formula", latex, 0)
    text, place = uncommented
    node, repairs = _read(text, macros, wildcards, budget)
    return node, (Repair("a comment hides the formula; read without %", place), *repairs)


class FormulaParser:
    """Parses the formulas of one document or corpus; repeated formulas come from a cache."""

    def __init__(
        self,
        macros: Macros | Iterable[str] = (),
        *,
        wildcards: bool = False,
        reading: str = "published",
        context: Context = EMPTY,
        remembered: int = 20_000,
    ) -> None:
        self.macros = Macros.of(macros)
        self.wildcards = wildcards
        self.reading = reading
        self.context = context
        check_reading(reading)
        self._parse = lru_cache(maxsize=remembered)(self._parse_one)

    def within(self, context: Context) -> Self:
        """Returns a parser of the same kind for a post with this context."""
        return type(self)(self.macros, wildcards=self.wildcards, reading=self.reading, context=context)

    def _parse_one(self, latex: str) -> ParsedFormula:
        return _parse(latex, self.macros, self.wildcards, self.reading, self.context)

    def parse(self, latex: str) -> ParsedFormula:
        """Parses both trees of a formula, like the function `parse`."""
        return self._parse(latex)
