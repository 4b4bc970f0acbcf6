"""States of words from the text encoder's own reading of a post."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.amr.builtin.model import WEIGHTS, ParserModel
from mathamr.amr.builtin.states import word_states, written
from mathamr.amr.builtin.words import cut
from mathamr.posts.passage import passage
from mathamr.posts.post import Formula, Post
from mathamr.text.configuration import WINDOW
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.onnxgraph import OnnxTransformer
from mathamr.text.wording import wording_alone

MIX = {3: 0.5, 6: 0.5}


@pytest.fixture(scope="module")
def encoder() -> OnnxTextEncoder:
    return load_onnx_encoder(ParserModel.load(WEIGHTS).encoder)


def test_formulas_are_written_in_place() -> None:
    text, begins = written([cut("Let FORMULA_0 be."), cut("It is FORMULA_1.")], {"FORMULA_0": " x \n y "})
    assert text == "Let $x y$ be. It is $x$."
    assert [text[begin : begin + 2] for begin in begins] == ["Le", "$x", "be", ". ", "It", "is", "$x", "."]


def test_a_word_has_the_mean_of_its_pieces_and_shares_one_if_it_has_none(encoder: OnnxTextEncoder) -> None:
    sentence = cut("We cannot homeomorphise.")
    (states,) = word_states(encoder, MIX, [sentence], {})
    numbers, places = encoder.pieces.places(sentence.text)
    inside = encoder.mixed_states(numbers, MIX)
    assert sentence.words == ["We", "can", "not", "homeomorphise", "."]
    np.testing.assert_array_equal(states[1], states[2])
    last = places.tolist().index(sentence.places[-1][0])
    np.testing.assert_allclose(states[3], inside[2:last].mean(axis=0), rtol=1e-5)


def test_mixed_states_are_the_sum_of_layers(encoder: OnnxTextEncoder) -> None:
    window = encoder.pieces.places("Every bounded sequence converges.")[0]
    single = [encoder.mixed_states(window, {layer: 1.0}) for layer in MIX]
    np.testing.assert_allclose(encoder.mixed_states(window, MIX), (single[0] + single[1]) / 2, atol=1e-5)


def test_a_post_is_read_once_for_its_graph_and_its_vectors(
    encoder: OnnxTextEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "Let $x>0$, and ∀ y ≠ x. " + "Then the sum of $x$ and one is positive, since it is large. " * 30
    post = Post("7", "answer", body, markup="text")
    made = passage(post)
    formulas = {place.name: place.formula for place in made.placeholders}
    latex = {name: "x>0" if name == "FORMULA_0" else "x" for name in formulas}
    post = Post(
        "7", "answer", body, markup="text", formulas=tuple(Formula(i, latex[n]) for n, i in formulas.items())
    )
    expected = next(iter(encoder.encode([wording_alone(post)[0]]))).vectors
    runs: list[int] = []
    run = OnnxTransformer.run

    def counted(self: OnnxTransformer, *given: np.ndarray) -> list[np.ndarray]:
        runs.append(len(given[0]))
        return run(self, *given)

    monkeypatch.setattr(OnnxTransformer, "run", counted)
    word_states(encoder, MIX, [cut(sentence.text) for sentence in made.sentences], latex)
    parsed = len(runs)
    found = next(iter(encoder.encode([wording_alone(post, made)[0]]))).vectors
    assert parsed == len(runs) == -(-sum(width - 2 for width in runs) // WINDOW) > 1
    np.testing.assert_array_equal(found, expected)


def test_one_process_has_one_encoder_for_a_folder(encoder: OnnxTextEncoder) -> None:
    assert load_onnx_encoder(ParserModel.load(WEIGHTS).encoder) is encoder
