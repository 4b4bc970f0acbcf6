"""`RowReader`: groups, scripts, infix fractions and commands with their arguments, as rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from mathamr.formulas.budget import Budget
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.commands import COMMANDS
from mathamr.formulas.latex.cursor import Cursor
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.symbols import DELIMITERS, SYMBOLS
from mathamr.formulas.latex.syntax import CellLine, CommandSyntax, Construct, Delimiter, Expansion, Row

MAX_GROUPS = 500
"""The maximum nesting of braces."""

BRACE = frozenset(["}"])
BRACKET = frozenset(["]"])
CELL_ENDS = frozenset(["&", "\\\\", "\\cr", "\\crcr", "\\tabularnewline", "\\newline"])
IN_ENVIRONMENT = CELL_ENDS | {"\\end"}
NOTHING: frozenset[str] = frozenset()

INFIX_FENCES: dict[str, tuple[str, ...]] = {
    "\\over": (), "\\atop": (), "\\choose": ("(", ")"), "\\brace": ("\\{", "\\}"), "\\brack": ("[", "]"),
    "\\overwithdelims": ("?",), "\\atopwithdelims": ("?",), "\\above": (),
}  # fmt: skip
"""Commands between numerator and denominator, and the delimiters around both; `?` marks those that follow."""
_OPENERS = {"{": "}", "\\bgroup": "\\egroup", "\\begingroup": "\\endgroup", "\\left": "\\right"}
_CLOSERS = frozenset(_OPENERS.values())
STRUCTURAL = frozenset(["^", "_", "'", "\\sp", "\\sb", *_OPENERS, *_CLOSERS, *INFIX_FENCES])
_NO_ARGUMENT = frozenset(["", "}", "&", "\\\\", "\\end", "\\right", "\\cr", "$", "\\egroup"])
_SPECIAL_STOPS = IN_ENVIRONMENT | {"}", "$", "\\)"}
"""Stops that are no symbols."""
_STRUCTURE, _SPACE = CommandSyntax("structure"), CommandSyntax("space")
_SPECIAL: dict[str, CommandSyntax | Expansion] = {
    **dict.fromkeys([" ", "\n", "  ", "\t", "\r\n"], _SPACE),
    **COMMANDS,
    **dict.fromkeys(STRUCTURAL, _STRUCTURE),
}
"""Everything that is not a symbol."""
_WITH_WILDCARDS = _SPECIAL | {"?": CommandSyntax("question mark")}


class _Frame:
    """A group that is being read."""

    __slots__ = ("fraction", "left", "numerator", "opener", "row", "start")

    def __init__(self, opener: str, start: int, left: Delimiter | None = None) -> None:
        self.opener, self.start, self.left = opener, start, left
        self.row: Row = []
        self.numerator: Row = []
        self.fraction: Construct | None = None


class RowReader(Cursor):
    """Reads rows from tokens whose macros are expanded; `drawn` selects between the readings for a page and for a tree."""

    def __init__(
        self,
        tokens: list[str],
        offsets: list[int],
        source: str,
        budget: Budget,
        *,
        wildcards: bool = False,
        drawn: bool = False,
    ) -> None:
        super().__init__(tokens, offsets, source)
        self.budget, self.drawn = budget, drawn
        self.origins: list[int] | range = range(self.count)
        """For every token the one that it was written as: those of an expansion are where its command is."""
        self._special = _WITH_WILDCARDS if wildcards else _SPECIAL
        self._wildcards = wildcards

    # -- groups

    def read(self, stops: frozenset[str] = NOTHING, *, single: bool = False) -> Row:
        """Read up to one of the stops (which stays unread) or the end; `single` reads at most one piece."""
        frame = _Frame("", self.i)
        outer: list[_Frame] = []
        special = self._special
        extra = not stops <= _SPECIAL_STOPS
        while self.i < self.count:
            token = self.tokens[self.i]
            command = special.get(token)
            if command is None:
                if token.isspace():
                    self.i += 1
                    continue
                if extra and token in stops and not outer:
                    break
                frame.row.append(self.i)
                self.i += 1
            elif command is _SPACE:
                self.i += 1
                continue
            elif token in stops and (not outer or _leaves(token, outer, frame)):
                break
            else:
                self.i += 1
                if command is _STRUCTURE:
                    frame = self._structure(token, frame, outer)
                elif isinstance(command, CommandSyntax):
                    self._command(command, frame.row, self.i - 1)
                else:
                    frame.row += self._expand(command, self.i - 1)
            if single and not outer and frame.row:
                last = frame.row[-1]
                if type(last) is int or not last.silent:  # type: ignore[union-attr]
                    break
        while outer:
            self.repair(f"unclosed {frame.opener}", frame.start)
            frame = self._end_group(frame, outer, None)
        return self._finish(frame)

    def _command(self, command: CommandSyntax, row: Row, place: int) -> None:
        resolve = RESOLVED.get(command.kind)
        if resolve is not None:
            resolve(self, row, place)
            return
        arguments = self.read_arguments(command)
        if command.kind and not (command.arguments[-1:] == "L" and arguments[-1] is None):
            row.append(Construct(command.kind, place, arguments, command.data, silent=command.silent))

    def command_named(self, token: str) -> CommandSyntax | None:
        """Return what is known of a command; expansions are known on pages alone."""
        command = COMMANDS.get(token)
        if isinstance(command, Expansion):
            return CommandSyntax("expansion") if self.drawn else None
        return command

    def command_at(self, place: int) -> Row:
        """Read the arguments of the single command at a place, or return its symbol."""
        row: Row = []
        command = self._special.get(self.tokens[place])
        if command is None:
            row.append(place)
        elif isinstance(command, Expansion):
            row += self._expand(command, place)
        else:
            self._command(command, row, place)
        return row

    def _structure(self, token: str, frame: _Frame, outer: list[_Frame]) -> _Frame:
        place = self.i - 1
        if token in ("^", "_", "\\sp", "\\sb"):
            row = self.argument("script")
            is_lost = not row and self.i >= self.count and self.tokens[self.count - 1] == "{"
            above = token in ("^", "\\sp")
            frame.row.append(
                Construct("script", place, (row, above, is_lost), self.peek() if self.drawn else "")
            )
        elif token == "'":
            frame.row.append(self._primes(place))
        elif token in _OPENERS:
            left = self.delimiter() if token == "\\left" else None
            outer.append(frame)
            if len(outer) > MAX_GROUPS:
                raise FormulaError(f"more than {MAX_GROUPS} nested groups", self.source, self.offset())
            return _Frame(token, place, left)
        elif token in _CLOSERS:
            return self._close(token, frame, outer)
        else:
            self._begin_denominator(token, frame)
        return frame

    def _primes(self, place: int) -> Construct:
        """Read primes, and the superscript that follows them in the same place."""
        while self.i < self.count and self.tokens[self.i] == "'":
            self.i += 1
        count = self.i - place
        following = self.peek() if self.drawn else self.tokens[self.i] if self.i < self.count else ""
        script = None
        if following == "^":
            self.i += 1
            script = self.argument("script")
        return Construct("primes", place, (count, script), following)

    def _close(self, token: str, frame: _Frame, outer: list[_Frame]) -> _Frame:
        """Return the surrounding frame after a closing token; inner groups that are still open end too."""
        if not any(_OPENERS.get(one.opener) == token for one in (frame, *outer)):
            self.repair(f"{token} without its opening")
            if token == "\\right":
                frame.row.append(Construct("closing", self.i - 1, (self.delimiter(),)))
            return frame
        while True:
            matches = _OPENERS.get(frame.opener) == token
            if not matches:
                self.repair(f"unclosed {frame.opener}", frame.start)
            frame = self._end_group(frame, outer, token if matches else None)
            if matches:
                return frame

    def _end_group(self, frame: _Frame, outer: list[_Frame], closed: str | None) -> _Frame:
        row, around = self._finish(frame), outer.pop()
        is_fence = frame.opener == "\\left"
        closes = closed == "\\right"
        right = self.delimiter() if closes else None
        around.row.append(Construct("group", frame.start, (row, frame.left, right), (is_fence, closes)))
        return around

    def _finish(self, frame: _Frame) -> Row:
        if frame.fraction is None:
            return frame.row
        frame.fraction.arguments = (frame.numerator, frame.row)
        return [frame.fraction]

    def _begin_denominator(self, token: str, frame: _Frame) -> None:
        if frame.fraction is not None:
            self.repair(f"more than one fraction in a group: {token}")
            frame.row, frame.fraction = self._finish(frame), None
        place = self.i - 1
        fences = INFIX_FENCES[token]
        left = right = None
        if fences == ("?",):
            left, right = self.delimiter(), self.delimiter()
        elif fences:
            left, right = Delimiter(fences[0], place), Delimiter(fences[1], place)
        thickness = self.dimension() if token == "\\above" else ""
        frame.fraction = Construct("infix fraction", place, (), (token, left, right, thickness))
        frame.numerator, frame.row = frame.row, []

    # -- arguments

    def read_arguments(self, command: CommandSyntax) -> tuple[Any, ...]:
        """Read the arguments of a command or environment."""
        return tuple([_ARGUMENTS[letter](self) for letter in command.arguments])

    def argument(self, what: str = "argument") -> Row:
        """Read the next argument: a group, or the next piece."""
        i, tokens = self.i, self.tokens
        if i < self.count:
            token = tokens[i]
            if token == "{":
                if i + 2 < self.count and tokens[i + 2] == "}" and self._is_symbol(tokens[i + 1]):
                    self.i += 3
                    return [i + 1]
            elif self._is_symbol(token):
                self.i += 1
                return [i]
        token = self.peek()
        if token in _NO_ARGUMENT:
            self.repair(f"missing {what}", self.i)
            return []
        self.descend()
        row: Row
        if token == "{":
            row = self._enclosed(BRACE)
        elif token in ("^", "_"):
            self.repair(f"missing {what}", self.i)
            row = []
        else:
            row = self.read(NOTHING, single=True)
        self.depth -= 1
        self.budget.spend(len(row))
        return row

    def _is_symbol(self, token: str) -> bool:
        return token not in self._special and not token.isspace()

    def optional(self) -> Row | None:
        """Read an argument in brackets, if there is one."""
        if self.peek() != "[":
            return None
        self.descend()
        row = self._enclosed(BRACKET)
        self.depth -= 1
        self.budget.spend(len(row))
        return row

    def _enclosed(self, end: frozenset[str]) -> Row:
        start = self.i
        self.i += 1
        row = self.read(end)
        if self.i < self.count:
            self.i += 1
        else:
            self.repair(f"unclosed {self.tokens[start]}", start)
        return row

    def read_up_to(self, end: str, command: str) -> Row:
        """Read up to and including a command that divides a group: `\\root 3 \\of x`, `\\buildrel a \\over b`."""
        row = self.read(frozenset([end, "}", "\\right", "&", "\\\\", "\\end"]))
        if self.peek() == end:
            self.i += 1
        else:
            self.repair(f"{command} without {end}", self.i)
        return row

    def delimiter(self) -> Delimiter | None:
        """Read the delimiter after `\\left`, `\\right` or `\\middle`; None for a dot, or for anything else."""
        token = self.peek()
        place = self.i
        self.i += 1
        if not token:
            self.repair("missing delimiter", self.i)
            return None
        if token in ("{", "}"):
            self.repair(f"{token} as a delimiter; read as \\{token}")
            token = "\\" + token
        if token == ".":
            return None
        if token in DELIMITERS or is_symbol(token):
            return Delimiter(token, place)
        self.repair(f"{token} is not a delimiter")
        self.i -= 1
        return None

    def options(self) -> str | None:
        """Read any number of arguments in brackets and return the first."""
        first = found = self.raw_optional()
        while found is not None:
            found = self.raw_optional()
        return first

    def sized_delimiter(self) -> Row | None:
        """Read a delimiter of a chosen size; None for a dot."""
        if self.peek() == ".":
            self.i += 1
            return None
        return self.argument("delimiter")

    def skip_to_brace(self) -> None:
        """Skip the options of `\\xymatrix`, which stand before its objects."""
        while self.i < self.count and self.tokens[self.i] not in ("{", "\\\\", "&"):
            self.i += 1

    @abstractmethod
    def words(self) -> list[Any]:
        """Read an argument of words."""

    @abstractmethod
    def braced_lines(self) -> list[CellLine] | None:
        """Read a table that is written as an argument, if there is one."""

    # -- commands that the reader resolves itself

    @abstractmethod
    def environment(self, row: Row, place: int) -> None:
        """Read an environment."""

    @abstractmethod
    def end_environment(self, row: Row, place: int) -> None:
        """Read the end of an environment that does not begin here."""

    def _question_mark(self, row: Row, place: int) -> None:
        following = self.tokens[self.i] if self.i < self.count else ""
        if len(following) == 1 and following.isalnum():
            self.i += 1
            row.append(Construct("wildcard", place, (following,)))
        else:
            row.append(place)

    def _stray(self, row: Row, place: int) -> None:
        token = self.tokens[place]
        self.repair(f"stray {token}", place)
        if token == "&":
            row.append(Construct("stray alignment", place))

    def _line_end(self, _row: Row, _place: int) -> None:
        """Skip the options of a line end outside a table, which leaves no trace."""
        self.skip_line_options()

    def _diagram_arrow(self, _row: Row, _place: int) -> None:
        """Skip an arrow between the objects of `\\xymatrix`, with its direction and labels."""
        self.repair("an arrow of a diagram is left out")
        while True:
            token = self.peek()
            if token == "[":
                self.raw_optional()
            elif token == "@":
                self.i += 1
                if self.peek() != "/":
                    self.raw_argument()
                    continue
                self.i += 1
                while self.i < self.count and self.tokens[self.i] != "/":
                    self.i += 1
                self.i += 1
            elif token in ("^", "_", "|"):
                self.i += 1
                while self.peek() in ("-", "<", ">"):
                    self.i += 1
                self.raw_argument()
            else:
                return

    # -- expansions

    def _expand(self, expansion: Expansion, place: int) -> Row:
        given: list[bool] = []
        arguments: list[Sequence[int]] = []
        for letter in expansion.arguments:
            if letter == "s":
                given.append(self.star())
                continue
            found = _PLACES[letter](self)
            given.append(found is not None)
            arguments.append(found or ())
        return self.substitute(expansion.latex(given, self.drawn), *arguments, place=place)

    def substitute(self, latex: str, *arguments: Sequence[int], place: int) -> Row:
        """Read the LaTeX that a command expands to; `#1` to `#9` in it are arguments, as numbers of tokens."""
        here, origin = self.offset(place), self.origins[place]
        first = len(self.tokens)
        if isinstance(self.origins, range):
            self.tokens, self.offsets, self.origins = (
                list(self.tokens),
                list(self.offsets),
                list(self.origins),
            )
        origins = self.origins
        assert isinstance(origins, list)
        pieces = iter(_tokens(latex))
        for piece in pieces:
            if piece == "#":
                given = arguments[int(next(pieces)) - 1]
                self.tokens += [self.tokens[place] for place in given]
                self.offsets += [self.offsets[place] for place in given]
                origins += [origins[place] for place in given]
            else:
                self.tokens.append(piece)
                self.offsets.append(here)
                origins.append(origin)
        self.budget.spend(len(self.tokens) - first)
        i, count = self.i, self.count
        self.i, self.count = first, len(self.tokens)
        self.descend()
        row = self.read()
        self.depth -= 1
        self.i, self.count = i, count
        return row


_ARGUMENTS: dict[str, Callable[[RowReader], Any]] = {
    "m": RowReader.argument,
    "M": lambda reader: reader.argument("script"),
    "o": RowReader.optional,
    "r": RowReader.raw_argument,
    "b": RowReader.raw_optional,
    "B": RowReader.options,
    "s": RowReader.star,
    "t": lambda reader: reader.words(),
    "l": RowReader.dimension,
    "d": RowReader.delimiter,
    "D": RowReader.sized_delimiter,
    "u": lambda reader: reader.read_up_to("\\of", "\\root"),
    "v": lambda reader: reader.read_up_to("\\over", "\\buildrel"),
    "x": lambda reader: reader.words() if reader.drawn else reader.argument(),
    "L": lambda reader: reader.braced_lines(),
    "k": RowReader.skip_to_brace,
}
"""How each kind of argument is read."""
_PLACES: dict[str, Callable[[RowReader], range | None]] = {
    "m": RowReader.raw_places,
    "q": lambda reader: reader.raw_places() if reader.peek() == "{" else None,
    "o": RowReader.optional_places,
}
"""How the tokens of an expansion's arguments are found."""
RESOLVED: dict[str, Callable[[RowReader, Row, int], None]] = {
    "environment": lambda reader, row, place: reader.environment(row, place),
    "end": lambda reader, row, place: reader.end_environment(row, place),
    "question mark": RowReader._question_mark,
    "stray": RowReader._stray,
    "line end": RowReader._line_end,
    "diagram arrow": RowReader._diagram_arrow,
}
"""Kinds of commands that become other pieces, or none."""


def is_symbol(token: str) -> bool:
    """Return True for a token that is one symbol, and not a command that does something."""
    return token in SYMBOLS or (len(token) == 1 and token not in "{}^_'$&#~\\" and not token.isspace())


def _leaves(stop: str, outer: Sequence[_Frame], frame: _Frame) -> bool:
    """Return True if a stop inside open groups ends them: `\\end` always does, the end of a cell only for `\\left`."""
    if stop == "\\end":
        return True
    return stop in CELL_ENDS and all(one.opener == "\\left" for one in (*outer[1:], frame))


@lru_cache(maxsize=256)
def _tokens(latex: str) -> tuple[str, ...]:
    return tuple(tokenize(latex)[0])
