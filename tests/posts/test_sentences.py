"""Sentences end where a reader would end them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.sentences import sentences
from tests.bounded import bounded
from tests.cases import cases


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@cases(
    "text",
    [
        "Use e.g. this, i.e. that, cf. the book.",
        "By Thm. 2 and Eq. (3) and Fig. 4 it holds.",
        "See Prop. III.4 and Sec. 1.5, no. 5, pp. 3-7.",
        "Convergence w.r.t. the norm, s.t. it exists, resp. not.",
        "Written by J. R. Smith and Dr. Jones.",
        "The value is 3.14 or 2.5e3.",
        "It goes on... and on.",
        "Cases 1. and 2. are clear.",
        "1. First item",
        "(a. the second)",
        "Then n! is large.",
        "He asked (why?) and left.",
        "the i.i.d. case, a.e. on the line, etc. and so on",
        "Let \0 be, e.g. \0, large.",
        "so that \1 where it holds",
        "so that \1, where it holds",
        "we have \1 (by assumption) and so on",
        "we have\2\1\2where it holds",
        "so \1 (2) holds",
        "it is \0\2where it holds",
    ],
)
def test_no_sentence_ends_here(text: str) -> None:
    assert cut(text) == [text]


@cases(
    ("text", "expected"),
    [
        ("One. Two? Three! Four", ["One.", "Two?", "Three!", "Four"]),
        ("It is \0. Then \0.", ["It is \0.", "Then \0."]),
        ("Is it so?yes. no it is not", ["Is it so?yes.", "no it is not"]),
        ("The group G. Then more.", ["The group G.", "Then more."]),
        ("He said no. Then left.", ["He said no.", "Then left."]),
        ("and so on, etc. The rest", ["and so on, etc.", "The rest"]),
        ("(See above.) Then go.", ["(See above.)", "Then go."]),
        ('He said "go." Then left.', ['He said "go."', "Then left."]),
        ("That is true.So it ends.", ["That is true.", "So it ends."]),
        ("It holds... The end.", ["It holds...", "The end."]),
        ("so \1 Therefore it holds", ["so \1", "Therefore it holds"]),
        ("so \1. Therefore", ["so \1.", "Therefore"]),
        ("one paragraph\2another one", ["one paragraph", "another one"]),
        ("we have\2\1\2Now", ["we have\2\1", "Now"]),
        ("first\u2028a) second \0\u2028Third", ["first", "a) second \0", "Third"]),
        ("  \2 \n", []),
    ],
)
def test_sentences_end_here(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text("aB. ?!\0\1\2\u2028\n,)1e.g", max_size=60))
def test_sentences_are_in_order_and_lose_nothing(text: str) -> None:
    found = list(sentences(text))
    assert all(left[1] <= right[0] for left, right in pairwise(found))
    blank = str.maketrans("", "", "\2\u2028 \n")
    assert "".join(text[start:end] for start, end in found).translate(blank) == text.translate(blank)


@pytest.mark.parametrize(
    "text",
    ["'.' * 400_000", "'.' * 400_000 + 'a'", "'?!.' * 100_000 + 'a'", "'.\"' * 200_000 + 'a'"],
)
def test_marks_without_end_cost_no_more_than_their_number(text: str) -> None:
    ended = bounded(
        f"from mathamr.posts.sentences import sentences\nprint(len(list(sentences({text}))))", seconds=10
    )
    assert ended.returncode == 0, "it took longer than ten seconds of a processor"
    assert ended.stdout == "1\n"
