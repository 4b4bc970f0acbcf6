"""Coreference within a post, only where the evidence is clear: "this function" is the function before, "it" what was just introduced."""

from __future__ import annotations

from dataclasses import replace

from mathamr.amr.document import DocumentAmr
from mathamr.amr.placeholder import PLACEHOLDER

BACK = 3
"""The number of sentences in which "this function" looks back."""
_POINTING = frozenset({"this", "that"})


def resolve_coreference(document: DocumentAmr) -> DocumentAmr:
    """Return the document with nodes that refer back replaced by the nodes they refer to.

    - "this N" or "that N" is the last N of the three sentences before;
    - "it" is the only thing that the sentence before says a formula is ("Let FORMULA_0 be a ring. It is …").

    Roots of sentences and formulas stay: every formula is a node of its own, with its trees.
    """
    amr, concepts = document.amr, document.amr.concepts()
    kept = {
        amr.top,
        *(own[0] for own in document.sentences if own),
        *(variable for _, variable in document.formulas),
    }
    pointing = {
        s: t for s, role, t in amr.edges if role == ":mod" and concepts[t] in _POINTING and t not in kept
    }
    said = {s for s, role, t in amr.edges if role == ":domain" and PLACEHOLDER.fullmatch(concepts[t])}
    meant: dict[str, str] = {}
    dropped: set[str] = set()
    for number, own in enumerate(document.sentences):
        for variable in own:
            if variable in kept:
                continue
            before = [v for part in document.sentences[max(0, number - BACK) : number] for v in part]
            if variable in pointing:
                found = [v for v in before if concepts[v] == concepts[variable] and v not in meant][-1:]
                if found:
                    dropped.add(pointing[variable])
            elif concepts[variable] == "it" and number:
                found = [v for v in document.sentences[number - 1] if v in said]
            else:
                continue
            if len(found) == 1:
                meant[variable] = meant.get(found[0], found[0])
    # "This" stays where something else refers to it.
    alone = {v for v in dropped if sum(v in (s, t) for s, _, t in amr.edges) == 1}
    dropped = (alone - set(meant.values())) | set(meant)
    if not meant:
        return document
    edges = [
        (meant.get(s, s), role, meant.get(t, t))
        for s, role, t in amr.edges
        if not ({s, t} & (dropped - set(meant)))
    ]
    words: dict[str, set[int]] = {}
    for variable, numbers in amr.alignments:
        if variable in meant or variable not in dropped:
            words.setdefault(meant.get(variable, variable), set()).update(numbers)
    return replace(
        document,
        amr=replace(
            amr,
            instances=tuple(each for each in amr.instances if each[0] not in dropped),
            edges=tuple(edge for edge in edges if edge[0] != edge[2]),
            attributes=tuple(
                (meant.get(s, s), role, value)
                for s, role, value in amr.attributes
                if s not in dropped - set(meant)
            ),
            alignments=tuple((variable, tuple(sorted(numbers))) for variable, numbers in words.items()),
        ),
        sentences=tuple(tuple(v for v in own if v not in dropped) for own in document.sentences),
    )
