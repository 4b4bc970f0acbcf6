"""Tests of the budget of a file: what takes too long is stopped, and nothing else is."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from mathamr.posts.budget import OverBudgetError, keep_budget
from mathamr.posts.post import Post
from mathamr.posts.report import Report


def work(seconds: float) -> None:
    """Use this much processor time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def reading(report: Report, seconds: float, files: int) -> Iterator[Post]:
    for number in range(files):
        report.at(f"file{number}")
        work(seconds)
        yield Post(str(number), "note", "")


def test_a_file_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(OverBudgetError):
        list(keep_budget(reading(report := Report(), 60, 2), report, 0.3))
    assert report.file == "file0"


def test_every_file_has_a_budget_of_its_own_and_what_is_done_with_posts_is_free() -> None:
    report = Report()
    found = []
    for post in keep_budget(reading(report, 0.4, 4), report, 1.0):
        work(0.4)
        found.append(post.id)
    assert found == ["0", "1", "2", "3"]


def test_what_was_read_counts_for_the_budget() -> None:
    def read(report: Report) -> Iterator[Post]:
        report.at("dump")
        for number in range(4):
            report.count_bytes(1_000_000)
            work(0.3)
            yield Post(str(number), "note", "")

    assert len(list(keep_budget(read(report := Report()), report, 0.5))) == 4
