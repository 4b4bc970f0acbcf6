"""`FormulaHead`: the symbols that a formula is about, which stand before its first relation, and what it says of them."""

from __future__ import annotations

import re

from mathamr.formulas.formula import Formula
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.marking import stretches
from mathamr.formulas.tree import Slt
from mathamr.formulas.trees import trees_of

LONGEST = 2_000
"""Characters of a formula that is read; a longer one introduces nothing."""
MOST_SYMBOLS = 40
"""Symbols of a list that are told."""
LONGEST_NOTATION = 40
"""Characters of the LaTeX of a notation such as `|G|`."""
_DEFINES, _EQUALS, _COMPARES, _INCLUDES = (":=", *"≔≝≜"), "=≡", "<>≤≥⩽⩾≠≪≫≅≃≈∣", "∈∋⊂⊆⊊⊃⊇⊋∼∝"
_ARROWS = "→↪↠↦⟶⟼⇝↣↔⇒⇐⇔⟹⟸⟺"
_RELATIONS = {*_DEFINES, *_EQUALS, *_COMPARES, *_INCLUDES, *_ARROWS, ":"}
_MARKS = {"′": "'", "*": "*", "∗": "*", "∨": "^∨", "∘": "^∘", "⊥": "^⊥", "⊤": "^⊤", "×": "^×", "⋆": "^⋆"}
"""What above a letter makes another symbol of it."""
_ACCENTS = {"^": "\u0302", "¯": "\u0304", "~": "\u0303", "→": "\u20d7", "˙": "\u0307"}
_TYPST = re.compile(r"(?<=\s)(in|subset)(?:\.eq)?(?=\s)")
_FONT = re.compile(r"(?:(?<=,)|\A)\s*\\([A-Za-z]+)\{([^{}]+)\}")
_BRACKETS = ("M!||", "M!&lsqb;", "M!1x1", "‖", "⟨", "|", "∣")


