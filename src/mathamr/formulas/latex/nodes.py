"""`NodeWalk`: from the syntax of a formula to the nodes that both of its trees are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mathamr.formulas.latex.assembly import script_operator
from mathamr.formulas.latex.commands import MATRICES, is_zero
from mathamr.formulas.latex.cursor import points_of
from mathamr.formulas.latex.expression import expression
from mathamr.formulas.latex.fonts import PLAIN, Font, chosen, specialized
from mathamr.formulas.latex.node import (
    ABSENT,
    ARRAY,
    ERROR,
    HINT,
    ROW,
    SCRIPT,
    TEXT,
    TOKEN,
    WILDCARD,
    Node,
    apply,
    dual,
    operator,
    row,
)
from mathamr.formulas.latex.reader import Reader
from mathamr.formulas.latex.styles import DISPLAY, SCRIPTS, SMALLER
from mathamr.formulas.latex.styles import SCRIPT as SCRIPT_STYLE
from mathamr.formulas.latex.styles import TEXT as TEXT_STYLE
from mathamr.formulas.latex.symbols import ACCENTS, DELIMITERS, SPACES, SYMBOLS, UNDER_ACCENTS
from mathamr.formulas.latex.syntax import Arrow, CellLine, Construct, Delimiter, Inset, Phrase, Row
from mathamr.formulas.latex.text import CHARACTERS, accented, composed, plain_text
from mathamr.formulas.latex.walk import Frame, Maker, Walk

MAX_KNOWN_SYMBOLS = 4096
_SUPERSCRIPT, _SUBSCRIPT = "SUPERSCRIPT", "SUBSCRIPT"
_WITH_LINE = frozenset(["\\over", "\\above", "\\overwithdelims"])
_KNOWN: dict[Font, tuple[dict[str, Node], ...]] = {}
"""A cache of symbols by font, style and token."""
MAKERS: dict[str, Maker] = {}
Cells = list[list[list[Node]]]


def maker(*kinds: str) -> Callable[[Maker], Maker]:
    """Register what some kinds of pieces become."""

    def register(function: Maker) -> Maker:
        MAKERS.update(dict.fromkeys(kinds, function))
        return function

    return register


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


def space(points: float, name: str = "", phantom: bool = False) -> Node:
    """Return space of a width; wide space separates."""
    return Node(HINT, text=name, level=round(points * 10), position="phantom" if phantom else "")


class NodeWalk(Walk[Node]):
    """One walk through the syntax of one formula.

    Braces are transparent to the grammar, as they are for LaTeXML: they only limit fonts and `\\over`. With `placed`, every
    node knows the tokens that it was written as.
    """

    makers: ClassVar[dict[str, Maker]] = MAKERS

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

    def expression(self, nodes: Sequence[Node], rule: str = "Anything", trailing: bool = False) -> Node:
        """Parse the nodes as one expression, within this formula's budget."""
        return expression(nodes, self.budget, rule, trailing)

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

    def fence(self, delimiter: Delimiter | None, left: bool) -> Node:
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
        kind = _SUPERSCRIPT if above else _SUBSCRIPT
        attachment = self._attachment(frame, kind, piece.place)
        content: Sequence[Node] = self.walk_in(SCRIPTS[self.style], written)
        if not content and is_lost:
            content = [ABSENT]
        self._add_script(frame, attachment + kind, content)

    def primes(self, piece: Construct, frame: Frame[Node]) -> None:
        """Attach primes, with the superscript that follows them."""
        count, script = piece.arguments
        attachment = self._attachment(frame, _SUPERSCRIPT, piece.place)
        content: list[Node] = []
        for place in range(piece.place, piece.place + count):
            prime = symbol("\\prime", self.font, self.style)
            assert prime is not None
            content.append(self.at(place, prime))
        if script is not None:
            content += self.walk_in(SCRIPTS[self.style], script)
        self._add_script(frame, attachment + _SUPERSCRIPT, content)

    def _add_script(self, frame: Frame[Node], role: str, content: Sequence[Node]) -> None:
        if content:
            frame.items.append(self.script_node(role, content))

    def script_node(self, role: str, content: Sequence[Node]) -> Node:
        """Return a script that is not attached yet."""
        rule = "Superscript" if role.endswith(_SUPERSCRIPT) else "Subscript"
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


