"""Content MathML to an operator tree, node for node as Tangent-S builds it.

Where the published code stops (an unknown symbol, too many operands of an ordered operator) the conversion continues in the
same spirit: see `docs/formulas.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr.core.listing import names
from mathamr.formulas.budget import MOST_ELEMENTS, SpentError
from mathamr.formulas.label import clean
from mathamr.formulas.mathml.element import Element, MathMLError
from mathamr.formulas.tree import OPT_EDGES, Opt

_UNORDERED = ["eq", "neq", "approx", "equivalent", "union", "intersect", "plus", "times", "and", "or"]
FUNCTIONS = {
    "sine": "sin", "cosine": "cos", "tangent": "tan", "cotangent": "cot", "secant": "sec", "cosecant": "csc",
    "hyperbolic-sine": "sinh", "hyperbolic-cosine": "cosh", "hyperbolic-tangent": "tanh",
    "hyperbolic-secant": "sech", "hyperbolic-cosecant": "csch", "inverse-sine": "arcsin", "inverse-cosine": "arccos",
    "inverse-tangent": "arctan", "inverse-secant": "arcsec", "inverse-cosecant": "arccsc",
    "inverse-cotangent": "arccot", "inverse-hyperbolic-sine": "arcsinh", "inverse-hyperbolic-cosine": "arccosh",
    "inverse-hyperbolic-tangent": "arctanh", "inverse-hyperbolic-secant": "arcsech",
    "inverse-hyperbolic-cosecant": "arccsch", "inverse-hyperbolic-cotangent": "arccoth", "absolute-value": "abs",
    "exponential": "exp", "logarithm": "log", "natural-logarithm": "ln", "minimum": "min", "maximum": "max",
    "ceiling": "ceiling", "floor": "floor", "argument": "arg", "gcd": "gcd", "real-part": "real", "imaginary-part": "imaginary",
}  # fmt: skip
"""The elements of functions by what LaTeXML calls their meaning; it has none for the hyperbolic cotangent."""
_CONSTANTS = names("""
    infinity emptyset imaginaryi pi exponentiale eulergamma true false notanumber integers reals rationals naturalnumbers
    complexes primes
    """)
_TEMPORARY = ["degree", "bvar", "lowlimit", "uplimit"]

_LABELS = {
    **{name: f"U!{name}" for name in _UNORDERED},
    **{name: f"F!{name}" for name in [*FUNCTIONS.values(), "coth"]},
    **{name: f"C!{name}" for name in _CONSTANTS},
    **{name: f"$!{name}" for name in _TEMPORARY},
    "determinant": "F!det",
}
"""Elements that are symbols by their name; any other name makes an ordered operator `O!name`."""

_SYMBOLS = {
    ("latexml", "for-all"): "O!forall",
    ("latexml", "modulo"): "O!rem",
    ("latexml", "square-root"): "O!root",
    ("latexml", "hyperbolic-cotangent"): "F!coth",
    ("latexml", "absent"): "W!",
    ("latexml", "planck-constant-over-2-pi"): "C!hbar",
    ("ambiguous", "superscript"): "O!SUP",
    ("ambiguous", "subscript"): "O!SUB",
    ("ambiguous", "formulae-sequence"): "O!form-seq",
    ("ambiguous", "missing-subexpression"): "W!",
}
_DELIMITED = "delimited-"
_SCRIPTS = ("O!SUP", "O!SUB")
_COLLECTIONS = {"vector": "M!V-", "list": "M!L-", "set": "M!S-"}


class _Operation:
    """A node under construction: its label and its operands."""

    __slots__ = ("label", "operands")

    def __init__(self, label: str, operands: list[_Operation]) -> None:
        self.label = label
        self.operands = operands


def opt(element: Element, limit: int = MOST_ELEMENTS) -> Opt:
    """Build the operator tree of Content MathML; a tree of more than `limit` nodes is refused.

    Shared operands are copied and short rows of matrices are filled up, so small input could fill the memory.

    Elements are listed breadth first; backwards through the list, the children of each element are
    converted before it and are adjacent, so depth needs no recursion.

    >>> x = Element("ci", "x")
    >>> opt(Element("apply", "", [Element("plus"), x, Element("cn", "1")])).labels
    ('U!plus', 'V!x', 'N!1')
    """
    elements = [element]
    counts: list[int] = []
    for item in elements:
        children = item.children
        if not children or item.tag in _LEAVES:
            counts.append(0)
        elif item.tag == "semantics":
            elements.append(children[0])
            counts.append(1)
        else:
            elements.extend(children)
            counts.append(len(children))
            if len(elements) > limit:
                raise SpentError
    converted: list[_Operation] = []
    shares: list[tuple[Element, _Operation]] = []
    taken = 0
    for item, count in zip(reversed(elements), reversed(counts), strict=True):
        tag = item.tag
        if tag == "ci" or tag == "cn":
            text = clean(item.text)
            converted.append(
                _Operation(f"V!{text}" if tag == "ci" else f"N!{text}", []) if text else _Operation("W!", [])
            )
            continue
        operands = converted[taken : taken + count]
        operands.reverse()
        taken += count
        if tag == "apply":
            operation = _apply(operands)
        elif tag in _CONVERTERS:
            if tag == "matrix":
                limit -= _filled(operands, limit)
            operation = _CONVERTERS[tag](item, operands)
        else:
            operation = _Operation(_LABELS.get(tag) or f"O!{tag}", operands)
        if tag == "share":
            shares.append((item, operation))
        converted.append(operation)
    if shares:
        _resolve(elements, converted, shares)
    return _flatten(converted[-1], limit)


def _flatten(root: _Operation, limit: int) -> Opt:
    labels: list[str] = []
    parents: list[int] = []
    edges: list[str] = []
    stack: list[tuple[_Operation, int, str]] = [(root, -1, "-")]
    while stack:
        operation, parent, edge = stack.pop()
        node = len(labels)
        labels.append(operation.label)
        parents.append(parent)
        edges.append(edge)
        operands = operation.operands
        if operands:
            count = len(operands)
            if count > len(OPT_EDGES):
                middle = (count + 1) // 2
                operands = [
                    _Operation(operation.label, operands[:middle]),
                    _Operation(operation.label, operands[middle:]),
                ]
                count = 2
            while count:
                count -= 1
                stack.append((operands[count], node, OPT_EDGES[count]))
            if node > limit:
                raise SpentError
    return Opt(tuple(labels), tuple(parents), "".join(edges))


def _apply(operands: list[_Operation]) -> _Operation:
    """Make the first child, the operator, the parent; an operator that is a tree gets a `+!` parent."""
    if not operands:
        return _Operation("W!", [])
    head = operands[0]
    if head.operands:
        if len(operands) == 1:
            return head
        inner = head.operands[0].label if head.label in _SCRIPTS else ""
        return _Operation(f"+!{inner}", operands)
    arguments = operands[1:]
    if head.label[:2] == "V!":
        head.label = f"F!{head.label[2:]}"
    elif head.label == "O!root":
        arguments = _root(arguments)
    elif head.label == "O!int":
        arguments = _integral(arguments)
    head.operands = arguments
    return head


def _root(arguments: list[_Operation]) -> list[_Operation]:
    """Return radicand and degree, which is 2 by default."""
    degrees = [argument for argument in arguments if argument.label == "$!degree" and argument.operands]
    radicand = [argument for argument in arguments if argument.label != "$!degree"]
    return [*radicand, degrees[0].operands[0] if degrees else _Operation("N!2", [])]


def _integral(arguments: list[_Operation]) -> list[_Operation]:
    """Return the integrand, then the two limits, blank if there are none."""
    limits = {argument.label: argument.operands[0] for argument in arguments if argument.operands}
    integrand = [argument for argument in arguments if argument.label[:2] != "$!"]
    return [*integrand, *(limits.get(name) or _Operation("W!", []) for name in ("$!lowlimit", "$!uplimit"))]


def _only_child(item: Element, operands: list[_Operation]) -> _Operation:
    if len(operands) != 1:
        raise MathMLError(f"<{item.tag}> must hold exactly one formula, not {len(operands)}")
    return operands[0]


def _symbol(item: Element, _operands: list[_Operation]) -> _Operation:
    return _Operation(_symbol_label(item), [])


def _symbol_label(item: Element) -> str:
    dictionary = item.attributes.get("cd", "")
    text = clean(item.text)
    if dictionary == "unknown":
        return f"-!{text.lower()}"
    label = _SYMBOLS.get((dictionary, text.lower()))
    if label is None and text.startswith(_DELIMITED):
        label = f"M!D-{text[len(_DELIMITED) + 1 :]}"
    if label is None and dictionary == "latexml":
        try:
            label = f"N!{float(text)}"
        except ValueError:
            label = None
    return label or (f"O!{text.lower()}" if text else "W!")


def _collection(item: Element, operands: list[_Operation]) -> _Operation:
    return _Operation(f"{_COLLECTIONS[item.tag]}{len(operands)}", operands)


def _interval(item: Element, operands: list[_Operation]) -> _Operation:
    ends = {"open": "O-O", "open-closed": "O-C", "closed-open": "C-O"}.get(
        item.attributes.get("closure", ""), "C-C"
    )
    return _Operation(f"O!interval({ends})", operands)


def _matrix(_item: Element, operands: list[_Operation]) -> _Operation:
    columns = max((len(row.operands) for row in operands), default=0)
    return _Operation(f"M!M-{len(operands)}x{columns}", operands)


def _filled(rows: Sequence[_Operation], limit: int) -> int:
    """Fill short rows of a matrix up to the longest; return how many cells that took."""
    columns = max((len(row.operands) for row in rows), default=0)
    missing = len(rows) * columns - sum(len(row.operands) for row in rows)
    if missing > limit:
        raise SpentError
    for row in rows:
        row.operands.extend(_Operation("E!", []) for _ in range(columns - len(row.operands)))
    return missing


def _matrix_row(_item: Element, operands: list[_Operation]) -> _Operation:
    return _Operation("M!R!", operands)


def _error(_item: Element, operands: list[_Operation]) -> _Operation:
    """Convert unparsed fragments; runs of unknown letters are joined to a text."""
    merged: list[_Operation] = []
    letters: list[_Operation] = []
    for operand in [*operands, None]:
        if operand is not None and operand.label[:2] == "-!" and not operand.operands:
            letters.append(operand)
            continue
        if len(letters) > 1:
            letters = [_Operation("T!" + "".join(letter.label[2:] for letter in letters), [])]
        merged += letters
        letters = []
        if operand is not None:
            merged.append(operand)
    return _Operation("E!", merged)


def _text(item: Element, _operands: list[_Operation]) -> _Operation:
    text = clean(item.text)
    return _Operation(f"T!{text}" if text else "W!", [])


def _wildcard(item: Element, _operands: list[_Operation]) -> _Operation:
    return _Operation("?" + clean(item.attributes.get("name", item.text)), [])


def _share(_item: Element, _operands: list[_Operation]) -> _Operation:
    return _Operation("W!", [])


_CONVERTERS: dict[str, Callable[[Element, list[_Operation]], _Operation]] = {
    "math": _only_child,
    "semantics": _only_child,
    "csymbol": _symbol,
    **dict.fromkeys(_COLLECTIONS, _collection),
    "interval": _interval,
    "matrix": _matrix,
    "matrixrow": _matrix_row,
    "cerror": _error,
    "mtext": _text,
    "qvar": _wildcard,
    "share": _share,
}

_LEAVES = frozenset(["ci", "cn", "csymbol", "mtext", "qvar", "share"])
"""Elements whose children are not part of the tree."""


def _resolve(
    elements: Sequence[Element],
    converted: Sequence[_Operation],
    shares: Sequence[tuple[Element, _Operation]],
) -> None:
    """Replace every `share` by its target: by id, or the last operand of the previous relation.

    A target that is not a node of the tree is the text inside a `ci`.
    """
    operations = {id(item): made for item, made in zip(elements, reversed(converted), strict=True)}
    by_id = {
        each.attributes["id"]: each
        for item in elements
        for each in (item, *item.children)
        if "id" in each.attributes
    }
    places = {id(child): (item, place) for item in elements for place, child in enumerate(item.children)}
    for share, operation in reversed(shares):
        target = by_id.get(share.attributes.get("href", "").removeprefix("#"))
        if target is None:
            target = _last_operand_before(share, places)
        if target is not None:
            made = operations.get(id(target)) or _text(target, [])
            operation.label, operation.operands = made.label, made.operands


def _last_operand_before(share: Element, places: dict[int, tuple[Element, int]]) -> Element | None:
    """Return the right side of the relation before the one that holds the share, as in `a = b = <share/>…`."""
    relation, _ = places.get(id(share), (None, 0))
    chain, place = places.get(id(relation), (None, 0))
    if chain is None or place == 0 or not chain.children[place - 1].children:
        return None
    return chain.children[place - 1].children[-1]
