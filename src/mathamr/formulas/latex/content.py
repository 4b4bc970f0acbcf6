"""Nodes to Content MathML, as LaTeXML writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr.formulas.latex.fonts import variant
from mathamr.formulas.latex.node import (
    APPLY,
    ARRAY,
    DUAL,
    ERROR,
    HINT,
    ROW,
    SCRIPT,
    TEXT,
    TOKEN,
    WILDCARD,
    Node,
)
from mathamr.formulas.latex.presentation import present
from mathamr.formulas.mathml.alphabets import styled_completely
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.operatortree import FUNCTIONS

_ELEMENTS = {
    "compose": "compose", "quotient": "quotient", "factorial": "factorial", "divide": "divide",
    "minus": "minus", "plus": "plus", "power": "power", "remainder": "rem", "times": "times", "and": "and",
    "or": "or", "xor": "xor", "not": "not", "implies": "implies", "forall": "forall", "exists": "exists",
    "conjugate": "conjugate", "lcm": "lcm", "equals": "eq", "not-equals": "neq", "greater-than": "gt",
    "less-than": "lt", "greater-than-or-equals": "geq", "less-than-or-equals": "leq",
    "equivalent-to": "equivalent", "approximately-equals": "approx", "factor-of": "factorof", "integral": "int",
    "differential": "diff", "partial-differential": "partialdiff", "divergence": "divergence",
    "gradient": "grad", "curl": "curl", "laplacian": "laplacian", "union": "union", "intersection": "intersect",
    "element-of": "in", "not-element-of": "notin", "subset-of": "subset", "subset-of-or-equals": "subset",
    "subset-of-and-not-equals": "prsubset", "set-minus": "setdiff", "cardinality": "card",
    "cartesian-product": "cartesianproduct", "sum": "sum", "limit": "limit", "tends-to": "tendsto",
    "mean": "mean", "standard-deviation": "sdev", "variance": "var", "median": "median", "mode": "mode",
    "moment": "moment", "determinant": "determinant", "transpose": "transpose", "selector": "selector",
    "inverse": "inverse", "lambda": "lambda", "identity": "ident", "domain": "domain", "codomain": "codomain",
    "image": "image",
} | FUNCTIONS  # fmt: skip
"""Meanings that Content MathML has an element for; all others become `csymbol`."""

_CONSTANTS = {"empty-set": "emptyset", "infinity": "infinity"}
_SUPERSCRIPT = Element("csymbol", "superscript", (), {"cd": "ambiguous"})
_SUBSCRIPT = Element("csymbol", "subscript", (), {"cd": "ambiguous"})
_SEQUENCE = Element("csymbol", "formulae-sequence", (), {"cd": "ambiguous"})
_FRAGMENTS = Element("csymbol", "fragments", (), {"cd": "ambiguous"})
_MISSING = Element("cerror", "", (Element("csymbol", "missing-subexpression", (), {"cd": "ambiguous"}),))
_AND, _ROOT, _NOT = Element("and"), Element("root"), Element("not")


def mean(node: Node) -> Element:
    """Return the node as Content MathML."""
    known = node.content
    if known is None:
        known = node.content = _MEANERS[node.kind](node)
    return known


def _apply(head: Element, operands: Sequence[Element]) -> Element:
    return Element("apply", "", [head, *operands])


def _token(node: Node) -> Element:
    meaning, role = node.meaning, node.role
    if meaning:
        tag = _ELEMENTS.get(meaning) or (_CONSTANTS.get(meaning) if role == "ID" else None)
        if tag is not None:
            return Element(tag)
        if role == "NUMBER":
            return Element("cn", meaning)
        return Element("csymbol", meaning, (), {"cd": "latexml"})
    if role == "SUPERSCRIPTOP":
        return _SUPERSCRIPT
    if role == "SUBSCRIPTOP":
        return _SUBSCRIPT
    return Element("ci", identifier(node))


def identifier(node: Node) -> str:
    """Return the characters that name a symbol: the letter of its font, or the font's name and the letter."""
    text = node.text or node.key or node.role
    if text == "-" and node.role in ("ADDOP", "OPERATOR"):
        text = "−"
    name = variant(node.font)
    if not name:
        return text
    return styled_completely(text, name) or f"{name}-{text}"


