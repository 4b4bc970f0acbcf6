"""Tests of the budget of a file: what takes too long is stopped, and nothing else is."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.posts import format, reader
from mathamr.posts.budget import OverBudgetError, keep_budget, within_budget
from mathamr.posts.format import Format
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


@pytest.mark.slow
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


def match_for_hours() -> object:
    """Hold the interpreter's lock in a regular expression that takes exponential time."""
    return re.match(r"(?:a|aa)+$", "a" * 80 + "b")


def test_a_regular_expression_is_ended_in_the_main_thread() -> None:
    def read(report: Report) -> Iterator[Post]:
        report.at("hostile")
        match_for_hours()
        yield Post("a", "note", "")

    with pytest.raises(OverBudgetError):
        list(keep_budget(read(report := Report()), report, 0.3))


def test_work_within_its_budget_gives_its_result_and_other_work_is_ended_even_inside_of_another_budget() -> (
    None
):
    assert within_budget(lambda: 3, 0.3) == 3
    with pytest.raises(OverBudgetError):
        within_budget(lambda: within_budget(match_for_hours, 60.0), 0.3)
    with pytest.raises(OverBudgetError):
        within_budget(lambda: within_budget(match_for_hours, 0.3), 60.0)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_looking_through_all_files_before_the_first_one_has_a_budget_too() -> None:
    def read(report: Report) -> Iterator[Post]:
        work(60)
        yield Post("a", "note", "")

    with pytest.raises(OverBudgetError):
        list(keep_budget(read(report := Report()), report, 0.2, size=500_000))


def test_a_thread_that_gets_no_signals_has_a_budget_of_steps_in_python() -> None:
    ended: list[bool] = []

    def read() -> None:
        try:
            list(keep_budget(reading(report := Report(), 60, 1), report, 0.3))
        except OverBudgetError:
            ended.append(True)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join(60)
    assert ended == [True]


def test_a_file_whose_format_takes_too_long_to_tell_is_counted_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Format(
        "a slow one",
        lambda collection, report: iter(()),
        sniff=lambda head: head.suffix == ".slow" and bool(match_for_hours()),
    )
    monkeypatch.setitem(format.BUILT_IN, "slow", slow)
    monkeypatch.setattr(reader, "_DETECTING", 0.3)
    (tmp_path / "a.slow").write_text("Words.")
    (tmp_path / "b.md").write_text("Words.")
    posts = list(reader.read_posts(tmp_path, report := Report()))
    assert [post.id for post in posts] == ["b.md"]
    assert report.skipped == {"too slow": 1}
