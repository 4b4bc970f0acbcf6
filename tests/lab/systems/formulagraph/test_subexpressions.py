"""The sub-expressions of both views of a formula correspond (Amador and Zanibbi, figure 2)."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.formulas.parse import parse
from mathamr.graphs.formulashard import FormulaLabels, FormulaTrees, folded
from mathamr.systems.formulagraph.batch import Chosen
from mathamr_lab.systems.formulagraph.subexpressions import Subexpressions

FORMULAS = ("x^{2y}+1", "a<\\sqrt{b+c}", "x", "a_i-\\frac{b}{c}")


def both_views() -> tuple[FormulaLabels, FormulaTrees, FormulaTrees]:
    parsed = [parse(latex) for latex in FORMULAS]
    names = {folded(label) for each in parsed for tree in (each.slt, each.opt) for label in tree.labels}
    labels = FormulaLabels.of_counts(dict.fromkeys(names, 1))
    slt, opt = [each.slt for each in parsed], [each.opt for each in parsed]
    return labels, FormulaTrees.of(slt, labels, "slt"), FormulaTrees.of(opt, labels, "opt")


@pytest.mark.parametrize(
    ("formula", "operator", "operators_kept", "layout_kept"),
    [
        (0, "U!plus", {"O!SUP", "V!x", "U!times", "N!2", "V!y"}, {"V!x", "N!2", "V!y"}),
        (0, "U!times", {"U!plus", "O!SUP", "V!x", "N!1"}, None),
        (1, "O!lt", {"O!root", "N!2", "U!plus", "V!b", "V!c"}, {"O!root", "V!b", "+", "V!c"}),
    ],
)
def test_the_layout_keeps_what_the_operators_keep(
    formula: int, operator: str, operators_kept: set[str], layout_kept: set[str] | None
) -> None:
    labels, slt, opt = both_views()
    layout, operators = Subexpressions(slt), Subexpressions(opt)
    chosen = np.arange(len(FORMULAS))
    drawn = operators.removed(chosen, np.random.default_rng(0))
    drawn[formula] = next(
        node
        for node in range(opt.starts[formula], opt.starts[formula + 1])
        if labels.labels[opt.labels[node]] == operator
    )
    kept = operators.without(chosen, drawn)
    removed = layout.like(opt, chosen, kept, layout.removed(chosen, np.random.default_rng(1)))
    found = layout.without(chosen, removed)

    def named(trees: FormulaTrees, part: Chosen) -> set[str]:
        begin = int(part.counts[:formula].sum())
        nodes = part.nodes[begin : begin + int(part.counts[formula])]
        return {labels.labels[trees.labels[node]] for node in nodes}

    assert named(opt, kept) == operators_kept
    if layout_kept is not None:
        assert named(slt, found) == layout_kept
    assert removed[2] == -1


def test_the_best_removal_is_that_of_an_exhaustive_search() -> None:
    _, slt, opt = both_views()
    layout, operators = Subexpressions(slt), Subexpressions(opt)
    chosen = np.arange(len(FORMULAS))
    for seed in range(5):
        chance = np.random.default_rng(seed)
        kept = operators.without(chosen, operators.removed(chosen, chance))
        removed = layout.like(opt, chosen, kept, layout.removed(chosen, chance))
        begins = np.concatenate([[0], np.cumsum(kept.counts)])
        for formula in chosen:
            if removed[formula] < 0:
                continue
            wanted = opt.labels[kept.nodes[begins[formula] : begins[formula + 1]]].tolist()
            whole = set(opt.labels[opt.starts[formula] : opt.starts[formula + 1]].tolist())
            scores = {}
            for node in range(slt.starts[formula], slt.starts[formula + 1]):
                if slt.sizes[node] > 1:
                    part = layout.without(np.array([formula]), np.array([node]))
                    ours = [label for label in slt.labels[part.nodes].tolist() if label in whole]
                    shared = sum(min(ours.count(label), wanted.count(label)) for label in set(ours))
                    scores[node] = 2 * shared / max(1, len(ours) + len(wanted))
            assert scores[int(removed[formula])] == pytest.approx(max(scores.values()))
