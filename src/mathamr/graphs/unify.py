"""Unify: puts formula trees in the place of the placeholders of a meaning graph (thesis, section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mathamr.amr.document import DocumentAmr
from mathamr.amr.graph import Amr, is_atom, string
from mathamr.amr.notation import Triple
from mathamr.amr.placeholder import placeholders
from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr.formulas.trees import Trees
from mathamr.graphs.configuration import TREELESS, FormulaMode
from mathamr.graphs.mathgraph import FormulaPart, MathGraph

OPERAND_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OPERAND_ROLES = {letter: f":op{number}" for number, letter in enumerate(OPERAND_LETTERS)}
_OPERAND_OF_ROLE = {role: letter for letter, role in _OPERAND_ROLES.items()}

TREE_VARIABLE = re.compile(r"([os])(\d+)_(\d+)")
"""Variables of tree nodes: o or s, the number of the formula, the number of the node."""


def unify(
    post_id: str,
    document: DocumentAmr,
    texts: Sequence[str],
    formula_ids: Mapping[str, str],
    trees: Mapping[str, Trees],
) -> MathGraph:
    """Build one graph of a post's meaning and formulas; formulas that the AMR parser dropped hang from the root.

    `texts` are the sentences that `document` was parsed from, `formula_ids` and `trees` belong to their
    placeholders; a placeholder without trees stays a plain node.
    """
    amr = _without_tree_variables(document.amr)
    renamed = dict(zip(document.amr.concepts(), amr.concepts(), strict=True))
    sentence_of = {name: number for number, text in enumerate(texts) for name in placeholders(text)}
    variable_of = {name: renamed[variable] for name, variable in document.formulas}
    dropped = [name for name in formula_ids if name not in variable_of]
    amr = _hang_dropped(amr, dropped, variable_of)
    formulas = tuple(
        FormulaPart(
            name,
            formula_id,
            variable_of[name],
            sentence_of.get(name, 0),
            *trees.get(name, (None, None)),
            dropped=name in dropped,
        )
        for name, formula_id in formula_ids.items()
    )
    sentences = tuple(tuple(renamed[v] for v in variables) for variables in document.sentences)
    return MathGraph(post_id, amr, sentences, formulas, tuple(texts))


def _without_tree_variables(amr: Amr) -> Amr:
    clashing = [variable for variable in amr.concepts() if TREE_VARIABLE.fullmatch(variable)]
    return amr.renamed({variable: f"x{variable}" for variable in clashing}) if clashing else amr


def _hang_dropped(amr: Amr, dropped: list[str], variable_of: dict[str, str]) -> Amr:
    if not dropped:
        return amr
    taken = set(amr.concepts())
    instances, edges = list(amr.instances), list(amr.edges)
    for name in dropped:
        variable = f"f{name.rpartition('_')[2]}"
        while variable in taken:
            variable = f"f{variable}"
        taken.add(variable)
        variable_of[name] = variable
        instances.append((variable, name))
        edges.append((amr.top, ":math", variable))
    return replace(amr, instances=tuple(instances), edges=tuple(edges))


def opt_role(parent_label: str, edge: str) -> str:
    """Return the role of an operand: its number, or ``:op0`` for every operand of an unordered operator.

    >>> opt_role("O!minus", "1"), opt_role("U!plus", "1"), opt_role("M!V-12", "B")
    (':op1', ':op0', ':op11')
    """
    return ":op0" if parent_label.startswith("U!") else _OPERAND_ROLES[edge]


def slt_role(_parent_label: str, edge: str) -> str:
    """Return the role of a layout edge: its letter."""
    return f":{edge}"


def unified(graph: MathGraph, mode: FormulaMode = "both") -> Amr:
    """Return the complete graph as one AMR: ``:opt`` and ``:slt`` lead from each formula's node to its trees.

    Node i of the OPT of ``FORMULA_n`` is the variable ``on_i``, node i of its SLT is ``sn_i``.
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
    if mode in TREELESS and dropped:
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
    r"""Write a tree's label as a Penman atom; `mathamr.amr.graph.unquoted` is the inverse for every label.

    >>> tree_atom("V!x"), tree_atom("M!()1x1"), tree_atom('"')
    ('V!x', '"M!()1x1"', '"\\""')
    """
    return label if not label.startswith('"') and is_atom(label) else string(label)


def opt_of(labels: list[str], triples: Iterator[tuple[int, str, int]]) -> Opt:
    """Build the OPT whose nodes and roles were read from a unified graph."""
    parents, edges, operands = [-1] * len(labels), ["-"] * len(labels), [0] * len(labels)
    for parent, role, child in sorted(triples, key=lambda triple: triple[2]):
        parents[child] = parent
        unordered = labels[parent].startswith("U!")
        edges[child] = OPERAND_LETTERS[operands[parent]] if unordered else _OPERAND_OF_ROLE[role]
        operands[parent] += 1
    return Opt(tuple(labels), tuple(parents), "".join(edges))


def slt_of(labels: list[str], triples: Iterator[tuple[int, str, int]]) -> Slt:
    """Build the SLT whose nodes and roles were read from a unified graph."""
    parents, edges = [-1] * len(labels), ["-"] * len(labels)
    for parent, role, child in triples:
        parents[child], edges[child] = parent, role[1:]
    return Slt(tuple(labels), tuple(parents), "".join(edges))
