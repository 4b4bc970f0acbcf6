"""Environments: matrices, cases, arrays with rules, alignments, lines below each other."""

from __future__ import annotations

from dataclasses import replace

from mathamr.formulas.latex.commands import MATRICES
from mathamr.formulas.latex.display.atom import INNER, ORD, Atom, operator
from mathamr.formulas.latex.display.fences import fenced
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
    columns_of,
    lines_of,
    table,
)
from mathamr.formulas.latex.display.typesetter import Typesetter, maker
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, TEXT
from mathamr.formulas.latex.syntax import Construct
from mathamr.formulas.mathml.element import Element

_GAP = Element("mspace", "", (), {"width": "0.1em"})
_STARRED_SIDES = {"l": ("left",), "r": ("right",)}


@maker("matrix")
def _matrix(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    *options, read = piece.arguments
    name = piece.data.removesuffix("*")
    side = (options[0] or "").strip() if options else ""
    layout = SMALL_MATRIX if "small" in name else MATRIX
    lines = lines_of(setter, read, SCRIPT if layout is SMALL_MATRIX else TEXT)
    opening, closing = MATRICES.get(name, ("", "", ""))[:2]
    element = table(lines, replace(layout, sides=_STARRED_SIDES.get(side, ())))
    if opening:
        element = fenced(operator(opening), [_GAP, element, _GAP], operator(closing), setter.budget)
    atoms.append(Atom(element, INNER if opening else ORD, setter.style))


@maker("cases")
def _cases(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw cases after an opening brace, or before a closing one."""
    large, closing = piece.data[0] == "d", "rcases" in piece.data
    lines = lines_of(setter, piece.arguments[-1], DISPLAY if large else TEXT)
    body = table(lines, replace(CASES, attributes=(("displaystyle", "true"),)) if large else CASES)
    brace = operator("}" if closing else "{")
    row = [body, _GAP] if closing else [_GAP, body]
    element = fenced(None if closing else brace, row, brace if closing else None, setter.budget)
    atoms.append(Atom(element, INNER, setter.style))


@maker("array")
def _array(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    _, template, read = piece.arguments
    sides, rules = columns_of(template)
    lines = lines_of(setter, read, TEXT)
    layout = replace(ARRAY, sides=sides, rules=tuple(rules.items()))
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


@maker("stack")
def _stack(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    *template, read = piece.arguments
    sides = columns_of(template[0])[0][:1] if template else ()
    lines = lines_of(setter, read, SCRIPT)
    atoms.append(Atom(table(lines, replace(STACK, sides=sides)), ORD, setter.style))


@maker("aligned")
def _aligned(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    name = piece.data
    layout = COLUMNS if name.removesuffix("*").endswith("at") else ALIGNMENT
    if name.startswith("eqnarray"):
        layout = EQUATION_ARRAY
    lines = lines_of(setter, piece.arguments[-1], DISPLAY, aligned=layout is not EQUATION_ARRAY)
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


@maker("gathered")
def _gathered(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    name = piece.data
    lines = lines_of(setter, piece.arguments[-1], DISPLAY, aligned=True)
    layout = replace(LINES, sides={"lgathered": ("left",), "rgathered": ("right",)}.get(name, ()))
    if name.startswith("multline"):
        for line, side in ((lines[0], "left"), (lines[-1], "right")):
            for cell in line.cells:
                cell.classes = [side]
    elif any(len(line.cells) > 1 for line in lines):
        layout = ALIGNMENT
    atoms.append(Atom(table(lines, layout), ORD, setter.style))


@maker("lines")
def _lines(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw the tables in braces of plain TeX, and the objects of `\\xymatrix`."""
    layout = {"eqalign": ALIGNMENT, "displaylines": LINES, "objects": MATRIX}[piece.data]
    style = TEXT if piece.data == "objects" else DISPLAY
    lines = lines_of(setter, piece.arguments[-1], style, aligned=piece.data == "eqalign")
    atoms.append(Atom(table(lines, layout), ORD, setter.style))
