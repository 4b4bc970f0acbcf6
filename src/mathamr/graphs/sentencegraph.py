"""The graph of one sentence of a post, which MathAMR uses as the context of a formula (Mansouri, Oard and Zanibbi 2022, section 3)."""

from __future__ import annotations

from mathamr.amr.graph import Amr, reachable
from mathamr.graphs.mathgraph import MathGraph


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
