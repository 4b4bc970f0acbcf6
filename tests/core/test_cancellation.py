from __future__ import annotations

import threading

import pytest

from mathamr.core.cancellation import Cancellation, WorkCancelled, check_cancelled
from mathamr.formulas.alignment import similarity
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import trees_of
from mathamr.posts.post import Formula


def test_only_work_to_which_it_is_applied_ends() -> None:
    cancelled, other = Cancellation(), Cancellation()
    cancelled.cancel()
    with other.applied():
        with pytest.raises(WorkCancelled), cancelled.applied():
            check_cancelled()
        check_cancelled()
    check_cancelled()


def test_another_thread_goes_on() -> None:
    cancelled = Cancellation()
    cancelled.cancel()
    done: list[bool] = []
    with cancelled.applied():
        thread = threading.Thread(target=lambda: (check_cancelled(), done.append(True)))
        thread.start()
        thread.join()
    assert done == [True]


def test_neither_formulas_are_parsed_nor_trees_aligned_and_nothing_wrong_is_remembered() -> None:
    latex = "c_{ancelled}+1"
    parsed = parse(latex)
    cancelled = Cancellation()
    cancelled.cancel()
    with cancelled.applied():
        with pytest.raises(WorkCancelled):
            trees_of(Formula("a", latex))
        with pytest.raises(WorkCancelled):
            similarity((parsed.opt, parsed.slt), (parsed.opt, parsed.slt))
    assert trees_of(Formula("a", latex))[0] == (parsed.opt, parsed.slt)
