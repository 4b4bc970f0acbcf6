"""Virtual nodes: builds the flat graph of nodes and edges that an encoder reads (thesis, section 3.2)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeVar

from mathamr.formulas.tree import Tree
from mathamr.graphs.configuration import TREELESS, Auxiliary, FormulaMode, GraphConfiguration
from mathamr.graphs.flatgraph import (
    AUXILIARY_EDGE,
    DOCUMENT_EDGE,
    FORMULA_EDGE,
    SENTENCE_EDGE,
    VIRTUAL_DOCUMENT,
    VIRTUAL_FORMULA,
    VIRTUAL_SENTENCE,
    FlatGraph,
    NodePart,
    Representative,
)
from mathamr.graphs.mathgraph import FormulaPart, MathGraph
from mathamr.graphs.unify import opt_role, slt_role
from mathamr.posts.level import Level

Virtual = TypeVar("Virtual")


def flatten(graph: MathGraph, configuration: GraphConfiguration | None = None) -> FlatGraph:
    """Return the nodes and edges of a post with the virtual nodes of the configuration.

    Without trees (mode ``none``) the placeholders stay as plain concepts of their sentence, the dropped ones
    are left out, and no formula represents the post. With mode ``absent``, as the thesis says, the placeholders are
    left out as well, except those that are the root of their sentence.
    """
    configuration = configuration or GraphConfiguration()
    formulas = () if configuration.formulas in TREELESS else graph.formulas
    left_out = left_out_of(graph, configuration.formulas)
    flat = FlatGraph()
    number = _add_amr(flat, graph, left_out)
    tree_nodes = [_add_trees(flat, formula, number[formula.variable], configuration) for formula in formulas]
    if configuration.structure == "hierarchy":
        _add_hierarchy(flat, graph, formulas, tree_nodes, number, configuration.auxiliary)
    else:
        _represent_by_own_nodes(flat, graph, formulas, number)
        if configuration.structure == "global":
            _add_global(flat, graph.post_id)
    return flat


def left_out_of(graph: MathGraph, mode: FormulaMode) -> set[str]:
    """Return the placeholders that a formula mode leaves out."""
    if mode not in TREELESS:
        return set()
    dropped = {formula.variable for formula in graph.formulas if formula.dropped}
    if mode == "none":
        return dropped
    roots = {graph.amr.top, *(variables[0] for variables in graph.sentences if variables)}
    return dropped | {formula.variable for formula in graph.formulas} - roots


def _add_amr(flat: FlatGraph, graph: MathGraph, left_out: set[str]) -> dict[str, int]:
    placeholders = {formula.variable for formula in graph.formulas}
    number: dict[str, int] = {}
    for variable, concept in graph.amr.instances:
        if variable not in left_out:
            number[variable] = flat.add(
                concept, NodePart.FORMULA if variable in placeholders else NodePart.CONCEPT
            )
    for source, role, target in graph.amr.edges:
        if source not in left_out and target not in left_out:
            flat.edges.append((number[source], role, number[target]))
    for source, role, constant in graph.amr.attributes:
        if source not in left_out:
            flat.edges.append((number[source], role, flat.add(constant, NodePart.CONSTANT)))
    return number


def _add_trees(
    flat: FlatGraph, formula: FormulaPart, node: int, configuration: GraphConfiguration
) -> list[int]:
    first = len(flat.labels)
    if formula.opt is not None and configuration.formulas in ("both", "opt"):
        _add_tree(flat, formula.opt, NodePart.OPT, node, ":opt")
    if formula.slt is not None and configuration.formulas in ("both", "slt"):
        _add_tree(flat, formula.slt, NodePart.SLT, node, ":slt")
    return list(range(first, len(flat.labels)))


def _add_tree(flat: FlatGraph, tree: Tree, part: NodePart, node: int, role: str) -> None:
    first = len(flat.labels)
    for label in tree.labels:
        flat.add(label, part)
    flat.edges.append((node, role, first))
    edge_role = opt_role if part is NodePart.OPT else slt_role
    for parent, edge, child in tree.triples():
        flat.edges.append((first + parent, edge_role(tree.labels[parent], edge), first + child))


def _add_hierarchy(
    flat: FlatGraph,
    graph: MathGraph,
    formulas: tuple[FormulaPart, ...],
    tree_nodes: list[list[int]],
    number: dict[str, int],
    auxiliary: Auxiliary,
) -> None:
    in_order: list[tuple[int, int, int]] = []
    for formula, nodes in zip(formulas, tree_nodes, strict=True):
        virtual = flat.add(VIRTUAL_FORMULA, NodePart.VIRTUAL)
        # A formula without any tree is represented by its node in the meaning graph.
        flat.edges.extend((virtual, FORMULA_EDGE, node) for node in nodes or [number[formula.variable]])
        flat.representatives.append(Representative(virtual, Level.FORMULA, formula.formula_id))
        in_order.append((formula.sentence, 1, virtual))
    for index, variables in enumerate(graph.sentences):
        virtual = flat.add(VIRTUAL_SENTENCE, NodePart.VIRTUAL)
        flat.edges.extend((virtual, SENTENCE_EDGE, number[v]) for v in variables if v in number)
        flat.representatives.append(Representative(virtual, Level.SENTENCE, str(index)))
        in_order.append((index, 0, virtual))
    virtuals = [representative.node for representative in flat.representatives]
    in_document = [virtual for _, _, virtual in sorted(in_order)]
    flat.edges.extend((a, AUXILIARY_EDGE, b) for a, b in auxiliary_pairs(in_document, auxiliary))
    document = flat.add(VIRTUAL_DOCUMENT, NodePart.VIRTUAL)
    flat.edges.extend((document, DOCUMENT_EDGE, virtual) for virtual in virtuals)
    flat.edges.append((document, DOCUMENT_EDGE, number[graph.amr.top]))
    flat.representatives.append(Representative(document, Level.DOCUMENT, graph.post_id))


def auxiliary_pairs(virtuals: Sequence[Virtual], auxiliary: Auxiliary) -> list[tuple[Virtual, Virtual]]:
    """Return the auxiliary edges between the virtual nodes of sentences and formulas, given in document order.

    >>> auxiliary_pairs("abc", "circular")
    [('a', 'b'), ('b', 'c'), ('c', 'a')]
    """
    if auxiliary == "full":
        return list(itertools.combinations(virtuals, 2))
    if auxiliary == "none":
        return []
    pairs = list(itertools.pairwise(virtuals))
    if auxiliary == "circular" and len(virtuals) > 2:
        pairs.append((virtuals[-1], virtuals[0]))
    return pairs


def _represent_by_own_nodes(
    flat: FlatGraph, graph: MathGraph, formulas: tuple[FormulaPart, ...], number: dict[str, int]
) -> None:
    for formula in formulas:
        flat.representatives.append(
            Representative(number[formula.variable], Level.FORMULA, formula.formula_id)
        )
    for index, variables in enumerate(graph.sentences):
        if variables and variables[0] in number:
            flat.representatives.append(Representative(number[variables[0]], Level.SENTENCE, str(index)))


def _add_global(flat: FlatGraph, post_id: str) -> None:
    nodes = range(len(flat.labels))
    virtual = flat.add(VIRTUAL_DOCUMENT, NodePart.VIRTUAL)
    flat.edges.extend((virtual, DOCUMENT_EDGE, node) for node in nodes)
    flat.representatives.append(Representative(virtual, Level.DOCUMENT, post_id))
