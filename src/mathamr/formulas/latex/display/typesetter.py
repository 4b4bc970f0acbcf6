"""`Typesetter`: from the syntax of a formula to atoms, which are drawn as MathML as TeX would set them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mathamr.formulas.latex.display.atom import (
    CLOSE,
    INNER,
    ORD,
    SPACE,
    Atom,
    arranged,
    em_of,
    in_row,
    length,
    operator,
    space,
)
from mathamr.formulas.latex.display.fences import fenced
from mathamr.formulas.latex.display.glyphs import Glyph, digit, glyph
from mathamr.formulas.latex.reader import Reader
from mathamr.formulas.latex.styles import SCRIPTS, SMALLER
from mathamr.formulas.latex.symbols import DELIMITERS, DIGITS, SPACES
from mathamr.formulas.latex.syntax import Construct, Delimiter, Row
from mathamr.formulas.latex.walk import Frame, Makers, Walk
from mathamr.formulas.mathml.element import Element

MOST_BACK = 6.0
"""The maximum negative space in one formula, in em."""
_PRIMES = ("", "′", "″", "‴", "⁗")
_WORD_SPACES = frozenset(["\\ ", "\\space", "\\\t", "\\\n", "~", "\\nobreakspace"])
MAKERS = Makers()
maker = MAKERS.register


class Typesetter(Walk[Atom]):
    """One walk through the syntax of one formula."""

    makers: ClassVar[Makers] = MAKERS
    symbols: ClassVar[dict[str, Callable[[Typesetter, list[Atom]], None]]] = {}
    """Symbols that are drawn in a way of their own."""

    def __init__(self, reader: Reader, style: int) -> None:
        super().__init__(reader, style)
        self.tag: Element | None = None
        """The number that `\\tag` gave to the line."""
        self._back = MOST_BACK

    def space(self, width: float) -> Atom:
        """Return space of a width in em; negative space is limited so that a formula cannot leave its place in the page."""
        if width < 0:
            width = max(width, -self._back)
            self._back += width
        return space(width)

    def element(self, row: Row, style: int | None = None) -> Element:
        """Return an argument as one element, in the given style if there is one."""
        return in_row(arranged(self.walk(row) if style is None else self.walk_in(style, row)))

    def script_element(self, row: Row) -> Element:
        """Return an argument as one element in the style of a script."""
        return self.element(row, SCRIPTS[self.style])

    def written(self, latex: str, place: int) -> list[Atom]:
        """Return the atoms of LaTeX that the command at a place stands for."""
        row = self.reader.substitute(latex, place=place)
        self.tokens = self.reader.tokens
        return self.walk(row)

    def at(self, place: int, element: Element) -> Element:
        """Return a new element that knows the token it draws."""
        element.origin = (self.reader.origins[place],)
        return element

    # -- symbols and groups

    def put_symbol(self, place: int, items: list[Atom]) -> None:
        """Append the symbol of a token."""
        token = self.tokens[place]
        special = self.symbols.get(token)
        if special is not None:
            before = len(items)
            special(self, items)
            for atom in items[before:]:
                self.at(place, atom.element)
            return
        if token in SPACES:
            width = 1 / 3 if token in _WORD_SPACES else SPACES[token] / 10
            if width:
                items.append(self.space(width))
            return
        found = self.symbol(place, token)
        if found is not None:
            items.append(found)
        elif token != "\\":
            items.append(Atom(Element("merror", "", (Element("mtext", token),)), ORD, self.style))

    def symbol(self, place: int, token: str) -> Atom | None:
        """Return the atom of a symbol at a place; the point of a decimal number is a digit."""
        if token == "." and self.tokens[place + 1 : place + 2] and self.tokens[place + 1] in DIGITS:
            found: Glyph | None = digit(token, self.font)
        else:
            found = glyph(token, self.font)
        if found is None:
            return None
        atom = found.atom(self.style)
        atom.element.origin = (self.reader.origins[place],)
        return atom

    def begin_group(self, frame: Frame[Atom], group: Construct) -> None:
        """Begin a group, of which nothing is drawn before its end."""

    def end_group(self, around: Frame[Atom], frame: Frame[Atom], group: Construct) -> None:
        """Add a group as one atom to those around it."""
        _, opening, closing = group.arguments
        if not group.data[0]:
            around.items.append(Atom(in_row(arranged(frame.items)), ORD, frame.style))
            return
        left, right = self.fence(opening), self.fence(closing)
        first = self.symbol(opening.place, opening.token) if opening and left is None else None
        elements = arranged([first, *frame.items] if first else frame.items)
        element = fenced(left, elements, right, self.budget, frame.style)
        around.items.append(Atom(element, INNER, frame.style))
        if closing and right is None and (last := self.symbol(closing.place, closing.token)):
            around.items.append(last)

    def fence(self, delimiter: Delimiter | None) -> Element | None:
        """Return the operator of a delimiter; None for a dot, and for a letter, which does not grow."""
        if delimiter is None:
            return None
        token, place = delimiter
        known = DELIMITERS.get(token)
        if known is not None:
            return self.at(place, operator(known[0]))
        found = glyph(token, self.font)
        if found is None or found.tag != "mo":
            return None
        return self.at(place, operator(found.text))

    # -- scripts

    def script(self, piece: Construct, frame: Frame[Atom]) -> None:
        """Attach a script."""
        written, above, _ = piece.arguments
        script = self.script_element(written)
        count = _count_primes(script) if above else 0
        if count:
            self._attach_primes(frame, count, piece.data, piece.place)
            return
        base = self._base(frame.items, above=above)
        if above:
            base.sup = script
        else:
            base.sub = script

    def _base(self, atoms: list[Atom], *, above: bool) -> Atom:
        """Return the atom that a script belongs to: the last one, or a new empty one if that has such a script already."""
        if atoms and atoms[-1].kind < SPACE:
            last = atoms[-1]
            if (last.sup if above else last.sub) is None:
                return last
        atoms.append(Atom(Element("mrow"), ORD, self.style))
        return atoms[-1]

    def primes(self, piece: Construct, frame: Frame[Atom]) -> None:
        """Attach primes after a letter; above an index or before another superscript they are its superscript."""
        count, script = piece.arguments
        base, lowered = self._attach_primes(frame, count, piece.data, piece.place)
        if script is not None and lowered is not None:
            base.sup = Element("mrow", "", (lowered, self.script_element(script)))

    def _attach_primes(
        self, frame: Frame[Atom], count: int, following: str, place: int
    ) -> tuple[Atom, Element | None]:
        prime = operator(_PRIMES[4] * (count // 4) + _PRIMES[count % 4], lspace="0em", rspace="0em")
        prime.origin = tuple(self.reader.origins[place : place + count])
        base = self._base(frame.items, above=True)
        scripts = ("^", "_", "\\sp", "\\sb")
        if base.element.tag in ("mi", "mn") and base.sub is None and following not in scripts:
            # Fonts draw the sign raised already.
            base.element = Element("mrow", "", (base.element, prime))
            base.font = None
            return base, None
        prime.attributes = {**prime.attributes, "scriptlevel": "0"}
        base.sup = Element("mpadded", "", (prime,), {"height": "0.5em", "voffset": "-0.4em"})
        return base, base.sup


def _count_primes(script: Element) -> int:
    """Return the number of primes that a superscript consists of, as in `y^{\\prime\\prime}`; 0 if there is anything else."""
    parts = script.children if script.tag == "mrow" else (script,)
    return len(parts) if all(part.tag == "mo" and part.text == "′" for part in parts) else 0


@maker("closing")
def _closing(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    fence = setter.fence(piece.arguments[0])
    if fence is not None:
        atoms.append(Atom(fence, CLOSE, setter.style))


@maker("infix fraction")
def _infix(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    command, opening, closing, thickness = piece.data
    font, style = setter.font, setter.style
    numerator = setter.walk(piece.arguments[0])
    for atom in numerator:
        atom.style = max(atom.style, SMALLER[style])
    above = in_row(arranged(numerator))
    setter.set_font_and_style(font, SMALLER[style])
    parts = (above, in_row(arranged(setter.walk(piece.arguments[1]))))
    setter.set_font_and_style(font, style)
    line = "" if command in ("\\over", "\\above", "\\overwithdelims") else "0em"
    if command == "\\above":
        line = length(em_of(thickness))
    element = Element("mfrac", "", parts, {"linethickness": line} if line else {})
    left, right = setter.fence(opening), setter.fence(closing)
    if left is None and right is None:
        atoms.append(Atom(element, ORD, style))
    else:
        atoms.append(Atom(fenced(left, [element], right, setter.budget), INNER, style))
