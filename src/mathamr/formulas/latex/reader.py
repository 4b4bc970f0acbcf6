"""Tokens to nodes: groups, scripts, fractions and delimiters; commands and environments plug in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr.formulas.budget import Budget
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.cursor import Cursor
from mathamr.formulas.latex.expression import expression
from mathamr.formulas.latex.fonts import MATH, Font, specialized
from mathamr.formulas.latex.node import ABSENT, ERROR, HINT, SCRIPT, TOKEN, Node, apply, dual, row
from mathamr.formulas.latex.symbols import DELIMITERS, SYMBOLS

MAX_GROUPS = 500
"""Braces within each other."""
MAX_KNOWN_SYMBOLS = 4096

BRACE = frozenset(["}"])
BRACKET = frozenset(["]"])
DOLLAR = frozenset(["$"])
CELL_ENDS = frozenset(["&", "\\\\", "\\cr", "\\crcr", "\\tabularnewline", "\\newline"])
NOTHING: frozenset[str] = frozenset()

SMALLER = {"display": "text", "text": "script", "script": "script"}
"""Style of a fraction's parts."""

_SUPERSCRIPT, _SUBSCRIPT = "SUPERSCRIPT", "SUBSCRIPT"
_FRACTIONS = {
    # command: (meaning, whether there is a line, opening, closing)
    "\\over": ("divide", True, "", ""),
    "\\atop": ("", False, "", ""),
    "\\choose": ("binomial", False, "(", ")"),
    "\\brace": ("", False, "{", "}"),
    "\\brack": ("", False, "[", "]"),
    "\\overwithdelims": ("divide", True, "?", "?"),
    "\\atopwithdelims": ("", False, "?", "?"),
    "\\above": ("divide", True, "", ""),
}
_SPACES = frozenset([" ", "\n", "  ", "\t"])
"""The usual runs of space; others are skipped more slowly."""
STRUCTURAL = frozenset(["{", "}", "^", "_", "'", "\\left", "\\right", "\\bgroup", "\\egroup", "\\sp", "\\sb",
                         "\\begingroup", "\\endgroup", *_FRACTIONS])  # fmt: skip
_OPENERS = {"{": "}", "\\bgroup": "\\egroup", "\\begingroup": "\\endgroup", "\\left": "\\right"}
_CLOSERS = frozenset(["}", "\\egroup", "\\endgroup", "\\right"])

Command = Callable[["Reader", list[Node]], None]
COMMANDS: dict[str, Command] = {}
"""What every command does that is not a symbol; filled by the modules `commands` and `environments`."""


def command(*names: str) -> Callable[[Command], Command]:
    """Registers what some commands do."""

    def register(function: Command) -> Command:
        for name in names:
            COMMANDS[name] = function
        return function

    return register


_KNOWN: dict[tuple[Font, str], dict[str, Node]] = {}


def symbols_of(font: Font, style: str) -> dict[str, Node]:
    """The symbols met so far in a font and style, by token."""
    known = _KNOWN.get((font, style))
    if known is None:
        known = _KNOWN[(font, style)] = {}
    return known


def symbol(token: str, font: Font, style: str) -> Node | None:
    """The node of a token that is one symbol, or None for commands that do something."""
    entry = SYMBOLS.get(token)
    if entry is not None:
        role, text, meaning, name, limits = entry
        position = "mid" if limits and style == "display" else ""
        return Node(
            TOKEN,
            role,
            text,
            meaning,
            specialized(font, text),
            key=meaning or name or text,
            position=position,
        )
    if len(token) == 1 and token not in "{}^_'$&#~\\" and not token.isspace():
        return Node(TOKEN, "UNKNOWN", token, font=specialized(font, token))
    return None


