"""`NodeWalk`: from the syntax of a formula to the nodes that both of its trees are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from mathamr.formulas.latex.expression import expression
from mathamr.formulas.latex.fonts import Font, specialized
from mathamr.formulas.latex.node import (
    ABSENT,
    ERROR,
    HINT,
    SCRIPT,
    TOKEN,
    Node,
)
from mathamr.formulas.latex.reader import Reader
from mathamr.formulas.latex.styles import DISPLAY, SCRIPTS
from mathamr.formulas.latex.symbols import DELIMITERS, SPACES, SYMBOLS
from mathamr.formulas.latex.syntax import Construct, Delimiter, Row
from mathamr.formulas.latex.walk import Frame, Makers, Walk

MAX_KNOWN_SYMBOLS = 4096
SUPERSCRIPT, SUBSCRIPT = "SUPERSCRIPT", "SUBSCRIPT"
_KNOWN: dict[Font, tuple[dict[str, Node], ...]] = {}
"""A cache of symbols by font, style and token."""
MAKERS = Makers()
maker = MAKERS.register


def symbol(token: str, font: Font, style: int) -> Node | None:
    """Return the node of a token that is one symbol or a fixed space, or None for anything else."""
    entry = SYMBOLS.get(token)
    if entry is not None:
        role, text, meaning, name, limits = entry
        position = "mid" if limits and style == DISPLAY else ""
        key = meaning or name or text
        return Node(TOKEN, role, text, meaning, specialized(font, text), key=key, position=position)
    if token in SPACES:
        return space(SPACES[token], token)
    if len(token) == 1 and token not in "{}^_'$&#\\" and not token.isspace():
        return Node(TOKEN, "UNKNOWN", token, font=specialized(font, token))
    return None


def space(points: float, name: str = "", *, phantom: bool = False) -> Node:
    """Return space of a width; wide space separates."""
    return Node(HINT, text=name, level=round(points * 10), position="phantom" if phantom else "")


class NodeWalk(Walk[Node]):
    """One walk through the syntax of one formula.

    Braces are transparent to the grammar, as they are for LaTeXML: they only limit fonts and `\\over`. With `placed`, every
    node knows the tokens that it was written as.
    """

    makers: ClassVar[Makers] = MAKERS

    def __init__(self, reader: Reader, *, placed: bool = False) -> None:
        self._placed = placed
        self.level = 1
        """The number of open groups and arguments."""
        super().__init__(reader, DISPLAY)

    def set_font_and_style(self, font: Font, style: int) -> None:
        """Set a font and a style."""
        self.font, self.style = font, style
        if self._placed:
            self.known = {}
            return
        tables = _KNOWN.get(font)
        if tables is None:
            tables = _KNOWN[font] = ({}, {}, {}, {})
        self.known = tables[style]

    def at(self, place: int, node: Node) -> Node:
        """Return a new node with its place in the formula, if places are wanted."""
        if self._placed:
            node.places = (self.reader.origins[place],)
        return node

    def expression(self, nodes: Sequence[Node], rule: str = "Anything", *, trailing: bool = False) -> Node:
        """Parse the nodes as one expression, within this formula's budget."""
        return expression(nodes, self.budget, rule, trailing=trailing)

    def argument(self, row: Row) -> list[Node]:
        """Return the nodes of an argument."""
        if len(row) == 1 and type(row[0]) is int:
            known = self.known.get(self.tokens[row[0]])
            if known is not None:
                return [known]
        self.level += 1
        nodes = self.walk(row)
        self.level -= 1
        return nodes

    def walk_in(self, style: int, row: Row) -> list[Node]:
        """Return the nodes of an argument in the given style."""
        outer = self.style
        if style == outer:
            return self.argument(row)
        known = self.known
        self.style = style
        if not self._placed:
            self.known = _KNOWN[self.font][style]
        nodes = self.argument(row)
        self.style, self.known = outer, known
        return nodes

    def part(self, row: Row) -> Node:
        """Return an argument as one expression."""
        return self.expression(self.argument(row))

    def part_in(self, style: int, row: Row) -> Node:
        """Return an argument as one expression in a style."""
        return self.expression(self.walk_in(style, row))

    # -- symbols and groups

    def put(self, piece: Construct, frame: Frame[Node]) -> None:
        """Append what a piece becomes; a script at its end belongs to it."""
        kind = piece.kind
        if kind == "script":
            self.script(piece, frame)
        elif kind == "primes":
            self.primes(piece, frame)
        else:
            nodes = frame.items
            before = len(nodes)
            MAKERS[kind](self, piece, nodes)
            if len(nodes) > before and nodes[-1].kind == SCRIPT:
                frame.grouped = len(nodes)

    def put_symbol(self, place: int, items: list[Node]) -> None:
        """Append the symbol of a token."""
        token = self.tokens[place]
        node = symbol(token, self.font, self.style)
        if node is None:
            self.reader.repair(f"unknown command {token}", place)
            node = Node(ERROR, text=token)
        elif not self._placed and len(self.known) < MAX_KNOWN_SYMBOLS:
            self.known[token] = node
        items.append(self.at(place, node))

    def begin_group(self, frame: Frame[Node], group: Construct) -> None:
        """Append an opening delimiter, which is a node like any other."""
        if group.data[0]:
            frame.items.append(self.fence(group.arguments[1], left=True))
        self.level += 1

    def end_group(self, around: Frame[Node], frame: Frame[Node], group: Construct) -> None:
        """Add the nodes of a group to those around it."""
        self.level -= 1
        is_fence, closes = group.data
        around.items.extend(frame.items)
        if frame.items:
            around.grouped = len(around.items)
        elif not is_fence:
            around.emptied = len(around.items)
        if closes:
            around.items.append(self.fence(group.arguments[2], left=False))

    def fence(self, delimiter: Delimiter | None, *, left: bool) -> Node:
        """Return the node of a delimiter; a hint if there is none."""
        if delimiter is None:
            return Node(HINT, text="\\left.")
        token, place = delimiter
        entry = DELIMITERS.get(token)
        if entry is None:
            node = symbol(token, self.font, self.style)
            assert node is not None
            return self.at(place, node)
        text, role, name = entry
        if role == "OPEN" and not left:
            role = "CLOSE"
        return self.at(place, Node(TOKEN, role, text, key=name or text))

    # -- scripts

    def script(self, piece: Construct, frame: Frame[Node]) -> None:
        """Attach a script."""
        written, above, is_lost = piece.arguments
        kind = SUPERSCRIPT if above else SUBSCRIPT
        attachment = self._attachment(frame, kind, piece.place)
        content: Sequence[Node] = self.walk_in(SCRIPTS[self.style], written)
        if not content and is_lost:
            content = [ABSENT]
        self._add_script(frame, attachment + kind, content)

    def primes(self, piece: Construct, frame: Frame[Node]) -> None:
        """Attach primes, with the superscript that follows them."""
        count, script = piece.arguments
        attachment = self._attachment(frame, SUPERSCRIPT, piece.place)
        content: list[Node] = []
        for place in range(piece.place, piece.place + count):
            prime = symbol("\\prime", self.font, self.style)
            assert prime is not None
            content.append(self.at(place, prime))
        if script is not None:
            content += self.walk_in(SCRIPTS[self.style], script)
        self._add_script(frame, attachment + SUPERSCRIPT, content)

    def _add_script(self, frame: Frame[Node], role: str, content: Sequence[Node]) -> None:
        if content:
            frame.items.append(self.script_node(role, content))

    def script_node(self, role: str, content: Sequence[Node]) -> Node:
        """Return a script that is not attached yet."""
        rule = "Superscript" if role.endswith(SUPERSCRIPT) else "Subscript"
        return Node(SCRIPT, role, children=(self.expression(content, rule),), level=self.level)

    def _attachment(self, frame: Frame[Node], kind: str, place: int) -> str:
        """Return whether a script belongs to the node before it (`POST`) or floats (`FLOAT`)."""
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
                        self.reader.repair(f"double {kind.lower()}", place)
                    return "FLOAT"
                result = "POST"
                scripts += 1
                if node.role.startswith("FLOAT") or scripts > 1:
                    return result
            else:
                return "POST"
            position -= 1
        return result
