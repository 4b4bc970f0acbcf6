"""Tokens to atoms: groups, scripts, fractions and delimiters as TeX sets them; commands plug in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from mathamr.formulas.budget import Budget
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.cursor import Cursor
from mathamr.formulas.latex.display.atom import (
    CLOSE,
    INNER,
    ORD,
    SCRIPT,
    SCRIPTSCRIPT,
    SMALLER,
    SPACE,
    SWITCH,
    TEXT,
    Atom,
    arranged,
    in_row,
    length,
    operator,
    space,
)
from mathamr.formulas.latex.display.fences import fenced
from mathamr.formulas.latex.display.lengths import bare_length
from mathamr.formulas.latex.display.symbols import digit, symbol_atom
from mathamr.formulas.latex.fonts import MATH, Font
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.reader import BRACE, BRACKET, CELL_ENDS, MAX_GROUPS, NOTHING
from mathamr.formulas.latex.symbols import DELIMITERS
from mathamr.formulas.mathml.element import Element

MOST_BACK = 6.0
"""Negative space in one formula, in em."""

_FRACTIONS = {
    # command: (whether there is a line, opening, closing)
    "\\over": (True, "", ""),
    "\\atop": (False, "", ""),
    "\\choose": (False, "(", ")"),
    "\\brace": (False, "{", "}"),
    "\\brack": (False, "[", "]"),
    "\\overwithdelims": (True, "?", "?"),
    "\\atopwithdelims": (False, "?", "?"),
    "\\above": (True, "", ""),
}
_OPENERS = {"{": "}", "\\bgroup": "\\egroup", "\\begingroup": "\\endgroup", "\\left": "\\right"}
_CLOSERS = frozenset(_OPENERS.values())
_STRUCTURAL = frozenset(["^", "_", "'", "\\sp", "\\sb", *_OPENERS, *_CLOSERS, *_FRACTIONS])
_PRIMES = ("", "′", "″", "‴", "⁗")

Command = Callable[["Typesetter", list[Atom]], None]
COMMANDS: dict[str, Command] = {}
"""What every command draws that is not a symbol; filled by the modules beside this one."""


def command(*names: str) -> Callable[[Command], Command]:
    """Registers what some commands draw."""

    def register(function: Command) -> Command:
        for name in names:
            COMMANDS[name] = function
        return function

    return register


class _Frame:
    """A group that is being read: its atoms so far, and what holds again when it ends."""

    __slots__ = ("atoms", "delimiter", "font", "fraction", "numerator", "opener", "start", "style")

    def __init__(self, opener: str, font: Font, style: int, start: int) -> None:
        self.opener, self.font, self.style, self.start = opener, font, style, start
        self.atoms: list[Atom] = []
        self.delimiter: Element | None = None
        self.fraction: tuple[str, Element | None, Element | None] | None = None
        self.numerator: list[Atom] = []


class Typesetter(Cursor):
    """One pass over the tokens of one formula."""

    def __init__(
        self, tokens: list[str], offsets: list[int], source: str, budget: Budget, style: int
    ) -> None:
        super().__init__(tokens, offsets, source)
        self.budget = budget
        self.font: Font = MATH
        self.style = style
        self.tag: Element | None = None
        """The number that `\\tag` gave to the line."""
        self.colours: dict[str, str] = {}
        self._back = MOST_BACK

    def space(self, width: float) -> Atom:
        """Space of a width in em; negative space ends where a formula could leave its place in the page."""
        if width < 0:
            width = max(width, -self._back)
            self._back += width
        return space(width)

    # -- rows

    def read(self, stops: frozenset[str], single: bool = False) -> list[Atom]:
        """Atoms up to one of the stops (which stays unread) or the end; `single` reads no more than one piece."""
        frame = _Frame("", self.font, self.style, self.i)
        outer: list[_Frame] = []
        while self.i < self.count:
            token = self.tokens[self.i]
            if token.isspace():
                self.i += 1
                continue
            if token in stops and (not outer or self._leaves(token, outer, frame)):
                break
            self.i += 1
            if token in _STRUCTURAL:
                frame = self._structure(token, frame, outer)
            else:
                self._symbol(token, frame.atoms)
            if single and not outer and any(atom.kind != SWITCH for atom in frame.atoms):
                break
        while outer:
            self.repair(f"unclosed {frame.opener}", frame.start)
            inner, frame = self._closed_frame(frame), outer.pop()
            frame.atoms.append(inner)
        return self._finished(frame)

    def _leaves(self, stop: str, outer: Sequence[_Frame], frame: _Frame) -> bool:
        """Whether a stop inside open groups ends them: `\\end` always, the end of a cell only `\\left`."""
        if stop == "\\end":
            return True
        return stop in CELL_ENDS and all(one.opener == "\\left" for one in (*outer[1:], frame))

    def row(self, stops: frozenset[str], before: int | None = None) -> Element:
        """All up to one of the stops as one element."""
        return in_row(arranged(self.read(stops), before))

    def _symbol(self, token: str, atoms: list[Atom]) -> None:
        put = COMMANDS.get(token)
        if put is not None:
            put(self, atoms)
            return
        if token == "." and self._before_digit():
            atoms.append(digit(token, self.font, self.style))
            return
        atom = symbol_atom(token, self.font, self.style)
        if atom is not None:
            atoms.append(atom)
        elif token != "\\":
            self.repair(f"unknown command {token}")
            atoms.append(Atom(Element("merror", "", (Element("mtext", token),)), ORD, self.style))

    def _before_digit(self) -> bool:
        following = self.tokens[self.i] if self.i < self.count else ""
        return following.isdigit() and following.isascii()

    def _structure(self, token: str, frame: _Frame, outer: list[_Frame]) -> _Frame:
        if token in ("^", "\\sp"):
            self._script(frame.atoms, above=True)
        elif token in ("_", "\\sb"):
            self._script(frame.atoms, above=False)
        elif token == "'":
            self._primes(frame.atoms)
        elif token in _OPENERS:
            outer.append(frame)
            if len(outer) > MAX_GROUPS:
                raise FormulaError(
                    f"more than {MAX_GROUPS} groups within each other", self.source, self.offset()
                )
            inner = _Frame(token, self.font, self.style, self.i - 1)
            if token == "\\left":
                inner.delimiter = self.delimiter()
            return inner
        elif token in _CLOSERS:
            return self._closed(token, frame, outer)
        else:
            self._fraction(token, frame)
        return frame

    def _closed(self, token: str, frame: _Frame, outer: list[_Frame]) -> _Frame:
        """The frame around, after a closing token."""
        if not any(_OPENERS.get(one.opener) == token for one in (frame, *outer)):
            self.repair(f"{token} without its opening")
            if token == "\\right":
                element = self.delimiter()
                frame.atoms.extend([Atom(element, CLOSE, self.style)] if element is not None else [])
            return frame
        while True:
            matches = _OPENERS.get(frame.opener) == token
            if not matches:
                self.repair(f"unclosed {frame.opener}", frame.start)
            closing = self.delimiter() if matches and token == "\\right" else None
            inner, frame = self._closed_frame(frame, closing), outer.pop()
            frame.atoms.append(inner)
            if matches:
                return frame

    def _closed_frame(self, frame: _Frame, closing: Element | None = None) -> Atom:
        """A group as one atom."""
        style = frame.style
        elements = arranged(self._finished(frame))
        if frame.opener != "\\left":
            return Atom(in_row(elements), ORD, style)
        return Atom(fenced(frame.delimiter, elements, closing, self.budget, style), INNER, style)

    def _finished(self, frame: _Frame) -> list[Atom]:
        atoms = frame.atoms
        if frame.fraction is not None:
            atoms = [self._made_fraction(frame, atoms)]
        self.font, self.style = frame.font, frame.style
        return atoms

    # -- scripts

    def _script(self, atoms: list[Atom], above: bool) -> None:
        script = self.script_argument()
        count = _primes_of(script) if above else 0
        if count:
            self._put_primes(atoms, count)
            return
        base = self._base(atoms, above)
        if above:
            base.sup = script
        else:
            base.sub = script

    def _base(self, atoms: list[Atom], above: bool) -> Atom:
        """The atom that a script belongs to: the last one, or nothing where that has such a script already."""
        if atoms and atoms[-1].kind < SPACE:
            last = atoms[-1]
            if (last.sup if above else last.sub) is None:
                return last
            self.repair(f"double {'superscript' if above else 'subscript'}")
        atoms.append(Atom(Element("mrow"), ORD, self.style))
        return atoms[-1]

    def _primes(self, atoms: list[Atom]) -> None:
        count = 1
        while self.i < self.count and self.tokens[self.i] == "'":
            count += 1
            self.i += 1
        self._put_primes(atoms, count)

    def _put_primes(self, atoms: list[Atom], count: int) -> None:
        """Primes behind a letter; above an index or before another superscript they are its superscript."""
        prime = operator(_PRIMES[4] * (count // 4) + _PRIMES[count % 4], lspace="0em", rspace="0em")
        following = self.peek()
        base = self._base(atoms, above=True)
        if (
            base.element.tag in ("mi", "mn")
            and base.sub is None
            and following not in ("^", "_", "\\sp", "\\sb")
        ):
            # Fonts have the sign raised already.
            base.element = Element("mrow", "", (base.element, prime))
            base.font = None
            return
        prime.attributes = {**prime.attributes, "scriptlevel": "0"}
        lowered = Element("mpadded", "", (prime,), {"height": "0.5em", "voffset": "-0.4em"})
        base.sup = lowered
        if following == "^":
            self.i += 1
            base.sup = Element("mrow", "", (lowered, self.script_argument()))

    def script_argument(self) -> Element:
        """What stands in a script: a group or the next piece."""
        return self.element("script", SCRIPT if self.style <= TEXT else SCRIPTSCRIPT)

    # -- fractions written with \over

    def _fraction(self, token: str, frame: _Frame) -> None:
        line, opening, closing = _FRACTIONS[token]
        if frame.fraction is not None:
            self.repair(f"more than one fraction in a group: {token}")
            frame.atoms = [self._made_fraction(frame, frame.atoms)]
        left = right = None
        thickness = "" if line else "0em"
        if opening == "?":
            left, right = self.delimiter(), self.delimiter()
        elif opening:
            left, right = operator(opening), operator(closing)
        elif token == "\\above":
            thickness = length(bare_length(self))
        frame.fraction = (thickness, left, right)
        frame.numerator, frame.atoms = frame.atoms, []
        smaller = SMALLER[frame.style]
        for atom in frame.numerator:
            atom.style = max(atom.style, smaller)
        self.font, self.style = frame.font, smaller

    def _made_fraction(self, frame: _Frame, denominator: Sequence[Atom]) -> Atom:
        if frame.fraction is None:
            raise FormulaError("a fraction without its bar", self.source, self.offset(frame.start))
        thickness, left, right = frame.fraction
        frame.fraction = None
        parts = (in_row(arranged(frame.numerator)), in_row(arranged(denominator)))
        element = Element("mfrac", "", parts, {"linethickness": thickness} if thickness else {})
        if left is None and right is None:
            return Atom(element, ORD, frame.style)
        return Atom(fenced(left, [element], right, self.budget), INNER, frame.style)

    # -- arguments

    def argument(self, what: str = "argument") -> list[Atom]:
        """The atoms of the next argument: a group, or the next piece."""
        token = self.peek()
        if not token or token in ("}", "&", "\\\\", "\\end", "\\right", "\\cr", "$", "\\egroup"):
            self.repair(f"missing {what}", self.i)
            return []
        self.descend()
        font, style = self.font, self.style
        if token == "{":
            start = self.i
            self.i += 1
            atoms = self.read(BRACE)
            if self.i < self.count:
                self.i += 1
            else:
                self.repair("unclosed {", start)
        elif token in ("^", "_"):
            self.repair(f"missing {what}", self.i)
            atoms = []
        else:
            atoms = self.read(NOTHING, single=True)
        self.depth -= 1
        self.font, self.style = font, style
        return atoms

    def element(self, what: str = "argument", style: int | None = None) -> Element:
        """The next argument as one element, in a style of its own if one is given."""
        outer = self.style
        if style is not None:
            self.style = style
        atoms = self.argument(what)
        self.style = outer
        return in_row(arranged(atoms))

    def optional(self, style: int | None = None) -> Element | None:
        """An argument in brackets as one element, if there is one."""
        if self.peek() != "[":
            return None
        start = self.i
        self.descend()
        self.i += 1
        font, outer = self.font, self.style
        if style is not None:
            self.style = style
        element = self.row(BRACKET)
        if self.i < self.count:
            self.i += 1
        else:
            self.repair("unclosed [", start)
        self.depth -= 1
        self.font, self.style = font, outer
        return element

    def delimiter(self) -> Element | None:
        """The delimiter behind `\\left`, `\\right` or `\\middle`, which grows; nothing for a dot."""
        token = self.peek()
        self.i += 1
        if token == "." or not token:
            if not token:
                self.repair("missing delimiter", self.i)
            return None
        if token in ("{", "}"):
            self.repair(f"{token} as a delimiter; read as \\{token}")
            token = "\\" + token
        known = DELIMITERS.get(token)
        atom = symbol_atom(token, self.font, self.style)
        if known is None and (atom is None or atom.element.tag != "mo"):
            self.repair(f"{token} is no delimiter")
            self.i -= 1
            return None
        return operator(known[0] if known is not None else atom.element.text if atom is not None else "")

    # -- abbreviations

    def drawn(self, latex: str, *arguments: Sequence[str]) -> list[Atom]:
        """LaTeX of our own as atoms; `#1` to `#9` in it stand for arguments, as tokens."""
        tokens: list[str] = []
        pieces = iter(_tokens(latex))
        for piece in pieces:
            if piece == "#":
                tokens.extend(arguments[int(next(pieces)) - 1])
            else:
                tokens.append(piece)
        self.budget.spend(len(tokens))
        here = self.offset()
        outside = self.tokens, self.offsets, self.count, self.i
        self.tokens, self.offsets, self.count, self.i = tokens, [here] * len(tokens), len(tokens), 0
        self.descend()
        atoms = self.read(NOTHING)
        self.depth -= 1
        self.tokens, self.offsets, self.count, self.i = outside
        return atoms

    def raw_tokens(self) -> list[str]:
        """The tokens of the next argument, unread."""
        token = self.peek()
        if token != "{":
            if not token or token in ("}", "&", "\\\\", "\\end", "\\right"):
                return []
            self.i += 1
            return [token]
        start = self.i + 1
        self.i = self.matching_brace()
        tokens = self.tokens[start : self.i]
        self.i += 1
        return tokens


@lru_cache(maxsize=256)
def _tokens(latex: str) -> tuple[str, ...]:
    return tuple(tokenize(latex)[0])


def _primes_of(script: Element) -> int:
    """How many primes a superscript consists of, as `y^{\\prime\\prime}`; none where there is anything else."""
    parts = script.children if script.tag == "mrow" else (script,)
    return len(parts) if all(part.tag == "mo" and part.text == "′" for part in parts) else 0
