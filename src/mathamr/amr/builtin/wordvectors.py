"""`WordVectors`: spaCy's word vectors in context, computed for many sentences at once.

The weights are those of the spaCy model, and the results are the same up to rounding. It is faster for three reasons: a
repeated word is embedded once, the first layer is multiplied once for each distinct word of a batch, and numpy computes a few
large matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mathamr.amr.builtin.lookup import ranges
from mathamr.core.arrays import FloatArray, IntArray

MEMORY = 30_000
BLOCK = 512
SMALL = 1e-8
"""Keeps the variance of a layer norm above zero."""


class TokenForm(NamedTuple):
    """The input of the embedding for a word: its text, its norm if the tokeniser set one, and whether a space follows."""

    text: str
    norm: str | None
    space: bool


class MaxoutLayer(NamedTuple):
    """Maxout over a window of three words, and a layer norm; `weights` has a block of columns for each piece."""

    weights: FloatArray
    bias: FloatArray
    gain: FloatArray
    shift: FloatArray

    @classmethod
    def of(cls, maxout: Mapping[str, FloatArray], norm: Mapping[str, FloatArray]) -> MaxoutLayer:
        """Builds the layer from the parameters of two thinc models."""
        weights, bias = maxout["W"], maxout["b"]
        by_piece = weights.transpose(1, 0, 2).reshape(-1, weights.shape[2])
        return cls(
            np.ascontiguousarray(by_piece.T, dtype=np.float32),
            bias.T.reshape(-1).astype(np.float32),
            norm["G"].astype(np.float32),
            norm["b"].astype(np.float32),
        )

    def finish(self, products: FloatArray) -> FloatArray:
        """Completes the layer after the matrix product: adds the bias, takes the greatest piece, and normalises."""
        products += self.bias
        width = len(self.gain)
        result = products[:, :width].copy()
        for start in range(width, products.shape[1], width):
            np.maximum(result, products[:, start : start + width], out=result)
        result -= result.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", result, result) / np.float32(width) + np.float32(SMALL)
        result *= (1.0 / np.sqrt(variance))[:, None]
        result *= self.gain
        result += self.shift
        return result


class WordVectors:
    """The shared vectors of a standard spaCy pipeline; `embed` returns the vectors of words without context."""

    def __init__(
        self, embed: Callable[[Sequence[TokenForm]], FloatArray], layers: Sequence[MaxoutLayer], padding: int
    ) -> None:
        if len(layers) != padding:
            raise ValueError("the padding is not as deep as the network")
        self._embed, self._layers, self.padding = embed, list(layers), padding
        self.width = len(self._layers[0].gain)
        self._forget()

    def _forget(self) -> None:
        self._rows: dict[TokenForm, int] = {}
        self._embedded: FloatArray = np.zeros((0, self.width), dtype=np.float32)

    def of(self, sentences: Sequence[Sequence[TokenForm]]) -> FloatArray:
        """The vectors of all words of the sentences, none of which may be empty."""
        rows = self._embed_all([form for sentence in sentences for form in sentence])
        distinct, places = np.unique(rows, return_inverse=True)
        sizes = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        starts = np.cumsum(sizes + self.padding) - sizes
        embedded = self._embedded[distinct]
        words = ranges(starts, sizes)
        states = np.zeros((int(starts[-1] + sizes[-1]) + self.padding, self.width), dtype=np.float32)
        states[words] = embedded[places.reshape(-1)]
        states = self._first(states, embedded, places.reshape(-1), words)
        everywhere = np.arange(1, len(states) - 1)
        for layer in self._layers[1:-1]:
            # The outermost rows are padding that no word reaches.
            states[1:-1] = self._layer(layer, states, everywhere)
        return self._layer(self._layers[-1], states, words)

    def _layer(self, layer: MaxoutLayer, states: FloatArray, rows: IntArray) -> FloatArray:
        """Applies a layer to rows, in blocks that fit the CPU cache."""
        result = np.empty((len(rows), self.width), dtype=np.float32)
        for start in range(0, len(rows), BLOCK):
            some = rows[start : start + BLOCK]
            middle = states[some]
            around = np.concatenate([states[some - 1], middle, states[some + 1]], axis=1)
            middle += layer.finish(around @ layer.weights)
            result[start : start + BLOCK] = middle
        return result

    def _first(
        self, states: FloatArray, embedded: FloatArray, places: IntArray, words: IntArray
    ) -> FloatArray:
        """The first layer: each distinct word is multiplied once as a left, a middle and a right word."""
        layer, width = self._layers[0], self.width
        products = np.zeros((len(states), layer.weights.shape[1]), dtype=np.float32)
        products[words] = (embedded @ layer.weights[width : 2 * width])[places]
        products[words + 1] += (embedded @ layer.weights[:width])[places]
        products[words - 1] += (embedded @ layer.weights[2 * width :])[places]
        states += layer.finish(products)
        return states

    def _embed_all(self, forms: list[TokenForm]) -> IntArray:
        """The rows of words in the table of embedded words; new words are embedded first."""
        if len(self._rows) > MEMORY:
            self._forget()
        new = [form for form in dict.fromkeys(forms) if form not in self._rows]
        if new:
            embedded = self._embed(new)
            first = len(self._embedded)
            self._rows.update({form: first + number for number, form in enumerate(new)})
            self._embedded = np.concatenate([self._embedded, embedded])
        return np.array([self._rows[form] for form in forms], dtype=np.int64)
