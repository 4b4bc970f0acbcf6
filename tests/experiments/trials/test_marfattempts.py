from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr.evaluation.qrels import Qrels
from mathamr.experiments.trials.marf import SearchTask, by_candidates
from mathamr.experiments.trials.marfattempts import standard
from mathamr.systems.marf.training.postshard import PostShard


def test_scores_of_a_query_are_standardised_and_what_has_none_counts_as_the_mean() -> None:
    found = standard(torch.tensor([0.2, 0.4, -1.0, 0.6]))
    assert found.tolist() == pytest.approx([-1.0, 0.0, 0.0, 1.0], abs=1e-5)


def test_a_query_with_fewer_than_two_scores_tells_nothing() -> None:
    assert standard(torch.tensor([-1.0, 0.3])).tolist() == [0.0, 0.0]


def test_tasks_that_search_the_same_entries_are_measured_together_in_order() -> None:
    answers, looks = (PostShard((), (), np.zeros((0, 2), np.int32)) for _ in range(2))
    made = [
        SearchTask(name, answers, searched, Qrels({}), ())
        for name, searched in (("task1", answers), ("task2", looks), ("known-items", answers))
    ]
    groups = [(shard, [task.name for task in own]) for shard, own in by_candidates(made)]
    assert [own for _, own in groups] == [["task1", "known-items"], ["task2"]]
    assert groups[0][0] is answers
    assert groups[1][0] is looks
