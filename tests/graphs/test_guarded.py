"""A post that takes too much is ended with its process, and others are made as ever."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mathamr.core.workers import Lost, WorkLimits
from mathamr.graphs.corpus import GraphWork
from mathamr.graphs.guarded import GuardedGraphs, TooMuchWorkError
from mathamr.posts.post import Post

PARSER = "tests.graphs.parsers:WordChain"
SMALL = WorkLimits(timeout=600, processor=3, memory=1 << 30)
"""Ordinary posts take a small part of it, also on a slow machine."""


def line(body: str, name: str = "1") -> str:
    return Post(name, "note", body, markup="text").to_json()


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[GuardedGraphs]:
    monkeypatch.setenv("MATHAMR_TEST_KILL", "1")
    made = GuardedGraphs(PARSER, None, SMALL)
    yield made
    made._pool.close()


def test_rows_are_those_of_the_work_itself(guarded: GuardedGraphs) -> None:
    lines = [line("Some words with $x$."), line("Others.", "2")]
    assert guarded(lines) == GraphWork(PARSER, None)(lines)
    assert guarded(lines[::-1]) == GraphWork(PARSER, None)(lines[::-1])


@pytest.mark.parametrize("word", [pytest.param("endless", marks=pytest.mark.slow), "killer"])
def test_a_parser_that_fails_costs_a_post_its_meaning_and_nothing_else(
    guarded: GuardedGraphs, word: str
) -> None:
    assert isinstance(guarded([line(f"An {word} word.")]), Lost)
    guarded.prepare([line(f"An {word} word with $x$.")], ["1"])
    (row,) = guarded([line(f"An {word} word with $x$.")])  # type: ignore[misc]
    assert row["formulas"] == 1
    assert guarded([line("Others.", "2")]) == GraphWork(PARSER, None)([line("Others.", "2")])


def test_memory_that_is_not_given_is_a_fallback(guarded: GuardedGraphs) -> None:
    (row,) = guarded([line("A greedy word.")])  # type: ignore[misc]
    assert row["fallbacks"] == {"sentence: exception": 1}


def test_a_post_that_takes_too_much_even_so_is_refused(
    guarded: GuardedGraphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def lost(lines: list[str], _: float | None) -> Lost:
        asked.append(lines)
        return Lost("time-out", "no answer within 2 s of a processor")

    monkeypatch.setattr(guarded._pool, "ask", lost)
    with pytest.raises(TooMuchWorkError, match="'poison' exceeded its limit"):
        guarded.prepare([line("x")], ["poison"])
    assert [each[0][:8] for each in asked] == ['{"id": "', "minimal "]


def test_posts_that_take_longer_than_a_write_may_are_refused_without_a_second_try(
    guarded: GuardedGraphs,
) -> None:
    lines = [line("Some words with $x$."), line("An endless word.", "2")]
    with pytest.raises(TooMuchWorkError, match="these 2 posts takes more work than is allowed"):
        guarded.prepare(lines, ["1", "2"], 0.5)
    guarded.prepare(lines[:1], ["1"], 60)
    assert guarded(lines[:1]) == GraphWork(PARSER, None)(lines[:1])


def test_a_write_keeps_a_post_whose_parser_dies(guarded: GuardedGraphs) -> None:
    guarded.prepare([line("A killer word with $x$.")], ["1"], 60)
    (row,) = guarded([line("A killer word with $x$.")])  # type: ignore[misc]
    assert row["formulas"] == 1


def test_a_process_that_was_given_back_is_taken_again() -> None:
    first = GuardedGraphs.take(PARSER, None)
    second = GuardedGraphs.take(PARSER, None)
    assert first is not second
    first.close()
    assert GuardedGraphs.take(PARSER, None) is first
    second.close()
    first.close()
    assert second._pool.closed, "one is kept, not all"
