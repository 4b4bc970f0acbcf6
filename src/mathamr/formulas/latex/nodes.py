"""What each kind of piece becomes as nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mathamr.formulas.latex.assembly import script_operator
from mathamr.formulas.latex.commands import is_zero
from mathamr.formulas.latex.cursor import points_of
from mathamr.formulas.latex.fonts import PLAIN, chosen
from mathamr.formulas.latex.node import (
    HINT,
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
from mathamr.formulas.latex.nodewalk import MAKERS, SUBSCRIPT, SUPERSCRIPT, NodeWalk, maker, space, symbol
from mathamr.formulas.latex.styles import DISPLAY, SCRIPTS, SMALLER
from mathamr.formulas.latex.styles import SCRIPT as SCRIPT_STYLE
from mathamr.formulas.latex.styles import TEXT as TEXT_STYLE
from mathamr.formulas.latex.symbols import ACCENTS, DELIMITERS, SYMBOLS, UNDER_ACCENTS
from mathamr.formulas.latex.syntax import Construct, Inset, Phrase
from mathamr.formulas.latex.tablenodes import TABLE_MAKERS
from mathamr.formulas.latex.text import CHARACTERS, accented, composed, plain_text
from mathamr.formulas.latex.walk import Maker

__all__ = ["MAKERS", "NodeWalk"]

_WITH_LINE = frozenset(["\\over", "\\above", "\\overwithdelims"])


# -- fractions and roots


def fraction_node(
    numerator: Node,
    denominator: Node,
    *,
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
    opening, closing = (
        (walk.fence(left, left=True), walk.fence(right, left=False)) if has_fences else (None, None)
    )
    nodes.append(fraction_node(above, below, meaning=meaning, line=line, left=opening, right=closing))


@maker("binomial")
def _binomial(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    style = SMALLER[walk.style]
    above, below = (walk.part_in(style, part) for part in piece.arguments)
    content = apply(operator("binomial"), above, below)
    nodes.append(dual(content, _in_parentheses(fraction_node(above, below, meaning="", line=False))))


def _in_parentheses(node: Node) -> Node:
    return row([Node(TOKEN, "OPEN", "("), node, Node(TOKEN, "CLOSE", ")")])


@maker("general fraction")
def _general_fraction(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    left, right, thickness, _, above, below = piece.arguments
    line = not is_zero(thickness)
    nodes.append(
        fraction_node(
            walk.part(above),
            walk.part(below),
            meaning="divide" if line else "",
            line=line,
            left=_raw_delimiter(left, "OPEN"),
            right=_raw_delimiter(right, "CLOSE"),
        )
    )


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


@maker("over and under")
def _over_and_under(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    first, second, base = map(walk.part, piece.arguments)
    above, below = (second, first) if piece.data else (first, second)
    nodes.append(apply(above.with_role("OVERACCENT"), apply(below.with_role("UNDERACCENT"), base)))


@maker("stacked")
def _stacked(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    *below, above, base = piece.arguments
    over = walk.part_in(SCRIPTS[walk.style], above)
    node = apply(Node(TOKEN, "SUPERSCRIPTOP", position="mid", level=walk.level), walk.part(base), over)
    if below and below[0]:
        node = apply(walk.part(below[0]).with_role("UNDERACCENT"), node)
    node.role = piece.data
    nodes.append(node)


@maker("long arrow")
def _long_arrow(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    below, above = piece.arguments
    under = walk.walk(below) if below else []
    node = apply(
        walk.part(above).with_role("OVERACCENT"), walk.at(piece.place, Node(TOKEN, "ARROW", piece.data))
    )
    node.role = "ARROW"
    if under:
        node = apply(walk.expression(under).with_role("UNDERACCENT"), node)
        node.role = "ARROW"
    nodes.append(node)


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
    for kind, written in ((SUPERSCRIPT, above), (SUBSCRIPT, below)):
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
def _font_switch(walk: NodeWalk, piece: Construct, _nodes: list[Node]) -> None:
    walk.set_font_and_style(piece.data(walk.font), walk.style)


@maker("style")
def _style(walk: NodeWalk, piece: Construct, _nodes: list[Node]) -> None:
    walk.set_font_and_style(walk.font, piece.data)


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


# -- space and boxes


@maker("shown", "smashed", "beside", "coloured", "colour box", "moved", "several columns")
def _shown(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    nodes.extend(walk.argument(piece.arguments[-1]))


@maker("size", "colour switch", "tag", "rule")
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


@maker("cancelled to")
def _cancelled_to(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Append the cancelled part, followed by a superscript with its remainder."""
    value, content = piece.arguments
    script = walk.script_node("POSTSUPERSCRIPT", walk.walk_in(SCRIPTS[walk.style], value))
    nodes.append(_enclosed(walk.part(content), "updiagonalstrike"))
    nodes.append(script)


