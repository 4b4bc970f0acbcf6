"""`Typesetter`: the back end that makes atoms, which are drawn as MathML as TeX would set them; commands register here."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex import environments, transparent
from mathamr.formulas.latex.display.atom import (
    CLOSE,
    INNER,
    ORD,
    SPACE,
    SWITCH,
    Atom,
    arranged,
    in_row,
    length,
    operator,
    space,
)
from mathamr.formulas.latex.display.fences import fenced
from mathamr.formulas.latex.display.glyphs import digit, symbol_atom
from mathamr.formulas.latex.display.lengths import em_of
from mathamr.formulas.latex.groupreader import (
    WITH_LINE,
    Commands,
    Environments,
    Frame,
    GroupReader,
    InfixFraction,
)
from mathamr.formulas.latex.styles import SMALLER
from mathamr.formulas.latex.symbols import DELIMITERS
from mathamr.formulas.mathml.element import Element

MOST_BACK = 6.0
"""The maximum negative space in one formula, in em."""
_PRIMES = ("", "′", "″", "‴", "⁗")

Command = Callable[["Typesetter", list[Atom]], None]
COMMANDS: dict[str, Command] = {**transparent.COMMANDS, **environments.COMMANDS}
"""What every command draws that is not a symbol; filled by the other modules of this package."""
ENVIRONMENTS: dict[str, Callable[[Typesetter, list[Atom], str], None]] = {}
"""What every environment draws; filled by the other modules of this package."""


def command(*names: str) -> Callable[[Command], Command]:
    """Registers what some commands draw."""

    def register(function: Command) -> Command:
        for name in names:
            COMMANDS[name] = function
        return function

    return register


class Typesetter(GroupReader[Atom, Element | None]):
    """One pass over the tokens of one formula."""

    commands: ClassVar[Commands] = COMMANDS
    environments: ClassVar[Environments] = ENVIRONMENTS

    def __init__(
        self, tokens: list[str], offsets: list[int], source: str, budget: Budget, style: int
    ) -> None:
        super().__init__(tokens, offsets, source, budget, style)
        self.tag: Element | None = None
        """The number that `\\tag` gave to the line."""
        self.colours: dict[str, str] = {}
        self._back = MOST_BACK

    def space(self, width: float) -> Atom:
        """Appends space of a width in em; negative space is limited so that a formula cannot leave its place in the page."""
        if width < 0:
            width = max(width, -self._back)
            self._back += width
        return space(width)

    def set_style(self, style: int) -> None:
        """Sets a style."""
        self.style = style

    def _short_argument(self) -> Atom | None:
        """Returns nothing: atoms change when they get scripts, so none can be shared."""
        return None

    def row(self, stops: frozenset[str], before: int | None = None) -> Element:
        """Reads everything up to one of the stops as one element."""
        return in_row(arranged(self.read(stops), before))

    def element(self, what: str = "argument", style: int | None = None) -> Element:
        """Reads the next argument as one element, in the given style if there is one."""
        return in_row(arranged(self.argument(what) if style is None else self.argument_in(style, what)))

    def script_element(self) -> Element:
        """Reads a script: a group or the next piece."""
        return in_row(arranged(self.script_argument()))

    def optional_element(self, style: int) -> Element | None:
        """Reads an argument in brackets as one element in the given style, if there is one."""
        outer = self.style
        self.set_style(style)
        atoms = self.optional()
        self.set_style(outer)
        return None if atoms is None else in_row(arranged(atoms))

    # -- symbols and groups

    def put_symbol(self, token: str, items: list[Atom]) -> None:
        """Appends a token that is not a command."""
        if token == "." and self._before_digit():
            items.append(digit(token, self.font, self.style))
            return
        atom = symbol_atom(token, self.font, self.style)
        if atom is not None:
            items.append(atom)
        elif token != "\\":
            self.repair(f"unknown command {token}")
            items.append(Atom(Element("merror", "", (Element("mtext", token),)), ORD, self.style))

    def _before_digit(self) -> bool:
        following = self.tokens[self.i] if self.i < self.count else ""
        return following.isdigit() and following.isascii()

    def has_piece(self, frame: Frame[Atom, Element | None]) -> bool:
        """True if a group has its first piece; a change of style does not count."""
        return any(atom.kind != SWITCH for atom in frame.items)

    def put_fence(self, items: list[Atom], fence: Element | None) -> None:
        """Appends the delimiter of a `\\right` that closes nothing."""
        if fence is not None:
            items.append(Atom(fence, CLOSE, self.style))

    def put_group(
        self,
        around: Frame[Atom, Element | None],
        frame: Frame[Atom, Element | None],
        items: list[Atom],
        closed: bool,
    ) -> None:
        """Adds a group as one atom to those around it."""
        style = frame.style
        closing = self.delimiter(left=False) if closed else None
        elements = arranged(items)
        if frame.opener != "\\left":
            around.items.append(Atom(in_row(elements), ORD, style))
        else:
            element = fenced(frame.fence, elements, closing, self.budget, style)
            around.items.append(Atom(element, INNER, style))

    # -- scripts

    def script(self, frame: Frame[Atom, Element | None], above: bool) -> None:
        """Reads a script and attaches it."""
        atoms = frame.items
        script = self.script_element()
        count = _primes_of(script) if above else 0
        if count:
            self.primes(frame, count)
            return
        base = self._base(atoms, above)
        if above:
            base.sup = script
        else:
            base.sub = script

    def _base(self, atoms: list[Atom], above: bool) -> Atom:
        """Returns the atom that a script belongs to: the last one, or a new empty one if that has such a script already."""
        if atoms and atoms[-1].kind < SPACE:
            last = atoms[-1]
            if (last.sup if above else last.sub) is None:
                return last
            self.repair(f"double {'superscript' if above else 'subscript'}")
        atoms.append(Atom(Element("mrow"), ORD, self.style))
        return atoms[-1]

    def primes(self, frame: Frame[Atom, Element | None], count: int) -> None:
        """Attaches primes after a letter; above an index or before another superscript they are its superscript."""
        prime = operator(_PRIMES[4] * (count // 4) + _PRIMES[count % 4], lspace="0em", rspace="0em")
        following = self.peek()
        base = self._base(frame.items, above=True)
        if (
            base.element.tag in ("mi", "mn")
            and base.sub is None
            and following not in ("^", "_", "\\sp", "\\sb")
        ):
            # Fonts draw the sign raised already.
            base.element = Element("mrow", "", (base.element, prime))
            base.font = None
            return
        prime.attributes = {**prime.attributes, "scriptlevel": "0"}
        lowered = Element("mpadded", "", (prime,), {"height": "0.5em", "voffset": "-0.4em"})
        base.sup = lowered
        if following == "^":
            self.i += 1
            base.sup = Element("mrow", "", (lowered, self.script_element()))

    # -- fractions and delimiters

    def infix_fraction(
        self,
        fraction: InfixFraction[Element | None],
        numerator: list[Atom],
        denominator: list[Atom],
        style: int,
    ) -> Atom:
        """A fraction with its delimiters."""
        for atom in numerator:
            atom.style = max(atom.style, SMALLER[style])
        parts = (in_row(arranged(numerator)), in_row(arranged(denominator)))
        thickness = "" if fraction.command in WITH_LINE else "0em"
        if fraction.command == "\\above":
            thickness = length(em_of(fraction.thickness))
        element = Element("mfrac", "", parts, {"linethickness": thickness} if thickness else {})
        if fraction.left is None and fraction.right is None:
            return Atom(element, ORD, style)
        return Atom(fenced(fraction.left, [element], fraction.right, self.budget), INNER, style)

    def fence(self, text: str, left: bool) -> Element:
        """Returns the delimiter that a command implies."""
        return operator(text)

    def delimiter(self, left: bool) -> Element | None:
        """Reads the growing delimiter after `\\left`, `\\right` or `\\middle`; nothing for a dot."""
        token = self.delimiter_token()
        if not token:
            return None
        known = DELIMITERS.get(token)
        if known is not None:
            return operator(known[0])
        atom = symbol_atom(token, self.font, self.style)
        if atom is None or atom.element.tag != "mo":
            self.refuse_delimiter(token)
            return None
        return operator(atom.element.text)


def _primes_of(script: Element) -> int:
    """Returns the number of primes that a superscript consists of, as in `y^{\\prime\\prime}`; 0 if there is anything else."""
    parts = script.children if script.tag == "mrow" else (script,)
    return len(parts) if all(part.tag == "mo" and part.text == "′" for part in parts) else 0