# -- fractions and roots


def fraction_node(
    numerator: Node,
    denominator: Node,
    meaning: str = "divide",
    line: bool = True,
    left: Node | None = None,
    right: Node | None = None,
) -> Node:
    """Return a fraction, or one thing above another without a line, perhaps in delimiters."""
    bar = Node(TOKEN, "FRACOP", "", meaning, position="" if line else "0pt")
    node = apply(bar, numerator, denominator)
    if left is None and right is None:
        return node
    return dual(node, row([part for part in (left, node, right) if part is not None]))


@maker("infix fraction")
def _infix(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    command, left, right, _ = piece.data
    font, style = walk.font, walk.style
    above = walk.expression(walk.walk(piece.arguments[0]))
    walk.set_font_and_style(font, SMALLER[style])
    below = walk.expression(walk.walk(piece.arguments[1]))
    walk.set_font_and_style(font, style)
    line = command in _WITH_LINE
    meaning = "divide" if line else "binomial" if command == "\\choose" else ""
    has_fences = command in ("\\overwithdelims", "\\atopwithdelims") or left is not None
    fences = (walk.fence(left, left=True), walk.fence(right, left=False)) if has_fences else (None, None)
    nodes.append(fraction_node(above, below, meaning, line, *fences))


@maker("fraction", "slanted fraction", "flat fraction")
def _fraction(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    *_, above, below = piece.arguments
    style = SMALLER[walk.style]
    nodes.append(fraction_node(walk.part_in(style, above), walk.part_in(style, below)))


@maker("continued fraction")
def _continued(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    _, above, below = piece.arguments
    nodes.append(apply(operator("continued-fraction"), walk.part(above), walk.part(below)))


@maker("binomial")
def _binomial(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    style = SMALLER[walk.style]
    above, below = (walk.part_in(style, part) for part in piece.arguments)
    content = apply(operator("binomial"), above, below)
    nodes.append(dual(content, _in_parentheses(fraction_node(above, below, "", False))))


def _in_parentheses(node: Node) -> Node:
    return row([Node(TOKEN, "OPEN", "("), node, Node(TOKEN, "CLOSE", ")")])


@maker("general fraction")
def _general_fraction(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    left, right, thickness, _, above, below = piece.arguments
    line = not is_zero(thickness)
    fences = (_raw_delimiter(left, "OPEN"), _raw_delimiter(right, "CLOSE"))
    nodes.append(fraction_node(walk.part(above), walk.part(below), "divide" if line else "", line, *fences))


def _raw_delimiter(written: str, role: str) -> Node | None:
    written = written.strip()
    if not written or written == ".":
        return None
    text, _, name = DELIMITERS.get(written, (written, "", ""))
    return Node(TOKEN, role, text, key=name or text)


@maker("root")
def _root(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    degree, radicand = piece.arguments
    above = walk.walk_in(SCRIPT_STYLE, degree) if degree is not None else []
    inside = walk.part(radicand)
    if above or walk.tokens[piece.place] == "\\root":
        nodes.append(apply(operator("nth-root"), walk.expression(above), inside))
    else:
        nodes.append(apply(operator("square-root"), inside))


# -- things above and below


@maker("accent")
def _accent(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    name = piece.data
    role, text = ("OVERACCENT", ACCENTS[name]) if name in ACCENTS else ("UNDERACCENT", UNDER_ACCENTS[name])
    node = apply(walk.at(piece.place, Node(TOKEN, role, text)), walk.part(piece.arguments[-1]))
    node.position = "mid" if name.endswith(("brace", "bracket")) else ""
    nodes.append(node)


@maker("placed")
def _placed(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    above, base = map(walk.part, piece.arguments)
    nodes.append(apply(above.with_role(piece.data), base))


@maker("over and under")
def _over_and_under(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    first, second, base = map(walk.part, piece.arguments)
    above, below = (second, first) if piece.data else (first, second)
    nodes.append(apply(above.with_role("OVERACCENT"), apply(below.with_role("UNDERACCENT"), base)))


@maker("stacked")
def _stacked(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    below, above, base = piece.arguments
    over = walk.part_in(SCRIPTS[walk.style], above)
    node = apply(Node(TOKEN, "SUPERSCRIPTOP", position="mid", level=walk.level), walk.part(base), over)
    if below:
        node = apply(walk.part(below).with_role("UNDERACCENT"), node)
    node.role = piece.data
    nodes.append(node)


def _arrow(walk: NodeWalk, place: int, text: str, above: Node, below: Sequence[Node]) -> Node:
    arrow = apply(above.with_role("OVERACCENT"), walk.at(place, Node(TOKEN, "ARROW", text)))
    arrow.role = "ARROW"
    if below:
        arrow = apply(walk.expression(below).with_role("UNDERACCENT"), arrow)
        arrow.role = "ARROW"
    return arrow


@maker("long arrow")
def _long_arrow(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    below, above = piece.arguments
    under = walk.walk(below) if below else []
    nodes.append(_arrow(walk, piece.place, piece.data, walk.part(above), under))


@maker("side set")
def _side_set(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Put scripts at the four corners of a big operator, which keeps its limits; anything else gets them beside it."""
    before, after = walk.argument(piece.arguments[0]), walk.argument(piece.arguments[1])
    node = walk.part(piece.arguments[2])
    position, level = node.position or "post", walk.level
    for script in reversed([one for one in before if one.kind == SCRIPT]):
        node = apply(script_operator(_operator_of(script), "pre", level), node, script.children[0])
        level += script.role.startswith("FLOAT")
    for script in (one for one in after if one.kind == SCRIPT):
        level += script.role.startswith("FLOAT")
        node = apply(script_operator(_operator_of(script), "post", level), node, script.children[0])
    node.position, node.level = position, walk.level
    nodes.extend(one for one in before if one.kind != SCRIPT)
    nodes.append(node)
    nodes.extend(one for one in after if one.kind != SCRIPT)


def _operator_of(script: Node) -> str:
    return "SUPERSCRIPTOP" if script.role.endswith("SUPERSCRIPT") else "SUBSCRIPTOP"


@maker("prescript")
def _prescript(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    above, below, base = piece.arguments
    for kind, written in ((_SUPERSCRIPT, above), (_SUBSCRIPT, below)):
        if content := walk.walk_in(SCRIPTS[walk.style], written):
            nodes.append(walk.script_node("FLOAT" + kind, content))
    nodes.extend(walk.argument(base))


# -- fonts, operators and delimiters


@maker("font")
def _font(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    font = walk.font
    walk.set_font_and_style(piece.data(font), walk.style)
    nodes.extend(walk.argument(piece.arguments[0]))
    walk.set_font_and_style(font, walk.style)


@maker("font switch")
def _font_switch(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    walk.set_font_and_style(piece.data(walk.font), walk.style)


@maker("style")
def _style(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    walk.set_font_and_style(walk.font, piece.data)


@maker("upright")
def _upright(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(walk.at(piece.place, Node(TOKEN, "UNKNOWN", piece.data)))


@maker("operator name")
def _operator_name(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Make an upright name that is applied to what follows."""
    *star, name = piece.arguments
    role, position = ("OPERATOR", "mid") if piece.data or star[0] else ("OPFUNCTION", "post")
    font = walk.font
    walk.set_font_and_style(chosen(font, PLAIN), walk.style)
    content = walk.argument(name)
    walk.set_font_and_style(font, walk.style)
    nodes.append(walk.expression(content).with_role(role, position))


_CONCATENATED = frozenset(["OP", "BIGOP", "RELOP", "METARELOP", "ADDOP", "MULOP", "BINOP", "OPEN", "CLOSE"])


@maker("classed")
def _classed(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    role = piece.data
    position = "mid" if role == "BIGOP" and walk.style == DISPLAY else ""
    content = walk.argument(piece.arguments[0])
    content = [node for node in content if node.kind != HINT or len(node.text) != 2]
    if not content:
        return
    if (
        len(content) > 1
        and role in _CONCATENATED
        and all(node.kind == TOKEN and node.role in _CONCATENATED for node in content)
    ):
        text = "".join(node.text for node in content)
        nodes.append(Node(TOKEN, role, text, font=walk.font, position=position).written_as(content))
    else:
        nodes.append(walk.expression(content).with_role(role, position))


@maker("limits")
def _limits(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    position = piece.data
    if position == "display":
        position = "mid" if walk.style == DISPLAY else "post"
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if node.kind not in (HINT, SCRIPT):
            nodes[index] = node.with_role(node.role, position)
            return


@maker("limit")
def _limit(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    accent, role, meaning, _ = piece.data
    name = walk.at(piece.place, Node(TOKEN, "OPFUNCTION", "lim", position="post"))
    shown = apply(Node(TOKEN, role, accent), name)
    nodes.append(dual(operator(meaning, role="LIMITOP"), shown, "LIMITOP"))


@maker("modulus")
def _modulus(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    modulus = walk.part(piece.arguments[0])
    if not piece.data:
        shown = _in_parentheses(modulus)
        nodes.append(dual(apply(operator("modulo"), modulus), shown, "MODIFIER"))
        return
    name = walk.at(piece.place, Node(TOKEN, "BIGOP", "mod", position="mid"))
    content = apply(Node(TOKEN, "UNKNOWN", "", key="pmod"), modulus)
    nodes.append(dual(content, _in_parentheses(apply(name, modulus)), "MODIFIER"))


@maker("dots")
def _dots(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    entry = SYMBOLS.get(walk.next_token(piece.place))
    raised = entry is not None and entry.role in ("ADDOP", "BINOP", "MULOP", "RELOP")
    nodes.append(walk.at(piece.place, Node(TOKEN, "ID", "⋯" if raised else "…", key="dots")))


@maker("sized")
def _sized(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    written, role = piece.arguments[0], piece.data[1]
    if written is None:
        nodes.append(walk.fence(None, left=True))
        return
    content = walk.argument(written)
    if content and role and content[-1].role in ("OPEN", "MIDDLE", "CLOSE", "VERTBAR", "UNKNOWN", ""):
        content = [*content[:-1], content[-1].with_role(role)]
    nodes.extend(content)


@maker("middle")
def _middle(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    node = walk.fence(piece.arguments[0], left=True)
    nodes.append(node.with_role("MIDDLE") if node.kind == TOKEN else node)


@maker("closing")
def _closing(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(walk.fence(piece.arguments[0], left=False))


@maker("negated")
def _negated(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    walk.put_symbol(piece.place, nodes)
    nodes.extend(walk.argument(piece.arguments[0]))


# -- words


def words(walk: NodeWalk, place: int, parts: Sequence[Any]) -> Node:
    """Return phrases and formulas as one node; a formula alone is just that formula."""
    made: list[Node] = []
    for part in parts:
        if isinstance(part, Phrase):
            made.append(walk.at(place, Node(TEXT, text=plain_text(part.text), font=part.font)))
        elif isinstance(part, Inset):
            font, style = walk.font, walk.style
            walk.set_font_and_style(part.font, max(style, TEXT_STYLE))
            nodes = walk.walk(part.row)
            walk.set_font_and_style(font, style)
            if nodes:
                made.append(walk.expression(nodes, trailing=True))
    return made[0] if len(made) == 1 else Node(TEXT, children=made)


@maker("words")
def _words(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(words(walk, piece.place, piece.arguments[-1]))


@maker("accented letter")
def _accented_letter(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    letter = composed(accented(piece.arguments[0], piece.data))
    nodes.append(walk.at(piece.place, Node(TEXT, text=letter)))


@maker("dotted letter")
def _dotted_letter(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    written = piece.arguments[0]
    letter = walk.at(piece.place, Node(TEXT, text=plain_text(CHARACTERS.get(written, written))))
    nodes.append(apply(Node(TOKEN, "UNDERACCENT", piece.data[0]), letter))


@maker("logo")
def _logo(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(walk.at(piece.place, Node(TEXT, text=piece.data)))


@maker("reference")
def _reference(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Read a reference as an empty text, because its target is unknown."""
    nodes.append(Node(TEXT))


@maker("character")
def _character(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    character = piece.arguments[0]
    node = symbol(character, PLAIN, walk.style) or Node(TOKEN, "UNKNOWN", character)
    nodes.append(walk.at(piece.place, node))


# -- space and boxes


@maker("space")
def _space(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(space(points_of(piece.arguments[1]), "hspace"))


@maker("skip")
def _skip(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Append space by a bare length; only math units count as wide, as in the published trees."""
    nodes.append(space(points_of(piece.arguments[0]) if piece.data == "math units" else 0.0, "skip"))


@maker("phantom")
def _phantom(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(space(5.0 * len(walk.argument(piece.arguments[0])), "phantom", phantom=True))


@maker("shown", "smashed", "beside", "coloured", "colour box", "moved", "several columns")
def _shown(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.extend(walk.argument(piece.arguments[-1]))


@maker("size", "colour switch", "new colour", "same colour", "tag", "rule")
def _nothing(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Leave no trace: only a page shows sizes, colours, numbers and black boxes."""


@maker("choice")
def _choice(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Show the one of four arguments that belongs to the current style."""
    nodes.extend(walk.argument(piece.arguments[walk.style]))


def _enclosed(node: Node, notation: str) -> Node:
    copy = node.with_role(node.role)
    copy.enclosure = notation
    return copy


@maker("enclosed")
def _enclose(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(_enclosed(walk.part(piece.arguments[-1]), piece.data[0]))


@maker("enclose")
def _enclose_as(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    notation, _, content = piece.arguments
    nodes.append(_enclosed(walk.part(content), notation.strip() or "box"))


@maker("cancelled to")
def _cancelled_to(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Append the cancelled part, followed by a superscript with its remainder."""
    value, content = piece.arguments
    script = walk.script_node("POSTSUPERSCRIPT", walk.walk_in(SCRIPTS[walk.style], value))
    nodes.append(_enclosed(walk.part(content), "updiagonalstrike"))
    nodes.append(script)


# -- wildcards, and what cannot be read


@maker("stray alignment")
def _stray_alignment(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(walk.at(piece.place, Node(TOKEN, "UNKNOWN", "&")))


@maker("wildcard")
def _wildcard(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.append(walk.at(piece.place, Node(WILDCARD, text=piece.arguments[0].strip() or "x")))


@maker("question")
def _question(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Reproduce what older conversions with wildcards made of a question mark and the next token."""
    for token in ("?", piece.arguments[0]):
        node = symbol(token, walk.font, walk.style)
        if node is not None:
            nodes.append(walk.at(piece.place, node))


# -- tables


def _cells(walk: NodeWalk, lines: Sequence[CellLine], style: int) -> Cells:
    """Return the cells of a table, row by row; a rule across it has a row of its own, and empty rows at the end are dropped."""
    rows: Cells = []
    for line in lines:
        rows += [[[]] for rule, _ in line.rules if rule in ("\\hline", "\\cline")]
        rows.append([walk.walk_in(style, cell) for cell in line.cells])
    while rows and not any(node.kind != HINT for cell in rows[-1] for node in cell):
        rows.pop()
    return rows


def _table(walk: NodeWalk, rows: Cells, role: str = "", columns: int = 0) -> Node:
    """Return a table of cells; short rows are filled up to a number of columns."""
    lines = []
    walk.budget.spend(len(rows) * columns)
    for cells in rows:
        line = [_cell(walk, cell) for cell in cells]
        line += [row(()) for _ in range(columns - len(line))]
        lines.append(Node(ROW, children=line))
    return Node(ARRAY, role, children=lines)


def _cell(walk: NodeWalk, nodes: Sequence[Node]) -> Node:
    if not any(node.kind != HINT for node in nodes):
        return row(())
    return walk.expression(nodes, trailing=True)


@maker("lines")
def _lines(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    style = TEXT_STYLE if piece.data == "objects" else DISPLAY
    if rows := _cells(walk, piece.arguments[0], style):
        nodes.append(_table(walk, rows))


@maker("stack")
def _stack(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    if rows := _cells(walk, piece.arguments[-1], SCRIPT_STYLE):
        array = _table(walk, rows)
        nodes.append(dual(apply(operator("list"), array), array))


@maker("matrix")
def _matrix(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    name = piece.data.removesuffix("*")
    is_small = name == "smallmatrix"
    rows = _cells(walk, piece.arguments[-1], SCRIPT_STYLE if is_small else TEXT_STYLE)
    if not rows:
        return
    array = _table(walk, rows)
    if is_small:
        nodes.append(array)
        return
    opening, closing, meaning = MATRICES[name]
    content = apply(operator("matrix"), array)
    if meaning:
        content = apply(operator(meaning), content)
    shown = array
    if opening:
        shown = row([Node(TOKEN, "OPEN", opening), array, Node(TOKEN, "CLOSE", closing)])
    nodes.append(dual(content, shown))


@maker("cases")
def _cases(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    *head, lines = piece.arguments
    if head:
        nodes.extend(walk.argument(head[0]))
    rows = _cells(walk, lines, DISPLAY if piece.data[0] == "d" else TEXT_STYLE)
    if not rows:
        return
    array = _table(walk, rows, columns=2)
    otherwise = Node(TEXT, text="otherwise")
    cells = [
        otherwise if cell.kind == ROW and not cell.children else cell
        for line in array.children
        for cell in line.children
    ]
    closing = "rcases" in piece.data
    fences = [array, Node(TOKEN, "CLOSE", "}")] if closing else [Node(TOKEN, "OPEN", "{"), array]
    nodes.append(dual(apply(operator("cases"), *cells), row(fences)))


@maker("array")
def _array(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    _, template, lines = piece.arguments
    if rows := _cells(walk, lines, TEXT_STYLE):
        nodes.append(_table(walk, rows, "ARRAY", _columns(template)))


def _columns(template: str) -> int:
    """Return the number of columns of a template like `{l|cc}`."""
    count, depth = 0, 0
    for character in template:
        depth += (character == "{") - (character == "}")
        count += depth == 0 and character.isalpha()
    return count


@maker("aligned")
def _aligned(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    rows = _cells(walk, piece.arguments[-1], DISPLAY)
    if len(rows) == 1 and piece.data not in ("aligned", "alignedat"):
        nodes.extend(node for cell in rows[0] for node in cell)
    elif rows:
        nodes.append(_table(walk, rows))


@maker("gathered")
def _gathered(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    if rows := _cells(walk, piece.arguments[-1], DISPLAY):
        nodes.append(dual(walk.expression(_unrolled(rows), trailing=True), _table(walk, rows)))


def _unrolled(rows: Cells) -> list[Node]:
    """Join all cells to one formula broken over lines; an operator repeated at a break counts once."""
    result: list[Node] = []
    for cells in rows:
        for cell in cells:
            content = list(cell)
            if content and content[0].kind == HINT:
                content = content[1:]
            if content and content[-1].kind == HINT:
                content = content[:-1]
            if result and content:
                last, first = result[-1], content[0]
                if (
                    last.kind == first.kind == TOKEN
                    and last.role == first.role
                    and last.meaning == first.meaning
                    and last.role in ("ADDOP", "MULOP", "RELOP")
                ):
                    result.pop()
            result.extend(content)
    return result


_HORIZONTAL = {">": "→", "<": "←"}
_VERTICAL = {"V": "\\downarrow", "A": "\\uparrow", "|": "\\|", "\\|": "\\|"}


@maker("diagram")
def _diagram(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Make a table of objects and arrows, which stay as symbols."""
    style = walk.style
    walk.set_font_and_style(walk.font, TEXT_STYLE)
    rows: Cells = []
    for line in piece.arguments[0]:
        rows.append([[]])
        for part in line:
            if isinstance(part, Arrow):
                _put_arrow(walk, piece.place, part, rows[-1])
            else:
                rows[-1][-1] += walk.argument(part)
    walk.set_font_and_style(walk.font, style)
    while rows and not any(node.kind != HINT for cell in rows[-1] for node in cell):
        rows.pop()
    if rows:
        nodes.append(_table(walk, rows))


def _put_arrow(walk: NodeWalk, place: int, arrow: Arrow, cells: list[list[Node]]) -> None:
    first, second = walk.argument(arrow.first), walk.argument(arrow.second)
    if arrow.sign in _HORIZONTAL:
        cells.append([_arrow(walk, place, _HORIZONTAL[arrow.sign], walk.expression(first), second)])
        cells.append([])
    elif arrow.sign == "=":
        sign = symbol("=", walk.font, walk.style)
        cells += [[sign] if sign else [], []]
    elif arrow.sign in _VERTICAL:
        sign = symbol(_VERTICAL[arrow.sign], walk.font, walk.style)
        cells[-1] += [*first, *([sign] if sign else []), *second]
        cells += [[], []]
    elif arrow.sign == ".":
        cells += [[], []]
