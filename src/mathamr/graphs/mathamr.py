"""The original MathAMR: operator trees in place of formulas, and its depth-first string (Mansouri, Oard and Zanibbi 2022, section 3).

MathAMR (Mansouri, Oard and Zanibbi, 2022) has one tree per formula: the root of its OPT replaces the
placeholder, hangs from its parent with ``:math``, and its operands follow as ``:op0``, ``:op1``…
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mathamr.amr.graph import Amr, unquoted
from mathamr.amr.notation import Triple, branches
from mathamr.formulas.tree import Opt
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.unify import opt_role, tree_atom

_FORBIDDEN = str.maketrans({"(": "$", ")": "$$", ":": "$##$"})


def mathamr(graph: MathGraph) -> Amr:
    """Build the MathAMR graph of a post: its AMR with the operator tree of each formula in the formula's place.

    A formula without an operator tree keeps its placeholder.
    """
    concepts = dict(graph.amr.instances)
    edges = list(graph.amr.edges)
    instances: list[tuple[str, str]] = []
    formulas = {formula.variable: formula for formula in graph.formulas if formula.opt is not None}
    added: list[tuple[str, str]] = []
    for formula in formulas.values():
        assert formula.opt is not None
        prefix = f"o{formula.placeholder.rpartition('_')[2]}"
        names = [formula.variable, *(f"{prefix}_{node}" for node in range(1, len(formula.opt)))]
        labels = [operator_name(label) for label in formula.opt.labels]
        concepts[formula.variable] = tree_atom(labels[0])
        added.extend((name, tree_atom(label)) for name, label in zip(names[1:], labels[1:], strict=True))
        edges.extend(_operands(formula.opt, names))
    edges = [(a, ":math" if b in formulas else role, b) for a, role, b in edges]
    instances = [(variable, concepts[variable]) for variable, _ in graph.amr.instances] + added
    return Amr(graph.amr.top, tuple(instances), tuple(edges), graph.amr.attributes)


def _operands(opt: Opt, names: list[str]) -> list[Triple]:
    return [(names[a], opt_role(opt.labels[a], edge), names[b]) for a, edge, b in opt.triples()]


def operator_name(label: str) -> str:
    """Return the name of an OPT label in MathAMR: without its type, and without characters that Penman reserves.

    >>> operator_name("U!plus"), operator_name("+!F!sin"), operator_name("O!interval(O-C)"), operator_name("V!!")
    ('plus', 'sin', 'interval$O-C$$', '!')
    """
    name = label
    while len(name) > 1 and name[1] == "!":
        name = name[2:]
    return name.translate(_FORBIDDEN)


def linearise(penman: str) -> str:
    """Return the concepts and constants of a graph depth first, without roles, each node once.

    Children come in the alphabetical order of their roles, those of one role in reverse: the order of the
    published strings. Empty concepts are left out.

    >>> linearise("(s / solve-01 :mode imperative :ARG1 (e / eq :op0 (x / x) :op0 (z / 0)))")
    'solve-01 eq 0 x imperative'
    """
    top, instances, links = branches(penman)
    concepts = {variable: unquoted(concept) for variable, concept in instances}
    return _depth_first(top, concepts, links)


def linearised_tree(opt: Opt) -> str:
    """Write an operator tree alone as MathAMR does, in the order of `linearise`.

    >>> from mathamr.formulas.notation import opt_from_string
    >>> linearised_tree(opt_from_string("[U!plus,0[O!SUP,0[V!x],1[V!n]],1[V!y]]"))
    'plus y SUP x n'
    """
    names = [str(node) for node in range(len(opt))]
    concepts = dict(zip(names, map(operator_name, opt.labels), strict=True))
    return _depth_first(names[0], concepts, _operands(opt, names))


def _depth_first(top: str, concepts: Mapping[str, str], links: Iterable[Triple]) -> str:
    children: dict[str, list[tuple[str, str]]] = {}
    for variable, role, target in links:
        children.setdefault(variable, []).append((role, target))
    words: list[str] = []
    waiting, seen = [top], set()
    while waiting:
        node = waiting.pop()
        if node not in concepts:
            words.append(node)
        elif node not in seen:
            seen.add(node)
            words.append(concepts[node])
            in_order = sorted(children.get(node, ()), key=lambda child: child[0], reverse=True)
            waiting.extend(target for _, target in in_order)
    return " ".join(word for word in words if word.strip())
