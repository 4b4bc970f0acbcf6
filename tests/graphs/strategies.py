"""Random posts as graphs, with labels that no notation likes."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from mathamr.amr.graph import Amr
from mathamr.formulas.tree import Opt, Slt
from mathamr.graphs.mathgraph import FormulaPart, MathGraph
from mathamr.graphs.unify import OPERAND_LETTERS

NASTY = [
    'T!a "b" c',
    *["V!x", "M!()1x1", '"', "M!&lsqb;)1x2", "::", "/", "~", "#", "N!1/2", "W!", "V!λ", "T!\\", "E!", "o0_0"],
]
LABELS = st.one_of(st.sampled_from(NASTY), st.text(min_size=1, max_size=8))


@st.composite
def opts(draw: st.DrawFn) -> Opt:
    """Any tree of up to eight nodes, in depth-first order."""
    labels, parents, edges = [draw(st.sampled_from(["U!plus", "O!minus", "F!f"]))], [-1], ["-"]
    open_nodes, operands = [0], [0]
    for node in range(1, draw(st.integers(1, 8))):
        position = draw(st.integers(0, len(open_nodes) - 1))
        del open_nodes[position + 1 :]
        parent = open_nodes[-1]
        labels.append(draw(LABELS))
        parents.append(parent)
        edges.append(OPERAND_LETTERS[operands[parent]])
        operands[parent] += 1
        open_nodes.append(node)
        operands.append(0)
    return Opt(tuple(labels), tuple(parents), "".join(edges))


@st.composite
def slts(draw: st.DrawFn) -> Slt:
    """A chain of symbols."""
    labels = draw(st.lists(LABELS, min_size=1, max_size=8))
    edges = "-" + "".join(draw(st.sampled_from("nabouw")) for _ in labels[1:])
    return Slt(tuple(labels), tuple(range(-1, len(labels) - 1)), edges)


@st.composite
def math_graphs(draw: st.DrawFn) -> MathGraph:
    """Up to three sentences and three formulas, some of them dropped, some without a tree."""
    sentences = draw(st.integers(1, 3))
    instances = [("m", "multi-sentence")]
    edges, attributes, members = [], [], []
    for index in range(sentences):
        variables = [f"v{index}n{node}" for node in range(draw(st.integers(1, 4)))]
        members.append(tuple(variables))
        instances += [(variable, draw(LABELS)) for variable in variables]
        edges.append(("m", f":snt{index + 1}", variables[0]))
        edges += [(a, ":ARG1", b) for a, b in itertools.pairwise(variables)]
        if draw(st.booleans()):
            edges.append((variables[-1], ":ARG0", variables[0]))
        attributes.append((variables[0], ":op1", draw(st.sampled_from(['"Euler"', "-", "12", '"a :b (c"']))))
    formulas = []
    for number in range(draw(st.integers(0, 3))):
        sentence, dropped, variable = draw(st.integers(0, sentences - 1)), draw(st.booleans()), f"f{number}"
        instances.append((variable, f"FORMULA_{number}"))
        edges.append(("m", ":math", variable) if dropped else (members[sentence][0], ":mod", variable))
        if not dropped:
            members[sentence] += (variable,)
        formulas.append(
            FormulaPart(
                f"FORMULA_{number}",
                draw(st.text(min_size=1, max_size=6)),
                variable,
                sentence,
                draw(st.none() | opts()),
                draw(st.none() | slts()),
                dropped,
            )
        )
    amr = Amr("m", tuple(instances), tuple(edges), tuple(attributes))
    texts = tuple(draw(st.text(max_size=20)) for _ in members)
    return MathGraph(draw(st.text(min_size=1, max_size=10)), amr, tuple(members), tuple(formulas), texts)
