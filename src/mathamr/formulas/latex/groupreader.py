"""`GroupReader`: the front end of LaTeX formulas, which both back ends share.

It reads groups, scripts, infix fractions, arguments and delimiters from tokens whose macros are expanded. A back end defines
what they become: `Reader` makes the nodes of trees, `Typesetter` the atoms of MathML.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from mathamr.formulas.budget import Budget
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.cursor import Cursor
from mathamr.formulas.latex.fonts import MATH, Font
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.styles import SCRIPTS, SMALLER

MAX_GROUPS = 500
"""The maximum nesting of braces."""

BRACE = frozenset(["}"])
BRACKET = frozenset(["]"])
DOLLAR = frozenset(["$"])
CELL_ENDS = frozenset(["&", "\\\\", "\\cr", "\\crcr", "\\tabularnewline", "\\newline"])
NOTHING: frozenset[str] = frozenset()

INFIX_FENCES = {
    "\\over": ("", ""),
    "\\atop": ("", ""),
    "\\choose": ("(", ")"),
    "\\brace": ("{", "}"),
    "\\brack": ("[", "]"),
    "\\overwithdelims": ("?", "?"),
    "\\atopwithdelims": ("?", "?"),
    "\\above": ("", ""),
}
"""Commands between numerator and denominator, and the delimiters around both; `?` marks those that follow."""
WITH_LINE = frozenset(["\\over", "\\above", "\\overwithdelims"])
_OPENERS = {"{": "}", "\\bgroup": "\\egroup", "\\begingroup": "\\endgroup", "\\left": "\\right"}
_CLOSERS = frozenset(_OPENERS.values())
STRUCTURAL = frozenset(["^", "_", "'", "\\sp", "\\sb", *_OPENERS, *_CLOSERS, *INFIX_FENCES])
_NO_ARGUMENT = frozenset(["", "}", "&", "\\\\", "\\end", "\\right", "\\cr", "$", "\\egroup"])
_SPACES = frozenset([" ", "\n", "  ", "\t"])
"""The most frequent runs of space."""

Item = TypeVar("Item")
Fence = TypeVar("Fence")
Commands = dict[str, Callable[[Any, list[Any]], None]]
Environments = dict[str, Callable[[Any, list[Any], str], None]]


class InfixFraction(NamedTuple, Generic[Fence]):
    """A fraction whose command is between its parts: `a \\over b`."""

    command: str
    left: Fence | None
    right: Fence | None
    thickness: str


class Frame(Generic[Item, Fence]):
    """A group that is being read: its items so far, and what is restored at its end.

    `grouped` and `emptied` are the lengths at which the last inner group and the last empty group ended: a script there
    belongs to the group's last item, or floats.
    """

    __slots__ = (
        "emptied",
        "fence",
        "font",
        "fraction",
        "grouped",
        "items",
        "numerator",
        "opener",
        "start",
        "style",
    )

    def __init__(self, opener: str, font: Font, style: int, start: int, fence: Fence | None = None) -> None:
        self.opener, self.font, self.style, self.start, self.fence = opener, font, style, start, fence
        self.items: list[Item] = []
        self.numerator: list[Item] = []
        self.grouped = self.emptied = -1
        self.fraction: InfixFraction[Fence] | None = None


class GroupReader(Cursor, ABC, Generic[Item, Fence]):
    """One pass over the tokens of one formula."""

    commands: ClassVar[Commands]
    """What every command does that is not a symbol."""
    environments: ClassVar[Environments]
    """What every environment does between its beginning and its end."""

    def __init__(
        self, tokens: list[str], offsets: list[int], source: str, budget: Budget, style: int
    ) -> None:
        super().__init__(tokens, offsets, source)
        self.budget = budget
        self.level = 1
        """The number of open groups and arguments."""
        self.known: dict[str, Item] = {}
        """A cache of symbols in the current font and style."""
        self.set_font_and_style(MATH, style)

    # -- what the back end decides

    @abstractmethod
    def put_symbol(self, token: str, items: list[Item]) -> None:
        """Appends a token that is not a command."""

    @abstractmethod
    def script(self, frame: Frame[Item, Fence], above: bool) -> None:
        """Reads a script and attaches it."""

    @abstractmethod
    def primes(self, frame: Frame[Item, Fence], count: int) -> None:
        """Attaches primes."""

    @abstractmethod
    def delimiter(self, left: bool) -> Fence:
        """Reads the delimiter after `\\left`, `\\right` or `\\middle`."""

    @abstractmethod
    def fence(self, text: str, left: bool) -> Fence:
        """Returns the delimiter that a command implies."""

    @abstractmethod
    def put_fence(self, items: list[Item], fence: Fence) -> None:
        """Appends the delimiter of a `\\right` that closes nothing."""

    @abstractmethod
    def put_group(
        self, around: Frame[Item, Fence], frame: Frame[Item, Fence], items: list[Item], closed: bool
    ) -> None:
        """Adds a finished group to the one around it; if `\\right` ended it, its delimiter follows and is read."""

    @abstractmethod
    def infix_fraction(
        self, fraction: InfixFraction[Fence], numerator: list[Item], denominator: list[Item], style: int
    ) -> Item:
        """A fraction with its delimiters."""

    def opened(self, frame: Frame[Item, Fence], fence: Fence) -> None:
        """Called with the group around a `\\left` and its delimiter."""

    def has_piece(self, frame: Frame[Item, Fence]) -> bool:
        """True if a group has its first piece: an argument without braces ends there."""
        return bool(frame.items)

    def set_font_and_style(self, font: Font, style: int) -> None:
        """Sets a font and a style."""
        self.font, self.style = font, style

    def put(self, token: str, frame: Frame[Item, Fence]) -> None:
        """Appends the meaning of a command or symbol."""
        command = self.commands.get(token)
        if command is not None:
            command(self, frame.items)
        else:
            self.put_symbol(token, frame.items)

    def set_font(self, font: Font) -> None:
        """Sets a font."""
        self.set_font_and_style(font, self.style)

    def set_style(self, style: int) -> None:
        """Sets a style."""
        self.set_font_and_style(self.font, style)

    # -- groups

    def read(self, stops: frozenset[str], single: bool = False) -> list[Item]:
        """Reads items up to one of the stops (which stays unread) or the end; `single` reads at most one piece."""
        frame: Frame[Item, Fence] = Frame("", self.font, self.style, self.i)
        outer: list[Frame[Item, Fence]] = []
        bracket = "]" in stops
        while self.i < self.count:
            token = self.tokens[self.i]
            item = self.known.get(token)
            if item is not None and not (bracket and token == "]" and not outer):
                self.i += 1
                frame.items.append(item)
            elif token in _SPACES or token.isspace():
                self.i += 1
                continue
            elif token in stops and (not outer or _leaves(token, outer, frame)):
                break
            else:
                self.i += 1
                if token in STRUCTURAL:
                    frame = self._structure(token, frame, outer)
                else:
                    self.put(token, frame)
            if single and not outer and self.has_piece(frame):
                break
        while outer:
            self.repair(f"unclosed {frame.opener}", frame.start)
            frame = self._ended(frame, outer, closed=False)
        return self._finished(frame)

    def _structure(
        self, token: str, frame: Frame[Item, Fence], outer: list[Frame[Item, Fence]]
    ) -> Frame[Item, Fence]:
        if token == "^" or token == "\\sp":
            self.script(frame, above=True)
        elif token == "_" or token == "\\sb":
            self.script(frame, above=False)
        elif token == "'":
            count = 1
            while self.i < self.count and self.tokens[self.i] == "'":
                count += 1
                self.i += 1
            self.primes(frame, count)
        elif token in _OPENERS:
            fence = None
            if token == "\\left":
                fence = self.delimiter(left=True)
                self.opened(frame, fence)
            outer.append(frame)
            if len(outer) > MAX_GROUPS:
                raise FormulaError(f"more than {MAX_GROUPS} nested groups", self.source, self.offset())
            self.level += 1
            return Frame(token, self.font, self.style, self.i - 1, fence)
        elif token in _CLOSERS:
            return self._closed(token, frame, outer)
        else:
            self._begin_denominator(token, frame)
        return frame

    def _closed(
        self, token: str, frame: Frame[Item, Fence], outer: list[Frame[Item, Fence]]
    ) -> Frame[Item, Fence]:
        """Returns the surrounding frame after a closing token; inner groups that are still open end too."""
        if not any(_OPENERS.get(one.opener) == token for one in (frame, *outer)):
            self.repair(f"{token} without its opening")
            if token == "\\right":
                self.put_fence(frame.items, self.delimiter(left=False))
            return frame
        while True:
            matches = _OPENERS.get(frame.opener) == token
            if not matches:
                self.repair(f"unclosed {frame.opener}", frame.start)
            frame = self._ended(frame, outer, closed=matches and token == "\\right")
            if matches:
                return frame

    def _ended(
        self, frame: Frame[Item, Fence], outer: list[Frame[Item, Fence]], closed: bool
    ) -> Frame[Item, Fence]:
        items, around = self._finished(frame), outer.pop()
        self.level -= 1
        self.put_group(around, frame, items, closed)
        return around

    def _finished(self, frame: Frame[Item, Fence]) -> list[Item]:
        items = frame.items if frame.fraction is None else [self._made_fraction(frame)]
        self.set_font_and_style(frame.font, frame.style)
        return items

    # -- fractions written with \over

    def _begin_denominator(self, token: str, frame: Frame[Item, Fence]) -> None:
        if frame.fraction is not None:
            self.repair(f"more than one fraction in a group: {token}")
            frame.items = [self._made_fraction(frame)]
        opening, closing = INFIX_FENCES[token]
        left = right = None
        if opening == "?":
            left, right = self.delimiter(left=True), self.delimiter(left=False)
        elif opening:
            left, right = self.fence(opening, left=True), self.fence(closing, left=False)
        thickness = self.dimension() if token == "\\above" else ""
        frame.fraction = InfixFraction(token, left, right, thickness)
        frame.numerator, frame.items = frame.items, []
        frame.grouped = frame.emptied = -1
        self.set_font_and_style(frame.font, SMALLER[frame.style])

    def _made_fraction(self, frame: Frame[Item, Fence]) -> Item:
        fraction, frame.fraction = frame.fraction, None
        assert fraction is not None
        return self.infix_fraction(fraction, frame.numerator, frame.items, frame.style)

    # -- arguments

    def _short_argument(self) -> Item | None:
        """Returns an argument that is one known symbol, with or without braces, as most are."""
        i, tokens, known = self.i, self.tokens, self.known
        if i + 2 < self.count and tokens[i] == "{" and tokens[i + 2] == "}":
            item = known.get(tokens[i + 1])
            if item is not None:
                self.i += 3
            return item
        item = known.get(tokens[i]) if i < self.count else None
        if item is not None:
            self.i += 1
        return item

    def argument(self, what: str = "argument") -> list[Item]:
        """The items of the next argument: a group, or the next piece."""
        item = self._short_argument()
        if item is not None:
            return [item]
        token = self.peek()
        if token in _NO_ARGUMENT:
            self.repair(f"missing {what}", self.i)
            return []
        self.descend()
        font, style = self.font, self.style
        self.level += 1
        if token == "{":
            items = self._enclosed(BRACE)
        elif token in ("^", "_"):
            self.repair(f"missing {what}", self.i)
            items = []
        else:
            items = self.read(NOTHING, single=True)
        self.level -= 1
        self.depth -= 1
        self.set_font_and_style(font, style)
        self.budget.spend(len(items))
        return items

    def optional(self) -> list[Item] | None:
        """The items of an argument in brackets, if there is one."""
        if self.peek() != "[":
            return None
        self.descend()
        items = self._enclosed(BRACKET)
        self.depth -= 1
        self.budget.spend(len(items))
        return items

    def _enclosed(self, end: frozenset[str]) -> list[Item]:
        """Reads items between the brace or bracket here and its end."""
        start = self.i
        self.i += 1
        items = self.read(end)
        if self.i < self.count:
            self.i += 1
        else:
            self.repair(f"unclosed {self.tokens[start]}", start)
        return items

    def argument_in(self, style: int, what: str = "argument") -> list[Item]:
        """Reads the items of the next argument in the given style."""
        outer = self.style
        self.set_style(style)
        items = self.argument(what)
        self.set_style(outer)
        return items

    def script_argument(self) -> list[Item]:
        """Reads a script: a group or the next piece, in script style."""
        return self.argument_in(SCRIPTS[self.style], "script")

    def read_up_to(self, end: str, command: str) -> list[Item]:
        """Reads items up to and including a command that divides a group: `\\root 3 \\of x`, `\\buildrel a \\over b`."""
        items = self.read(frozenset([end, "}", "\\right", "&", "\\\\", "\\end"]))
        if self.peek() == end:
            self.i += 1
        else:
            self.repair(f"{command} without {end}", self.i)
        return items

    def delimiter_token(self) -> str:
        """Reads the next token, which must be a delimiter; nothing for a dot, or if none is left."""
        token = self.peek()
        self.i += 1
        if not token:
            self.repair("missing delimiter", self.i)
        elif token in ("{", "}"):
            self.repair(f"{token} as a delimiter; read as \\{token}")
            token = "\\" + token
        return "" if token == "." else token

    def refuse_delimiter(self, token: str) -> None:
        """Leaves a token that is not a delimiter unread."""
        self.repair(f"{token} is not a delimiter")
        self.i -= 1

    def substituted(self, latex: str, *arguments: Sequence[str]) -> list[Item]:
        """Reads the LaTeX that a command expands to; `#1` to `#9` in it are arguments, as tokens."""
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
        items = self.read(NOTHING)
        self.depth -= 1
        self.tokens, self.offsets, self.count, self.i = outside
        return items


def _leaves(stop: str, outer: Sequence[Frame[Any, Any]], frame: Frame[Any, Any]) -> bool:
    """True if a stop inside open groups ends them: `\\end` always does, the end of a cell only for `\\left`."""
    if stop == "\\end":
        return True
    return stop in CELL_ENDS and all(one.opener == "\\left" for one in (*outer[1:], frame))


@lru_cache(maxsize=256)
def _tokens(latex: str) -> tuple[str, ...]:
    return tuple(tokenize(latex)[0])
