"""Near formulas: how they are drawn, the loss of finding them, and vectors that letters share at the start."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from mathamr.graphs.formulashard import FormulaLabels
from mathamr_lab.systems.formulagraph.losses import near_loss
from mathamr_lab.systems.formulagraph.start import share_start
from mathamr_lab.systems.formulagraph.teacher import Teacher


def teacher(anchors: int = 30, width: int = 5) -> Teacher:
    generator = np.random.default_rng(0)
    order = generator.permutation(100)[:anchors]
    candidates = np.array([generator.permutation(100)[:width] for _ in order])
    return Teacher(order, candidates, generator.random((anchors, width)).astype(np.float32))


def test_the_loss_of_near_formulas_equals_a_loop_that_skips_the_other_near_ones() -> None:
    scores = torch.tensor([[0.9, 0.8, 0.1, -0.2], [0.3, 0.2, 0.5, 0.4]])
    places = torch.tensor([0, 2])
    is_near = torch.tensor([[True, True, False, False], [False, False, True, False]])
    expected = []
    for row, place, near in zip(scores.tolist(), places.tolist(), is_near.tolist(), strict=True):
        among = [
            math.exp(score / 0.05) for column, score in enumerate(row) if column == place or not near[column]
        ]
        expected.append(-math.log(math.exp(row[place] / 0.05) / sum(among)))
    assert float(near_loss(scores, places, is_near, 0.05)) == pytest.approx(sum(expected) / 2)


@pytest.mark.parametrize("nearest", [1, 3, 50])
def test_a_drawn_formula_is_one_of_the_nearest_and_all_of_these_are_marked(nearest: int) -> None:
    known = teacher()
    orders = np.array([4, 1, 17, 9])
    found = known.draw_near(orders, nearest, np.random.default_rng(1))
    assert found.ours.tolist() == sorted(known.anchors[orders].tolist())
    assert found.theirs.tolist() == sorted(set(found.theirs.tolist()))
    for row, anchor in enumerate(found.ours.tolist()):
        (order,) = np.flatnonzero(known.anchors == anchor)
        ranked = sorted(
            zip(known.scores[order].tolist(), known.candidates[order].tolist(), strict=True), reverse=True
        )
        best = {candidate for _, candidate in ranked[:nearest]}
        assert int(found.theirs[found.places[row]]) in best
        marked = {int(each) for each in found.theirs[found.is_near[row]]}
        assert marked == {each for each in found.theirs.tolist() if each in best or each == anchor}


def test_all_orders_but_the_held_out_ones_are_drawn_equally_often() -> None:
    known = teacher(anchors=30)
    assert known.held == 3
    drawn = known.draw_orders(18, 6, np.random.default_rng(0))
    assert [len(each) for each in drawn] == [6] * 18
    assert all(len(set(each.tolist())) == 6 for each in drawn)
    counts = np.bincount(np.concatenate(drawn), minlength=30)
    assert counts[known.held_orders].tolist() == [0, 0, 0]
    # 27 orders are four batches of six a pass: 18 batches are four and a half passes.
    assert counts[:27].sum() == 18 * 6
    assert counts.max() <= 5


def test_a_batch_takes_no_more_orders_than_there_are() -> None:
    known = teacher(anchors=5)
    (drawn,) = known.draw_orders(1, 40, np.random.default_rng(0))
    assert drawn.tolist() == [0, 1, 2, 3, 4]


def labels() -> FormulaLabels:
    names = [
        *(f"V!{letter}" for letter in "abcdefgh"),
        *(f"N!{number}" for number in range(8)),
        "O!minus",
        "U!plus",
    ]
    return FormulaLabels.of_counts(dict.fromkeys(names, 9), 1)


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_variables_have_the_wanted_cosine_with_each_other_and_so_have_numbers(share: float) -> None:
    known, size = labels(), 20_000
    torch.manual_seed(0)
    vectors = torch.randn(len(known), size) / size**0.5
    before = vectors.clone()
    share_start(vectors, known, share)
    for kind, other in (("V!", "N!"), ("N!", "V!")):
        ours, theirs = (
            [
                number
                for number, label in enumerate(known.labels)
                if label.startswith(each) and label[2:].isalnum()
            ]
            for each in (kind, other)
        )
        assert len(ours) == 8
        cosines = torch.nn.functional.cosine_similarity(vectors[ours][:, None], vectors[ours][None], dim=2)
        apart = cosines[~torch.eye(8, dtype=torch.bool)]
        assert float(apart.min()) > share - 0.05
        assert float(apart.max()) < share + 0.05
        assert float((vectors[ours] @ vectors[theirs].T).abs().max()) < 0.05
        assert vectors[ours].norm(dim=1).tolist() == pytest.approx([1.0] * 8, abs=0.03)
    for name in ("O!minus", "U!plus"):
        assert torch.equal(vectors[known[name]], before[known[name]])


def test_nothing_is_shared_unless_it_is_wanted() -> None:
    known = labels()
    vectors = torch.randn(len(known), 8)
    before = vectors.clone()
    share_start(vectors, known, 0)
    assert torch.equal(vectors, before)
