"""A conversation with an index: what is asked, narrowed, and wrong."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.cli.safeconsole import SafeConsole
from mathamr.cli.shellsession import ShellSession
from mathamr.search.searcher import Index


@pytest.fixture
def talk(sample_index: Path) -> Iterator[tuple[ShellSession, io.StringIO]]:
    written = io.StringIO()
    with Index.open(sample_index, device="cpu") as index:
        asking = ShellSession(index, None, SafeConsole(file=written, width=100))
        assert asking.take(":strategy lexical")
        yield asking, written


def test_lines_are_queries_and_colons_narrow_them(talk) -> None:
    asking, written = talk
    asking.take(":k 2")
    asking.take("converge")
    assert "2 hits; there are more" in " ".join(written.getvalue().split())
    first = written.getvalue()
    asking.take(":more")
    assert "  3  " in written.getvalue()[len(first) :]
    asking.take(":kind answer")
    length = len(written.getvalue())
    asking.take("converge")
    shown = written.getvalue()[length:]
    assert shown.count("answer · ") == 2
    assert "question · " not in shown


def test_conditions_may_be_typed_into_a_line(talk) -> None:
    asking, written = talk
    asking.take("converge kind:answer -series")
    shown = written.getvalue()
    assert "answer · " in shown
    assert "question · " not in shown
    asking.take('"converge the of"')
    assert "no entry fulfils the conditions" in " ".join(written.getvalue().split())


def test_mistakes_are_reported_and_the_conversation_goes_on(talk) -> None:
    asking, written = talk
    for line in (":kind teorem", ":folder nowhere", ":task x", ":strategy x", ":k 0", ":nonsense", ""):
        assert asking.take(line)
    reported = " ".join(written.getvalue().split())
    for part in ("'teorem'", "'nowhere'", "unknown task 'x'", "from 1 to 1000", "':nonsense'"):
        assert part in reported
    assert not asking.take(":quit")


def test_help_names_every_command(talk) -> None:
    asking, written = talk
    asking.take(":help")
    for name in (":kind", ":folder", ":tag", ":task", ":strategy", ":k", ":more", ":quit"):
        assert name in written.getvalue()
