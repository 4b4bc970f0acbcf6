"""Names of functions, classes chosen by hand, limits, delimiters of a chosen size, negated and dotted signs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mathamr.formulas.latex.characters import character_by_number
from mathamr.formulas.latex.display.atom import (
    ALWAYS,
    BIN,
    CLOSE,
    INNER,
    MEDIUM,
    MOVABLE,
    OP,
    OPEN,
    ORD,
    PUNCT,
    REL,
    SPACE,
    SWITCH,
    THICK,
    THIN,
    Atom,
    arranged,
    in_row,
    operator,
    space,
)
from mathamr.formulas.latex.display.fences import sized
from mathamr.formulas.latex.display.glyphs import class_of, letter, name, symbol_atom
from mathamr.formulas.latex.display.typesetter import COMMANDS, Command, Typesetter, command
from mathamr.formulas.latex.fonts import PLAIN, chosen
from mathamr.formulas.latex.styles import DISPLAY
from mathamr.formulas.latex.symbols import NEGATIONS, UPRIGHT_GREEK
from mathamr.formulas.mathml.element import Element

# -- names


def _named(setter: Typesetter, limits: str) -> Atom:
    """`\\operatorname{…}`: an upright name; with limits an operator, so that a browser can move them."""
    font, setter.font = setter.font, chosen(setter.font, PLAIN)
    elements = arranged(setter.argument("name"))
    setter.font = font
    if len(elements) == 1 and elements[0].tag == "mi" and not elements[0].children:
        return name(elements[0].text, setter.style, limits)
    for element in elements:
        if element.tag == "mo" and element.text == "−":
            element.text = "-"
    return Atom(in_row(elements), OP, setter.style, limits)


@command("\\operatorname")
def _operator_name(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(_named(setter, MOVABLE if setter.star() else ""))


@command("\\operatornamewithlimits", "\\operatorname*")
def _operator_with_limits(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(_named(setter, MOVABLE))


def _limit_of(latex: str) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(Atom(in_row(arranged(setter.substituted(latex))), OP, setter.style, MOVABLE))

    return put


COMMANDS["\\varlimsup"] = _limit_of(r"\overline{\mathrm{lim}}")
COMMANDS["\\varliminf"] = _limit_of(r"\underline{\mathrm{lim}}")
COMMANDS["\\varinjlim"] = _limit_of(r"\underrightarrow{\mathrm{lim}}")
COMMANDS["\\varprojlim"] = _limit_of(r"\underleftarrow{\mathrm{lim}}")


def _modulo(latex: str, wide: float, narrow: float) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(space(wide if setter.style == DISPLAY else narrow))
        atoms.extend(setter.substituted(latex, setter.raw_tokens()))

    return put


COMMANDS["\\pmod"] = _modulo(r"(\mathrm{mod}\,\,#1)", 1.0, 8 / 18)
COMMANDS["\\pod"] = _modulo("(#1)", 1.0, 8 / 18)


@command("\\bmod")
def _binary_modulo(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(Atom(operator("mod"), BIN, setter.style))


@command("\\mod")
def _modulo_after_space(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(space(1.0 if setter.style == DISPLAY else 12 / 18))
    atoms.append(Atom(Element("mi", "mod"), ORD, setter.style))
    atoms.append(space(2 * THIN))


@command("\\colon")
def _colon(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.extend([space(MEDIUM / 2), Atom(operator(":"), PUNCT, setter.style), space(MEDIUM / 2)])


def _apart(text: str) -> Command:
    """Draws an arrow with more space around it than a relation has."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.extend([space(THICK), Atom(operator(text), REL, setter.style), space(THICK)])

    return put


COMMANDS["\\implies"], COMMANDS["\\impliedby"], COMMANDS["\\iff"] = _apart("⟹"), _apart("⟸"), _apart("⟺")


@command("\\dots", "\\dotsx")
def _dots(setter: Typesetter, atoms: list[Atom]) -> None:
    raised = class_of(setter.peek()) in (BIN, REL)
    atoms.append(Atom(Element("mi", "⋯" if raised else "…"), INNER, setter.style))


# -- classes and limits


def _classed(kind: int, limits: str = "") -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        elements = arranged(setter.argument())
        atoms.append(Atom(in_row(elements), kind, setter.style, limits))

    return put


for _name, _kind in {
    "\\mathord": ORD, "\\mathbin": BIN, "\\mathrel": REL, "\\mathopen": OPEN, "\\mathclose": CLOSE,
    "\\mathpunct": PUNCT, "\\mathinner": INNER,
}.items():  # fmt: skip
    COMMANDS[_name] = _classed(_kind)
