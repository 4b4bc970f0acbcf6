"""`FeatureSums`: a vocabulary of features with a vector each, and `FormSet`s that sum the vectors of rows of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from mathamr.amr.builtin.featureloop import CODE, HALF, add_features, find_features
from mathamr.amr.builtin.lookup import Form, NumberTable, StringNumbers, places_of, write_hashes
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

    @cached_property
    def table(self) -> NumberTable:
        """The vocabulary by the hashes of its texts."""
        hashes = np.zeros((2, len(self.vocabulary)), dtype=np.int64)
        write_hashes(list(self.vocabulary), *hashes)
        made = NumberTable()
        made.put(hashes[0] & HALF, np.fromiter(self.vocabulary.values(), np.int64, len(self.vocabulary)))
        return made

    def form(self, form: str) -> Form:
        """A form over the vocabulary."""
        return Form(form, self.vocabulary, self.strings, self.unknown)

    def numbers(self, features: Iterable[str]) -> list[int]:
        """The numbers of features given as text."""
        get, unknown = self.vocabulary.get, self.unknown
        return [get(feature, unknown) for feature in features]

    def sums(self, columns: Sequence[IntArray], first: int = 0) -> FloatArray:
        """The sums of the vectors (from a number on) of several columns of features, row by row; in blocks that stay in the cache."""
        weights, size = self.weights[:, first:], len(columns[0])
        made = np.empty((size, weights.shape[1]), dtype=np.float32)
        for start in range(0, size, self.BLOCK):
            stop = min(size, start + self.BLOCK)
            total = made[start:stop]
            total[:] = weights[
                columns[0][start:stop]
            ]  # `take` would copy all weights where some columns are left out
            for column in columns[1:]:
                total += weights[column[start:stop]]
        return made

    def add_ragged(self, made: FloatArray, rows: IntArray, features: IntArray) -> None:
        """Adds the vectors of features to the rows they belong to (`rows` ascending, with repetitions)."""
        known = features != self.unknown
        rows, features = rows[known], features[known]
        if rows.size:
            starts = places_of(np.concatenate(([True], rows[1:] != rows[:-1])))
            made[rows[starts]] += np.add.reduceat(self.weights[features], starts, axis=0)


class FormSet:
    """Some forms over one vocabulary; of its vectors the numbers from `first` on count."""

    def __init__(self, features: FeatureSums, forms: Sequence[str], first: int = 0) -> None:
        self._features, self._first = features, first
        self._forms = [features.form(form) for form in forms]
        self._parts = list(dict.fromkeys(part for form in self._forms for part in form.parts))

    @cached_property
    def _program(self) -> tuple[IntArray, IntArray, int]:
        """The forms as `featureloop` reads them: items, where each form begins, and how many there are."""
        strings = self._features.strings
        items: list[int] = []
        bounds = [0]
        for form in self._forms:
            for literal, part in form.pieces:
                items += [-strings[literal]] if literal else []
                items += [self._parts.index(part)] if part is not None else []
            bounds.append(len(items))
        return np.array(items, np.int64), np.array(bounds, np.int64), len(self._forms)

    def add(
        self,
        made: FloatArray,
        parts: Mapping[str, IntArray],
        owners: IntArray | None = None,
        *,
        by_code: bool,
    ) -> None:
        """Adds the vectors of the features of rows of parts to rows of `made`: their own ones, or those of owners in ascending order."""
        features, count = self._features, len(parts[self._parts[0]])
        if not by_code:
            columns = [form(*(parts[part] for part in form.parts)) for form in self._forms]
            if owners is None:
                made += features.sums(columns, self._first)
            else:
                for column in columns:
                    features.add_ragged(made, owners, column)
            return
        owners = np.arange(count) if owners is None else np.ascontiguousarray(owners)
        shape = features.weights.shape[1], self._first
        CODE[add_features](made, made.shape[1], owners, features.weights, *shape, *self._looked_up(parts))

    def features(self, parts: Mapping[str, IntArray]) -> IntArray:
        """The features of rows of parts by machine code, a row for every form."""
        found = np.empty((len(self._forms), len(parts[self._parts[0]])), dtype=np.int64)
        CODE[find_features](found, self._features.unknown, *self._looked_up(parts))
        return found

    def _looked_up(self, parts: Mapping[str, IntArray]) -> tuple[IntArray | int, ...]:
        """What machine code needs to look features up."""
        program, features = self._program, self._features
        columns = np.stack([parts[part] for part in self._parts])
        return columns, columns.shape[1], *program, *features.strings.hashes(), *features.table.arrays

    def sums(self, parts: Mapping[str, IntArray], *, by_code: bool) -> FloatArray:
        """The sums of the vectors of the features of rows of parts."""
        width = self._features.weights.shape[1] - self._first
        made = np.zeros((len(parts[self._parts[0]]), width), dtype=np.float32)
        self.add(made, parts, by_code=by_code)
        return made