class _Frame:
    """A group that is being read: its nodes so far, what it must restore, and where boxes end in it.

    `grouped` and `emptied` are the lengths at which the last inner group and the last empty group ended: a
    script there belongs to the group's last node, or floats.
    """

    __slots__ = ("emptied", "font", "fraction", "grouped", "nodes", "numerator", "opener", "start", "style")

    def __init__(self, opener: str, font: Font, style: str, start: int) -> None:
        self.opener, self.font, self.style, self.start = opener, font, style, start
        self.nodes: list[Node] = []
        self.grouped = self.emptied = -1
        self.fraction: tuple[str, bool, Node | None, Node | None] | None = None
        self.numerator: list[Node] = []


def _leaves(stop: str, outer: Sequence[_Frame], frame: _Frame) -> bool:
    """Whether a stop inside open groups ends them: `\\end` always, the end of a cell only `\\left`."""
    if stop == "\\end":
        return True
    return stop in CELL_ENDS and all(one.opener == "\\left" for one in (*outer[1:], frame))


class Reader(Cursor):
    """One pass over the tokens of one formula."""

    def __init__(
        self, tokens: list[str], offsets: list[int], source: str, budget: Budget, wildcards: bool = False
    ) -> None:
        super().__init__(tokens, offsets, source)
        self.budget = budget
        self.wildcards = wildcards
        self.level = 1
        self.font, self.style = MATH, "display"
        self.known = symbols_of(MATH, "display")

    # -- what is in force

    def set_font(self, font: Font) -> None:
        """Puts a font in force."""
        self.font = font
        self.known = symbols_of(font, self.style)

    def set_style(self, style: str) -> None:
        """Puts a style in force: display, text or script."""
        self.style = style
        self.known = symbols_of(self.font, style)

    def expression(self, nodes: Sequence[Node], rule: str = "Anything", trailing: bool = False) -> Node:
        """The nodes as one expression, paid for by this formula."""
        return expression(nodes, self.budget, rule, trailing)

    # -- lists

    def read(self, stops: frozenset[str], single: bool = False) -> list[Node]:
        """Nodes up to one of the stops (which stays unread) or the end; `single` reads no more than one piece.

        Braces are transparent to the grammar, as they are for LaTeXML: they only limit fonts and `\\over`.
        """
        frame = _Frame("", self.font, self.style, self.i)
        outer: list[_Frame] = []
        bracket = "]" in stops
        while self.i < self.count:
            token = self.tokens[self.i]
            node = self.known.get(token)
            if node is not None and not (bracket and token == "]" and not outer):
                self.i += 1
                frame.nodes.append(node)
            elif token in _SPACES:
                self.i += 1
                continue
            elif token in stops and (not outer or _leaves(token, outer, frame)):
                break
            else:
                self.i += 1
                if token in STRUCTURAL:
                    frame = self._structure(token, frame, outer)
                else:
                    before = len(frame.nodes)
                    self._command(token, frame.nodes)
                    if len(frame.nodes) > before and frame.nodes[-1].kind == SCRIPT:
                        frame.grouped = len(frame.nodes)
            if single and not outer and (frame.nodes or frame.emptied >= 0):
                break
        while outer:
            self.repair(f"unclosed {frame.opener}", frame.start)
            inner = self._close(frame)
            frame = outer.pop()
            frame.nodes.extend(inner)
        return self._close(frame)

    def _command(self, token: str, nodes: list[Node]) -> None:
        command = COMMANDS.get(token)
        if command is not None:
            command(self, nodes)
            return
        node = symbol(token, self.font, self.style)
        if node is not None:
            if len(self.known) < MAX_KNOWN_SYMBOLS:
                self.known[token] = node
            nodes.append(node)
        elif not token.isspace():
            self.repair(f"unknown command {token}")
            nodes.append(Node(ERROR, text=token))

    def _structure(self, token: str, frame: _Frame, outer: list[_Frame]) -> _Frame:
        if token == "^" or token == "\\sp":
            self._script(frame, _SUPERSCRIPT)
        elif token == "_" or token == "\\sb":
            self._script(frame, _SUBSCRIPT)
        elif token == "'":
            self._primes(frame)
        elif token in _OPENERS:
            if token == "\\left":
                frame.nodes.append(self.delimiter(left=True))
            outer.append(frame)
            if len(outer) > MAX_GROUPS:
                raise FormulaError(
                    f"more than {MAX_GROUPS} groups within each other", self.source, self.offset()
                )
            self.level += 1
            return _Frame(token, self.font, self.style, self.i - 1)
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
                frame.nodes.append(self.delimiter(left=False))
            return frame
        while True:
            matches = _OPENERS.get(frame.opener) == token
            if not matches:
                self.repair(f"unclosed {frame.opener}", frame.start)
            inner = self._close(frame)
            around = outer.pop()
            self.level -= 1
            around.nodes.extend(inner)
            if inner:
                around.grouped = len(around.nodes)
            elif frame.opener != "\\left":
                around.emptied = len(around.nodes)
            frame = around
            if matches:
                break
        if token == "\\right":
            frame.nodes.append(self.delimiter(left=False))
        return frame

    def _close(self, frame: _Frame) -> list[Node]:
        nodes = frame.nodes
        if frame.fraction is not None:
            nodes = [self._made_fraction(frame, nodes)]
        self.font, self.style = frame.font, frame.style
        self.known = symbols_of(self.font, self.style)
        return nodes

    # -- scripts

    def _script(self, frame: _Frame, kind: str) -> None:
        attachment = self._attachment(frame, kind)
        content = self.script_argument()
        if not content and self.i >= self.count and self.tokens[-1] == "{":
            content = [ABSENT]
        self._add_script(frame, attachment + kind, content)

    def _add_script(self, frame: _Frame, role: str, content: Sequence[Node]) -> None:
        if content:
            rule = "Superscript" if role.endswith(_SUPERSCRIPT) else "Subscript"
            frame.nodes.append(
                Node(SCRIPT, role, children=(self.expression(content, rule),), level=self.level)
            )

    def _attachment(self, frame: _Frame, kind: str) -> str:
        """Whether a script belongs to what stands before it (`POST`) or floats (`FLOAT`)."""
        nodes = frame.nodes
        position, scripts, result, spaced = len(nodes), 0, "FLOAT", False
        while position > 0:
            if position == frame.grouped:
                return "POST"
            if position == frame.emptied:
                return result
            node = nodes[position - 1]
            if node.kind == HINT:
                spaced = True
            elif node.kind == SCRIPT:
                if node.role.endswith(kind):
                    if not spaced:
                        self.repair(f"double {kind.lower()}")
                    return "FLOAT"
                result = "POST"
                scripts += 1
                if node.role.startswith("FLOAT") or scripts > 1:
                    return result
            else:
                return "POST"
            position -= 1
        return result

    def _primes(self, frame: _Frame) -> None:
        count = 1
        while self.i < self.count and self.tokens[self.i] == "'":
            count += 1
            self.i += 1
        attachment = self._attachment(frame, _SUPERSCRIPT)
        prime = symbol("\\prime", self.font, self.style)
        content = [prime] * count if prime is not None else []
        if self.i < self.count and self.tokens[self.i] == "^":
            self.i += 1
            content += self.script_argument()
        self._add_script(frame, attachment + _SUPERSCRIPT, content)

    def script_argument(self) -> list[Node]:
        """What stands in a script: a group or the next piece, in script style."""
        node = self._short_argument(symbols_of(self.font, "script"))
        if node is not None:
            return [node]
        style = self.style
        self.set_style("script")
        nodes = self.argument("script")
        self.set_style(style)
        return nodes

    # -- fractions written with \over

    def _fraction(self, token: str, frame: _Frame) -> None:
        meaning, line, opening, closing = _FRACTIONS[token]
        if frame.fraction is not None:
            self.repair(f"more than one fraction in a group: {token}")
            frame.nodes = [self._made_fraction(frame, frame.nodes)]
        left = right = None
        if opening == "?":
            left, right = self.delimiter(left=True), self.delimiter(left=False)
        elif opening:
            left, right = Node(TOKEN, "OPEN", opening), Node(TOKEN, "CLOSE", closing)
        elif token == "\\above":
            COMMANDS["\\kern"](self, [])
        frame.fraction = (meaning, line, left, right)
        frame.numerator, frame.nodes = frame.nodes, []
        frame.grouped = frame.emptied = -1
        self.font = frame.font
        self.set_style(SMALLER[frame.style])

    def _made_fraction(self, frame: _Frame, denominator: Sequence[Node]) -> Node:
        if frame.fraction is None:
            raise FormulaError("a fraction without its bar", self.source, self.offset(frame.start))
        meaning, line, left, right = frame.fraction
        frame.fraction = None
        return fraction(
            self.expression(frame.numerator), self.expression(denominator), meaning, line, left, right
        )

    # -- arguments

    def _short_argument(self, known: dict[str, Node]) -> Node | None:
        """An argument that is one symbol met before, with or without braces: most are."""
        i, tokens = self.i, self.tokens
        if i + 2 < self.count and tokens[i] == "{" and tokens[i + 2] == "}":
            node = known.get(tokens[i + 1])
            if node is not None:
                self.i += 3
            return node
        node = known.get(tokens[i]) if i < self.count else None
        if node is not None:
            self.i += 1
        return node

    def argument(self, what: str = "argument") -> list[Node]:
        """The nodes of the next argument: a group, or the next piece."""
        node = self._short_argument(self.known)
        if node is not None:
            return [node]
        token = self.peek()
        if not token or token in ("}", "&", "\\\\", "\\end", "\\right", "\\cr", "$", "\\egroup"):
            self.repair(f"missing {what}", self.i)
            return []
        self.descend()
        font, style = self.font, self.style
        self.level += 1
        if token == "{":
            start = self.i
            self.i += 1
            nodes = self.read(BRACE)
            if self.i < self.count:
                self.i += 1
            else:
                self.repair("unclosed {", start)
        else:
            if token in ("^", "_"):
                self.repair(f"missing {what}", self.i)
                nodes = []
            else:
                nodes = self.read(NOTHING, single=True)
        self.level -= 1
        self.depth -= 1
        self.font, self.style = font, style
        self.known = symbols_of(font, style)
        self.budget.spend(len(nodes))
        return nodes

    def optional(self) -> list[Node] | None:
        """The nodes of an argument in brackets, if there is one."""
        if self.peek() != "[":
            return None
        start = self.i
        self.descend()
        self.i += 1
        nodes = self.read(BRACKET)
        if self.i < self.count:
            self.i += 1
        else:
            self.repair("unclosed [", start)
        self.depth -= 1
        self.budget.spend(len(nodes))
        return nodes

    def parsed_argument(self, what: str = "argument") -> Node:
        """The next argument as one expression."""
        return self.expression(self.argument(what))

    def delimiter(self, left: bool) -> Node:
        """The delimiter behind `\\left` or `\\right`."""
        token = self.peek()
        self.i += 1
        if token == "." or not token:
            if not token:
                self.repair("missing delimiter", self.i)
            return Node(HINT, text="\\left.")
        entry = DELIMITERS.get(token)
        if entry is None and token in ("{", "}"):
            self.repair(f"{token} as a delimiter; read as \\{token}")
            entry = DELIMITERS["\\" + token]
        if entry is not None:
            text, role, name = entry
            if role == "OPEN" and not left:
                role = "CLOSE"
            return Node(TOKEN, role, text, key=name or text)
        node = symbol(token, self.font, self.style)
        if node is None:
            self.repair(f"{token} is no delimiter")
            self.i -= 1
            return Node(HINT, text="\\left.")
        return node


def fraction(
    numerator: Node,
    denominator: Node,
    meaning: str = "divide",
    line: bool = True,
    left: Node | None = None,
    right: Node | None = None,
) -> Node:
    """A fraction, or one thing above another without a line, perhaps in delimiters."""
    bar = Node(TOKEN, "FRACOP", "", meaning, position="" if line else "0pt")
    node = apply(bar, numerator, denominator)
    if left is None and right is None:
        return node
    return dual(node, row([part for part in (left, node, right) if part is not None]))
