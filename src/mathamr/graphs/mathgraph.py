"""`MathGraph`: a post as one graph of meaning (AMR), operators (OPT) and layout (SLT)."""

from __future__ import annotations

from dataclasses import dataclass, field

from mathamr.amr.graph import Amr, reachable
from mathamr.amr.notation import Triple
from mathamr.formulas.tree import Opt, Slt

COREFERENCE = ":coref"
"""The role of an edge from a formula or symbol to its first mention."""


@dataclass(frozen=True, slots=True)
class FormulaPart:
    """One formula of a post: its node in the meaning graph and its two trees.

    `variable` is the node that stands for it; `sentence` the number of the sentence it occurs in. A formula that
    the AMR parser lost is `dropped`: its node hangs from the root with ``:math``. A tree that could not be parsed
    is None.
    """

    placeholder: str
    formula_id: str
    variable: str
    sentence: int
    opt: Opt | None = None
    slt: Slt | None = None
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class MathGraph:
    """The graph of one post (thesis, section 3.1), stored in parts so that every mode is a view of it.

    `amr` has a node for each placeholder, also for the dropped ones. `sentences` lists for each sentence the
    variables of its concepts, its root first. `links` are edges of `COREFERENCE` between nodes of formulas and of their
    trees, if they were asked for (`graphs/coreference.py`).
    """

    post_id: str
    amr: Amr
    sentences: tuple[tuple[str, ...], ...]
    formulas: tuple[FormulaPart, ...] = ()
    texts: tuple[str, ...] = field(default=(), compare=True)
    links: tuple[Triple, ...] = ()

    @property
    def formula_map(self) -> dict[str, str]:
        """The formula id of every placeholder, as the thesis maps them for formula retrieval."""
        return {formula.placeholder: formula.formula_id for formula in self.formulas}

    @property
    def nodes(self) -> int:
        """The number of nodes: concepts, constants and the nodes of all trees."""
        return len(self.amr.instances) + len(self.amr.attributes) + self._tree_nodes

    @property
    def edges(self) -> int:
        """The number of edges between them; each node of a tree is reached by one."""
        return len(self.amr.edges) + len(self.amr.attributes) + self._tree_nodes

    @property
    def _tree_nodes(self) -> int:
        trees = (tree for formula in self.formulas for tree in (formula.opt, formula.slt) if tree is not None)
        return sum(len(tree.labels) for tree in trees)


def sentence_graph(graph: MathGraph, number: int) -> MathGraph:
    """Return the part of a post's graph for sentence `number`, with the formulas of that sentence.

    A formula that the AMR parser dropped hangs from the sentence's root; formulas keep their placeholders, and the
    number of their sentence, so that their texts can be found.
    """
    variables = graph.sentences[number]
    formulas = tuple(formula for formula in graph.formulas if formula.sentence == number)
    top = variables[0]
    dropped = [formula.variable for formula in formulas if formula.variable not in variables]
    kept = {*variables, *dropped}
    edges = tuple(edge for edge in graph.amr.edges if edge[0] in kept and edge[2] in kept)
    edges += tuple((top, ":math", variable) for variable in dropped)
    reached = reachable(top, edges)
    amr = Amr(
        top,
        tuple(each for each in graph.amr.instances if each[0] in reached),
        tuple(edge for edge in edges if edge[0] in reached),
        tuple(each for each in graph.amr.attributes if each[0] in reached),
    )
    return MathGraph(graph.post_id, amr, (variables,), formulas, graph.texts)
