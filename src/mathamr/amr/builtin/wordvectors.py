"""`WordVectors`: spaCy's word vectors in context, made for many sentences at once.

The weights are the spaCy model's own and so are the results, up to the rounding of sums. Three things make it quicker:
a word that comes again is embedded once, the first layer is multiplied once for each distinct word of a batch, and
the products are large ones of numpy's linear algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mathamr.amr.builtin.batchsize import is_worth_code
from mathamr.amr.builtin.lookup import ranges
from mathamr.amr.builtin.maxoutloop import CODE, SMALL, finish_rows, first_rows, gather_windows
from mathamr.core.arrays import FloatArray, IntArray

MEMORY = 30_000
BLOCK, CODE_BLOCK = 512, 256


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

    @classmethod
    def of_language(cls, language: Any) -> WordVectors:
        """The vectors of a pipeline that spaCy has loaded; `ValueError` for one of another build."""
        from spacy.tokens import Doc

        embed, encode = language.get_pipe("tok2vec").model.layers
        layers = []
        for residual in encode.layers[0].layers:
            window, block = residual.layers[0].layers
            maxout, norm = block.layers[0].layers
            if window.attrs["window_size"] != 1:
                raise ValueError("a window that is not one word wide")
            parts = ((maxout, "W", "b"), (norm, "G", "b"))
            layers.append(
                MaxoutLayer.of(*({name: each.get_param(name) for name in names} for each, *names in parts))
            )

        def embedded(looks: Sequence[TokenForm]) -> FloatArray:
            document = Doc(
                language.vocab, words=[look.text for look in looks], spaces=[look.space for look in looks]
            )
            for token, look in zip(document, looks, strict=True):
                if look.norm is not None:
                    token.norm_ = look.norm
            return np.asarray(embed.predict([document])[0], dtype=np.float32)

        return cls(embedded, layers, int(encode.attrs["pad"]))

    def _forget(self) -> None:
        self._rows: dict[TokenForm, int] = {}
        self._embedded: FloatArray = np.zeros((0, self.width), dtype=np.float32)

    def of(self, sentences: Sequence[Sequence[TokenForm]]) -> FloatArray:
        """The vectors of all words of sentences, none of which is empty."""
        rows = self._embed_all([look for sentence in sentences for look in sentence])
        distinct, places = np.unique(rows, return_inverse=True)
        sizes = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        starts = np.cumsum(sizes + self.padding) - sizes
        embedded = self._embedded[distinct]
        if is_worth_code(len(sizes)):
            return self._by_code(embedded, places.reshape(-1), starts, sizes)
        words = ranges(starts, sizes)
        states = np.zeros((int(starts[-1] + sizes[-1]) + self.padding, self.width), dtype=np.float32)
        states[words] = embedded[places.reshape(-1)]
        states = self._first(states, embedded, places.reshape(-1), words)
        everywhere = np.arange(1, len(states) - 1)
        for layer in self._layers[1:-1]:
            # The outermost rows are padding that no word reaches.
            states[1:-1] = self._layer(layer, states, everywhere)
        return self._layer(self._layers[-1], states, words)

    def _by_code(
        self, embedded: FloatArray, places: IntArray, starts: IntArray, sizes: IntArray
    ) -> FloatArray:
        """The same by machine code; of the padding only what later layers look at."""
        width, layers = self.width, self._layers
        whole = len(layers[0].bias)
        words = ranges(starts, sizes)
        row_words = np.full(int(words[-1]) + 1 + self.padding, len(embedded), dtype=np.int64)
        row_words[words] = places
        states, spare = (np.empty((len(row_words), width), dtype=np.float32) for _ in range(2))
        left, middle, right = (
            embedded @ layers[0].weights[part * width : (part + 1) * width] for part in range(3)
        )
        shape = width, whole // width
        CODE[first_rows](
            states, embedded, row_words, len(row_words), len(embedded), left, middle, right, *layers[0][1:], *shape,
            np.empty(whole, np.float32), np.zeros(width, np.float32),
        )  # fmt: skip
        gather, finish, last = CODE[gather_windows], CODE[finish_rows], len(layers) - 1
        vectors = np.empty((len(words), width), dtype=np.float32)
        around, products = (np.empty((CODE_BLOCK, wide), np.float32) for wide in (3 * width, whole))
        for depth, layer in enumerate(layers[1:], start=1):
            beside = last - depth
            rows = ranges(starts - beside, sizes + 2 * beside) if beside else words
            into = spare if beside else vectors
            for begin in range(0, len(rows), CODE_BLOCK):
                some = rows[begin : begin + CODE_BLOCK]
                size = len(some)
                gather(around, states, some, size, width)
                np.matmul(around[:size], layer.weights, out=products[:size])
                out = into if beside else into[begin : begin + size]
                finish(out, states, some, size, int(not beside), products, *layer[1:], *shape)
            states, spare = spare, states
        return vectors

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

    def _embed_all(self, looks: list[TokenForm]) -> IntArray:
        """The rows of words among the embedded ones; new words are embedded."""
        if len(self._rows) > MEMORY:
            self._forget()
        new = [look for look in dict.fromkeys(looks) if look not in self._rows]
        if new:
            embedded = self._embed(new)
            first = len(self._embedded)
            self._rows.update({look: first + number for number, look in enumerate(new)})
            self._embedded = np.concatenate([self._embedded, embedded])
        return np.array([self._rows[look] for look in looks], dtype=np.int64)
