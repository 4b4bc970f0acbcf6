from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from mathamr.text import encoder as encoders
from mathamr.text.configuration import QUERY_WINDOWS, WINDOW, WINDOWS
from mathamr.text.encoder import BUDGET, GPU_BUDGET
from mathamr.text.textvectors import TextVectors
from mathamr.text.wording import Span, Wording
from mathamr.text.wordpieces import MOST_CHARACTERS, Pieces
from tests.text.small import small_text_encoder


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a processor multiplies in sixteen bits is no matter of these tests."""
    monkeypatch.setattr(encoders, "_multiplies_bfloat16", lambda: False)


def worded(text: str) -> Wording:
    return Wording(text, (Span(0, 0, len(text)), Span(1, 0, max(1, len(text) // 2))))


def test_vectors_are_means_of_the_states_of_one_pass() -> None:
    encoder = small_text_encoder(projection=8)
    text = "let p. then $p^2$!"
    (found,) = encoder.encode([Wording(text, (Span(4, 0, 18), Span(1, 12, 17)))])
    (cut,) = encoder.pieces.cut([Wording(text, ())])
    numbers = [encoder.pieces.begin, *cut.numbers.tolist(), encoder.pieces.end]
    with torch.inference_mode():
        states = encoder.model(torch.tensor([numbers]), torch.tensor([len(numbers)]))[0]
        assert encoder.model.head is not None
        expected = encoder.model.head(torch.stack([states.mean(0), states[5:10].mean(0)]))
    expected = torch.nn.functional.normalize(expected, dim=-1)
    assert found.of.tolist() == [4, 1]
    np.testing.assert_allclose(found.vectors, expected.numpy(), atol=1e-5)


@settings(max_examples=15)
@given(some.lists(some.text("let prime $^2x", max_size=40), min_size=1, max_size=8), some.integers(0, 7))
def test_other_posts_never_change_a_post(texts: list[str], chosen: int) -> None:
    encoder = small_text_encoder()
    chosen %= len(texts)
    together = list(encoder.encode(map(worded, texts)))
    assert len(together) == len(texts)
    (alone,) = encoder.encode([worded(texts[chosen])])
    np.testing.assert_allclose(together[chosen].vectors, alone.vectors, atol=1e-5)


def test_a_long_post_is_read_in_windows_and_then_no_further() -> None:
    encoder = small_text_encoder()
    words = "prime " * (WINDOW * QUERY_WINDOWS + 50)
    first, second, beyond = (
        Span(0, 0, 6),
        Span(1, 6 * WINDOW, 6 * WINDOW + 6),
        Span(2, len(words) - 6, len(words)),
    )
    (found,) = encoder.encode([Wording(words, (first, second, beyond))], QUERY_WINDOWS)
    assert found.of.tolist() == [0, 1]
    (whole,) = encoder.encode([Wording(words, (first, second, beyond))])
    assert whole.of.tolist() == [0, 1, 2]
    np.testing.assert_allclose(whole.vectors[:2], found.vectors, atol=1e-5)
    # Both are the first word of a window of nothing but that word.
    np.testing.assert_allclose(found.vectors[0], found.vectors[1], atol=1e-5)


def test_no_more_text_is_cut_into_pieces_than_vectors_are_made_of() -> None:
    (cut,) = small_text_encoder().pieces.cut([Wording("x" * 2 * MOST_CHARACTERS, ())])
    (words,) = small_text_encoder().pieces.cut([Wording("x " * MOST_CHARACTERS, ())])
    assert len(cut) == 1
    assert len(words) == MOST_CHARACTERS // 2
    assert len(words.cut(WINDOW * WINDOWS)) == WINDOW * WINDOWS


def test_a_post_larger_than_the_budget_is_encoded_a_few_windows_at_a_time() -> None:
    encoder, sizes = small_text_encoder(), list[int]()
    (cut,) = encoder.pieces.cut([worded("let x " * 6 * WINDOW)])
    (at_once,) = encoder.encode_pieces([cut], budget=GPU_BUDGET)
    encoder.model.register_forward_pre_hook(lambda _, given: sizes.append(given[0].numel()))
    (piecewise,) = encoder.encode_pieces([cut], budget=BUDGET // 4)
    np.testing.assert_allclose(at_once.vectors, piecewise.vectors, atol=1e-5)
    assert len(sizes) > 2
    assert max(sizes) <= BUDGET // 4 + WINDOW + 2


def test_few_long_posts_are_encoded_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "MOST_CHARACTERS", 100)
    encoder = small_text_encoder()
    together: list[int] = []
    encode_pieces = encoder.encode_pieces

    def counted(posts: list[Pieces]) -> list[TextVectors]:
        together.append(len(posts))
        return encode_pieces(posts)

    monkeypatch.setattr(encoder, "encode_pieces", counted)
    texts = [worded("let x " * count) for count in (3, 3, 30, 3)]
    assert [len(found.of) for found in encoder.encode(texts)] == [2] * 4
    assert together == [2, 1, 1]


def test_the_budget_decides_only_what_is_encoded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = small_text_encoder()
    texts = [worded("let x " * (1 + place % 7)) for place in range(20)]
    at_once = [row.vectors for row in encoder.encode(texts)]
    cut = encoder.pieces.cut(texts)
    piecewise = [row.vectors for row in encoder.encode_pieces(cut, budget=40)]
    for one, other in zip(at_once, piecewise, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_wording_without_spans_has_no_vectors() -> None:
    (found,) = small_text_encoder(projection=8).encode([Wording("", ())])
    assert found.vectors.shape == (0, 8)
