"""Nodes that only this reading makes: bound variables, conditions, applications, words."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import script_operator
from mathamr.formulas.latex.content import mean
from mathamr.formulas.latex.node import APPLY, DUAL, INVISIBLE_TIMES, TEXT, TOKEN, Node, apply, operator
from mathamr.formulas.mathml.element import Element

APPLIED = operator("apply")
BASE = script_operator("SUBSCRIPTOP", "post", 0)
POWER = script_operator("SUPERSCRIPTOP", "post", 0)


def named(meaning: str, *operands: Node) -> Node:
    """Applies an operator that the formula does not show to operands."""
    return apply(operator(meaning), *operands)


def qualifier(tag: str, *operands: Node) -> Node:
    """Makes a bound variable (`bvar`) or a limit of Content MathML."""
    node = Node(APPLY, children=(operator(tag), *operands))
    node.content = Element(tag, "", [mean(operand) for operand in operands])
    return node


def symbolic(name: str) -> Node:
    """Makes an operator by its name alone, because Content MathML's element of that name would lose its variables."""
    node = operator(name)
    node.content = Element("csymbol", name, (), {"cd": "latexml"})
    return node


def bound(*variable: Node) -> Node:
    """Makes a bound variable, perhaps with the order of a derivative."""
    return qualifier("bvar", *variable)


def words(node: Node) -> Node:
    """Makes text a node: the published operator tree leaves it out."""
    text = " ".join(_text(node).split())
    if not text:
        return node
    node = Node(TEXT, text=text)
    node.content = Element("mtext", text)
    return node


def word(text: str) -> Node:
    """One word as text."""
    node = Node(TEXT, text=text)
    node.content = Element("mtext", text)
    return node


_LONGEST_TEXT = 1_000
"""The maximum number of nodes of a text with formulas that are visited: shared nodes could make the tree exponentially large."""


def _text(node: Node) -> str:
    """Returns the words of a text, and the visible symbols of the formulas in it."""
    found: list[str] = []
    stack = [node]
    for _ in range(_LONGEST_TEXT):
        if not stack:
            break
        one = stack.pop()
        if one.text:
            found.append(one.text)
        else:
            stack.extend(reversed(one.children[1:] if one.kind == DUAL else one.children))
    return " ".join(found)


def applied(head: Node, arguments: Sequence[Node]) -> Node:
    """Applies a function: a symbol carries its arguments itself, anything else is applied to them."""
    if head.kind == TOKEN:
        return apply(head, *arguments)
    return apply(APPLIED, head, *arguments)


def product(factors: Sequence[Node]) -> Node:
    """Multiplies adjacent factors; a factor that is such a product itself is taken apart."""
    flat: list[Node] = []
    for factor in factors:
        if factor.kind == APPLY and factor.children[0] is INVISIBLE_TIMES and not factor.enclosure:
            flat.extend(factor.children[1:])
        else:
            flat.append(factor)
    return flat[0] if len(flat) == 1 else apply(INVISIBLE_TIMES, *flat)


def power(base: Node, exponent: Node) -> Node:
    """A base with a superscript."""
    return apply(POWER, base, exponent)


def indexed(base: Node, *indices: Node) -> Node:
    """A base with its indices."""
    return apply(BASE, base, *indices)


def whole(number: int) -> Node:
    """A number that the formula does not show."""
    return Node(TOKEN, "NUMBER", str(number), str(number))
