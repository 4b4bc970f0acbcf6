"""`WordVectors`: spaCy's word vectors in context, made for many sentences at once.

The weights are the spaCy model's own and so are the results, up to the rounding of sums. Three things make it quicker:
a word that comes again is embedded once, the first layer is multiplied once for each distinct word of a batch, and
the products are large ones of numpy's linear algebra.
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
    """What the embedding sees of a word: its text, its norm where the tokeniser gave it one, whether a space follows."""

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
        """The layer of the numbers of two models of thinc, by name."""
        weights, bias = maxout["W"], maxout["b"]
        by_piece = weights.transpose(1, 0, 2).reshape(-1, weights.shape[2])
        return cls(
            np.ascontiguousarray(by_piece.T, dtype=np.float32),
            bias.T.reshape(-1).astype(np.float32),
            norm["G"].astype(np.float32),
            norm["b"].astype(np.float32),
        )

    def finish(self, products: FloatArray) -> FloatArray:
        """What follows the product: the bias, the greatest piece, and the norm."""
        products += self.bias
        width = len(self.gain)
        made = products[:, :width].copy()
        for start in range(width, products.shape[1], width):
            np.maximum(made, products[:, start : start + width], out=made)
        made -= made.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", made, made) / np.float32(width) + np.float32(SMALL)
        made *= (1.0 / np.sqrt(variance))[:, None]
        made *= self.gain
        made += self.shift
        return made


class WordVectors:
    """The shared vectors of a spaCy pipeline of the usual build; `embed` makes rows of words without context."""

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
        """The vectors of all words of sentences, none of which is empty."""
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
        """What a layer makes of some rows, in blocks that stay in the cache."""
        made = np.empty((len(rows), self.width), dtype=np.float32)
        for start in range(0, len(rows), BLOCK):
            some = rows[start : start + BLOCK]
            middle = states[some]
            around = np.concatenate([states[some - 1], middle, states[some + 1]], axis=1)
            middle += layer.finish(around @ layer.weights)
            made[start : start + BLOCK] = middle
        return made

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
        """The rows of words among the embedded ones; new words are embedded."""
        if len(self._rows) > MEMORY:
            self._forget()
        new = [form for form in dict.fromkeys(forms) if form not in self._rows]
        if new:
            embedded = self._embed(new)
            first = len(self._embedded)
            self._rows.update({form: first + number for number, form in enumerate(new)})
            self._embedded = np.concatenate([self._embedded, embedded])
        return np.array([self._rows[form] for form in forms], dtype=np.int64)
