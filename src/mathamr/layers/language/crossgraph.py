"""The transformer of a cross-encoder in eight bits, for ONNX Runtime: of its last layer only the first state is made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mathamr.layers.language.configuration import TransformerConfiguration
from mathamr.layers.language.onnxfile import MICROSOFT
from mathamr.layers.language.quantisedgraph import SCALE, STATES, Array, TransformerGraph


def cross_model(configuration: TransformerConfiguration, weights: Mapping[str, Array]) -> bytes:
    """The model from embeddings (1, width, size) to the state of the mark that begins the row (1, 1, size)."""
    return _CrossGraph(configuration, _divided(configuration, weights)).model()


class _CrossGraph(TransformerGraph):
    def model(self) -> bytes:
        """All layers; the last asks with one row alone, which saves three quarters of it."""
        size, last = self.shape.size, self.shape.layers - 1
        x = self._normal(self.graph.input(STATES, (1, "width", size)), "norm")
        for number in range(last):
            x = self._layer(x, f"layers.{number}.")
        return self.graph.model({self._first(x, f"layers.{last}."): (1, 1, size)})

    def _first(self, x: str, name: str) -> str:
        add, constant = self.graph.add, self.graph.constant
        ends = [constant(f"first {value}", np.array([value], np.int64)) for value in (0, 1)]
        row = add("Slice", [x, *ends, ends[1]])
        halves = np.full(2, self.shape.size, np.int64)
        given = self._product(x, f"{name}given", bias=True)
        key, value = self.graph.split("Split", [given, constant("halves", halves)], 2, axis=-1)
        asked = self._product(row, f"{name}asked", bias=True)
        attended = add(
            "MultiHeadAttention", [asked, key, value], domain=MICROSOFT, num_heads=self.shape.heads
        )
        return self._attended(attended, row, name)


def _divided(configuration: TransformerConfiguration, weights: Mapping[str, Array]) -> dict[str, Array]:
    """The weights with the last attention's in two: what asks, and what is asked."""
    size, name = configuration.size, f"layers.{configuration.layers - 1}."
    made = dict(weights)
    for part in (".weight", f".weight{SCALE}", ".bias"):
        whole = weights[f"{name}attention{part}"]
        made[f"{name}asked{part}"], made[f"{name}given{part}"] = whole[:size], whole[size:]
    return made
