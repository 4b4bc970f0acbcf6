from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.text.backend import load_encoder
from mathamr.text.encoder import TextEncoder
from mathamr.text.precomputed import PrecomputedEncoder, PrecomputedVectors
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr.text.wording import Span, Wording
from tests.text.small import small_text_encoder

WORDINGS = [
    Wording("let x be prime", (Span(0, 0, 14), Span(1, 4, 5))),
    Wording("then $y^2$ is a number", (Span(0, 0, 22), Span(2, 5, 10))),
    Wording("so", (Span(0, 0, 2),)),
]


def precomputed(encoder: TextEncoder, wordings: list[Wording]) -> PrecomputedVectors:
    pieces = encoder.pieces.cut(wordings)
    return PrecomputedVectors.of(encoder.fingerprint, pieces, encoder.encode_pieces(pieces))


def test_what_is_known_is_not_encoded_again_but_for_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_text_encoder(tmp_path / "text", small_text_encoder(projection=8))
    plain = load_text_encoder(tmp_path / "text", "cpu")
    (tmp_path / "vectors").mkdir()
    precomputed(plain, WORDINGS[:2]).save(tmp_path / "vectors" / "some.npz")
    monkeypatch.setenv("MATHAMR_VECTORS", str(tmp_path / "vectors"))
    knowing = load_encoder(tmp_path / "text", "cpu")
    assert isinstance(knowing, PrecomputedEncoder)
    read: list[int] = []
    encode = knowing.encoder.encode_pieces
    monkeypatch.setattr(
        knowing.encoder, "encode_pieces", lambda posts: read.append(len(posts)) or encode(posts)
    )
    found = list(knowing.encode(WORDINGS))
    # The first of those that are known is read again, and the one that is not known.
    assert read == [2]
    for ours, theirs in zip(found, plain.encode(WORDINGS), strict=True):
        assert np.array_equal(ours.of, theirs.of)
        np.testing.assert_allclose(ours.vectors, theirs.vectors, atol=0.02)


def test_a_part_of_the_spans_is_found_and_an_unknown_span_is_not() -> None:
    encoder = small_text_encoder()
    known = precomputed(encoder, WORDINGS)
    (fewer,) = encoder.pieces.cut([Wording("let x be prime", (Span(1, 4, 5),))])
    (other,) = encoder.pieces.cut([Wording("let x be prime", (Span(1, 0, 5),))])
    found = known.find(fewer)
    assert found is not None
    np.testing.assert_allclose(found, next(encoder.encode(WORDINGS)).vectors[1:], atol=0.01)
    assert known.find(other) is None


def test_vectors_of_another_encoder_are_not_taken_and_false_ones_are_refused() -> None:
    ours, theirs = small_text_encoder(seed=0), small_text_encoder(seed=1)
    false = replace(precomputed(theirs, WORDINGS), fingerprint=ours.fingerprint)
    with pytest.raises(MathAMRError, match="differ from those it gives"):
        list(PrecomputedEncoder(ours, [false]).encode(WORDINGS))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.npz"
    precomputed(small_text_encoder(), WORDINGS).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(MathAMRError, match="does not hold precomputed vectors"):
        PrecomputedVectors.load(path)


def test_joined_vectors_are_found_like_each_part_and_those_of_two_encoders_are_not_joined() -> None:
    encoder = small_text_encoder(seed=0)
    parts = [precomputed(encoder, WORDINGS[:1]), precomputed(encoder, WORDINGS[1:])]
    joined = PrecomputedVectors.joined(parts)
    for part, text in zip([0, 1, 1], encoder.pieces.cut(WORDINGS), strict=True):
        np.testing.assert_array_equal(joined.find(text), parts[part].find(text))
    with pytest.raises(MathAMRError, match="belong to the same encoder"):
        PrecomputedVectors.joined([parts[0], precomputed(small_text_encoder(seed=1), WORDINGS)])
