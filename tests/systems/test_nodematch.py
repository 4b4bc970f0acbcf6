"""Which node met which, worked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mathamr.formulas.alignment import NodePair
from mathamr.formulas.parse import parse
from mathamr.posts.post import Formula
from mathamr.systems.nodematch import most_similar
from mathamr.systems.system import VisualFormula
from tests.systems.formulamodels import tiny_ssemb


def test_every_node_meets_what_it_is_most_like_and_what_is_like_nothing_is_left_out() -> None:
    similar = np.array([[0.2, 0.9, 0.1], [-0.5, -0.1, 0.0], [0.75, 0.5, 0.25]], dtype=np.float32)
    assert [(met.node, met.other) for met in most_similar(similar)] == [(0, 1), (2, 0)]
    assert most_similar(similar)[1] == NodePair(2, 0, 0.75)


def test_equal_partners_are_taken_in_turns_and_better_ones_always() -> None:
    # Columns 0, 1 and 3 are three places of one variable, but for rounding; column 2 is another.
    row = [0.8, 0.8 - 1e-6, 0.3, 0.8 + 1e-6]
    similar = np.array([row] * 4 + [[0.1, 0.2, 0.9, 0.1]] * 2, dtype=np.float32)
    assert [met.other for met in most_similar(similar)] == [0, 1, 3, 0, 2, 2]


def test_parts_that_are_one_to_the_network_meet_side_by_side(tmp_path: Path) -> None:
    def visual(latex: str) -> VisualFormula:
        parsed = parse(latex)
        return VisualFormula(key=latex, formula=Formula("1", latex), opt=parsed.opt, slt=parsed.slt)

    pascal = visual(r"\binom{n}{k}=\binom{n-1}{k-1}+\binom{n-1}{k}")
    (match,) = tiny_ssemb(tmp_path).match_nodes(pascal, pascal)
    assert [met.other for met in match.met] == list(range(17))