# -- wildcards, and what cannot be read


@maker("question")
def _question(walk: NodeWalk, piece: Construct, nodes: list[Node]) -> None:
    """Reproduce what older conversions with wildcards made of a question mark and the next token."""
    for token in ("?", piece.arguments[0]):
        node = symbol(token, walk.font, walk.style)
        if node is not None:
            nodes.append(walk.at(piece.place, node))


# -- kinds that become one node

_SINGLE: dict[str, Callable[[NodeWalk, Construct], Node]] = {
    **dict.fromkeys(
        ["fraction", "slanted fraction", "flat fraction"],
        lambda walk, piece: fraction_node(*(walk.part_in(SMALLER[walk.style], each) for each in piece.arguments[-2:])),
    ),
    "continued fraction": lambda walk, piece: apply(operator("continued-fraction"), *map(walk.part, piece.arguments[1:])),
    "placed": lambda walk, piece: apply(
        walk.part(piece.arguments[0]).with_role(piece.data), walk.part(piece.arguments[1])
    ),
    "upright": lambda walk, piece: walk.at(piece.place, Node(TOKEN, "UNKNOWN", piece.data)),
    "closing": lambda walk, piece: walk.fence(piece.arguments[0], left=False),
    "words": lambda walk, piece: words(walk, piece.place, piece.arguments[-1]),
    "accented letter": lambda walk, piece: walk.at(
        piece.place, Node(TEXT, text=composed(accented(piece.arguments[0], piece.data)))
    ),
    "dotted letter": lambda walk, piece: apply(
        Node(TOKEN, "UNDERACCENT", piece.data[0]),
        walk.at(piece.place, Node(TEXT, text=plain_text(CHARACTERS.get(piece.arguments[0], piece.arguments[0])))),
    ),
    "logo": lambda walk, piece: walk.at(piece.place, Node(TEXT, text=piece.data)),
    "reference": lambda _, __: Node(TEXT),  # its target is unknown
    "space": lambda _, piece: space(points_of(piece.arguments[1]), "hspace"),
    # Only math units count as wide, as in the published trees.
    "skip": lambda _, piece: space(points_of(piece.arguments[0]) if piece.data == "math units" else 0.0, "skip"),
    "phantom": lambda walk, piece: space(5.0 * len(walk.argument(piece.arguments[0])), "phantom", phantom=True),
    "enclosed": lambda walk, piece: _enclosed(walk.part(piece.arguments[-1]), piece.data[0]),
    "stray alignment": lambda walk, piece: walk.at(piece.place, Node(TOKEN, "UNKNOWN", "&")),
    "wildcard": lambda walk, piece: walk.at(piece.place, Node(WILDCARD, text=piece.arguments[0].strip() or "x")),
    "middle": lambda walk, piece: _middle(walk.fence(piece.arguments[0], left=True)),
}  # fmt: skip


def _middle(node: Node) -> Node:
    return node.with_role("MIDDLE") if node.kind == TOKEN else node


def _appended(make: Callable[[NodeWalk, Construct], Node]) -> Maker:
    return lambda walk, piece, nodes: nodes.append(make(walk, piece))


MAKERS.update({kind: _appended(make) for kind, make in _SINGLE.items()})
MAKERS.update(TABLE_MAKERS)
