"""`Reader`: the back end that makes nodes, from which both trees are built; commands and environments register here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex import environments, transparent
from mathamr.formulas.latex.expression import expression
from mathamr.formulas.latex.fonts import Font, specialized
from mathamr.formulas.latex.groupreader import (
    WITH_LINE,
    Commands,
    Environments,
    Frame,
    GroupReader,
    InfixFraction,
)
from mathamr.formulas.latex.node import ABSENT, ERROR, HINT, SCRIPT, TOKEN, Node, apply, dual, row
from mathamr.formulas.latex.styles import DISPLAY
from mathamr.formulas.latex.symbols import DELIMITERS, SYMBOLS

MAX_KNOWN_SYMBOLS = 4096

_SUPERSCRIPT, _SUBSCRIPT = "SUPERSCRIPT", "SUBSCRIPT"

Command = Callable[["Reader", list[Node]], None]
COMMANDS: dict[str, Command] = {**transparent.COMMANDS, **environments.COMMANDS}
"""What every command does that is not a symbol; filled by the modules `commands`, `arrays` and others."""
ENVIRONMENTS: dict[str, Callable[[Reader, list[Node], str], None]] = {}
"""What every environment does; filled by the modules `arrays` and `diagrams`."""


def command(*names: str) -> Callable[[Command], Command]:
    """Registers what some commands do."""

    def register(function: Command) -> Command:
        for name in names:
            COMMANDS[name] = function
        return function

    return register


_KNOWN: dict[Font, tuple[dict[str, Node], ...]] = {}
"""A cache of symbols by font, style and token."""


def symbol(token: str, font: Font, style: int) -> Node | None:
    """Returns the node of a token that is one symbol, or None for commands that do something."""
    entry = SYMBOLS.get(token)
    if entry is not None:
        role, text, meaning, name, limits = entry
        position = "mid" if limits and style == DISPLAY else ""
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


class Reader(GroupReader[Node, Node]):
    """One pass over the tokens of one formula.

    Braces are transparent to the grammar, as they are for LaTeXML: they only limit fonts and `\\over`.
    """

    commands: ClassVar[Commands] = COMMANDS
    environments: ClassVar[Environments] = ENVIRONMENTS

    def __init__(
        self, tokens: list[str], offsets: list[int], source: str, budget: Budget, wildcards: bool = False
    ) -> None:
        super().__init__(tokens, offsets, source, budget, DISPLAY)
        self.wildcards = wildcards

    def set_font_and_style(self, font: Font, style: int) -> None:
        """Sets a font and a style."""
        self.font, self.style = font, style
        tables = _KNOWN.get(font)
        if tables is None:
            tables = _KNOWN[font] = ({}, {}, {}, {})
        self.known = tables[style]

    def set_style(self, style: int) -> None:
        """Sets a style."""
        self.style = style
        self.known = _KNOWN[self.font][style]

    def expression(self, nodes: Sequence[Node], rule: str = "Anything", trailing: bool = False) -> Node:
        """Parses the nodes as one expression, within this formula's budget."""
        return expression(nodes, self.budget, rule, trailing)

    def parsed_argument(self, what: str = "argument") -> Node:
        """The next argument as one expression."""
        return self.expression(self.argument(what))

    # -- symbols and groups

    def put(self, token: str, frame: Frame[Node, Node]) -> None:
        """Appends the meaning of a command or symbol."""
        nodes = frame.items
        command = COMMANDS.get(token)
        if command is None:
            self.put_symbol(token, nodes)
            return
        before = len(nodes)
        command(self, nodes)
        if len(nodes) > before and nodes[-1].kind == SCRIPT:
            frame.grouped = len(nodes)

    def put_symbol(self, token: str, items: list[Node]) -> None:
        """Appends a token that is not a command."""
        node = symbol(token, self.font, self.style)
        if node is not None:
            if len(self.known) < MAX_KNOWN_SYMBOLS:
                self.known[token] = node
            items.append(node)
        else:
            self.repair(f"unknown command {token}")
            items.append(Node(ERROR, text=token))

    def has_piece(self, frame: Frame[Node, Node]) -> bool:
        """True if a group has its first piece; an empty group counts."""
        return bool(frame.items) or frame.emptied >= 0

    def opened(self, frame: Frame[Node, Node], fence: Node) -> None:
        """Appends a delimiter, which is a node like any other."""
        frame.items.append(fence)

    def put_fence(self, items: list[Node], fence: Node) -> None:
        """Appends the delimiter of a `\\right` that closes nothing."""
        items.append(fence)

    def put_group(
        self, around: Frame[Node, Node], frame: Frame[Node, Node], items: list[Node], closed: bool
    ) -> None:
        """Adds the nodes of a group to those around it."""
        around.items.extend(items)
        if items:
            around.grouped = len(around.items)
        elif frame.opener != "\\left":
            around.emptied = len(around.items)
        if closed:
            around.items.append(self.delimiter(left=False))

    # -- scripts

    def script(self, frame: Frame[Node, Node], above: bool) -> None:
        """Reads a script and attaches it."""
        kind = _SUPERSCRIPT if above else _SUBSCRIPT
        attachment = self._attachment(frame, kind)
        content = self.script_argument()
        if not content and self.i >= self.count and self.tokens[-1] == "{":
            content = [ABSENT]
        self._add_script(frame, attachment + kind, content)

    def primes(self, frame: Frame[Node, Node], count: int) -> None:
        """Attaches primes, and what follows them in the same superscript."""
        attachment = self._attachment(frame, _SUPERSCRIPT)
        prime = symbol("\\prime", self.font, self.style)
        content = [prime] * count if prime is not None else []
        if self.i < self.count and self.tokens[self.i] == "^":
            self.i += 1
            content += self.script_argument()
        self._add_script(frame, attachment + _SUPERSCRIPT, content)

    def _add_script(self, frame: Frame[Node, Node], role: str, content: Sequence[Node]) -> None:
        if content:
            rule = "Superscript" if role.endswith(_SUPERSCRIPT) else "Subscript"
            frame.items.append(
                Node(SCRIPT, role, children=(self.expression(content, rule),), level=self.level)
            )

    def _attachment(self, frame: Frame[Node, Node], kind: str) -> str:
        """Returns whether a script belongs to the node before it (`POST`) or floats (`FLOAT`)."""
        nodes = frame.items
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

    # -- fractions and delimiters

    def infix_fraction(
        self, fraction: InfixFraction[Node], numerator: list[Node], denominator: list[Node], style: int
    ) -> Node:
        """A fraction with its delimiters."""
        line = fraction.command in WITH_LINE
        meaning = "divide" if line else "binomial" if fraction.command == "\\choose" else ""
        above, below = self.expression(numerator), self.expression(denominator)
        return fraction_node(above, below, meaning, line, fraction.left, fraction.right)

    def fence(self, text: str, left: bool) -> Node:
        """Returns the delimiter that a command implies."""
        return Node(TOKEN, "OPEN" if left else "CLOSE", text)

    def delimiter(self, left: bool) -> Node:
        """Reads the delimiter after `\\left`, `\\right` or `\\middle`."""
        token = self.delimiter_token()
        if not token:
            return Node(HINT, text="\\left.")
        entry = DELIMITERS.get(token)
        if entry is not None:
            text, role, name = entry
            if role == "OPEN" and not left:
                role = "CLOSE"
            return Node(TOKEN, role, text, key=name or text)
        node = symbol(token, self.font, self.style)
        if node is None:
            self.refuse_delimiter(token)
            return Node(HINT, text="\\left.")
        return node


def fraction_node(
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
