"""Diagrams: `\\xymatrix` and the environment `CD` become tables of their objects; arrows of `CD` stay as symbols."""

from __future__ import annotations

from mathamr.formulas.latex.arrays import braced, cells_of, put_table
from mathamr.formulas.latex.environments import IN_ENVIRONMENT
from mathamr.formulas.latex.node import Node
from mathamr.formulas.latex.reader import ENVIRONMENTS, Reader, command
from mathamr.formulas.latex.styles import TEXT

_HORIZONTAL = {">": "\\xrightarrow", "<": "\\xleftarrow"}
_VERTICAL = {"V": "\\downarrow", "A": "\\uparrow"}


@command("\\xymatrix")
def _xymatrix(reader: Reader, nodes: list[Node]) -> None:
    while reader.i < reader.count and reader.tokens[reader.i] not in ("{", "\\\\", "&"):
        reader.i += 1
    _OBJECTS(reader, nodes)


_OBJECTS = braced(put_table, TEXT)


def _commutative(reader: Reader, nodes: list[Node], name: str) -> None:
    end = reader.i
    while end < reader.count and reader.tokens[end] != "\\end":
        end += 1
    rewritten, offsets = _with_arrows(reader.tokens[reader.i : end], reader.offsets[reader.i : end])
    reader.tokens = [*reader.tokens[: reader.i], *rewritten, *reader.tokens[end:]]
    reader.offsets = [*reader.offsets[: reader.i], *offsets, *reader.offsets[end:]]
    reader.count = len(reader.tokens)
    put_table(reader, nodes, cells_of(reader, IN_ENVIRONMENT, TEXT))


def _with_arrows(tokens: list[str], offsets: list[int]) -> tuple[list[str], list[int]]:
    """`A @>f>g> B` as cells: the object, the arrow with its labels, the object."""
    result: list[str] = []
    places: list[int] = []
    position = 0
    while position < len(tokens):
        token, place = tokens[position], offsets[position]
        sign = tokens[position + 1] if token == "@" and position + 1 < len(tokens) else ""
        if sign in _HORIZONTAL or sign in _VERTICAL:
            first, position = _label(tokens, position + 2, sign)
            second, position = _label(tokens, position, sign)
            if sign in _HORIZONTAL:
                written = ["&", _HORIZONTAL[sign], "[", *second, "]", "{", *first, "}", "&"]
            else:
                written = [*first, _VERTICAL[sign], *second, "&", "&"]
        elif sign in ("=", "|", "."):
            written = {"=": ["&", "=", "&"], "|": ["\\|", "&", "&"], ".": ["&", "&"]}[sign]
            position += 2
        else:
            written = [token]
            position += 1
        result.extend(written)
        places.extend([place] * len(written))
    return result, places


def _label(tokens: list[str], position: int, sign: str) -> tuple[list[str], int]:
    """Returns the tokens up to the arrow's next sign outside braces, and the position after it."""
    depth, start = 0, position
    while position < len(tokens) and (depth or tokens[position] != sign):
        depth += (tokens[position] == "{") - (tokens[position] == "}")
        position += 1
    return tokens[start:position], position + 1


ENVIRONMENTS["CD"] = _commutative
