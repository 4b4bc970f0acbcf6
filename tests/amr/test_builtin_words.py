"""Words of sentences, their shapes and lemmas."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.amr.builtin.lemmas import lemma
from mathamr.amr.builtin.words import LONGEST_WORD, SHAPES, cut, shape
from tests.cases import cases


@cases(
    ("text", "words"),
    [
        ("It isn't so.", ["It", "is", "n't", "so", "."]),
        ("We cannot, e.g. in 3.5 days", ["We", "can", "not", ",", "e.g.", "in", "3.5", "days"]),
        ("a one-to-one map", ["a", "one-to-one", "map"]),
        ("let kFORMULA_12th be", ["let", "kFORMULA", "_", "12th", "be"]),
        ("FORMULA_0,FORMULA_1", ["FORMULA_0", ",", "FORMULA_1"]),
        ("Euler's <b>bold</b> proof...", ["Euler", "'s", "bold", "proof", "..."]),
        (
            'B-Raf<sup>V600E</sup> (Figure <xref ref-type="fig" rid="F1">1</xref>A)',
            ["B", "-", "Raf", "V600E", "(", "Figure", "1A", ")"],
        ),
        (
            "f is 1–1 iff it’s injective",
            ["f", "is", "1", "–", "1", "if-and-only-if", "it", "’s", "injective"],
        ),
        ("", []),
        ("\x00\u202e\ud800", []),
    ],
)
def test_words_are_cut(text: str, words: list[str]) -> None:
    assert cut(text).words == words


@given(st.text(max_size=60))
def test_words_lie_where_their_places_say(text: str) -> None:
    found = cut(text)
    ends = [0]
    for word, (start, end) in zip(found.words, found.places, strict=True):
        assert ends[-1] <= start < end <= len(text)
        assert len(word) <= LONGEST_WORD
        ends.append(end)
    assert len(found.spaces) == len(found.words)


def test_long_words_are_cut() -> None:
    assert [len(word) for word in cut("a" * 250).words] == [100, 100, 50]


def test_shapes_say_what_lower_case_pieces_hide() -> None:
    found = cut("Ask Euler about DNA, p53, 7, FORMULA_0 and co-sets")
    shapes = {word: SHAPES[shape(found, token)] for token, word in enumerate(found.words)}
    assert shapes == {
        "Ask": "title first", "Euler": "title", "about": "lower", "DNA": "upper", ",": "mark", "p53": "mixed",
        "7": "number", "FORMULA_0": "formula", "and": "lower", "co": "lower", "-": "mark",
        "sets": "lower after a hyphen",
    }  # fmt: skip


@cases(
    ("word", "tag", "base"),
    [
        ("matrices", "NNS", "matrix"),
        ("buses", "NNS", "bus"),
        ("houses", "NNS", "house"),
        ("proofs", "NNS", "proof"),
        ("bodies", "NNS", "body"),
        ("saw", "VBD", "see"),
        ("saw", "NN", "saw"),
        ("making", "VBG", "make"),
        ("stopped", "VBD", "stop"),
        ("larger", "JJR", "large"),
        ("best", "JJS", "good"),
        ("n’t", "RB", "not"),
        ("FORMULA_3", "NNS", "FORMULA_3"),
        ("googled", "VBD", "google"),
    ],
)
def test_lemmas(word: str, tag: str, base: str) -> None:
    assert lemma(word, tag) == base
