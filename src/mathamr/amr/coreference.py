"""Coreference across the sentences of a document: repeated formulas, and pronouns with a plain antecedent.

Off unless asked for. Merged mentions share one node, as in figure 2.4 of the thesis; the node then belongs to every
sentence that mentions it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from mathamr.amr.document import DocumentAmr
from mathamr.amr.graph import unquoted
from mathamr.amr.notation import depths
from mathamr.amr.placeholder import PLACEHOLDER

REACH = 2
"""How many sentences back an antecedent may stand."""

_PERSONS = frozenset(
    {"person", "man", "woman", "boy", "girl", "student", "teacher", "professor", "author", "friend"}
)
_GRAMMAR = frozenset(
    """and or multi-sentence name i you we one amr-unknown amr-empty thing all some any each every other same
    possible such more most very also only then now so still even too date-entity ordinal-entity""".split()  # noqa: SIM905
)
_FRAME = re.compile(r"-\d\d$")
# A node at the end of one of these says what another one is like; it is not what the text is about.
_SIDE_ROLES = frozenset(
    {":mod", ":degree", ":quant", ":time", ":manner", ":name", ":unit", ":ord", ":polarity", ":li"}
)


def merge_formulas(document: DocumentAmr, keys: Mapping[str, str]) -> DocumentAmr:
    """Formulas with the same key (their LaTeX, or visual id) become one node: the first of them.

    `keys` gives the key of every placeholder; a placeholder without one stays apart. In `formulas` every merged
    placeholder leads to the shared node.
    """
    first: dict[str, str] = {}
    merged: dict[str, str] = {}
    for placeholder, variable in document.formulas:
        key = keys.get(placeholder)
        if key is not None and first.setdefault(key, variable) != variable:
            merged[variable] = first[key]
    return _merged(document, merged)


def merge_pronouns(document: DocumentAmr) -> DocumentAmr:
    """Pronouns become the most prominent node that fits them in the nearest earlier sentence; else they stay."""
    search = _Search(document)
    merged: dict[str, str] = {}
    for number, variables in enumerate(document.sentences):
        for variable in variables:
            antecedent = search.antecedent(variable, number)
            if antecedent:
                merged[variable] = merged.get(antecedent, antecedent)
    return _merged(document, merged)


class _Search:
    """What has to be known of a document to find antecedents in it."""

    def __init__(self, document: DocumentAmr) -> None:
        self.sentences = document.sentences
        self.concepts = {variable: unquoted(concept) for variable, concept in document.amr.instances}
        self.sides = {target for _, role, target in document.amr.edges if role in _SIDE_ROLES}
        self.members: dict[str, list[str]] = {}
        for source, role, target in document.amr.edges:
            if role.startswith(":op"):
                self.members.setdefault(source, []).append(target)
        self.depths = depths(document.amr)

    def antecedent(self, variable: str, number: int) -> str | None:
        """What the pronoun at `variable`, in sentence `number`, stands for."""
        fits = _FITTING.get(self.concepts[variable])
        if fits is None or variable in self.sides:
            return None
        for variables in reversed(self.sentences[max(0, number - REACH) : number]):
            fitting = [v for v in variables if v not in self.sides and fits(self, v)]
            if fitting:
                return min(fitting, key=self.depths.__getitem__)
        return None

    def is_thing(self, variable: str) -> bool:
        """A formula, or a concept that is neither an event, nor a person, nor a word of grammar."""
        concept = self.concepts[variable]
        if PLACEHOLDER.fullmatch(concept):
            return True
        barred = concept in _FITTING or concept in _GRAMMAR or concept in _PERSONS or _FRAME.search(concept)
        return concept[:1].isalpha() and not barred

    def is_person(self, variable: str) -> bool:
        """Somebody."""
        return self.concepts[variable] in _PERSONS

    def is_group(self, variable: str) -> bool:
        """Several things named together, or a thing that may be several: AMR does not mark the plural."""
        if self.concepts[variable] == "and":
            members = self.members.get(variable, [])
            return bool(members) and all(self.is_thing(m) or self.is_person(m) for m in members)
        return self.is_thing(variable) or self.is_person(variable)


_FITTING = {
    **dict.fromkeys(("it", "this", "that"), _Search.is_thing),
    **dict.fromkeys(("he", "she"), _Search.is_person),
    **dict.fromkeys(("they", "these", "those"), _Search.is_group),
}


def _merged(document: DocumentAmr, merged: Mapping[str, str]) -> DocumentAmr:
    """The document with every key of `merged` made one with its value."""
    if not merged:
        return document
    amr = document.amr
    kept = {variable: merged.get(variable, variable) for variable, _ in amr.instances}
    numbers: dict[str, set[int]] = {}
    for variable, its_numbers in amr.alignments:
        numbers.setdefault(kept[variable], set()).update(its_numbers)
    joined = replace(
        amr,
        instances=tuple((variable, concept) for variable, concept in amr.instances if variable not in merged),
        edges=tuple(
            (kept[source], role, kept[target])
            for source, role, target in amr.edges
            if kept[source] != kept[target] or source == target
        ),
        attributes=tuple((kept[source], role, constant) for source, role, constant in amr.attributes),
        alignments=tuple((variable, tuple(sorted(its_numbers))) for variable, its_numbers in numbers.items()),
    )
    return replace(
        document,
        amr=joined,
        sentences=tuple(tuple(dict.fromkeys(kept[v] for v in variables)) for variables in document.sentences),
        formulas=tuple((placeholder, kept[variable]) for placeholder, variable in document.formulas),
    )
