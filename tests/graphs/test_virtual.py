from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from mathamr.core.errors import UnknownNameError
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.flatgraph import FlatGraph, NodePart
from mathamr.graphs.mathamr import linearise, mathamr
from mathamr.graphs.mathgraph import sentence_graph
from mathamr.graphs.virtual import flatten
from mathamr.posts.level import Level
from tests.cases import cases
from tests.graphs.small import small_graph

AMR_EDGES = {
    ("multi-sentence", ":snt1", "odd"),
    ("odd", ":domain", "FORMULA_0"),
    ("multi-sentence", ":snt2", "find-01"),
    ("find-01", ":ARG1", "FORMULA_1"),
    ("find-01", ":mode", "imperative"),
}
OPT_EDGES = {
    ("FORMULA_0", ":opt", "U!plus"),
    ("U!plus", ":op0", "V!𝑎"),
    ("U!plus", ":op0", "V!𝑏"),
    ("FORMULA_1", ":opt", "O!SUP"),
    ("O!SUP", ":op0", "V!𝑥"),
    ("O!SUP", ":op1", "N!2 (opt)"),
}
SLT_EDGES = {
    ("FORMULA_0", ":slt", "V!a"),
    ("V!a", ":n", "+"),
    ("+", ":n", "V!b"),
    ("FORMULA_1", ":slt", "V!x"),
    ("V!x", ":a", "N!2 (slt)"),
}
OPT_OF_FORMULA = {"formula 0": ("U!plus", "V!𝑎", "V!𝑏"), "formula 1": ("O!SUP", "V!𝑥", "N!2 (opt)")}
SLT_OF_FORMULA = {"formula 0": ("V!a", "+", "V!b"), "formula 1": ("V!x", "N!2 (slt)")}


def members(*tables: dict[str, tuple[str, ...]]) -> set[tuple[str, str, str]]:
    return {(v, ":virtual_formula", node) for table in tables for v, nodes in table.items() for node in nodes}


SENTENCE_EDGES = {
    ("sentence 0", ":virtual_sentence", "odd"),
    ("sentence 0", ":virtual_sentence", "FORMULA_0"),
    ("sentence 1", ":virtual_sentence", "find-01"),
    ("sentence 1", ":virtual_sentence", "FORMULA_1"),
}
DOCUMENT_OVER_SENTENCES = {
    ("document", ":virtual_document", "sentence 0"),
    ("document", ":virtual_document", "sentence 1"),
    ("document", ":virtual_document", "multi-sentence"),
}
DOCUMENT_OVER_FORMULAS = {
    ("document", ":virtual_document", "formula 0"),
    ("document", ":virtual_document", "formula 1"),
}


def named_edges(flat: FlatGraph) -> list[tuple[str, str, str]]:
    """The edges with a name for each node that tells it from all others."""
    names = list(flat.labels)
    for number, (label, part) in enumerate(zip(flat.labels, flat.parts, strict=True)):
        if label == "N!2":
            names[number] = f"N!2 ({part.name.lower()})"
    virtual = [r for r in flat.representatives if flat.parts[r.node] is NodePart.VIRTUAL]
    for level in Level:
        for index, r in enumerate(r for r in virtual if r.level is level):
            names[r.node] = "document" if level is Level.DOCUMENT else f"{level.name.lower()} {index}"
    assert len(set(names)) == len(names)
    return [(names[a], role, names[b]) for a, role, b in flat.edges]


DOCUMENT = SENTENCE_EDGES | DOCUMENT_OVER_SENTENCES
EXPECTED = {
    "both": AMR_EDGES
    | OPT_EDGES
    | SLT_EDGES
    | members(OPT_OF_FORMULA, SLT_OF_FORMULA)
    | DOCUMENT
    | DOCUMENT_OVER_FORMULAS,
    "opt": AMR_EDGES | OPT_EDGES | members(OPT_OF_FORMULA) | DOCUMENT | DOCUMENT_OVER_FORMULAS,
    "slt": AMR_EDGES | SLT_EDGES | members(SLT_OF_FORMULA) | DOCUMENT | DOCUMENT_OVER_FORMULAS,
    "none": AMR_EDGES | DOCUMENT,
}


