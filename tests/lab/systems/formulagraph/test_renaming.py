"""Formulas under other names: one name for a variable throughout, different ones for different variables."""

from __future__ import annotations

import numpy as np

from mathamr_lab.systems.formulagraph.renaming import Renaming
from tests.systems.formulamodels import shard


def test_variables_and_numbers_move_operators_stay_and_both_views_agree() -> None:
    formulas = shard()
    labels = formulas.labels
    renaming = Renaming(labels, 1.0, 1.0)
    moves = renaming.drawn(len(formulas), np.random.default_rng(0))
    names: dict[tuple[int, int], int] = {}
    for trees in (formulas.slt, formulas.opt):
        owners = np.repeat(np.arange(len(trees)), np.diff(trees.starts))
        before = trees.labels.astype(np.int64)
        after = renaming.applied(before, owners, moves)
        for owner, one, other in zip(owners.tolist(), before.tolist(), after.tolist(), strict=True):
            kind = labels.labels[one][:2]
            assert names.setdefault((owner, one), other) == other
            if kind in ("V!", "N!"):
                assert labels.labels[other][:2] == kind
                assert other != one
            else:
                assert other == one
    for owner in range(len(formulas)):
        mine = [new for (formula, _), new in names.items() if formula == owner]
        assert len(set(mine)) == len(mine)


def test_without_a_rate_nothing_moves() -> None:
    formulas = shard()
    renaming = Renaming(formulas.labels, 0.0, 0.0)
    assert not renaming.drawn(5, np.random.default_rng(0)).any()
