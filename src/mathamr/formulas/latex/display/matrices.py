"""Environments: matrices, cases, arrays with rules, alignments, lines below each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mathamr.formulas.latex.display.atom import INNER, ORD, Atom, operator
from mathamr.formulas.latex.display.fences import fenced
from mathamr.formulas.latex.display.lengths import line_gap
from mathamr.formulas.latex.display.tablelines import (
    ALIGNMENT,
    ARRAY,
    CASES,
    COLUMNS,
    EQUATION_ARRAY,
    LINES,
    MATRIX,
    SMALL_MATRIX,
    STACK,
    Layout,
    TableLine,
    columns_of,
    lines_of,
    table,
)
from mathamr.formulas.latex.display.typesetter import COMMANDS, ENVIRONMENTS, Command, Typesetter
from mathamr.formulas.latex.environments import (
    ALIGNED,
    CHOICES,
    GATHERED,
    HEADED,
    IN_BRACES,
    IN_ENVIRONMENT,
    MATRICES,
    in_braces,
)
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, TEXT
from mathamr.formulas.mathml.element import Element

_GAP = Element("mspace", "", (), {"width": "0.1em"})


def _stray_break(setter: Typesetter, atoms: list[Atom]) -> None:
    """Skips the end of a line where no line can end, with its options."""
    line_gap(setter)


def _stray_alignment(setter: Typesetter, atoms: list[Atom]) -> None:
    setter.repair("stray &")
    atoms.append(Atom(operator("&"), ORD, setter.style))


COMMANDS["\\\\"] = COMMANDS["\\newline"] = _stray_break
COMMANDS["&"] = _stray_alignment

_STARRED_SIDES = {"l": ("left",), "r": ("right",)}


def _matrix(setter: Typesetter, atoms: list[Atom], name: str) -> None:
    base = name.removesuffix("*")
    side = (setter.raw_optional() or "").strip() if name.endswith("*") else ""
    layout = SMALL_MATRIX if "small" in base else MATRIX
    lines = lines_of(setter, IN_ENVIRONMENT, SCRIPT if layout is SMALL_MATRIX else TEXT)
    opening, closing = MATRICES.get(base, ("", "", ""))[:2]
    body = table(lines, replace(layout, sides=_STARRED_SIDES.get(side, ())))
    atoms.append(_in_delimiters(setter, body, opening, closing))


def _in_delimiters(setter: Typesetter, body: Element, opening: str, closing: str) -> Atom:
    if not opening:
        return Atom(body, ORD, setter.style)
    element = fenced(operator(opening), [_GAP, body, _GAP], operator(closing), setter.budget)
    return Atom(element, INNER, setter.style)


def _cases(setter: Typesetter, atoms: list[Atom], name: str) -> None:
    if name in HEADED:
        atoms.extend(setter.argument())
    large = name[0] == "d"
    lines = lines_of(setter, IN_ENVIRONMENT, DISPLAY if large else TEXT)
    layout = replace(CASES, attributes=(("displaystyle", "true"),)) if large else CASES
    atoms.append(_chosen(setter, table(lines, layout), "rcases" in name))


def _chosen(setter: Typesetter, body: Element, closing: bool = False) -> Atom:
    """Draws cases after an opening brace, or before a closing one."""
    brace = operator("}" if closing else "{")
    row = [body, _GAP] if closing else [_GAP, body]
    element = fenced(None if closing else brace, row, brace if closing else None, setter.budget)
    return Atom(element, INNER, setter.style)


def _array(setter: Typesetter, atoms: list[Atom], name: str) -> None:
    setter.raw_optional()
    sides, rules = columns_of(setter.raw_argument())
    large = name == "darray"
    lines = lines_of(setter, IN_ENVIRONMENT, DISPLAY if large else TEXT)
    attributes = (("displaystyle", "true"),) if large else ()
    layout = replace(ARRAY, sides=sides, rules=tuple(rules.items()), attributes=attributes)
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


def _stack(setter: Typesetter, atoms: list[Atom], name: str) -> None:
    sides, _ = columns_of(setter.raw_argument())
    lines = lines_of(setter, IN_ENVIRONMENT, SCRIPT)
    atoms.append(Atom(table(lines, replace(STACK, sides=sides[:1])), ORD, setter.style))


def _aligned(setter: Typesetter, atoms: list[Atom], name: str) -> None:
    if name in ("aligned", "alignedat"):
        setter.raw_optional()
    if name.removesuffix("*").endswith("at"):
        setter.raw_argument()
    layout = COLUMNS if name.removesuffix("*").endswith("at") else ALIGNMENT
    if name.startswith("eqnarray"):
        layout = EQUATION_ARRAY
    lines = lines_of(setter, IN_ENVIRONMENT, DISPLAY, aligned=layout is not EQUATION_ARRAY)
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


def _gathered(setter: Typesetter, atoms: list[Atom], name: str) -> None:
    while setter.peek() == "[":
        setter.raw_optional()
    lines = lines_of(setter, IN_ENVIRONMENT, DISPLAY, aligned=True)
    layout = replace(LINES, sides={"lgathered": ("left",), "rgathered": ("right",)}.get(name, ()))
    if name.startswith("multline"):
        for line, side in ((lines[0], "left"), (lines[-1], "right")):
            for cell in line.cells:
                cell.classes = [side]
    elif any(len(line.cells) > 1 for line in lines):
        layout = ALIGNMENT
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


ENVIRONMENTS |= {
    **dict.fromkeys(["array", "tabular", "darray"], _array),
    "subarray": _stack,
    "smallmatrix": _matrix,
    **dict.fromkeys([*MATRICES, *(f"{name}*" for name in MATRICES), "smallmatrix*"], _matrix),
    **dict.fromkeys(CHOICES, _cases),
    **dict.fromkeys(ALIGNED, _aligned),
    **dict.fromkeys(GATHERED, _gathered),
}


# -- tables in braces


def braced(
    build: Callable[[Typesetter, Sequence[TableLine]], Atom], style: int, aligned: bool = False
) -> Command:
    """A table that is written as an argument."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(build(setter, lines_of(setter, IN_BRACES, style, aligned)))

    return in_braces(put)


def plain(layout: Layout) -> Callable[[Typesetter, Sequence[TableLine]], Atom]:
    """A table without delimiters."""
    return lambda setter, lines: Atom(table(lines, layout), ORD, setter.style)


COMMANDS["\\substack"] = braced(plain(STACK), SCRIPT)
COMMANDS["\\crampedsubstack"] = COMMANDS["\\substack"]
COMMANDS["\\matrix"] = braced(plain(MATRIX), TEXT)
COMMANDS["\\cases"] = braced(lambda setter, lines: _chosen(setter, table(lines, CASES)), TEXT)
COMMANDS["\\pmatrix"] = braced(
    lambda setter, lines: _in_delimiters(setter, table(lines, MATRIX), "(", ")"), TEXT
)
COMMANDS["\\bordermatrix"] = COMMANDS["\\pmatrix"]
COMMANDS["\\displaylines"] = braced(plain(LINES), DISPLAY)
for _name in ("\\eqalign", "\\eqalignno", "\\leqalignno"):
    COMMANDS[_name] = braced(plain(ALIGNMENT), DISPLAY, aligned=True)
