"""Hypothesis strategies for meaning graphs, shared by the tests of this room."""

from __future__ import annotations

from hypothesis import strategies as st

from mathamr.amr.graph import Amr

ROLES = (
    ":ARG0",
    ":ARG1",
    ":mod",
    ":op1",
    ":op2",
    ":consist-of",
    ":prep-out-of",
    ":time",
    ":polarity",
    ":snt1",
)

texts = st.one_of(
    st.sampled_from(
        ["run-01", "boy", "-", "12", "1.5", "imperative", "FORMULA_0", "i", "a", "x1", "and/or", "#5", ""]
    ),
    st.text(max_size=8),
    st.text(alphabet='"\\()/:~# \t\n\r\x00\x0b\x1c\x85\u2028\u00a0\ud800é😀', max_size=6),
)


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12) -> Amr:
    """Connected graphs with reentrancies, cycles, loops, inverted roles and constants of any kind."""
    size = draw(st.integers(1, max_nodes))
    variables = [f"x{number}" for number in range(size)]
    edges = []
    for number in range(1, size):
        ends = (variables[draw(st.integers(0, number - 1))], variables[number])
        source, target = ends if draw(st.booleans()) else ends[::-1]
        edges.append((source, draw(st.sampled_from(ROLES)), target))
    for _ in range(draw(st.integers(0, size))):
        role = draw(st.sampled_from(ROLES)) + draw(st.sampled_from(["", "", "-of"]))
        edges.append((draw(st.sampled_from(variables)), role, draw(st.sampled_from(variables))))
    attributes = [
        (draw(st.sampled_from(variables)), draw(st.sampled_from(ROLES)), draw(texts))
        for _ in range(draw(st.integers(0, size)))
    ]
    tokens = tuple(draw(st.lists(st.text(max_size=4), max_size=4)))
    aligned = draw(st.lists(st.sampled_from(variables), unique=True)) if tokens else []
    return Amr(
        draw(st.sampled_from(variables)),
        tuple((variable, draw(texts)) for variable in variables),
        tuple(edges),
        tuple(attributes),
        tokens,
        tuple((variable, (draw(st.integers(0, len(tokens) - 1)),)) for variable in aligned),
        (("snt", draw(st.text(max_size=12))),),
    )
