from __future__ import annotations

import io

import pytest

from mathamr.core.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_plain_lines_with_rate_and_time_left(monkeypatch):
    clock = iter([0.0, 6.0, 10.0, 12.0, 20.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream, share = io.StringIO(), iter([0.05, 0.25])
    with Progress("reading", "posts", share=lambda: next(share), stream=stream) as progress:
        for _ in range(3):
            progress.advance(1000)
    # The first thousand took six seconds, the next one four: a model was loaded first, which the rest need not wait for.
    assert stream.getvalue().splitlines() == [
        "reading: 2,000 posts, 25 %, 200 posts/s, 15.0 s left",
        "reading: 3,000 posts in 20.0 s, 150 posts/s",
    ]


def test_short_work_is_silent_in_a_log():
    stream = io.StringIO()
    with Progress("reading", "posts", total=3, stream=stream) as progress:
        assert list(progress.each("abc")) == ["a", "b", "c"]
    assert progress.done == 3
    assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar(monkeypatch):
    stream = Terminal()
    with Progress("reading", "posts", total=10, stream=stream) as progress:
        progress.advance(2)
        progress._due = 0.0
        progress.advance(3)
        progress._bar[0].refresh()
    assert "50%" in stream.getvalue()
    assert "5 posts" in stream.getvalue()
    assert "left" in stream.getvalue()


def test_work_that_fails_is_not_reported_as_done():
    stream = io.StringIO()
    with pytest.raises(RuntimeError), Progress("reading", "posts", stream=stream, seconds_between_lines=0):
        raise RuntimeError
    assert stream.getvalue() == ""
