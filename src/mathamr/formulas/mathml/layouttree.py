"""Presentation MathML to a symbol layout tree, node for node as Tangent-S builds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from itertools import pairwise
from typing import NamedTuple

from mathamr.formulas.budget import MOST_ELEMENTS, SpentError
from mathamr.formulas.label import clean
from mathamr.formulas.mathml.element import Element, MathMLError
from mathamr.formulas.tree import SLT_EDGES, Slt

OPENING = frozenset(["(", "{", "|", "∥", "&lsqb;"])
CLOSING = frozenset([")", "}", "|", "∥", "&rsqb;"])
COMMA = "&comma;"
_MAX_MERGED_CELLS = 1000
_TABLE = re.compile("M!([0-9]{1,6})x([0-9]{1,6})")
_LAST_TO_FIRST = SLT_EDGES[:0:-1]


class _Symbol:
    """A symbol under construction: its successor on the base line, its other edges, and the end of its base line.

    `last` is set only at the head of a base line, and None while the head is alone.
    """

    __slots__ = ("edges", "label", "last", "next", "origin")

    def __init__(self, label: str, origin: tuple[int, ...] = ()) -> None:
        self.label, self.origin = label, origin
        self.next: _Symbol | None = None
        self.edges: dict[str, _Symbol] | None = None
        self.last: _Symbol | None = None

    def hang(self, edge: str, symbol: _Symbol) -> None:
        if self.edges is None:
            self.edges = {edge: symbol}
        else:
            self.edges[edge] = symbol

    def join(self, symbol: _Symbol) -> None:
        (self.last or self).next = symbol
        self.last = symbol.last or symbol


def slt(element: Element, limit: int = MOST_ELEMENTS, origins: list[tuple[int, ...]] | None = None) -> Slt:
    """Build the symbol layout tree of Presentation MathML; more than `limit` elements are refused.

    `origins` collects for every node the tokens of LaTeX that it was written as.

    Elements are listed breadth first; backwards through the list, the children of each element are
    converted before it and are adjacent, so depth needs no recursion.

    >>> slt(Element("msup", "", [Element("mi", "x"), Element("mn", "2")])).labels
    ('V!x', 'N!2')
    """
    elements = [element]
    counts: list[int] = []
    for item in elements:
        if item.children and item.tag not in _LEAVES:
            parts = item.children if item.tag not in _SELECTED else _SELECTED[item.tag](item)
            elements.extend(parts)
            counts.append(len(parts))
            if len(elements) > limit:
                raise SpentError
        else:
            if item.tag == "mphantom":
                limit -= _size(item, limit)
            counts.append(0)
    converted: list[_Symbol] = []
    taken = 0
    for item, count in zip(reversed(elements), reversed(counts), strict=True):
        prefix = _TOKENS.get(item.tag)
        if prefix is not None:
            text = clean(item.text)
            converted.append(_Symbol(prefix + text if text else "W!", item.origin))
            continue
        convert = _CONVERTERS.get(item.tag)
        if convert is None:
            raise MathMLError(f"layout trees have no element <{item.tag}>: it is not Presentation MathML")
        symbols = converted[taken : taken + count]
        symbols.reverse()
        taken += count
        converted.append(convert(item, symbols))
    return _flatten(converted[-1], origins)


def _size(element: Element, limit: int) -> int:
    """Return the number of elements below this one; raise `SpentError` at `limit`."""
    for count, _ in enumerate(element.iterate()):
        if count >= limit:
            raise SpentError
    return count


def _flatten(root: _Symbol, origins: list[tuple[int, ...]] | None) -> Slt:
    labels: list[str] = []
    parents: list[int] = []
    edges: list[str] = []
    stack: list[tuple[_Symbol, int, str]] = [(root, -1, "-")]
    while stack:
        symbol, parent, edge = stack.pop()
        while True:
            node = len(labels)
            labels.append(symbol.label)
            if origins is not None:
                origins.append(symbol.origin)
            parents.append(parent)
            edges.append(edge)
            if symbol.edges is not None:
                below = symbol.edges
                if len(below) == 1:
                    for letter, child in below.items():
                        stack.append((child, node, letter))
                else:
                    for letter in _LAST_TO_FIRST:
                        if letter in below:
                            stack.append((below[letter], node, letter))
            if symbol.next is None:
                break
            symbol, parent, edge = symbol.next, node, "n"
    return Slt(tuple(labels), tuple(parents), "".join(edges))


def _chain(symbols: Sequence[_Symbol]) -> _Symbol:
    """Chain the symbols on one base line and return its head."""
    if not symbols:
        return _Symbol("W!")
    head = symbols[0]
    for symbol in symbols[1:]:
        head.join(symbol)
    return head


def _row(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    """Convert a row: one base line, or one group node if fences enclose it."""
    kept = [each for each in symbols if each.label != "W!" or each.edges is not None or each.next is not None]
    if len(kept) < 2:
        return kept[0] if kept else _Symbol("W!")
    if len(kept) > 2 and kept[0].label in OPENING and kept[-1].label in CLOSING:
        fences = kept[0].label + kept[-1].label
        inner = kept[1:-1]
        if _is_fenced_table(inner):
            inner[0].label = f"M!{fences}{inner[0].label[2:]}"
            group = inner[0]
        else:
            group = _group(fences, _parts(_merged_tables(inner), (COMMA,)))
        group.origin = kept[0].origin + kept[-1].origin
        return group
    return _chain(_merged_tables(kept))


def _parts(inner: Sequence[_Symbol], separators: Container[str]) -> list[_Symbol]:
    """Split the content of fences at separators; return the first symbol of each part, every part on its own base line.

    Separators count among the row's own members; a single member (a row of its own) is divided along its
    base line.
    """
    if len(inner) == 1:
        firsts = [inner[0]]
        symbol: _Symbol | None = inner[0]
        while symbol is not None:
            following = symbol.next
            if symbol.label in separators and following is not None:
                symbol.next = None
                firsts.append(following)
            symbol = following
        return firsts
    parts: list[list[_Symbol]] = [[]]
    for symbol in inner:
        if parts[-1] and parts[-1][-1].label in separators:
            parts.append([])
        parts[-1].append(symbol)
    return [_chain(part) for part in parts]


def _group(fences: str, firsts: Sequence[_Symbol]) -> _Symbol:
    """Make one node for fences and their content; an element edge leads from each part to the next."""
    for left, right in pairwise(firsts):
        left.hang("e", right)
    group = _Symbol(f"M!{fences}1x{len(firsts)}")
    group.edges = {"w": firsts[0]}
    return group


def _is_table(symbol: _Symbol) -> bool:
    """Return True for a table without fences, which includes the wrapper of a row with scripts."""
    return symbol.label[:2] == "M!" and _TABLE.fullmatch(symbol.label) is not None


def _is_fenced_table(inner: Sequence[_Symbol]) -> bool:
    """Return True if fences enclose only one table without scripts, whose label then takes them."""
    return (
        len(inner) == 1 and _is_table(inner[0]) and inner[0].next is None and len(inner[0].edges or ()) == 1
    )


def _merged_tables(symbols: list[_Symbol]) -> list[_Symbol]:
    """Merge neighbouring tables with the same number of rows side by side; the left one's scripts stay."""
    if len([each for each in symbols if each.label[:2] == "M!"]) < 2:
        return symbols
    merged: list[_Symbol] = []
    neighbours: list[_Columns] = []
    cells = 0
    for symbol in symbols:
        columns = _Columns.of(symbol)
        size = len(columns.cells) if columns is not None else 0
        if columns is None or not neighbours or not neighbours[-1].goes_with(columns, cells + size):
            _merge(neighbours)
            neighbours = []
            cells = 0
            merged.append(symbol)
        if columns is not None:
            neighbours.append(columns)
            cells += size
    _merge(neighbours)
    return merged