class FormulaHead:
    r"""What stands before the first relation of a formula: the symbols that a sentence may introduce, and what the formula says of them.

    `kind` is a letter: nothing (b), a definition (d), an equation (e), a range (r), a type (t), a comparison (i), another
    relation (c), or only an arrow, which says nothing of its left side (x).

    >>> [(each.kind, each.symbols()) for each in map(FormulaHead, (r"x_1, \dots, y", r"f\colon X\to Y", "|G|", "2n"))]
    [('b', [('x', 'x_1', ''), ('y', 'y', '')]), ('t', [('f', 'f', '$\\colon X\\to Y$')]), ('b', [('|G|', '|G|', '')]), ('b', [])]
    """

    def __init__(self, latex: str, macros: tuple[str, ...] = ()) -> None:
        self.latex, self._macros = _TYPST.sub(r"\\\1", latex if len(latex) <= LONGEST else ""), macros
        tree = trees_of(Formula("", self.latex), macros)[0][1]
        unknown = {f"V!{name}" for name, _ in _FONT.findall(self.latex)}.intersection(
            tree.labels if tree else ()
        )
        if unknown or (
            tree and "E!" in tree.labels and _FONT.search(self.latex)
        ):  # a command that nobody defined is a font
            self.latex = _FONT.sub(
                lambda font: font[2] if f"V!{font[1]}" in unknown or not unknown else font[0], self.latex
            )
            tree = trees_of(Formula("", self.latex), macros)[0][1]
        self._tree = tree if tree is not None else Slt((), (), "")
        self._labels = self._tree.labels
        self._below: list[dict[str, int]] = [{} for _ in self._labels]
        for node, (parent, edge) in enumerate(zip(self._tree.parents, self._tree.edges, strict=True)):
            if parent >= 0:
                self._below[parent][edge] = node
        row = self._row(0) if self._labels else []
        if row and re.fullmatch(r"M!\d+x\d+", self._labels[0]):
            row = [node for cell in self._cells(0) for node in cell]
        found = [place for place, node in enumerate(row) if self._labels[node] in _RELATIONS]
        self._head, self._after = (row[: found[0]], row[found[0] :]) if found else (row, [])
        if len(found) > 1 and self._is_between(row, *found[:2]):
            self._head, self._after = row[found[0] + 1 : found[1]], row
        self.kind = self._kind()

    def symbols(self) -> list[tuple[str, str, str]]:
        """Return the symbols: each with its LaTeX, and what the formula itself says of it."""
        parts: list[list[int]] = [[]]
        for node in self._head:
            parts[-1].append(node) if self._labels[node] != "&comma;" else parts.append([])
        condition = f"${self._written(self._after[:1], to_end=True)}$" if self._after else ""
        found: dict[str, tuple[str, str, str]] = {}
        for part in parts[:MOST_SYMBOLS]:
            if self._is_tuple(part):
                part = self._cells(part[0])[0]  # a tuple or a sequence is introduced by its first letter
            part = [node for node in part if self._labels[node] != "&comma;"]
            if part and (name := self._name(part)) and name not in found:
                found[name] = (name, self._written(part), condition)
        return list(found.values())

    def _is_tuple(self, part: list[int]) -> bool:
        in_brackets = len(part) == 1 and self._labels[part[0]].startswith(("M!()", "M!{}"))
        return in_brackets and "matrix}" not in self.latex

    def _kind(self) -> str:
        labels = [self._labels[node] for node in self._after]
        if not labels:
            return "b"
        first, rest = labels[0], labels[1:]
        if first in _DEFINES:
            return "d"
        if first in _EQUALS:
            return "r" if rest.count("&comma;") > 1 else "e"
        if first == ":" and any(each in _ARROWS for each in rest):
            return "t"
        return "x" if first in _ARROWS else "i" if first in _COMPARES else "c"

    def _is_between(self, row: list[int], first: int, second: int) -> bool:
        """Return True if two relations say what stands between them: $1 \\leq i \\leq n$, $A \\subset U \\subset B$."""
        labels = [self._labels[node] for node in row]
        if (first, second) != (1, 3) or labels[2][:2] != "V!":
            return False
        if {labels[1], labels[3]} <= set("≤⩽"):
            return labels[0] in ("N!0", "N!1") and labels[4:] != [] and labels[4][:2] == "V!"
        return {labels[1], labels[3]} <= set("⊂⊆⊊")

    def _name(self, part: list[int]) -> str:
        """Return what to call the symbol that a part of the head is; empty if it is none."""
        label, rest = self._labels[part[0]], [self._labels[node] for node in part[1:]]
        name = label[2:] if label[:2] in ("V!", "T!") else ""
        if not (name.isalpha() or rest or label[:2] in ("N!", "M!", "O!")):
            found = re.match(r"\\(?![lcv]?dots|forall|exists|infty)[A-Za-z]+", self._written(part))
            return found.group() if found else ""
        is_notation = label.startswith(_BRACKETS) or (
            name.isalpha()
            and bool(rest)
            and all(each[:2] == "V!" or each == "/" for each in rest)
            and rest[0] == "/"
        )
        if is_notation and len(bare := "".join(self._written(part).split())) <= LONGEST_NOTATION:
            return "" if self.kind in "ci" else bare
        is_applied = len(rest) == 1 and rest[0].startswith(("M!()", "M!&lsqb;"))
        if (
            not name.isalpha()
            or (rest and len(name) == 1 and not is_applied)
            or (is_applied and self.kind in "ci")
        ):
            return ""
        above = self._below[part[0]].get("a")
        raised = [] if above is None else [self._labels[node] for node in self._row(above)]
        if "/" in raised or (raised[:1] == ["−"] and (raised[1:] != ["N!1"] or rest)):
            return ""
        over = self._below[part[0]].get("o")
        mark = (
            "^{-1}"
            if raised[:1] == ["−"]
            else "^op"
            if raised == ["V!o", "V!p"]
            else "".join(_MARKS.get(each, "") for each in raised)
        )
        return name + ("" if over is None else _ACCENTS.get(self._labels[over], "")) + mark

    def _row(self, node: int) -> list[int]:
        """Return a node and those that follow it on its line."""
        row = [node]
        while (node := self._below[node].get("n", -1)) >= 0:
            row.append(node)
        return row

    def _cells(self, node: int) -> list[list[int]]:
        """Return what stands between the commas of brackets, or in the cells of an alignment."""
        cells, first = [], self._below[node].get("w")
        while first is not None:
            cells.append(self._row(first))
            first = self._below[first].get("e")
        return cells

    def _written(self, nodes: list[int], *, to_end: bool = False) -> str:
        """Return the LaTeX of nodes with what hangs on them, or all from there to the end."""
        inside = set(nodes)
        for node, (parent, edge) in enumerate(zip(self._tree.parents, self._tree.edges, strict=True)):
            if parent in inside and edge != "n" and not (edge == "e" and parent in nodes):
                inside |= {node, *self._row(node)}
        found = stretches(self.latex, Macros.of(self._macros), self._tree, inside)
        start, end = (found[0][0], found[-1][1]) if found else (0, len(self.latex))
        return self.latex[start : len(self.latex) if to_end else end].strip()