@cases("mode", ["both", "opt", "slt", "none"])
def test_hierarchy_has_exactly_the_edges_of_the_mode(mode: str) -> None:
    edges = named_edges(flatten(small_graph(), GraphConfiguration(mode)))  # type: ignore[arg-type]
    assert len(edges) == len(set(edges))
    assert set(edges) == EXPECTED[mode]


def test_dropped_formula_hangs_from_the_root_and_keeps_its_virtual_node() -> None:
    edges = set(named_edges(flatten(small_graph(dropped=True))))
    assert ("multi-sentence", ":math", "FORMULA_1") in edges
    assert ("formula 1", ":virtual_formula", "O!SUP") in edges
    assert ("sentence 1", ":virtual_sentence", "FORMULA_1") not in edges


def test_without_formulas_a_dropped_one_leaves_nothing_behind() -> None:
    flat = flatten(small_graph(dropped=True), GraphConfiguration("none"))
    assert "FORMULA_1" not in flat.labels
    assert all(r.level is not Level.FORMULA for r in flat.representatives)


def test_document_is_the_last_representative_and_the_last_node() -> None:
    flat = flatten(small_graph())
    assert [(r.level, r.reference) for r in flat.representatives] == [
        (Level.FORMULA, "q7:0"),
        (Level.FORMULA, "q7:1"),
        (Level.SENTENCE, "0"),
        (Level.SENTENCE, "1"),
        (Level.DOCUMENT, "q7"),
    ]
    assert flat.representatives[-1].node == len(flat.labels) - 1


IN_ORDER = ("sentence 0", "formula 0", "sentence 1", "formula 1")


@cases(
    ("auxiliary", "expected"),
    [
        ("none", set()),
        ("sequential", set(pairwise(IN_ORDER))),
        ("circular", {*pairwise(IN_ORDER), ("formula 1", "sentence 0")}),
        ("full", set(combinations(IN_ORDER, 2))),
    ],
)
def test_auxiliary_edges_follow_the_order_of_the_document(
    auxiliary: str, expected: set[tuple[str, str]]
) -> None:
    configuration = GraphConfiguration(auxiliary=auxiliary)  # type: ignore[arg-type]
    edges = named_edges(flatten(small_graph(), configuration))
    assert {(a, b) for a, role, b in edges if role == ":auxiliary_vn"} == expected
    assert {edge for edge in edges if edge[1] != ":auxiliary_vn"} == EXPECTED["both"]


def test_without_virtual_nodes_formulas_and_sentence_roots_represent_the_post() -> None:
    flat = flatten(small_graph(), GraphConfiguration(structure="none"))
    assert set(named_edges(flat)) == AMR_EDGES | OPT_EDGES | SLT_EDGES
    assert [flat.labels[r.node] for r in flat.representatives] == ["FORMULA_0", "FORMULA_1", "odd", "find-01"]


def test_global_node_reaches_every_node_and_is_the_last_representative() -> None:
    flat = flatten(small_graph(), GraphConfiguration(structure="global"))
    plain = flatten(small_graph(), GraphConfiguration(structure="none"))
    document = len(plain.labels)
    assert flat.edges[: len(plain.edges)] == plain.edges
    assert flat.edges[len(plain.edges) :] == [(document, ":virtual_document", n) for n in range(document)]
    assert flat.representatives[:-1] == plain.representatives
    assert flat.representatives[-1].node == document


def test_unknown_configuration_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="hierarchy, none, global"):
        GraphConfiguration(structure="pyramid")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="FORMULAS-STRUCTURE-AUXILIARY"):
        GraphConfiguration.from_name("both")


def test_a_sentence_has_its_own_concepts_and_formulas() -> None:
    graph = small_graph()
    strings = [
        linearise(mathamr(sentence_graph(graph, number)).to_penman(one_line=True)) for number in (0, 1)
    ]
    assert strings == ["odd plus 𝑏 𝑎", "find-01 SUP 𝑥 2 imperative"]
    assert [part.placeholder for part in sentence_graph(graph, 1).formulas] == ["FORMULA_1"]


def test_a_formula_that_the_parser_dropped_hangs_from_its_sentence() -> None:
    found = mathamr(sentence_graph(small_graph(dropped=True), 1))
    assert linearise(found.to_penman(one_line=True)) == "find-01 SUP 𝑥 2 imperative"