class _Columns(NamedTuple):
    """The columns of a table."""

    table: _Symbol
    rows: int
    width: int
    cells: list[_Symbol]

    @classmethod
    def of(cls, symbol: _Symbol) -> _Columns | None:
        found = _TABLE.fullmatch(symbol.label)
        if found is None:
            return None
        rows, width = int(found[1]), int(found[2])
        cells = _cells(symbol)
        return cls(symbol, rows, width, cells) if rows * width == len(cells) else None

    def goes_with(self, other: _Columns, cells: int) -> bool:
        """Return True if the other table continues this one; very large tables are not merged, to bound the time."""
        return self.rows == other.rows and self.table.next is None and cells <= _MAX_MERGED_CELLS


def _merge(neighbours: Sequence[_Columns]) -> None:
    """Move the columns of all tables into the first one, row by row."""
    if len(neighbours) < 2:
        return
    table, rows, _, _ = neighbours[0]
    joined = [
        cell
        for row in range(rows)
        for columns in neighbours
        for cell in columns.cells[row * columns.width : (row + 1) * columns.width]
    ]
    for cell in joined:
        if cell.edges is not None:
            cell.edges.pop("e", None)
    _fill(table, rows, sum(columns.width for columns in neighbours), joined)
    last = neighbours[-1].table
    table.next, table.last = last.next, last.last


