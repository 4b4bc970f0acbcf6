"""MessagePack as spaCy's models have it, against the library that writes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.amr.builtin.messagepack import unpacked
from mathamr.amr.builtin.wordtext import OFTEN, WordList

srsly = pytest.importorskip("srsly")
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text().filter(lambda key: key != "nd") | st.integers(0, 2**64 - 1), inner)
    ),
    max_leaves=30,
)


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_what_was_written_is_read(value: Any) -> None:
    assert unpacked(srsly.msgpack_dumps(value)) == value


@pytest.mark.parametrize("count", [0, 15, 16, 70_000])
def test_long_texts_lists_and_maps_are_read(count: int) -> None:
    value = {"text": "é" * count, "list": list(range(count)), "map": {str(n): n for n in range(count)}}
    assert unpacked(srsly.msgpack_dumps(value)) == value


def test_arrays_are_numpys() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(unpacked(srsly.msgpack_dumps({"W": array}))["W"], array)


@given(st.binary(max_size=60))
@settings(max_examples=100, deadline=None)
def test_anything_else_is_refused(data: bytes) -> None:
    try:
        unpacked(data)
    except (
        ValueError,
        TypeError,
        KeyError,
    ) as error:  # also keys that are lists, arrays that lack their parts
        told = str(error)
        assert told


def test_depth_is_bounded() -> None:
    with pytest.raises(ValueError, match="too deep"):
        unpacked(b"\x91" * 5000 + b"\x00")


def test_many_short_words_answer_as_a_list_does() -> None:
    words = [f"word{number}" for number in range(300)] + ["a", "at", "cat", ""]
    kept = unpacked(srsly.msgpack_dumps({1: 1, 2**63: words, 2**63 + 1: "text"}), keeps_words=True)
    found = kept[2**63]
    assert isinstance(found, WordList)
    assert kept[2**63 + 1] == "text"
    assert len(found) == len(words)
    asked = [*words, "ca", "t", "word", "word3000", "\xa3cat", "x" * 40]
    for _ in range(1 + OFTEN // len(asked)):
        assert [word in found for word in asked] == [word in words for word in asked]


@pytest.mark.parametrize("word", ["é", "x" * 32])
def test_lists_with_other_words_are_read_whole(word: str) -> None:
    words = ["word"] * 100 + [word] + ["more"] * 100
    assert unpacked(srsly.msgpack_dumps(words), keeps_words=True) == words
