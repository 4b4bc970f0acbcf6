"""The numbers of a PreTeXt book: divisions, blocks that share a counter, exercises and equations.

PreTeXt counts over the assembled book, so the files are followed from the root through their inclusions. The rules are those of its
style sheets: a block has the number of the division above it, cut or filled with zeros to the level of its family, and its place among
the blocks of that family there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mathamr.core.listing import names

DEEPEST = 100
"""Elements and files in each other that are followed; what is nested deeper is read as text."""

_INCLUDE = "{http://www.w3.org/2001/XInclude}include"
_DIVISIONS = names("part chapter appendix section subsection subsubsection")
_SPECIAL = names("exercises solutions reading-questions references glossary worksheet handout")
_SCOPES = _DIVISIONS | _SPECIAL | names("book article frontmatter backmatter preface")
BLOCKS = names("""
    definition theorem corollary lemma algorithm proposition claim fact identity axiom conjecture principle heuristic hypothesis
    assumption remark convention note observation warning insight computation technology data example question problem
    openproblem openquestion openconjecture
    """)
PROJECTS = names("project activity exploration investigation")
_FIGURES = names("figure table listing list")
_INLINE_PARENTS = names(
    "article paragraphs chapter appendix section subsection subsubsection handout introduction conclusion"
)
_LETTERED = names("appendix solutions")
_LEGACY = {"division": "divisions", "theorems": "blocks"}
_LEVEL = re.compile(r"\s*(\d)\s*\Z")

Place = tuple[Path, int]
"""A file, and the place of an element among all elements of it."""


@dataclass
class Levels:
    """How deep the numbers of each family are, as a publication file says, and which families have counters of their own."""

    levels: dict[str, int] = field(default_factory=dict)
    distinct: frozenset[str] = frozenset()

    @classmethod
    def read(cls, numbering: Any) -> Levels:
        """Return what a `numbering` element says."""
        found: dict[str, int] = {}
        distinct: set[str] = set()
        for child in numbering:
            if not isinstance(child.tag, str):
                continue
            if level := _LEVEL.match(child.get("level") or ""):
                found[_LEGACY.get(child.tag, child.tag)] = int(level[1])
            if child.get("distinct") == "yes":
                distinct.add(child.tag)
            if child.get("chapter-start", "1") != "1":
                found["first chapter"] = (
                    int(child.get("chapter-start")) if child.get("chapter-start").isdigit() else 1
                )
        return cls(found, frozenset(distinct & {"projects", "figures", "exercises"}))


class Numbers:
    """The numbers of the elements of one book, by their places."""

    def __init__(self, root: Path, read: Callable[[Path], Any | None], levels: Levels | None) -> None:
        self.found: dict[Place, str] = {}
        self._read, self._levels = read, levels
        self._files: set[Path] = set()
        self._counts: dict[str, int] = {}
        self._deepest, self._default = 0, 0
        self._lettered = 0
        self._chapters = (levels.levels.get("first chapter", 1) if levels else 1) - 1
        self._has_parts = False
        tree = _Node.read(root, self._read, self._files)
        book = next((node for node in tree.below("book", "article")), None) if tree else None
        if book is not None and levels is not None:
            self._has_parts = any(True for _ in book.below("part"))
            is_structured = any(True for _ in book.below("section"))
            most, usual = (
                (5, 3)
                if self._has_parts
                else (4, 2)
                if book.name == "book"
                else (3, 1)
                if is_structured
                else (0, 0)
            )
            self._deepest = min(levels.levels.get("divisions", most), most)
            self._default = min(usual, self._deepest)
            self._walk(book, "", 0, {})

    def _level(self, family: str) -> int:
        level = self._levels.levels.get(family, self._default) if self._levels else 0
        return level if level <= self._deepest else self._default

    def _walk(self, node: _Node, above: str, level: int, scopes: dict[str, dict[str, int]]) -> None:
        """Count what is in a division; `scopes` are the counters that are open, by their families."""
        scopes = self._opened(node, level, scopes)
        serial = 0
        for child in node.children:
            name = child.name
            if name in _DIVISIONS or name in _SPECIAL:
                own, struct = self._division(child, node, above, serial + 1)
                serial += own
                if level < self._deepest or (self._has_parts and name == "part"):
                    self.found[child.place] = struct if name != "part" else ""
                self._walk(child, struct, level + 1, scopes)
            elif name in ("frontmatter", "backmatter", "preface"):
                depth = level + 1 if name == "preface" or self._has_parts else level
                self._walk(child, above, depth, scopes)
            elif name in ("introduction", "conclusion"):
                open_here = dict(scopes)
                for family in self._families():
                    if family not in open_here:
                        open_here[family] = self._shared(node, family)
                self._content(child, above, open_here)
            else:
                self._content(child, above, scopes)

    def _shared(self, node: _Node, family: str) -> dict[str, int]:
        return node.beside.setdefault(family, {"n": 0})

    def _families(self) -> Iterable[str]:
        distinct = self._levels.distinct if self._levels else ()
        return ("blocks", "equations", *distinct)

    def _opened(
        self, node: _Node, level: int, scopes: dict[str, dict[str, int]]
    ) -> dict[str, dict[str, int]]:
        is_terminal = not any(
            child.name in (_DIVISIONS if node.name in _SCOPES - _SPECIAL else _SCOPES)
            for child in node.children
        )
        opened = dict(scopes)
        for family in self._families():
            if family not in scopes and (is_terminal or level >= self._level(family)):
                opened[family] = {"n": 0}
        return opened

    def _division(self, child: _Node, parent: _Node, above: str, serial: int) -> tuple[int, str]:
        """Return whether a division counts among its neighbours, and its number."""
        if child.name == "part":
            return 0, ""
        if parent.name == "backmatter":
            if child.name not in _LETTERED:
                return 0, above
            self._lettered += 1
            return 0, chr(ord("A") + min(self._lettered - 1, 25))
        if child.name == "chapter":
            self._chapters += 1
            return 1, str(self._chapters)
        if child.name in _SPECIAL and not any(each.name in _DIVISIONS for each in parent.children):
            return 1, above
        return 1, f"{above}.{serial}" if above else str(serial)

    def _content(self, node: _Node, above: str, scopes: dict[str, dict[str, int]]) -> None:
        """Count the blocks in a node of the text, itself included."""
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if family := self._family(each):
                self._count(each, family, above, scopes)
            elif each.name == "exercise" and (holder := each.holder()) is not None:
                holder.exercises += 1
                own = each.number or str(holder.exercises)
                self.found[each.place] = f"{above}.{own}" if above else own
            waiting += reversed(each.children)

    def _family(self, node: _Node) -> str:
        name, distinct = node.name, self._levels.distinct if self._levels else ()
        if name in BLOCKS:
            return "blocks"
        if name in PROJECTS:
            return "projects" if "projects" in distinct else "blocks"
        if name in _FIGURES:
            above = node.parent
            is_panel = above is not None and above.name in ("sidebyside", "stack") and above.within("figure")
            return "" if is_panel else "figures" if "figures" in distinct else "blocks"
        if (
            name == "exercise"
            and node.parent is not None
            and node.parent.name in _INLINE_PARENTS
            and not node.holder()
        ):
            return "exercises" if "exercises" in distinct else "blocks"
        if name == "men" or (
            name == "md" and node.number == "yes" and not any(row.name == "mrow" for row in node.children)
        ):
            return "equations"
        if name == "mrow" and node.parent is not None:
            said = node.number or node.parent.number or ("yes" if node.parent.name == "mdn" else "no")
            return "equations" if said == "yes" else ""
        return ""

    def _count(self, node: _Node, family: str, above: str, scopes: dict[str, dict[str, int]]) -> None:
        counter = scopes.get(family)
        if counter is None:
            return
        counter["n"] += 1
        levels = self._level(family)
        if self._has_parts and node.within("part", "backmatter"):
            levels = max(levels - 1, 0)
        struct = ".".join([*(above.split(".") if above else []), *["0"] * levels][:levels])
        self.found[node.place] = f"{struct}.{counter['n']}" if struct else str(counter["n"])


class _Node:
    """An element of the assembled book: its name, where it stands, its parent and its children, inclusions in their places."""

    def __init__(self, name: str, place: Place, parent: _Node | None, number: str) -> None:
        self.name, self.place, self.parent, self.number = name, place, parent, number
        self.children: list[_Node] = []
        self.exercises = 0
        self.beside: dict[str, dict[str, int]] = {}
        """The counters of introduction and conclusion."""

    @classmethod
    def read(cls, file: Path, read: Callable[[Path], Any | None], files: set[Path]) -> _Node | None:
        """Read a file with what it includes."""
        root = read(file)
        if root is None:
            return None
        files.add(file.resolve())
        top = cls("", (file.resolve(), -1), None, "")
        top._take(root, file.resolve(), read, files, 0)
        return top

    def _take(
        self, element: Any, file: Path, read: Callable[[Path], Any | None], files: set[Path], depth: int
    ) -> None:
        places = {each: n for n, each in enumerate(element.iter())}
        waiting: list[tuple[Any, _Node]] = [(element, self)]
        while waiting:
            each, parent = waiting.pop()
            if each.tag == _INCLUDE:
                parent.children.append(included := _Node("", (file, -1), parent, ""))
                included._include(each, file, read, files, depth)
                continue
            if not isinstance(each.tag, str):
                continue
            node = _Node(each.tag, (file, places[each]), parent, each.get("number") or "")
            parent.children.append(node)
            waiting += [(child, node) for child in reversed(each)]
        if not depth:
            self._flatten()

    def _include(
        self, element: Any, file: Path, read: Callable[[Path], Any | None], files: set[Path], depth: int
    ) -> None:
        target = (file.parent / (element.get("href") or "")).resolve()
        if element.get("parse") == "text" or target in files or depth > DEEPEST:
            return
        root = read(target)
        if root is not None:
            files.add(target)
            self._take(root, target, read, files, depth + 1)

    def _flatten(self) -> None:
        """Put what was included in the place of the inclusion."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            children: list[_Node] = []
            pending = list(reversed(node.children))
            while pending:
                child = pending.pop()
                if child.name == "" or (child.name == "fragment" and child.parent is not None):
                    pending += reversed(child.children)
                else:
                    child.parent = node
                    children.append(child)
            node.children = children
            waiting += children

    def below(self, *wanted: str) -> Iterator[_Node]:
        """Yield the nodes below with one of these names."""
        waiting = list(reversed(self.children))
        while waiting:
            node = waiting.pop()
            if node.name in wanted:
                yield node
            waiting += reversed(node.children)

    def within(self, *wanted: str) -> bool:
        """Return whether a node above has one of these names."""
        node = self.parent
        while node is not None:
            if node.name in wanted:
                return True
            node = node.parent
        return False

    def holder(self) -> _Node | None:
        """Return the division that counts an exercise by itself."""
        node = self.parent
        while node is not None and node.name not in ("exercises", "worksheet", "reading-questions"):
            node = node.parent
        return node


def levels_of(numberings: Iterable[Any | None]) -> Levels | None:
    """Return what all publication files say; `None` where there is none or they differ, so that no number is sure."""
    found = [Levels() if each is None else Levels.read(each) for each in numberings]
    return found[0] if found and all(each == found[0] for each in found) else None


def numbers_of(numbers: Mapping[Place, str], file: Path, root: Any) -> dict[Any, str]:
    """Return the numbers of the elements of one file."""
    places = ((element, numbers.get((file.resolve(), n), "")) for n, element in enumerate(root.iter()))
    return {element: number for element, number in places if number}