COMMANDS["\\mathop"] = _classed(OP, MOVABLE)


def _limits(setter: Typesetter, atoms: list[Atom], limits: str) -> None:
    for atom in reversed(atoms):
        if atom.kind < SPACE:
            atom.limits = limits
            return


COMMANDS["\\limits"] = partial(_limits, limits=ALWAYS)
COMMANDS["\\nolimits"] = partial(_limits, limits="")
COMMANDS["\\displaylimits"] = partial(_limits, limits=MOVABLE)


@command("\\not")
def _negated(setter: Typesetter, atoms: list[Atom]) -> None:
    found = setter.argument()
    for atom in found:
        core = atom.core
        if core is not None and core.text:
            core.text = NEGATIONS.get(core.text, core.text[:1] + "\u0338" + core.text[1:])
            break
        if atom.kind != SWITCH and atom.element.text:
            atom.element.text = NEGATIONS.get(atom.element.text, atom.element.text + "\u0338")
            break
    atoms.extend(found)


@command("\\sideset")
def _side_set(setter: Typesetter, atoms: list[Atom]) -> None:
    """Draws scripts at the four corners of a big operator, which keeps its limits; anything else gets them beside it."""
    before, after, found = setter.argument(), setter.argument(), setter.argument()
    left, right = _scripts_alone(before), _scripts_alone(after)
    parts = [
        in_row(arranged(found)),
        _or_nothing(right.sub if right else None),
        _or_nothing(right.sup if right else None),
    ]
    parts += [
        Element("mprescripts"),
        _or_nothing(left.sub if left else None),
        _or_nothing(left.sup if left else None),
    ]
    atoms.extend(atom for atom in before if atom is not left)
    atoms.append(Atom(Element("mmultiscripts", "", parts), OP, setter.style, MOVABLE))
    atoms.extend(atom for atom in after if atom is not right)


def _scripts_alone(corner: Sequence[Atom]) -> Atom | None:
    """Returns the last atom of a corner if it has only scripts, without a base."""
    if not corner or any(part.text for part in corner[-1].element.iterate()):
        return None
    return corner[-1]


@command("\\prescript")
def _prescript(setter: Typesetter, atoms: list[Atom]) -> None:
    above, below, base = setter.script_element(), setter.script_element(), setter.element()
    parts = [base, Element("mprescripts"), below, above]
    atoms.append(Atom(Element("mmultiscripts", "", parts), ORD, setter.style))


def _or_nothing(element: Element | None) -> Element:
    return Element("mrow") if element is None else element


# -- delimiters of a chosen size

_SIZES = {"big": 1.2, "Big": 1.8, "bigg": 2.4, "Bigg": 3.0}


def _sized(size: float, kind: int) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        in_braces = setter.peek() == "{"
        if in_braces:
            setter.i += 1
        fence = setter.delimiter(left=True)
        if fence is not None:
            atoms.append(Atom(sized(fence.text, size), kind, setter.style))
        if in_braces and setter.peek() == "}":
            setter.i += 1

    return put


for _size, _height in _SIZES.items():
    for _suffix, _kind in {"": ORD, "l": OPEN, "m": REL, "r": CLOSE}.items():
        COMMANDS[f"\\{_size}{_suffix}"] = _sized(_height, _kind)


@command("\\middle")
def _middle(setter: Typesetter, atoms: list[Atom]) -> None:
    fence = setter.delimiter(left=True)
    if fence is not None:
        attributes = {"stretchy": "true", "symmetric": "true", "fence": "true", "form": "infix"}
        atoms.append(Atom(Element("mo", fence.text, (), attributes), ORD, setter.style))


# -- wildcards, and signs that mean nothing here


@command("\\qvar")
def _wildcard(setter: Typesetter, atoms: list[Atom]) -> None:
    shown = "?" + (setter.raw_argument().strip() or "x")
    atoms.append(Atom(Element("mi", shown), ORD, setter.style))


@command("\\qvar@construct")
def _question_and_next(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.extend(setter.substituted("?#1", [setter.raw_argument()]))


@command("\\char", "\\symbol", "\\unicode")
def _character(setter: Typesetter, atoms: list[Atom]) -> None:
    character = character_by_number(setter)
    if character is not None:
        atom = symbol_atom(character, PLAIN, setter.style)
        atoms.append(atom if atom is not None else Atom(Element("mi", character), ORD, setter.style))


def _upright(text: str) -> Command:
    return lambda setter, atoms: atoms.append(letter(text, PLAIN, setter.style, upright=True))


for _name, _letter in UPRIGHT_GREEK.items():
    COMMANDS.setdefault(_name, _upright(_letter))
