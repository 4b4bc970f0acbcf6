"""Unify: formula trees in the place of the placeholders of a meaning graph (thesis, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator

from mathamr.amr.graph import Amr, Triple, is_atom, string
from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr.graphs.configuration import FormulaMode
from mathamr.graphs.mathgraph import MathGraph

OPERAND_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OPERAND_ROLES = {letter: f":op{number}" for number, letter in enumerate(OPERAND_LETTERS)}
_OPERAND_OF_ROLE = {role: letter for letter, role in _OPERAND_ROLES.items()}


def opt_role(parent_label: str, edge: str) -> str:
    """The role of an operand: its number, or ``:op0`` for every operand of an unordered operator.

    >>> opt_role("O!minus", "1"), opt_role("U!plus", "1"), opt_role("M!V-12", "B")
    (':op1', ':op0', ':op11')
    """
    return ":op0" if parent_label.startswith("U!") else _OPERAND_ROLES[edge]


def slt_role(parent_label: str, edge: str) -> str:
    """The role of a layout edge: its letter."""
    return f":{edge}"


def unified(graph: MathGraph, mode: FormulaMode = "both") -> Amr:
    """The whole graph as one AMR: ``:opt`` and ``:slt`` lead from each formula's node to its trees.

    The node i of the OPT of ``FORMULA_n`` is the variable ``on_i``, that of its SLT ``sn_i``.
    """
    instances = list(graph.amr.instances)
    edges = list(graph.amr.edges)
    for formula in graph.formulas:
        number = formula.placeholder.rpartition("_")[2]
        if formula.opt is not None and mode in ("both", "opt"):
            _hang(formula.variable, ":opt", f"o{number}", formula.opt, instances, edges)
        if formula.slt is not None and mode in ("both", "slt"):
            _hang(formula.variable, ":slt", f"s{number}", formula.slt, instances, edges)
    dropped = {formula.variable for formula in graph.formulas if formula.dropped}
    if mode == "none" and dropped:
        instances = [instance for instance in instances if instance[0] not in dropped]
        edges = [edge for edge in edges if edge[0] not in dropped and edge[2] not in dropped]
    return Amr(graph.amr.top, tuple(instances), tuple(edges), graph.amr.attributes)


def _hang(
    variable: str, role: str, prefix: str, tree: Tree, instances: list[tuple[str, str]], edges: list[Triple]
) -> None:
    instances.extend((f"{prefix}_{node}", tree_atom(label)) for node, label in enumerate(tree.labels))
    edges.append((variable, role, f"{prefix}_0"))
    edge_role = opt_role if isinstance(tree, Opt) else slt_role
    edges.extend(
        (f"{prefix}_{parent}", edge_role(tree.labels[parent], edge), f"{prefix}_{child}")
        for parent, edge, child in tree.triples()
    )


def tree_atom(label: str) -> str:
    r"""A tree's label as Penman holds it; `mathamr.amr.graph.unquoted` is the inverse, whatever the label.

    >>> tree_atom("V!x"), tree_atom("M!()1x1"), tree_atom('"')
    ('V!x', '"M!()1x1"', '"\\""')
    """
    return label if not label.startswith('"') and is_atom(label) else string(label)


def opt_of(labels: list[str], triples: Iterator[tuple[int, str, int]]) -> Opt:
    """The OPT whose nodes and roles were read from a unified graph."""
    parents, edges, operands = [-1] * len(labels), ["-"] * len(labels), [0] * len(labels)
    for parent, role, child in sorted(triples, key=lambda triple: triple[2]):
        parents[child] = parent
        unordered = labels[parent].startswith("U!")
        edges[child] = OPERAND_LETTERS[operands[parent]] if unordered else _OPERAND_OF_ROLE[role]
        operands[parent] += 1
    return Opt(tuple(labels), tuple(parents), "".join(edges))


def slt_of(labels: list[str], triples: Iterator[tuple[int, str, int]]) -> Slt:
    """The SLT whose nodes and roles were read from a unified graph."""
    parents, edges = [-1] * len(labels), ["-"] * len(labels)
    for parent, role, child in triples:
        parents[child], edges[child] = parent, role[1:]
    return Slt(tuple(labels), tuple(parents), "".join(edges))
