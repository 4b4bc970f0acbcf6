"""Mathematical signs as words."""

from __future__ import annotations

from mathamr.text.signs import WORDS, sign_words, with_sign_words
from mathamr.text.wording import Span, Wording


def test_spans_keep_their_text() -> None:
    text = "For ∀ n : ℕ, ∑ i ∈ s, 𝔞 i ≠ 0. Then 𝓝 x."
    parts = [text[:31], text[32:], text, text[4:5]]
    spans = tuple(
        Span(number, text.index(part), text.index(part) + len(part)) for number, part in enumerate(parts)
    )
    found = with_sign_words(Wording(text, spans))
    assert found.text == sign_words(text)
    assert [found.text[span.start : span.end] for span in found.spans] == [sign_words(part) for part in parts]


def test_text_without_signs_stays_as_it_is() -> None:
    plain = Wording("a ≤ b", (Span(0, 0, 5),))
    assert with_sign_words(plain) is plain


def test_no_word_holds_a_sign() -> None:
    assert not any(sign_words(word) != word for word in WORDS.values())
