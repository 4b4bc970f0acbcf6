"""`Tagger`: the tagger of a spaCy pipeline in numpy."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.core.arrays import FloatArray


class Tagger:
    """One linear layer over the vectors of words."""

    def __init__(self, weights: FloatArray, bias: FloatArray, labels: Sequence[str]) -> None:
        self._weights, self._bias = weights.T.copy(), bias.copy()
        self._labels = list(labels)

    def tags(self, vectors: FloatArray) -> list[str]:
        """The tags of words."""
        best = (vectors @ self._weights + self._bias).argmax(axis=1).tolist()
        return [self._labels[number] for number in best]