def _application(node: Node) -> Element:
    if node.meaning:
        return _token(node)
    if node.role == "ID":
        return Element("ci", "", (present(node),))
    head, *operands = node.children
    meaner = _BY_MEANING.get(head.meaning) if head.meaning else None
    if meaner is not None:
        return meaner(operands)
    return Element("apply", "", [mean(child) for child in node.children if child.kind != HINT])


def _dual(node: Node) -> Element:
    return mean(node.children[0])


def _fragments(node: Node) -> Element:
    """Return a row that no grammar joined: its pieces, unknown symbols as such."""
    pieces = []
    for child in node.children:
        if child.kind == TOKEN and child.role in ("", "UNKNOWN"):
            pieces.append(Element("csymbol", child.text, (), {"cd": "unknown"}))
        elif child.kind != HINT:
            pieces.append(mean(child))
    if not node.children:
        return _MISSING
    if len(node.children) == 1:
        return mean(node.children[0])
    return Element("cerror", "", [_FRAGMENTS, *pieces])


def _loose_script(node: Node) -> Element:
    return Element("apply", "", (mean(node.children[0]),))


def _matrix(node: Node) -> Element:
    rows = [Element("matrixrow", "", [mean(cell) for cell in line.children]) for line in node.children]
    return Element("matrix", "", rows)


def _decorated(node: Node) -> Element:
    return Element("ci", "", (present(node),))


def _wildcard(node: Node) -> Element:
    return Element("qvar", node.text)


def _space(_node: Node) -> Element:
    return Element("ci")


def _container(tag: str, closure: str = "") -> Callable[[Sequence[Node]], Element]:
    attributes = {"closure": closure} if closure else {}
    return lambda operands: Element(tag, "", [mean(operand) for operand in operands], attributes)


def _reversed(tag: str) -> Callable[[Sequence[Node]], Element]:
    head = Element(tag)
    return lambda operands: _apply(head, [mean(operand) for operand in reversed(operands)])


def _negated(tag: str) -> Callable[[Sequence[Node]], Element]:
    head = Element(tag)
    return lambda operands: _apply(_NOT, [_apply(head, [mean(operand) for operand in operands])])


def _either(operands: Sequence[Node]) -> Element:
    parts = [mean(operand) for operand in operands]
    return Element("or", "", [_apply(Element("lt"), parts), _apply(Element("approx"), parts)])


def _square_root(operands: Sequence[Node]) -> Element:
    return _apply(_ROOT, [mean(operands[0])])


def _nth_root(operands: Sequence[Node]) -> Element:
    return _apply(_ROOT, [Element("degree", "", (mean(operands[0]),)), mean(operands[1])])


def _sequence(operands: Sequence[Node]) -> Element:
    return _apply(_SEQUENCE, [mean(operand) for operand in operands])


def _chain(operands: Sequence[Node]) -> Element:
    """Return a chain of relations as a conjunction: `a = b < c` becomes `a = b` and `b < c`."""
    sides = [mean(operand) for operand in operands]
    shared = [present(side) if side.kind == TEXT and not side.children else mean(side) for side in operands]
    relations = [
        _apply(sides[i], ((shared if i > 1 else sides)[i - 1], sides[i + 1])) for i in range(1, len(sides), 2)
    ]
    return relations[0] if len(relations) == 1 else _apply(_AND, relations)


_MEANERS: dict[int, Callable[[Node], Element]] = {
    TOKEN: _token,
    APPLY: _application,
    DUAL: _dual,
    ROW: _fragments,
    ARRAY: _matrix,
    TEXT: _decorated,
    SCRIPT: _loose_script,
    HINT: _space,
    ERROR: _decorated,
    WILDCARD: _wildcard,
}
_BY_MEANING: dict[str, Callable[[Sequence[Node]], Element]] = {
    "open-interval": _container("interval", "open"),
    "closed-interval": _container("interval", "closed"),
    "closed-open-interval": _container("interval", "closed-open"),
    "open-closed-interval": _container("interval", "open-closed"),
    "set": _container("set"),
    "list": _container("list"),
    "vector": _container("vector"),
    "square-root": _square_root,
    "nth-root": _nth_root,
    "formulae": _sequence,
    "multirelation": _chain,
    "not-approximately-equals": _negated("approx"),
    "less-than-or-approximately-equals": _either,
    "contains": _reversed("in"),
    "not-contains": _reversed("notin"),
    "superset-of": _reversed("subset"),
    "superset-of-or-equals": _reversed("subset"),
    "superset-of-and-not-equals": _reversed("prsubset"),
}
