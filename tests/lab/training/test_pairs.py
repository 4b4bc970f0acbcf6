from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr_lab.training.pairs import Answers, batches, checked, split


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(21, 60)), min_size=2, max_size=60), st.floats(0, 0.5)
)
def test_a_split_loses_no_pair_and_separates_no_question(pairs: list[tuple[int, int]], share: float) -> None:
    array = np.array(pairs, np.int64)
    train, held = split(array, share, seed=3)
    assert sorted(map(tuple, np.concatenate([train, held]).tolist())) == sorted(pairs)
    assert not set(train[:, 0].tolist()) & set(held[:, 0].tolist())
    assert len(held) <= round(share * len(pairs))


def test_a_split_is_nine_to_one_and_fixed_by_its_seed() -> None:
    pairs = np.stack([np.arange(1000), np.arange(1000, 2000)], 1)
    train, held = split(pairs, 0.1, seed=0)
    assert (len(train), len(held)) == (900, 100)
    np.testing.assert_array_equal(held, split(pairs, 0.1, seed=0)[1])
    assert set(held[:, 0].tolist()) != set(split(pairs, 0.1, seed=1)[1][:, 0].tolist())


def test_an_epoch_has_every_pair_once_in_an_order_of_its_own() -> None:
    first = batches(101, 10, seed=0, epoch=0)
    assert [len(batch) for batch in first] == [10] * 10  # the last pair alone has no negative
    assert len(set(np.concatenate(first).tolist())) == 100
    assert sorted(np.concatenate(batches(25, 10, 0, 0)).tolist()) == list(range(25))
    assert np.concatenate(first).tolist() != np.concatenate(batches(101, 10, 0, 1)).tolist()


def test_all_answers_of_a_question_are_known() -> None:
    answers = Answers(np.array([[0, 5], [0, 6], [1, 7]]), 10)
    found = answers.among(np.array([0, 1, 2]), np.array([5, 6, 7]))
    assert found.tolist() == [[True, True, False], [False, False, True], [False, False, False]]


def test_pairs_that_cannot_be_trained_on_are_refused() -> None:
    with pytest.raises(MathAMRError, match="too few"):
        checked(np.zeros((1, 2), np.int64), 5)
    with pytest.raises(MathAMRError, match="not among the 5"):
        checked(np.array([[0, 1], [2, 5]]), 5)