def _cells(table: _Symbol) -> list[_Symbol]:
    cells: list[_Symbol] = []
    cell = (table.edges or {}).get("w")
    while cell is not None:
        cells.append(cell)
        cell = (cell.edges or {}).get("e")
    return cells


def _fill(table: _Symbol, rows: int, columns: int, cells: Sequence[_Symbol]) -> None:
    """Give the table its size and its cells, row by row."""
    table.label = f"M!{rows}x{columns}"
    if cells:
        table.hang("w", cells[0])
    for left, right in pairwise(cells):
        left.hang("e", right)


def _is_typed(label: str) -> bool:
    return label[1:2] == "!" or label[:1] == "?"


def _scripted(base: _Symbol, scripts: dict[str, _Symbol]) -> _Symbol:
    """Return the base with its scripts (one or more); a base that is a row, or has such a script already, is wrapped first."""
    if base.next is not None or (base.edges is not None and not base.edges.keys().isdisjoint(scripts)):
        wrapper = _Symbol("M!1x1")
        wrapper.edges = {"w": base}
        base = wrapper
    if base.edges is None:
        base.edges = scripts
    else:
        base.edges.update(scripts)
    return base


def _subscript(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 2:
        return _chain(symbols)
    return _scripted(symbols[0], {"b" if _is_typed(symbols[0].label) else "u": symbols[1]})


def _superscript(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 2:
        return _chain(symbols)
    return _scripted(symbols[0], {"a" if _is_typed(symbols[0].label) else "o": symbols[1]})


def _both_scripts(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 3:
        return _chain(symbols)
    base, below, above = symbols
    typed = _is_typed(base.label)
    return _scripted(base, {"b" if typed else "u": below, "a" if typed else "o": above})


def _under(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 2:
        return _chain(symbols)
    return _scripted(symbols[0], {"u": symbols[1]})


def _over(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 2:
        return _chain(symbols)
    return _scripted(symbols[0], {"o": symbols[1]})


def _under_over(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 3:
        return _chain(symbols)
    return _scripted(symbols[0], {"u": symbols[1], "o": symbols[2]})


def _fraction(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 2:
        return _chain(symbols)
    symbol = _Symbol("O!divide")
    symbol.edges = {"o": symbols[0], "u": symbols[1]}
    return symbol


def _square_root(element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    symbol = _Symbol("O!root")
    symbol.hang("w", _row(element, symbols))
    return symbol


def _root(_element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    if len(symbols) != 2:
        return _chain(symbols)
    symbol = _Symbol("O!root")
    symbol.edges = {"w": symbols[0], "c": symbols[1]}
    return symbol


def _enclosed(element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    symbol = _Symbol(clean(element.attributes.get("notation", "")))
    symbol.hang("w", _row(element, symbols))
    return symbol


def _table(element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    rows = element.children
    table = _Symbol("")
    _fill(table, len(rows), len(_cells_of_row(rows[0])) if rows else 0, symbols)
    return table


def _cells_of_row(row: Element) -> Sequence[Element]:
    if row.tag == "mtr":
        return row.children
    return row.children[1:] if row.tag == "mlabeledtr" else [row]


def _cells_of_table(table: Element) -> Sequence[Element]:
    return [cell for row in table.children for cell in _cells_of_row(row)]


def _fenced(element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    """Convert `mfenced`: fences and separators are its attributes; each child is a part."""
    attributes = element.attributes
    fences = clean(attributes.get("open", "(")) + clean(attributes.get("close", ")"))
    separators = "".join(attributes.get("separators", ",").split())
    parts: list[_Symbol] = []
    for number, symbol in enumerate(symbols):
        if number and separators:
            parts.append(_Symbol(separators[min(number, len(separators)) - 1]))
        parts.append(symbol)
    if _is_fenced_table(parts):
        parts[0].label = f"M!{fences}{parts[0].label[2:]}"
        return parts[0]
    return _group(fences, _parts(parts, separators))


def _multiscripts(element: Element, symbols: Sequence[_Symbol]) -> _Symbol:
    """Convert scripts on all four corners; further pairs follow on the base line of the first."""
    if not symbols:
        return _Symbol("W!")
    base = symbols[0]
    corners: dict[str, _Symbol] = {}
    before, place = False, 0
    for child, symbol in zip(element.children[1:], symbols[1:], strict=True):
        if child.tag == "mprescripts":
            before, place = True, 0
            continue
        edge = ("dc" if before else "ba")[place % 2]
        place += 1
        if symbol.label == "W!" and symbol.edges is None and symbol.next is None:
            continue
        if edge in corners:
            corners[edge].join(symbol)
        else:
            corners[edge] = symbol
    return _scripted(base, corners) if corners else base


def _blank(_element: Element, _symbols: Sequence[_Symbol]) -> _Symbol:
    return _Symbol("W!")


def _error(element: Element, _symbols: Sequence[_Symbol]) -> _Symbol:
    return _Symbol("E!" + clean(element.text))


def _wildcard(element: Element, _symbols: Sequence[_Symbol]) -> _Symbol:
    return _Symbol("?" + clean(element.attributes.get("name", element.text)))


_TOKENS = {"mi": "V!", "mn": "N!", "mo": "", "mtext": "T!", "ms": "T!"}

_CONVERTERS: dict[str, Callable[[Element, Sequence[_Symbol]], _Symbol]] = {
    "math": _row,
    "semantics": _row,
    "maction": _row,
    "mstyle": _row,
    "mrow": _row,
    "mpadded": _row,
    "mtr": _row,
    "mlabeledtr": _row,
    "mtd": _row,
    "mfenced": _fenced,
    "mtable": _table,
    "msub": _subscript,
    "msup": _superscript,
    "msubsup": _both_scripts,
    "munder": _under,
    "mover": _over,
    "munderover": _under_over,
    "mmultiscripts": _multiscripts,
    "mfrac": _fraction,
    "msqrt": _square_root,
    "mroot": _root,
    "menclose": _enclosed,
    "merror": _error,
    "qvar": _wildcard,
    "mspace": _blank,
    "none": _blank,
    "mphantom": _blank,
    "mprescripts": _blank,
    "mglyph": _blank,
}

_LEAVES = frozenset(_TOKENS) | {"merror", "qvar", "mspace", "none", "mphantom", "mprescripts", "mglyph"}
"""Elements whose children are not part of the tree."""


def _first_child(element: Element) -> Sequence[Element]:
    return element.children[:1]


_SELECTED: dict[str, Callable[[Element], Sequence[Element]]] = {
    "semantics": _first_child,
    "maction": _first_child,
    "mtable": _cells_of_table,
}
"""Elements of which only some children are converted."""

PRESENTATION_TAGS = (frozenset(_CONVERTERS) | frozenset(_TOKENS)) - {"qvar"}
"""All elements of Presentation MathML that a tree can contain."""
