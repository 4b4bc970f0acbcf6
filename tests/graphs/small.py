"""A small post of two sentences and two formulas, made by hand, for the tests of this room."""

from __future__ import annotations

from mathamr.amr.graph import Amr
from mathamr.formulas.tree import Opt, Slt
from mathamr.graphs.mathgraph import FormulaPart, MathGraph

# FORMULA_0: a+b, FORMULA_1: x^2
OPT_0 = Opt(("U!plus", "V!𝑎", "V!𝑏"), (-1, 0, 0), "-01")
SLT_0 = Slt(("V!a", "+", "V!b"), (-1, 0, 1), "-nn")
OPT_1 = Opt(("O!SUP", "V!𝑥", "N!2"), (-1, 0, 0), "-01")
SLT_1 = Slt(("V!x", "N!2"), (-1, 0), "-a")


def small_graph(*, dropped: bool = False) -> MathGraph:
    """“Let FORMULA_0 be odd. Find FORMULA_1.”; the second formula may be one the parser lost."""
    second = ("m", ":math", "f1") if dropped else ("b", ":ARG1", "f1")
    amr = Amr(
        "m",
        (("m", "multi-sentence"), ("a", "odd"), ("f0", "FORMULA_0"), ("b", "find-01"), ("f1", "FORMULA_1")),
        (("m", ":snt1", "a"), ("a", ":domain", "f0"), ("m", ":snt2", "b"), second),
        (("b", ":mode", "imperative"),),
    )
    return MathGraph(
        "q7",
        amr,
        (("a", "f0"), ("b",) if dropped else ("b", "f1")),
        (
            FormulaPart("FORMULA_0", "q7:0", "f0", 0, OPT_0, SLT_0),
            FormulaPart("FORMULA_1", "q7:1", "f1", 1, OPT_1, SLT_1, dropped),
        ),
        ("Let FORMULA_0 be odd.", "Find FORMULA_1."),
    )
