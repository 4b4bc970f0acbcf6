"""`Walk`: goes through the rows of a formula and makes items of them, nodes of a tree or atoms of a drawing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, TypeVar

from mathamr.formulas.latex.fonts import MATH, Font
from mathamr.formulas.latex.reader import Reader
from mathamr.formulas.latex.syntax import Construct, Row

Item = TypeVar("Item")


class Frame(Generic[Item]):
    """A row that is being walked: its items so far, and what is restored at its end.

    `grouped` and `emptied` are the lengths at which the last inner group and the last empty group ended: a script there
    belongs to the group's last item, or floats.
    """

    __slots__ = ("emptied", "font", "grouped", "items", "style")

    def __init__(self, font: Font, style: int) -> None:
        self.font, self.style = font, style
        self.items: list[Item] = []
        self.grouped = self.emptied = -1


Maker = Callable[[Any, Construct, list[Any]], None]


class Makers(dict[str, Maker]):
    """The functions that turn each kind of piece into items, by kind."""

    def register(self, *kinds: str) -> Callable[[Maker], Maker]:
        """Return a decorator that registers a function for some kinds of pieces."""

        def register(function: Maker) -> Maker:
            self.update(dict.fromkeys(kinds, function))
            return function

        return register


class Walk(ABC, Generic[Item]):
    """One walk through the syntax of one formula."""

    makers: ClassVar[Makers]

    def __init__(self, reader: Reader, style: int) -> None:
        self.reader, self.tokens, self.budget = reader, reader.tokens, reader.budget
        self.known: dict[str, Item] = {}
        """A cache of symbols in the current font and style."""
        self.set_font_and_style(MATH, style)

    def set_font_and_style(self, font: Font, style: int) -> None:
        """Set a font and a style."""
        self.font, self.style = font, style

    def walk(self, row: Row) -> list[Item]:
        """Return the items of a row; groups in it need no recursion."""
        frame: Frame[Item] = Frame(self.font, self.style)
        items = frame.items
        outer: list[tuple[Frame[Item], Any, Construct]] = []
        rest: Iterator[Any] = iter(row)
        tokens, known = self.tokens, self.known
        while True:
            for item in rest:
                if type(item) is int:
                    symbol = known.get(tokens[item])
                    if symbol is not None:
                        items.append(symbol)
                    else:
                        self.put_symbol(item, items)
                elif item.kind != "group":
                    self.put(item, frame)
                    known = self.known
                else:
                    self.begin_group(frame, item)
                    outer.append((frame, rest, item))
                    frame = Frame(self.font, self.style)
                    items, rest = frame.items, iter(item.arguments[0])
                    break
            else:
                if self.font is not frame.font or self.style != frame.style:
                    self.set_font_and_style(frame.font, frame.style)
                    known = self.known
                if not outer:
                    return items
                inner = frame
                frame, rest, group = outer.pop()
                items = frame.items
                self.end_group(frame, inner, group)

    def put(self, piece: Construct, frame: Frame[Item]) -> None:
        """Append what a piece becomes."""
        if piece.kind == "script":
            self.script(piece, frame)
        elif piece.kind == "primes":
            self.primes(piece, frame)
        else:
            self.makers[piece.kind](self, piece, frame.items)

    def walk_in(self, style: int, row: Row) -> list[Item]:
        """Return the items of a row in the given style."""
        outer = self.style
        self.set_font_and_style(self.font, style)
        items = self.argument(row)
        self.set_font_and_style(self.font, outer)
        return items

    def argument(self, row: Row) -> list[Item]:
        """Return the items of an argument."""
        return self.walk(row)

    def next_token(self, place: int) -> str:
        """Return the next token after a place that is not space, or nothing."""
        place += 1
        while place < len(self.tokens) and self.tokens[place].isspace():
            place += 1
        return self.tokens[place] if place < len(self.tokens) else ""

    @abstractmethod
    def put_symbol(self, place: int, items: list[Item]) -> None:
        """Append the symbol of a token."""

    @abstractmethod
    def begin_group(self, frame: Frame[Item], group: Construct) -> None:
        """Begin a group inside a frame."""

    @abstractmethod
    def end_group(self, around: Frame[Item], frame: Frame[Item], group: Construct) -> None:
        """Add a finished group to the frame around it."""

    @abstractmethod
    def script(self, piece: Construct, frame: Frame[Item]) -> None:
        """Attach a script."""

    @abstractmethod
    def primes(self, piece: Construct, frame: Frame[Item]) -> None:
        """Attach primes, with the superscript that follows them."""
