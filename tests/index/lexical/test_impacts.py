"""What is remembered of terms is what would be computed anew, has an end, and is of one state alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.index.lexical.bags import term_number
from mathamr.index.lexical.impacts import Impacts
from mathamr.index.lexical.lexicalindex import POSTS, LexicalPart
from mathamr.index.lexical.segments import Segments

TEXTS = {
    "a": ["ring", "ring", "field"],
    "b": ["ring", "group"],
    "c": ["group"] * 4,
    "d": ["field", "of", "view", "view"],
}


@pytest.fixture
def part(tmp_path: Path) -> LexicalPart:
    """Three segments, of one of which an entry is dead."""
    made = LexicalPart(tmp_path, POSTS)
    made.update((each, {"words": TEXTS[each]}) for each in "abc")
    made.update([("d", {"words": TEXTS["d"]})])
    made.update([], deletes=["b"])
    return made


def plain(term: str, k1: float, b: float) -> dict[str, float]:
    """BM25 by its formula, for the entries that are alive."""
    alive = {each: words for each, words in TEXTS.items() if each != "b"}
    mean = sum(map(len, alive.values())) / len(alive)
    often = {each: words.count(term) for each, words in alive.items() if term in words}
    return {each: f / (f + k1 * (1 - b + b * len(alive[each]) / mean)) for each, f in often.items()}


def test_shares_are_those_of_the_formula_asked_for_once_or_again(part: LexicalPart, tmp_path: Path) -> None:
    impacts = Impacts(Segments.read(tmp_path))
    names = ["group", "view", "ring", "unknown"]
    for asked in (names, names[::-1], names[1:2], names):
        found = impacts.of("words", [*map(term_number, asked)], 2.0, 0.9)
        for name, impact in zip(asked, found, strict=True):
            shares = dict(zip(impacts.state.ids(impact.rows), impact.shares.tolist(), strict=True))
            shares.pop("b", None)  # dead: whoever searches leaves it out
            expected = plain(name, 2.0, 0.9)
            assert shares == pytest.approx(expected)
            assert impact.living == len(expected)


def test_what_is_remembered_has_an_end_and_other_parameters_are_other_impacts(
    part: LexicalPart, tmp_path: Path
) -> None:
    impacts = Impacts(Segments.read(tmp_path), most=4)
    ring, group = term_number("ring"), term_number("group")
    (first,) = impacts.of("words", [ring], 2.0, 0.9)
    assert impacts.of("words", [ring], 2.0, 0.9)[0] is first
    assert impacts.of("words", [ring], 1.0, 0.75)[0].shares.tolist() != first.shares.tolist()
    impacts.of("words", [group], 2.0, 0.9)
    (again,) = impacts.of("words", [ring], 2.0, 0.9)
    assert again is not first
    assert again.shares.tolist() == first.shares.tolist()


def test_a_change_of_the_index_is_seen_by_terms_that_were_asked_for_before(part: LexicalPart) -> None:
    asked = {"words": ["ring"]}
    assert [hit.id for hit in part.search(asked, 5)] == ["a"]
    part.update([("e", {"words": ["ring"]})])
    assert sorted(hit.id for hit in part.search(asked, 5)) == ["a", "e"]
