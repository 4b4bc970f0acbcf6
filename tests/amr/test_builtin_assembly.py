"""Assembly: from scored pairs to one connected graph."""

from __future__ import annotations

import numpy as np
import penman
from hypothesis import given
from hypothesis import strategies as st
from penman.models.amr import model

from mathamr.amr.builtin.assembly import Thresholds, number_operands, relate, to_amr
from mathamr.amr.builtin.nodes import Draft, Template, WordNode
from mathamr.amr.builtin.numbers import SAME
from mathamr.amr.builtin.relations import MAX_NODES, NEAR, RelationScores, likely_edges, pairs
from mathamr.amr.builtin.words import WordSentence

LABELS = ["none", SAME, ":ARG0", ":ARG1", ":ARG2", ":mod", ":op", ":polarity"]


def flat(size: int) -> WordSentence:
    """So many words."""
    words = [f"w{n}" for n in range(size)]
    return WordSentence(" ".join(words), words, [(0, 0)] * size, [True] * size, ["NN"] * size, words)


def scored(size: int, entries: dict[tuple[int, int], dict[str, float]], root: int = 0) -> RelationScores:
    table = np.zeros((len(entries), len(LABELS)), dtype=np.float32)
    for row, probabilities in zip(table, entries.values(), strict=True):
        for label, value in probabilities.items():
            row[LABELS.index(label)] = value
        row[0] = max(0.0, 1.0 - sum(probabilities.values()))
    roots = np.eye(max(1, size), dtype=np.float32)[root][:size]
    sources, targets = np.array(list(entries), dtype=np.int64).reshape(-1, 2).T
    owner, firsts = np.zeros(len(entries), np.int64), np.zeros(1, np.int64)
    return likely_edges(table, sources, targets, owner, firsts, [roots], LABELS.index(SAME))[0]


def draft(*concepts: str) -> Draft:
    nodes = [WordNode(c.lstrip("="), c.startswith("="), n) for n, c in enumerate(concepts)]
    return Draft(flat(len(concepts)), nodes)


def concept_edges(given: Draft, scores: RelationScores) -> set[tuple[str, str, str]]:
    edges, _ = relate(given, scores, LABELS, Thresholds())
    return {(given.nodes[s].concept, role, given.nodes[t].concept) for s, role, t in edges}


def test_the_most_probable_edges_connect_the_graph() -> None:
    given = draft("see-01", "fox", "hen")
    scores = scored(3, {(0, 1): {":ARG0": 0.9}, (0, 2): {":ARG1": 0.6}, (1, 2): {":mod": 0.2}})
    assert concept_edges(given, scores) == {("see-01", ":ARG0", "fox"), ("see-01", ":ARG1", "hen")}


def test_a_probable_edge_between_connected_nodes_is_a_reentrancy() -> None:
    given = draft("want-01", "boy", "sleep-01", "well")
    entries = {(0, 1): {":ARG0": 0.9}, (0, 2): {":ARG1": 0.9}, (2, 1): {":ARG0": 0.8}, (2, 3): {":mod": 0.2}}
    found = concept_edges(given, scored(4, entries))
    assert {("sleep-01", ":ARG0", "boy"), ("sleep-01", ":mod", "well")} <= found
    entries[2, 1] = {":ARG0": 0.3}
    assert ("sleep-01", ":ARG0", "boy") not in concept_edges(given, scored(4, entries))


def test_a_core_argument_is_filled_once() -> None:
    given = draft("see-01", "fox", "hen")
    scores = scored(3, {(0, 1): {":ARG0": 0.9}, (0, 2): {":ARG0": 0.8, ":ARG1": 0.15}})
    assert concept_edges(given, scores) == {("see-01", ":ARG0", "fox"), ("see-01", ":ARG1", "hen")}


def test_a_constant_is_used_once() -> None:
    given = draft("see-01", "=-", "know-01")
    scores = scored(3, {(0, 1): {":polarity": 0.9}, (2, 1): {":polarity": 0.8}, (2, 0): {":ARG1": 0.9}})
    assert concept_edges(given, scores) == {("see-01", ":polarity", "-"), ("know-01", ":ARG1", "see-01")}


