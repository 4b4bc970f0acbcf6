from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr_lab.systems.mathamrplus.graph.negatives import HardNegatives

IDS = ("q1", "a1", "q2", "a2", "x", "y")


def test_negatives_are_numbered_and_unknown_ids_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "negatives.jsonl"
    path.write_text(
        '{"question": "q2", "negatives": ["x", "gone", "y"]}\n{"question": "lost", "negatives": ["x"]}\n'
    )
    negatives = HardNegatives.load(path, IDS)
    assert negatives.unknown == 2
    drawn, owners = negatives.drawn(np.array([0, 2]), 5, 0, 0, np.array([0, 1]))
    assert sorted(drawn.tolist()) == [4, 5]
    assert owners.tolist() == [1, 1]


def test_the_same_place_draws_the_same_negatives_and_epochs_differ() -> None:
    negatives = HardNegatives.of(tuple(map(str, range(50))), [("0", [str(n) for n in range(1, 40)])])
    question, slot = np.array([0]), np.array([7])
    first = negatives.drawn(question, 3, 1, 0, slot)[0]
    assert len(set(first.tolist())) == 3
    np.testing.assert_array_equal(first, negatives.drawn(question, 3, 1, 0, slot)[0])
    others = [negatives.drawn(question, 3, 1, epoch, slot)[0].tolist() for epoch in range(1, 6)]
    assert any(other != first.tolist() for other in others)


def test_a_foreign_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "negatives.jsonl"
    path.write_text('{"question": "q1", "negatives": []}\n{"question": 3}\n')
    with pytest.raises(MathAMRError, match="line 2: no list of hard negatives"):
        HardNegatives.load(path, IDS)
    with pytest.raises(MathAMRError, match="cannot read"):
        HardNegatives.load(tmp_path / "missing", IDS)
