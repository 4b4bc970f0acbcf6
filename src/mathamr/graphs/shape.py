"""The shape of graphs: sizes of trees, numbers of virtual nodes, and lengths of the lines that MathAMR encodes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from mathamr.graphs.mathamr import linearise, mathamr
from mathamr.graphs.mathgraph import MathGraph, sentence_graph


def count_shape(graph: MathGraph) -> Counter[str]:
    """Count what `GraphShape` is the mean of, in one graph; the counts of several graphs can be added."""
    found = Counter({"graphs": 1, "formulas": len(graph.formulas), "sentences": len(graph.sentences)})
    for formula in graph.formulas:
        for name, tree in (("opt", formula.opt), ("slt", formula.slt)):
            if tree is not None:
                found[f"{name} trees"] += 1
                found[f"{name} nodes"] += len(tree)
    for number in sorted({formula.sentence for formula in graph.formulas}):
        if number < len(graph.sentences) and graph.sentences[number]:
            penman = mathamr(sentence_graph(graph, number)).to_penman(one_line=True)
            words = len(linearise(penman).split())
            found.update({"lines": 1, "words": words, "squares": words * words})
    return found


@dataclass(frozen=True, slots=True)
class GraphShape:
    """Means over a collection (thesis, sections 3.5.1 and 4.3.1; MathAMR, section 5).

    `virtual` nodes a post are those of its formulas and sentences and the document's. `line` is the number of words of a sentence
    with formulas as MathAMR writes it, and `line_deviation` its standard deviation.
    """

    virtual: float
    opt_nodes: float
    slt_nodes: float
    lines: int
    line: float
    line_deviation: float

    @classmethod
    def of(cls, sums: Mapping[str, int]) -> GraphShape:
        """Return the means of counts that were added."""

        def mean(total: str, count: str) -> float:
            return sums.get(total, 0) / max(1, sums.get(count, 0))

        line = mean("words", "lines")
        return cls(
            1 + mean("formulas", "graphs") + mean("sentences", "graphs"),
            mean("opt nodes", "opt trees"),
            mean("slt nodes", "slt trees"),
            sums.get("lines", 0),
            line,
            math.sqrt(max(0.0, mean("squares", "lines") - line * line)),
        )
