"""Names of functions, classes chosen by hand, limits, delimiters of a chosen size, negated and dotted signs."""

from __future__ import annotations

from collections.abc import Sequence

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
from mathamr.formulas.latex.display.glyphs import class_of, glyph, letter, name
from mathamr.formulas.latex.display.typesetter import Typesetter, maker
from mathamr.formulas.latex.fonts import PLAIN, chosen
from mathamr.formulas.latex.styles import DISPLAY
from mathamr.formulas.latex.symbols import NEGATIONS
from mathamr.formulas.latex.syntax import Construct, Delimiter
from mathamr.formulas.mathml.element import Element

# -- names


@maker("operator name")
def _operator_name(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw an upright name; with limits it is an operator, so that a browser can move them."""
    *star, content = piece.arguments
    limits = MOVABLE if piece.data or star[0] else ""
    font, setter.font = setter.font, chosen(setter.font, PLAIN)
    elements = arranged(setter.walk(content))
    setter.font = font
    if len(elements) == 1 and elements[0].tag == "mi" and not elements[0].children:
        atom = name(elements[0].text, limits).atom(setter.style)
        atom.element.origin = elements[0].origin
        atoms.append(atom)
        return
    for element in elements:
        if element.tag == "mo" and element.text == "−":
            element.text = "-"
    atoms.append(Atom(in_row(elements), OP, setter.style, limits))


@maker("limit")
def _limit(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    element = in_row(arranged(setter.written(rf"{piece.data[3]}{{\mathrm{{lim}}}}", piece.place)))
    atoms.append(Atom(element, OP, setter.style, MOVABLE))


@maker("modulus")
def _modulus(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    atoms.append(space(1.0 if setter.style == DISPLAY else 8 / 18))
    opening = r"(\mathrm{mod}\,\," if piece.data else "("
    atoms.extend(setter.written(opening, piece.place))
    atoms.extend(setter.walk(piece.arguments[0]))
    atoms.extend(setter.written(")", piece.place))


def _modulo(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(space(1.0 if setter.style == DISPLAY else 12 / 18))
    atoms.append(Atom(Element("mi", "mod"), ORD, setter.style))
    atoms.append(space(2 * THIN))


def _binary_modulo(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(Atom(operator("mod"), BIN, setter.style))


def _colon(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.extend([space(MEDIUM / 2), Atom(operator(":"), PUNCT, setter.style), space(MEDIUM / 2)])


def _apart(setter: Typesetter, atoms: list[Atom], text: str) -> None:
    """Draw an arrow with more space around it than a relation has."""
    atoms.extend([space(THICK), Atom(operator(text), REL, setter.style), space(THICK)])


Typesetter.symbols.update(
    {
        "\\mod": _modulo,
        "\\bmod": _binary_modulo,
        "\\colon": _colon,
        "\\implies": lambda setter, atoms: _apart(setter, atoms, "⟹"),
        "\\impliedby": lambda setter, atoms: _apart(setter, atoms, "⟸"),
        "\\iff": lambda setter, atoms: _apart(setter, atoms, "⟺"),
    }
)


@maker("dots")
def _dots(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    raised = class_of(setter.next_token(piece.place)) in (BIN, REL)
    element = setter.at(piece.place, Element("mi", "⋯" if raised else "…"))
    atoms.append(Atom(element, INNER, setter.style))


# -- classes and limits

_CLASSES = {
    "ID": ORD, "BIGOP": OP, "BINOP": BIN, "RELOP": REL, "OPEN": OPEN, "CLOSE": CLOSE, "PUNCT": PUNCT, "ATOM": INNER,
    "": ORD, "MIDDLE": REL,
}  # fmt: skip
_LIMITS = {"mid": ALWAYS, "post": "", "display": MOVABLE}


@maker("classed")
def _classed(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    limits = MOVABLE if piece.data == "BIGOP" else ""
    elements = arranged(setter.walk(piece.arguments[0]))
    atoms.append(Atom(in_row(elements), _CLASSES[piece.data], setter.style, limits))


@maker("limits")
def _limits(_setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    for atom in reversed(atoms):
        if atom.kind < SPACE:
            atom.limits = _LIMITS[piece.data]
            return


@maker("negated")
def _negated(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    found = setter.walk(piece.arguments[0])
    for atom in found:
        core = atom.core
        if core is not None and core.text:
            core.text = NEGATIONS.get(core.text, core.text[:1] + "\u0338" + core.text[1:])
            core.origin = (setter.reader.origins[piece.place], *core.origin)
            break
        if atom.kind != SWITCH and atom.element.text:
            atom.element.text = NEGATIONS.get(atom.element.text, atom.element.text + "\u0338")
            break
    atoms.extend(found)


@maker("side set")
def _side_set(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw scripts at the four corners of a big operator, which keeps its limits; anything else gets them beside it."""
    before, after, found = map(setter.walk, piece.arguments)
    left, right = _scripts_alone(before), _scripts_alone(after)
    parts = [
        in_row(arranged(found)),
        *(_or_nothing(each) for each in ((right.sub, right.sup) if right else (None, None))),
        Element("mprescripts"),
        *(_or_nothing(each) for each in ((left.sub, left.sup) if left else (None, None))),
    ]
    atoms.extend(atom for atom in before if atom is not left)
    atoms.append(Atom(Element("mmultiscripts", "", parts), OP, setter.style, MOVABLE))
    atoms.extend(atom for atom in after if atom is not right)


def _scripts_alone(corner: Sequence[Atom]) -> Atom | None:
    """Return the last atom of a corner if it has only scripts, without a base."""
    if not corner or any(part.text for part in corner[-1].element.iterate()):
        return None
    return corner[-1]


@maker("prescript")
def _prescript(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    above, below = map(setter.script_element, piece.arguments[:2])
    parts = [setter.element(piece.arguments[2]), Element("mprescripts"), below, above]
    atoms.append(Atom(Element("mmultiscripts", "", parts), ORD, setter.style))


def _or_nothing(element: Element | None) -> Element:
    return Element("mrow") if element is None else element


# -- delimiters of a chosen size


@maker("sized")
def _sized(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    (size, role), row = piece.data, piece.arguments[0]
    if row is None:
        return
    first = row[0] if row else None
    fence = setter.fence(Delimiter(setter.tokens[first], first)) if isinstance(first, int) else None
    if fence is None:
        atoms.extend(setter.walk(row))
        return
    atoms.append(Atom(sized(fence, size), _CLASSES[role], setter.style))
    atoms.extend(setter.walk(row[1:]))


@maker("middle")
def _middle(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    fence = setter.fence(piece.arguments[0])
    if fence is not None:
        fence.attributes = {"stretchy": "true", "symmetric": "true", "fence": "true", "form": "infix"}
        atoms.append(Atom(fence, ORD, setter.style))


# -- wildcards, and signs that mean nothing here


@maker("stray alignment")
def _stray_alignment(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    atoms.append(Atom(setter.at(piece.place, operator("&")), ORD, setter.style))


@maker("wildcard")
def _wildcard(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    shown = "?" + (piece.arguments[0].strip() or "x")
    atoms.append(Atom(setter.at(piece.place, Element("mi", shown)), ORD, setter.style))


@maker("question")
def _question(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    for token in ("?", piece.arguments[0]):
        found = glyph(token, setter.font)
        if found is not None:
            atoms.append(found.atom(setter.style))


@maker("upright")
def _upright(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    atom = letter(piece.data, PLAIN, upright=True).atom(setter.style)
    setter.at(piece.place, atom.element)
    atoms.append(atom)
