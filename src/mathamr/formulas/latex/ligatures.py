"""Neighbours that are one symbol: digits of a number, letters of a word, `:=`, `...`, `\\not=`."""

from __future__ import annotations

import unicodedata
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
    """The list with neighbours joined, and space turned into separators where it is wide."""
    result: list[Node] = []
    append = result.append
    for node in nodes:
        append(node)
        if node.kind == TOKEN:
            if node.role == "NUMBER" or (node.role == "UNKNOWN" and node.font.family in STICKY):
                if len(result) > 1:
                    _join_word(result) or _join_number(result)
            elif node.text in _MAY_JOIN:
                _join_signs(result)
    if any(node.text == NOT_SIGN or node.kind == APPLY for node in result):
        result = _combined(result)
    if any(node.kind == HINT for node in result):
        result = _spaced(result)
    return result


def _join_word(result: list[Node]) -> bool:
    """Joins the letters and digits at the end that are set in one upright font, if they begin with a letter."""
    font = result[-1].font
    if font.family not in STICKY:
        return False
    first = len(result)
    while first > 0:
        node = result[first - 1]
        if node.kind != TOKEN or node.font != font or node.role not in ("UNKNOWN", "NUMBER"):
            break
        if node.key != node.text and node.role == "UNKNOWN":
            break
        if not (node.text.isascii() and node.text.isalnum()):
            break
        first -= 1
    if len(result) - first < 2 or not result[first].text[0].isalpha():
        return False
    word = "".join(node.text for node in result[first:])
    result[first:] = [Node(TOKEN, "UNKNOWN", word, font=font)]
    return True


def _join_number(result: list[Node]) -> None:
    """Joins the number at the end with the digits, points and narrow spaces before it."""
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
        result[first:] = [Node(TOKEN, "NUMBER", text, meaning, font)]


def _join_signs(result: list[Node]) -> None:
    text = result[-1].text
    if len(result) > 1 and (pair := _PAIRS.get((result[-2].text, text))) and result[-2].kind == TOKEN:
        role, joint, meaning = pair
        result[-2:] = [Node(TOKEN, role, joint, meaning)]
    elif text in _TRIPLES and len(result) > 2:
        if result[-2].text == text and result[-3].text == text:
            role, joint, name = _TRIPLES[text]
            result[-3:] = [Node(TOKEN, role, joint, key=name)]


def _combined(nodes: Sequence[Node]) -> list[Node]:
    """`\\not` with what follows it, and a whole number with a fraction: `2\\frac{1}{2}` is a sum."""
    result: list[Node] = []
    for node in nodes:
        previous = result[-1] if result else None
        if previous is not None and previous.text == NOT_SIGN and previous.meaning == "not":
            result[-1] = negated(node)
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
    """What `\\not` makes of a sign: its negation, or the sign with a stroke."""
    if node.kind != TOKEN or len(node.text) != 1:
        stroke = Node(TOKEN, "ENCLOSE", "", "not")
        stroke.enclosure = "updiagonalstrike"
        return apply(stroke, node)
    text = NEGATIONS.get(node.text) or unicodedata.normalize("NFC", node.text + "\u0338")
    meaning = f"not-{node.meaning}" if node.meaning else ""
    return Node(
        TOKEN, node.role, text, meaning, node.font, key=meaning or f"not-{node.key}", position=node.position
    )


def _spaced(nodes: Sequence[Node]) -> list[Node]:
    """Space is dropped; where it adds up to a quad or more it becomes punctuation."""
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
