"""Formulas for gold graphs that have none: names, pronouns and bare nouns are replaced by ``FORMULA_n``.

The corpora contain no formulas. A formula occurs where a name or a short noun phrase could, so a
copy of a sentence with such phrases replaced, and of its graph with the nodes replaced, teaches the models what
formulas do.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mathamr_lab.amr.alignment import AlignedGraph
from mathamr_lab.amr.syntax import Analysed

SHARE = 0.5
_PRONOUN_TAGS = ("PRP",)
_PRONOUNS = {"it", "he", "she", "they", "this", "that"}


def with_formulas(sentence: Analysed, graph: AlignedGraph, random: Random) -> tuple[str, AlignedGraph] | None:
    """Return a copy of a sentence and its graph with some phrases replaced, or None if nothing can be replaced."""
    names = {
        target: source for source, role, target in graph.edges if role == ":name" and target in graph.names
    }
    crowded = {t for t in graph.tokens if t >= 0 and graph.tokens.count(t) > 1}
    mentioned = {node for _, node in graph.mentions}
    options: list[tuple[int, int, int, int | None]] = []
    for node, token in enumerate(graph.tokens):
        if token < 0:
            continue
        if node in names and node in graph.spans:
            options.append((*graph.spans[node], names[node], node))
        elif token not in crowded and node not in mentioned and not graph.constant[node]:
            span = _noun_phrase(sentence, token, graph.concepts[node])
            if span:
                options.append((*span, node, None))
    chosen = sorted(option for option in options if random.random() < SHARE)[:5]
    if not chosen:
        return None
    parts, place, done, concepts, dropped = [], 0, 0, list(graph.concepts), set()
    for number, (first, last, node, name) in enumerate(chosen):
        if first < place:
            continue
        parts += [sentence.text[done : sentence.places[first][0]], f" FORMULA_{number} "]
        concepts[node] = f"FORMULA_{number}"
        if name is not None:
            dropped.add(name)
        place, done = last + 1, sentence.places[last][1]
    text = " ".join("".join([*parts, sentence.text[done:]]).split())
    return text, _without(replace(graph, concepts=concepts), dropped)


def _noun_phrase(sentence: Analysed, token: int, concept: str) -> tuple[int, int] | None:
    tag, children = sentence.tags[token], sentence.children[token]
    if tag in _PRONOUN_TAGS and concept in _PRONOUNS and not children:
        return token, token
    if (
        tag in ("NN", "NNP")
        and all(sentence.deps[child] == "det" for child in children)
        and len(children) <= 1
    ):
        first = min([token, *children])
        return (first, token) if first in (token, token - 1) else None
    return None


def _without(graph: AlignedGraph, dropped: set[int]) -> AlignedGraph:
    """Return the graph without some nodes, ready to be aligned again."""
    kept = [node for node in range(len(graph.concepts)) if node not in dropped]
    number = {node: place for place, node in enumerate(kept)}
    return AlignedGraph(
        concepts=[graph.concepts[node] for node in kept],
        constant=[graph.constant[node] for node in kept],
        edges=[(number[s], role, number[t]) for s, role, t in graph.edges if s in number and t in number],
        top=number[graph.top],
        names={number[node]: parts for node, parts in graph.names.items() if node in number},
    )