def test_a_repeated_name_is_one_node() -> None:
    given = draft("inhibit-01", "bind-01")
    named = Template(("*", "enzyme"), ((1, ":name", 0),))
    for token, text in ((2, "Ras"), (3, "Ras"), (4, "Raf")):
        given.add(WordNode("name", False, token, 0, (text,)), named)
    scores = scored(
        8, {(0, 3): {":ARG0": 0.9}, (0, 1): {":ARG1": 0.9}, (1, 5): {":ARG1": 0.9}, (1, 7): {":ARG2": 0.8}}
    )
    graph = to_amr(given, scores, LABELS, Thresholds())
    assert sorted(graph.concepts().values()) == [
        "bind-01", "enzyme", "enzyme", "inhibit-01", "name", "name",
    ]  # fmt: skip
    shared = {target for source, _, target in graph.edges if graph.concepts()[source] == "inhibit-01"}
    assert shared & {target for source, _, target in graph.edges if graph.concepts()[source] == "bind-01"}


def test_a_pronoun_becomes_one_node_with_what_it_means() -> None:
    given = draft("lose-02", "fox", "it", "tail")
    scores = scored(
        4, {(0, 1): {":ARG0": 0.9}, (0, 3): {":ARG1": 0.9}, (3, 2): {":mod": 0.9}, (2, 1): {SAME: 0.9}}
    )
    graph = to_amr(given, scores, LABELS, Thresholds())
    assert sorted(graph.concepts().values()) == ["fox", "lose-02", "tail"]
    names = graph.concepts()
    assert ("tail", ":mod", "fox") in {(names[s], role, names[t]) for s, role, t in graph.edges}
    assert (1, 2) in {numbers for _, numbers in graph.alignments}


def test_what_no_pair_connects_is_connected_still() -> None:
    graph = to_amr(draft("see-01", "fox", "=7", "and"), scored(4, {}), LABELS, Thresholds())
    assert len(graph) == 3
    assert [constant for _, _, constant in graph.attributes] == ["7"]


def test_operands_are_numbered_in_the_order_of_the_words() -> None:
    nodes = [WordNode("and", False, 1), WordNode("hen", False, 2), WordNode("fox", False, 0)]
    assert number_operands([(0, ":op", 1), (0, ":op", 2)], nodes) == [(0, ":op2", 1), (0, ":op1", 2)]
    assert number_operands([(0, ":op1", 2), (0, ":op", 1)], nodes) == [(0, ":op1", 2), (0, ":op2", 1)]


def test_texts_without_concepts_have_a_graph() -> None:
    nothing = Draft(flat(2))
    assert to_amr(nothing, scored(0, {}), LABELS, Thresholds()).instances == (("x", "amr-empty"),)
    numbers = draft("=1", "=2")
    assert to_amr(numbers, scored(2, {}), LABELS, Thresholds()).attributes == (
        ("x", ":op1", "1"),
        ("x", ":op2", "2"),
    )


@given(st.data())
def test_any_scores_give_a_connected_graph(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    concepts = [
        data.draw(st.sampled_from(["see-01", "fox", "it", "and", "=-", "=7", "FORMULA_0"]))
        for _ in range(size)
    ]
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=12, unique=True)
    )
    given = draft(*concepts)
    entries = {}
    for source, target in pairs:
        if source != target and not given.nodes[source].constant:
            entries[source, target] = {data.draw(st.sampled_from(LABELS[1:])): data.draw(st.floats(0.0, 1.0))}
    root = data.draw(st.integers(0, size - 1))
    graph = to_amr(given, scored(size, entries, root), LABELS, Thresholds())
    read = penman.decode(graph.to_penman(), model=model)
    assert sorted(read.triples) == sorted(graph.triples())


def test_nodes_have_rough_kinds() -> None:
    kinds = {"see-01": "frame", "have-degree-91": "special", "and": "conjunction", "FORMULA_3": "formula"}
    kinds |= {"it": "pronoun", "temporal-quantity": "quantity", "fox": "thing", "name": "name"}
    assert {concept: WordNode(concept, False, 0).kind for concept in kinds} == kinds
    assert WordNode("-", True, 0).kind == "polarity"
    assert WordNode("12", True, 0).kind == "number"


def test_pairs_of_many_nodes_grow_linearly() -> None:
    assert len(pairs(5)[0]) == 25
    sources, targets = pairs(MAX_NODES + 1000)
    assert len(sources) <= (MAX_NODES + 1000) * (2 * NEAR + 1)
    assert np.abs(sources - targets).max() == NEAR
