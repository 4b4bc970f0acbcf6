"""Coreference: what the words, formulas and symbols of a post refer to, in one pass over its graph (thesis, section 2.3).

Words that refer to the same thing share a node, as in figure 2.4. Formulas and the symbols in them keep their nodes, from which an
edge `COREFERENCE` leads to the first mention. Words are resolved only where there is a single candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from mathamr.amr.builtin.frames import is_frame
from mathamr.amr.graph import unquoted
from mathamr.formulas.tree import Opt
from mathamr.graphs.mathgraph import COREFERENCE, MathGraph

BACK = 3
"""The number of sentences in which "this function" looks back."""
_WORDS = {
    "persons": "author boy friend girl man person professor student teacher woman",
    "no things": "all and any anyone anything cause each every everyone everything he i it most name no now one or other"
    " same she so some someone something such that there them they thing this those these we what which you",
    "expletive": "appear-02 apparent clear-06 clear difficult easy-05 easy enough evident follow-01 follow-04 give-01 good-02"
    " hard-02 important-01 impossible likely-01 look-02 matter necessary obvious-01 obvious possible-01 seem-01 simple"
    " strange true turn-out-11 well-known",
    "aside": ":degree :li :manner :mod :mode :name :ord :polarity :quant :time :topic :unit :value",
    "binders": "F!inf F!max F!min F!sup O!int O!limit O!product O!sum U!intersection U!union O!forall O!exists O!differential-d",
    "accents": "F!^ F!~ F!¯ F!→ F!˙ F!¨ F!ˇ",
}
_PERSONS, _NO_THINGS, _EXPLETIVE, _ASIDE, _BINDERS, _ACCENTS = (frozenset(e.split()) for e in _WORDS.values())
"""An empty "it" is said of what is expletive; what stands aside is no antecedent."""


def coreferent(graph: MathGraph) -> MathGraph:
    """Return the graph with one node for the words of one thing, and links from symbols to their first mention."""
    amr, (meant, gone) = graph.amr, _Words(graph).resolved()
    lost = gone | meant.keys()
    edges = [(meant.get(a, a), role, meant.get(b, b)) for a, role, b in amr.edges if not {a, b} & gone]
    joined = replace(
        amr,
        instances=tuple(each for each in amr.instances if each[0] not in lost),
        edges=tuple(each for each in edges if each[0] != each[2]),
        attributes=tuple(
            (meant.get(a, a), role, value) for a, role, value in amr.attributes if a not in gone
        ),
        alignments=tuple(each for each in amr.alignments if each[0] not in lost),
    )
    sentences = ([meant.get(v, v) for v in own if v not in gone] for own in graph.sentences)
    links = tuple((mention, COREFERENCE, first) for mention, first in symbol_mentions(graph))
    return replace(graph, amr=joined, sentences=tuple(map(tuple, map(dict.fromkeys, sentences))), links=links)


def symbol_mentions(graph: MathGraph) -> Iterator[tuple[str, str]]:
    """Yield the node of every formula or symbol that occurred before, and that of its first mention.

    A symbol that a sum, a limit or a quantifier binds is another one in every formula.
    """
    first: dict[object, str] = {}
    for formula in graph.formulas:
        if formula.opt is not None:
            number, whole = formula.placeholder.rpartition("_")[2], (formula.opt.labels, formula.opt.parents)
            found = {key: f"o{number}_{node}" for key, node in _symbols(formula.opt)}
            for key, variable in {**({} if whole in first else found), whole: formula.variable}.items():
                if first.setdefault(key, variable) != variable:
                    yield variable, first[key]


def _symbols(opt: Opt) -> Iterator[tuple[object, int]]:
    """Yield each letter, with its index, accent or primes, as labels and parents, and its first node."""
    sizes, labels, past, seen = opt.sizes(), opt.labels, 0, set(_bound(opt))
    for node, label in enumerate(labels):
        base, after = (*labels[node + 1 : node + 3], "", "")[:2]
        is_accented = (label in _ACCENTS and sizes[node] == 2) or (label, after) == ("O!SUP", "V!′")
        is_marked = base[:2] == "V!" and (label == "O!SUB" or is_accented)
        # The d of dx stands before its letter in a product.
        is_d = label == "V!𝑑" and base[:2] == "V!"
        if node >= past and (is_marked or (label[:2] == "V!" and label[2:].isalpha() and not is_d)):
            past = node + sizes[node]
            key = (labels[node:past], (-1, *(parent - node for parent in opt.parents[node + 1 : past])))
            if key not in seen:
                seen.add(key)
                yield key, node


def _bound(opt: Opt) -> Iterator[object]:
    """Yield the first letter after each sum, limit or quantifier, and that of the condition of a set."""
    for node, label in enumerate(opt.labels):
        start = len(opt) if label not in _BINDERS else node
        if label == "O!conditional-set":
            start = max(child for child, parent in enumerate(opt.parents) if parent == node)
        yield from (((each,), (-1,)) for each in [x for x in opt.labels[start:] if x[:2] == "V!"][:1])


class _Words:
    """Finds what pronouns, nouns after "this", and names refer to."""

    def __init__(self, graph: MathGraph) -> None:
        self._sentences, amr = graph.sentences, graph.amr
        self._concepts = concepts = {v: unquoted(concept) for v, concept in amr.instances}
        self._place = {v: numbers[0] for v, numbers in amr.alignments if numbers}
        self._pointing = {a: b for a, r, b in amr.edges if r == ":mod" and concepts[b] in ("this", "that")}
        self._name = {a: b for a, role, b in amr.edges if role == ":name"}
        self._spelling = {v: [s for n, _, s in amr.attributes if n == name] for v, name in self._name.items()}
        self._said = {a: b for a, r, b in amr.edges if r == ":domain" and concepts[b] not in _NO_THINGS}
        self._acting = {a for a, role, _ in amr.edges if role.startswith(":ARG")}
        self._subjects = {b for _, role, b in amr.edges if role == ":ARG0"}
        self._persons = {v for v in concepts if concepts[v] in _PERSONS or v in self._name}
        self._aside = {b for a, role, b in amr.edges if role in _ASIDE or concepts[a] in _EXPLETIVE}
        self._roots = {amr.top, *(own[0] for own in graph.sentences if own)}
        about = {b for a, r, b in amr.edges if a in self._roots and r in (":ARG0", ":ARG1", ":domain")}
        self._main = {self._said.get(v, v) for v in about}
        self._formulas = {formula.variable for formula in graph.formulas}
        self._degree = Counter(v for a, _, b in amr.edges for v in (a, b))

    def resolved(self) -> tuple[dict[str, str], set[str]]:
        """Return what each mention means, and the pointing words that go."""
        meant: dict[str, str] = {}
        gone: set[str] = set()
        for number, own in enumerate(self._sentences):
            for variable in sorted(own, key=lambda v: self._place.get(v, 0)):
                found = {meant.get(v, v) for v in self._candidates(variable, number)} - {variable}
                if len(found) == 1 and variable not in self._roots:
                    meant[variable] = antecedent = found.pop()
                    if self._degree[self._pointing.get(variable, "")] == 1:
                        gone.add(self._pointing[variable])
                    if self._concepts[variable] in ("he", "she"):
                        self._persons.add(antecedent)
                    if variable in self._name:
                        meant[self._name[variable]] = self._name[antecedent]
        return meant, gone

    def _candidates(self, variable: str, number: int) -> list[str]:
        concept, place = self._concepts[variable], self._place.get(variable, 0)
        earlier = [list(own) for own in self._sentences[:number]]
        if spelling := self._spelling.get(variable):
            return [v for own in earlier for v in own if self._spelling.get(v) == spelling][:1]
        if variable in self._pointing and concept not in _NO_THINGS:
            return [v for own in earlier[-BACK:] for v in own if self._concepts[v] == concept]
        if variable in self._aside or concept not in ("it", "he", "she"):
            return []
        before = [v for v in self._sentences[number] if self._place.get(v, place) < place]
        if concept == "it":
            # In this sentence a formula that is said to be something; else the only thing before, if its main word is about it.
            said = [self._said[v] for v in before if self._said.get(v) in self._formulas]
            things = {self._said.get(v, v) for own in earlier[-1:] for v in own if self._is_thing(v)}
            return said or (list(things & self._main) if len(things) == 1 else [])
        near = ([v for v in own if self._is_person(v)] for own in (before, *earlier[-1:]))
        return next(filter(None, near), [])

    def _is_person(self, variable: str) -> bool:
        is_subject = variable in self._subjects and variable not in self._formulas
        return variable in self._persons or (is_subject and self._is_thing(variable))

    def _is_thing(self, variable: str) -> bool:
        concept = self._concepts[variable]
        is_noun = variable not in self._acting if is_frame(concept) else concept.isalpha()
        is_other = variable in self._aside | self._persons or concept in _NO_THINGS
        return (is_noun or variable in self._formulas) and not is_other
