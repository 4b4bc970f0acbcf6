"""The study of long entries: what counts as a tail, what is drawn, and what is printed of an index."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mathamr.index.indexing import outdated
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.systems.text.system import TextSystem
from mathamr.text import configuration
from mathamr_lab.studies import tails
from tests.index.small import note, write_posts
from tests.text.small import small_text_encoder

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
BODY = " ".join(f"Let the {a} of {b} be a number and the prime of them." for a in NUMBERS for b in NUMBERS)


def test_a_tail_begins_behind_the_first_word_pieces() -> None:
    pieces = small_text_encoder().pieces
    found, length = tails.sentences_of(note("long", BODY), pieces)
    (cut,) = pieces.cut([tails.wording_alone(note("long", BODY[: BODY.index(found[30].text)]))[0]])
    assert length > tails.FIRST
    assert len(found) == 100
    assert [each.is_tail for each in found] == sorted(each.is_tail for each in found)
    assert found[30].is_tail == (len(cut) >= tails.FIRST)
    assert {each.is_tail for each in found} == {False, True}


def test_sentences_that_occur_twice_are_not_drawn() -> None:
    once = tails.Sentence("a", "0", "A sentence that occurs in one place alone.", is_tail=False)
    twice = tails.Sentence("a", "1", "A sentence that occurs in more than one place.", is_tail=False)
    short = tails.Sentence("a", "2", "Short.", is_tail=False)
    assert tails.drawn([once, twice, short, twice], 10) == [once]


def test_sentences_without_a_vector_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (configuration, outdated):
        monkeypatch.setattr(module, "WINDOWS", configuration.QUERY_WINDOWS)
    TextSystem(small_text_encoder()).save(tmp_path / "model")
    source = write_posts(tmp_path / "posts.jsonl", [note("long", BODY), note("short", "Let $p$ be prime.")])
    build_index(
        [source], tmp_path / "index", BuildOptions(model=tmp_path / "model", engine="flat", device="cpu")
    )
    monkeypatch.setattr(sys, "argv", ["tails", str(tmp_path / "index"), "4"])
    tails.main()
    lines = capsys.readouterr().out.splitlines()
    lost = sum(
        each.is_tail for each in tails.sentences_of(note("long", BODY), small_text_encoder().pieces)[0]
    )
    assert lines[0] == f"{lost} of 101 sentences have no vector"
    first, tail = (line.split() for line in lines[2:])
    assert first[:4] == ["first", "part", "4", "4"]
    assert tail[:3] == ["tail", "4", "4"]
