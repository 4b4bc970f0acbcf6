"""Neighbours that are one symbol: digits of a number, letters of a word, `:=`, `...`, `\\not=`."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.fonts import STICKY, Font
from mathamr.formulas.latex.node import APPLY, HINT, INVISIBLE_PLUS, TOKEN, Node, apply
from mathamr.formulas.latex.symbols import NEGATIONS, SPACES_IN_NUMBERS

PUNCTUATING_SPACE = 100
"""Width (tenths of a point) from which space separates like a comma."""

_PAIRS = {
    ("!", "!"): ("POSTFIX", "!!", "double-factorial"),
    (":", "="): ("RELOP", ":=", "assign"),
}
_TRIPLES = {".": ("ID", "…", "ldots"), "⋅": ("ID", "⋯", "cdots")}
_MAY_JOIN = frozenset("!=.⋅")
NOT_SIGN = "\uff0f"


def joined(nodes: Sequence[Node]) -> list[Node]:
    """Return the list with neighbours joined, and wide space turned into separators."""
    result: list[Node] = []
    position, count = 0, len(nodes)
    special = spaced = False
    while position < count:
        node = nodes[position]
        position += 1
        if node.kind == TOKEN:
            role = node.role
            if role == "NUMBER" or (role == "UNKNOWN" and node.font.family in STICKY):
                end = position
                while end < count and _continues(node, nodes[end]):
                    end += 1
                if end > position:
                    result.extend(_words(nodes[position - 1 : end]))
                    position = end
                else:
                    result.append(node)
                if len(result) > 1 and result[-1].role == "NUMBER":
                    _join_number(result)
                continue
            result.append(node)
            text = node.text
            if text in _MAY_JOIN:
                _join_signs(result)
            elif text == NOT_SIGN:
                special = True
        else:
            result.append(node)
            if node.kind == APPLY:
                special = True
            elif node.kind == HINT:
                spaced = True
    if special:
        result = _combined(result)
    return _spaced(result) if spaced else result


def _continues(first: Node, node: Node) -> bool:
    """Return True if the node is a letter or digit in the same font as the first of a run."""
    return (
        node.kind == TOKEN
        and (node.role == "NUMBER" or node.role == "UNKNOWN")
        and node.font == first.font
        and len(node.text) == 1
        and node.text.isascii()
        and node.text.isalnum()
        and first.text.isascii()
        and first.text.isalnum()
    )


def _words(run: Sequence[Node]) -> list[Node]:
    """Return letters and digits in one upright font: a word if they begin with a letter; else numbers and letters."""
    font = run[0].font
    if run[0].role == "UNKNOWN":
        return [Node(TOKEN, "UNKNOWN", "".join([node.text for node in run]), font=font).written_as(run)]
    result: list[Node] = []
    position = 0
    while position < len(run):
        end = position
        while end < len(run) and run[end].role == "NUMBER":
            end += 1
        if end > position:
            text = "".join([node.text for node in run[position:end]])
            result.append(Node(TOKEN, "NUMBER", text, text, font).written_as(run[position:end]))
            position = end
        else:
            result.append(run[position])
            position += 1
    return result


def _join_number(result: list[Node]) -> None:
    """Join the number at the end with the digits, points and narrow spaces before it."""
    last = result[-1]
    if last.role != "NUMBER":
        return
    font: Font = last.font
    text, meaning = last.text, last.meaning
    first = len(result) - 1
    while first > 0:
        node = result[first - 1]
        if node.kind == HINT:
            space = SPACES_IN_NUMBERS.get(node.text)
            if space is None:
                break
            text = space + text
        elif node.kind != TOKEN:
            break
        elif node.role == "NUMBER" and node.font == font:
            text, meaning = node.text + text, node.meaning + meaning
        elif node.role == "PERIOD":
            text, meaning = node.text + text, "." + meaning
        else:
            break
        first -= 1
    if first < len(result) - 1:
        result[first:] = [Node(TOKEN, "NUMBER", text, meaning, font).written_as(result[first:])]


def _join_signs(result: list[Node]) -> None:
    text = result[-1].text
    if len(result) > 1 and (pair := _PAIRS.get((result[-2].text, text))) and result[-2].kind == TOKEN:
        role, joint, meaning = pair
        result[-2:] = [Node(TOKEN, role, joint, meaning).written_as(result[-2:])]
    elif text in _TRIPLES and len(result) > 2 and result[-2].text == text and result[-3].text == text:
        role, joint, name = _TRIPLES[text]
        result[-3:] = [Node(TOKEN, role, joint, key=name).written_as(result[-3:])]


def _combined(nodes: Sequence[Node]) -> list[Node]:
    """Join `\\not` with what follows it, and an integer with a fraction: `2\\frac{1}{2}` is a sum."""
    result: list[Node] = []
    for node in nodes:
        previous = result[-1] if result else None
        if previous is not None and previous.text == NOT_SIGN and previous.meaning == "not":
            result[-1] = negated(node).written_as([previous, node])
        elif (
            previous is not None
            and node.kind == APPLY
            and previous.kind == TOKEN
            and _is_whole(previous)
            and node.children[0].meaning == "divide"
            and node.children[0].role == "FRACOP"
            and _is_whole(node.children[1])
            and _is_whole(node.children[2])
        ):
            result[-1] = apply(INVISIBLE_PLUS, previous, node)
        else:
            result.append(node)
    return result


def _is_whole(node: Node) -> bool:
    return node.role == "NUMBER" and node.meaning.isdigit()


def negated(node: Node) -> Node:
    """Return the negation of a sign, or the sign with a stroke."""
    if node.kind != TOKEN or len(node.text) != 1:
        stroke = Node(TOKEN, "ENCLOSE", "", "not")
        stroke.enclosure = "updiagonalstrike"
        return apply(stroke, node)
    text = NEGATIONS.get(node.text, node.text + "\u0338")
    meaning = f"not-{node.meaning}" if node.meaning else ""
    return Node(
        TOKEN, node.role, text, meaning, node.font, key=meaning or f"not-{node.key}", position=node.position
    )


def _spaced(nodes: Sequence[Node]) -> list[Node]:
    """Drop space; from a quad on it becomes punctuation."""
    result: list[Node] = []
    width, phantom = 0, False
    for node in nodes:
        if node.kind == HINT and not node.role:
            if result and result[-1].role != "OPEN":
                width += node.level
                phantom = phantom or node.position == "phantom"
            continue
        if width >= PUNCTUATING_SPACE and not phantom and result[-1].role != "PUNCT":
            result.append(Node(HINT, "PUNCT", key="quad", level=width))
        width, phantom = 0, False
        result.append(node)
    if result and width >= PUNCTUATING_SPACE and not phantom and result[-1].role != "PUNCT":
        result.append(Node(HINT, "PUNCT", key="quad", level=width))
    return result
