"""Nodes to Presentation MathML, row for row as LaTeXML writes it (the layout tree depends on the rows).

Invisible operators are left out: browsers draw nothing for them and layout trees ignore them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr.formulas.latex.fonts import variant
from mathamr.formulas.latex.node import (
    APPLY,
    ARRAY,
    DUAL,
    ERROR,
    HINT,
    INVISIBLE_TIMES,
    ROW,
    SCRIPT,
    TEXT,
    TOKEN,
    WILDCARD,
    Node,
)
from mathamr.formulas.mathml.alphabets import styled_completely
from mathamr.formulas.mathml.element import Element

OPERATOR_ROLES = frozenset(
    [
        "PUNCT",
        "PERIOD",
        "OPEN",
        "CLOSE",
        "MIDDLE",
        "VERTBAR",
        "ARROW",
        "OVERACCENT",
        "UNDERACCENT",
        "OPERATOR",
        "DIFFOP",
        "ADDOP",
        "MULOP",
        "BINOP",
        "MODIFIEROP",
        "SUPOP",
        "POSTFIX",
        "RELOP",
        "METARELOP",
        "INTOP",
        "LIMITOP",
        "BIGOP",
        "SUMOP",
    ]
)
"""Roles whose symbols are operators (`mo`); numbers are `mn`, all others identifiers (`mi`)."""

INFIX_ROLES = frozenset(["ADDOP", "MULOP", "BINOP", "MODIFIEROP", "MIDDLE", "RELOP", "METARELOP", "ARROW"])
_EMBELLISHING = frozenset(
    ["SUPERSCRIPTOP", "SUBSCRIPTOP", "OVERACCENT", "UNDERACCENT", "MODIFIER", "MODIFIEROP"]
)

_EMPTY_ROW = Element("mrow")
_EMPTY_IDENTIFIER = Element("mi")


def present(node: Node) -> Element:
    """Return the node as Presentation MathML."""
    known = node.presentation
    if known is not None:
        return known
    element = _PRESENTERS[node.kind](node)
    if node.places:
        element.origin = node.places
    if node.enclosure:
        element = Element("menclose", "", (element,), {"notation": node.enclosure})
    node.presentation = element
    return element


def shown_text(node: Node, tag: str) -> str:
    """Return the characters that show a symbol, in its own font if Unicode has letters for it."""
    text = node.text
    if not text:
        text = node.key or node.role
    elif text == "-" and node.role in ("ADDOP", "OPERATOR"):
        text = "−"
    name = variant(node.font)
    if name and not (tag == "mi" and name == "italic" and len(text) == 1):
        return styled_completely(text, name) or text
    return text


def operator_role(node: Node) -> str:
    """Return the role of an operator below its scripts and accents."""
    while not node.role and node.kind == APPLY:
        if node.children[0].role not in _EMBELLISHING:
            return ""
        node = node.children[1]
    return node.role


def _token(node: Node) -> Element:
    if node.meaning == "absent":
        return _EMPTY_IDENTIFIER
    tag = "mo" if node.role in OPERATOR_ROLES else "mn" if node.role == "NUMBER" else "mi"
    return Element(tag, shown_text(node, tag))


def _in_row(elements: list[Element]) -> Element:
    return elements[0] if len(elements) == 1 else Element("mrow", "", elements)


def _row(node: Node) -> Element:
    return _in_row([present(child) for child in node.children])


def _dual(node: Node) -> Element:
    return present(node.children[1])


def _application(node: Node) -> Element:
    head, *operands = node.children
    role, meaning = operator_role(head), head.meaning
    presenter = _BY_MEANING.get(meaning) if meaning else None
    if presenter is None:
        if role in INFIX_ROLES:
            return _infix(head, operands, role)
        presenter = _BY_ROLE.get(role, _prefix)
    return presenter(head, operands)


def _infix(head: Node, operands: Sequence[Node], role: str) -> Element:
    if len(operands) == 1:
        if head.kind == TOKEN:
            sign = Element("mo", shown_text(head, "mo"))
            sign.origin = head.places
        else:
            sign = present(head)
        return Element("mrow", "", (sign, present(operands[0])))
    first = operands[0]
    items: list[Element] = []
    flat = role == "ADDOP" and first.kind == APPLY and operator_role(first.children[0]) == role
    element = present(first)
    if flat and element.tag == "mrow":
        items.extend(element.children)
    else:
        items.append(element)
    if head is INVISIBLE_TIMES:
        items.extend([present(operand) for operand in operands[1:]])
    else:
        sign = present(head)
        for number, operand in enumerate(operands[1:]):
            if len(head.places) == len(operands) - 1 and head.kind == TOKEN:
                sign = Element(sign.tag, sign.text)
                sign.origin = head.places[number : number + 1]
            items.append(sign)
            items.append(present(operand))
    return Element("mrow", "", items)


def _prefix(head: Node, operands: Sequence[Node]) -> Element:
    return Element("mrow", "", [present(head), *map(present, operands)])


def _plain_row(_head: Node, operands: Sequence[Node]) -> Element:
    return _in_row([present(operand) for operand in operands])


def _postfix(head: Node, operands: Sequence[Node]) -> Element:
    return Element("mrow", "", (present(operands[0]), present(head)))


def _fraction(head: Node, operands: Sequence[Node]) -> Element:
    parts = (present(operands[0]), present(operands[1]))
    return (
        Element("mfrac", "", parts, {"linethickness": "0pt"})
        if head.position == "0pt"
        else Element("mfrac", "", parts)
    )


def _square_root(_head: Node, operands: Sequence[Node]) -> Element:
    return Element("msqrt", "", (present(operands[0]),))


def _root(_head: Node, operands: Sequence[Node]) -> Element:
    return Element("mroot", "", (present(operands[1]), present(operands[0])))


def _enclosed(head: Node, operands: Sequence[Node]) -> Element:
    return Element("menclose", "", (present(operands[0]),), {"notation": head.enclosure})


def _over(head: Node, operands: Sequence[Node]) -> Element:
    return _accented("mover", head, operands[0], "UNDERACCENT")


def _under(head: Node, operands: Sequence[Node]) -> Element:
    return _accented("munder", head, operands[0], "OVERACCENT")


def _accented(tag: str, accent: Node, base: Node, opposite: str) -> Element:
    attributes = {"accent": "true"} if tag == "mover" else {"accentunder": "true"}
    if base.kind == APPLY and base.children[0].role == opposite:
        inner_accent, inner_base = base.children[0], base.children[1]
        under, over = (inner_accent, accent) if tag == "mover" else (accent, inner_accent)
        parts = (present(inner_base), present(under), present(over))
        return Element("munderover", "", parts, {"accent": "true", "accentunder": "true"})
    return Element(tag, "", (present(base), present(accent)), attributes)


def _scripts(head: Node, operands: Sequence[Node]) -> Element:
    """Return a base with all its scripts: those of one level are one pair, others make `mmultiscripts`."""
    base, script = operands
    before: list[list[Node | None]] = []
    middle: list[list[Node | None]] = []
    after: list[list[Node | None]] = []
    levels = {"pre": 0, "mid": 0, "post": 0}
    padding: Node | None = None
    outer = base
    while True:
        side = 0 if head.role == "SUBSCRIPTOP" else 1
        place = head.position or "post"
        if place == "post" and middle:
            padding, base = script, outer
            break
        pairs = before if place == "pre" else middle if place == "mid" else after
        newest = -1 if place == "pre" else 0
        if not pairs or levels[place] != head.level or pairs[newest][side] is not None:
            pairs.insert(len(pairs) if place == "pre" else 0, [None, None])
        pairs[newest][side] = script
        levels[place] = head.level
        while base.kind == DUAL:
            base = base.children[1]
        if base.kind != APPLY or base.children[0].role not in ("SUPERSCRIPTOP", "SUBSCRIPTOP"):
            break
        if base.enclosure:
            break
        outer = base
        head, base, script = base.children
    element = present(base)
    for below, above in middle:
        element = _limits(element, below, above, padding)
    if before or len(after) > 1:
        parts = [element]
        for below, above in after:
            parts += (_script(below), _script(above))
        if before:
            parts.append(Element("mprescripts"))
            for below, above in before:
                parts += (_script(below), _script(above))
        return Element("mmultiscripts", "", parts)
    if not after:
        return element
    below, above = after[0]
    if above is None:
        return Element("msub", "", (element, _script(below)))
    if below is None:
        return Element("msup", "", (element, present(above)))
    return Element("msubsup", "", (element, present(below), present(above)))


def _script(node: Node | None) -> Element:
    return _EMPTY_ROW if node is None else present(node)


def _limits(element: Element, below: Node | None, above: Node | None, padding: Node | None) -> Element:
    def padded(node: Node) -> Element:
        if padding is None:
            return present(node)
        return Element("mrow", "", (present(node), Element("mphantom", "", (present(padding),))))

    if above is None:
        return Element("munder", "", (element, _EMPTY_ROW if below is None else padded(below)))
    if below is None:
        return Element("mover", "", (element, padded(above)))
    return Element("munderover", "", (element, padded(below), padded(above)))


def _table(node: Node) -> Element:
    rows = []
    for line in node.children:
        cells = []
        for cell in line.children:
            empty = cell.kind == ROW and not cell.children
            cells.append(Element("mtd") if empty else Element("mtd", "", (present(cell),)))
        rows.append(Element("mtr", "", cells))
    return Element("mtable", "", rows)


def _words(node: Node) -> Element:
    if not node.children:
        return _phrase(node) if node.text else _EMPTY_ROW
    return _in_row([present(child) for child in node.children])


def _phrase(node: Node) -> Element:
    name = variant(node.font)
    return Element("mtext", (styled_completely(node.text, name) if name else None) or node.text)


def _loose_script(node: Node) -> Element:
    tag = "msub" if node.role.endswith("SUBSCRIPT") else "msup"
    return Element(tag, "", (_EMPTY_IDENTIFIER, present(node.children[0])))


def _space(node: Node) -> Element:
    return Element("mspace", "", (), {"width": f"{node.level / 100:g}em"})


def _error(node: Node) -> Element:
    return Element("merror", "", (Element("mtext", node.text),))


def _wildcard(node: Node) -> Element:
    return Element("qvar", node.text)


_PRESENTERS: dict[int, Callable[[Node], Element]] = {
    TOKEN: _token,
    APPLY: _application,
    DUAL: _dual,
    ROW: _row,
    ARRAY: _table,
    TEXT: _words,
    SCRIPT: _loose_script,
    HINT: _space,
    ERROR: _error,
    WILDCARD: _wildcard,
}
_BY_MEANING: dict[str, Callable[[Node, Sequence[Node]], Element]] = {
    "square-root": _square_root,
    "nth-root": _root,
    "formulae": _plain_row,
    "multirelation": _plain_row,
    "limit-from": _plain_row,
    "annotated": _plain_row,
    "continued-fraction": _fraction,
}
_BY_ROLE: dict[str, Callable[[Node, Sequence[Node]], Element]] = {
    "FRACOP": _fraction,
    "SUPERSCRIPTOP": _scripts,
    "SUBSCRIPTOP": _scripts,
    "POSTFIX": _postfix,
    "OVERACCENT": _over,
    "UNDERACCENT": _under,
    "ENCLOSE": _enclosed,
}
