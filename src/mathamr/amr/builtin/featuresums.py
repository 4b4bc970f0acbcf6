"""`FeatureSums`: a vocabulary of features with their vectors; `FormSet`: sums the vectors of rows of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mathamr.amr.builtin.lookup import Form, StringNumbers, places_of
from mathamr.core.arrays import FloatArray, IntArray


class FeatureSums:
    """Forms over one vocabulary, and the sums of their features' vectors."""

    BLOCK = 2048

    def __init__(self, vocabulary: Mapping[str, int], weights: FloatArray, strings: StringNumbers) -> None:
        self.vocabulary, self.strings = vocabulary, strings
        self.unknown = len(weights)
        self.weights: FloatArray = np.concatenate(
            [weights, np.zeros((1, weights.shape[1]), dtype=np.float32)]
        )

    def form(self, form: str) -> Form:
        """Creates a form over the vocabulary."""
        return Form(form, self.vocabulary, self.strings, self.unknown)

    def numbers(self, features: Iterable[str]) -> list[int]:
        """The numbers of features given as text."""
        get, unknown = self.vocabulary.get, self.unknown
        return [get(feature, unknown) for feature in features]

    def sums(self, columns: Sequence[IntArray], first: int = 0) -> FloatArray:
        """Sums the vectors of several columns of features row by row, from component `first` on; in blocks that fit the CPU cache."""
        weights, size = self.weights[:, first:], len(columns[0])
        totals = np.empty((size, weights.shape[1]), dtype=np.float32)
        for start in range(0, size, self.BLOCK):
            stop = min(size, start + self.BLOCK)
            total = totals[start:stop]
            total[:] = weights[
                columns[0][start:stop]
            ]  # `take` would copy all weights if only some columns are used
            for column in columns[1:]:
                total += weights[column[start:stop]]
        return totals

    def add_ragged(self, totals: FloatArray, rows: IntArray, features: IntArray) -> None:
        """Adds the vectors of features to the rows they belong to (`rows` ascending, with repetitions)."""
        known = features != self.unknown
        rows, features = rows[known], features[known]
        if rows.size:
            starts = places_of(np.concatenate(([True], rows[1:] != rows[:-1])))
            totals[rows[starts]] += np.add.reduceat(self.weights[features], starts, axis=0)


class FormSet:
    """Some forms over one vocabulary; they use the components of its vectors from `first` on."""

    def __init__(self, features: FeatureSums, forms: Sequence[str], first: int = 0) -> None:
        self._features, self._first = features, first
        self._forms = [features.form(form) for form in forms]

    def add(self, totals: FloatArray, parts: Mapping[str, IntArray], owners: IntArray | None = None) -> None:
        """Adds the vectors of the features of rows of parts to `totals`: to the same rows, or to those in `owners`, which ascend."""
        columns = [form(*(parts[part] for part in form.parts)) for form in self._forms]
        if owners is None:
            totals += self._features.sums(columns, self._first)
            return
        for column in columns:
            self._features.add_ragged(totals, owners, column)

    def sums(self, parts: Mapping[str, IntArray]) -> FloatArray:
        """The sums of the vectors of the features of rows of parts."""
        columns = [form(*(parts[part] for part in form.parts)) for form in self._forms]
        return self._features.sums(columns, self._first)
