"""Placeholders `FORMULA_n`: each stays one node of the graph, whatever a parser made of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mathamr.amr.graph import Amr, Names, string, unquoted
from mathamr.amr.notation import Triple

PLACEHOLDER = re.compile(r"FORMULA_(?:0|[1-9][0-9]*)(?![0-9])")
_GLUED_BEFORE = re.compile(rf"(?<=\w)(?={PLACEHOLDER.pattern})")
_GLUED_BEHIND = re.compile(rf"{PLACEHOLDER.pattern}(?=\w)")
_LOOKALIKE = re.compile(r"formula[\W_]*([0-9]+)(?:-[0-9][0-9])?", re.IGNORECASE)
_BARE_FORMULA = re.compile(r"formula(?:-[0-9][0-9])?", re.IGNORECASE)
_HOLDERS = frozenset({"name", "string-entity", "variable", "formula"})


def placeholders(text: str) -> tuple[str, ...]:
    """Return the placeholders of a sentence, in order, each once.

    >>> placeholders("Let FORMULA_1 be in FORMULA_0, so that FORMULA_1>0.")
    ('FORMULA_1', 'FORMULA_0')
    """
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


def separated(text: str) -> str:
    """Insert a blank wherever a placeholder touches a word or another placeholder.

    >>> separated("the kFORMULA_0 root, FORMULA_1FORMULA_2, the FORMULA_3th")
    'the k FORMULA_0 root, FORMULA_1 FORMULA_2, the FORMULA_3 th'
    """
    if "FORMULA_" not in text:
        return text
    text = _GLUED_BEFORE.sub(" ", text)
    return _GLUED_BEHIND.sub(r"\g<0> ", text)


def formula_nodes(amr: Amr, expected: Sequence[str]) -> dict[str, str]:
    """Return the variable of every expected placeholder that has a node."""
    wanted = set(expected)
    return {concept: variable for variable, concept in reversed(amr.instances) if concept in wanted}


def mend(amr: Amr, expected: Sequence[str]) -> Amr:
    """Repair a graph so that it has one node for every placeholder that is recognisable in it.

    Parsers that never saw placeholders write them as `formula_0`, as `(n / name :op1 "FORMULA_0")`, in pieces
    (`:op1 "FORMULA" :op2 "_" :op3 "0"`), in compounds (`FORMULA_0-dimensional`), or twice. Placeholders that the
    sentence does not hold become `formula`.

    >>> print(mend(Amr.from_penman('(s / set :name (n / name :op1 "FORMULA" :op2 "_0"))'), ["FORMULA_0"]).to_penman())
    (s / set
        :name (n / FORMULA_0))
    """
    wanted = set(expected)
    found = Counter(concept for _, concept in amr.instances if concept in wanted)
    if found.keys() == wanted and found.total() == len(wanted) and not _suspicious(amr, wanted):
        return amr
    repair = _Repair(amr, expected)
    repair.rename_concepts()
    repair.lift_constants()
    repair.merge_duplicates()
    return repair.graph()


def _suspicious(amr: Amr, wanted: set[str]) -> bool:
    """Return True if a placeholder occurs in a constant or inside another concept."""
    constants = (constant for _, _, constant in amr.attributes)
    concepts = (concept for _, concept in amr.instances if concept not in wanted)
    return any(PLACEHOLDER.search(text) for text in (*constants, *concepts))


class _Repair:
    """The parts of a graph under repair, with the placeholders that have no node yet."""

    def __init__(self, amr: Amr, expected: Sequence[str]) -> None:
        self.amr = amr
        self.concepts = amr.concepts()
        self.edges = list(amr.edges)
        self.attributes = list(amr.attributes)
        self.expected = set(expected)
        self.duplicates: dict[str, str] = {}
        self.names = Names({*self.concepts, *(constant for _, _, constant in amr.attributes)})

    def placeholder(self, text: str) -> str | None:
        """Return the expected placeholder that `text` stands for."""
        match = _LOOKALIKE.fullmatch(unquoted(text))
        wanted = f"FORMULA_{match[1]}" if match else ""
        return wanted if wanted in self.expected else None

    def rename_concepts(self) -> None:
        """Rename `formula_0` to `FORMULA_0`, and a placeholder that the sentence does not hold to `formula`."""
        compounds: list[str] = []
        for variable, concept in self.concepts.items():
            wanted = self.placeholder(concept)
            if wanted:
                self.concepts[variable] = wanted
            elif PLACEHOLDER.fullmatch(unquoted(concept)):
                self.concepts[variable] = "formula"
            else:
                compounds.append(variable)
        for variable in compounds:
            rest = self._split(variable, self.concepts[variable])
            self.concepts[variable] = rest or "and"

    def _split(self, variable: str, text: str) -> str:
        """Split `FORMULA_0-dimensional` into `dimensional` and the formula as its modifier."""
        wanted = [found for found in PLACEHOLDER.findall(text) if found in self.expected]
        if not wanted:
            return text
        for placeholder in wanted:
            node = self.names.fresh(placeholder)
            self.concepts[node] = placeholder
            self.edges.append((variable, ":mod", node))
        return PLACEHOLDER.sub("", unquoted(text)).strip("-_ ")

    def lift_constants(self) -> None:
        """Turn constants that hold a placeholder, complete or in pieces, into nodes."""
        by_node: dict[str, list[Triple]] = {}
        for attribute in self.attributes:
            by_node.setdefault(attribute[0], []).append(attribute)
        for variable, its_attributes in by_node.items():
            start = 0
            while start < len(its_attributes):
                size, wanted = self._window(variable, its_attributes, start)
                if wanted:
                    self._lift(variable, its_attributes[start : start + size], wanted)
                else:
                    self._split_constant(its_attributes[start])
                start += size

    def _split_constant(self, attribute: Triple) -> None:
        variable, role, constant = attribute
        rest = self._split(variable, constant)
        if rest != constant:
            self.attributes.remove(attribute)
            if rest:
                self.attributes.append((variable, role, string(rest)))

    def _window(self, variable: str, attributes: list[Triple], start: int) -> tuple[int, str | None]:
        """Return the number of attributes from `start` on that form one placeholder together, and the placeholder."""
        for size in (1, 2, 3):
            window = attributes[start : start + size]
            if size > 1 and not all(role.startswith(":op") for _, role, _ in window):
                break
            wanted = self.placeholder("".join(unquoted(constant) for _, _, constant in window))
            if wanted:
                return len(window), wanted
        if _BARE_FORMULA.fullmatch(self.concepts[variable]):
            return 1, self.placeholder(f"FORMULA_{unquoted(attributes[start][2])}")
        return 1, None

    def _lift(self, variable: str, window: list[Triple], wanted: str) -> None:
        role = window[0][1]
        self.attributes = [attribute for attribute in self.attributes if attribute not in window]
        bare = self.concepts[variable] in _HOLDERS or _BARE_FORMULA.fullmatch(self.concepts[variable])
        left = any(source == variable for source, _, _ in (*self.attributes, *self.edges))
        if bare and not left:
            self.concepts[variable] = wanted
            return
        node = self.names.fresh(wanted)
        self.concepts[node] = wanted
        self.edges.append((variable, role, node))

    def merge_duplicates(self) -> None:
        """Merge nodes of the same placeholder."""
        first: dict[str, str] = {}
        duplicates = self.duplicates
        for variable, concept in self.concepts.items():
            if concept in self.expected and first.setdefault(concept, variable) != variable:
                duplicates[variable] = first[concept]
        for twin in duplicates:
            del self.concepts[twin]
        self.edges = [
            (duplicates.get(source, source), role, duplicates.get(target, target))
            for source, role, target in self.edges
            if duplicates.get(source, source) != duplicates.get(target, target) or source == target
        ]
        self.attributes = [
            (duplicates.get(source, source), role, constant) for source, role, constant in self.attributes
        ]

    def graph(self) -> Amr:
        """Return the repaired graph."""
        numbers: dict[str, tuple[int, ...]] = {}
        for variable, its_numbers in self.amr.alignments:
            merged = self.duplicates.get(variable, variable)
            numbers[merged] = tuple(sorted({*numbers.get(merged, ()), *its_numbers}))
        return replace(
            self.amr,
            top=self.duplicates.get(self.amr.top, self.amr.top),
            instances=tuple(self.concepts.items()),
            edges=tuple(self.edges),
            attributes=tuple(self.attributes),
            alignments=tuple(numbers.items()),
        )
