"""The layers of the networks in numpy, for inference without torch: normalisation, GELU, matrices of relations.

ONNX Runtime computes the text encoder, but not these networks: a graph of operations is fixed, so that it multiplies by the matrices of
all 124 relations of formulas where a formula has a dozen (lab/notes/conclusions.md has the measurement).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray

EPSILON = np.float32(1e-5)
"""The epsilon of the normalisations: torch's default."""
NEAR_ROWS = 128
ERF_END = np.float32(4)
"""Beyond this argument the error function is one to seven digits."""
ERF_ABOVE = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
    *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
)
ERF_BELOW = (
    *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03),
    -1.42647390514189e-02,
)
"""erf(x) is x times a rational function of x², to six digits, without an exponential (as in Eigen, TensorFlow and XLA); numpy has none."""


class RelationEdges(NamedTuple):
    """The edges of one relation by their targets: target t takes the mean of the sources from `begins[t]` on, each times its share."""

    relation: int
    sources: AnyArray
    begins: AnyArray
    targets: AnyArray
    shares: FloatArray


def group_edges(sources: AnyArray, targets: AnyArray, relations: AnyArray) -> list[RelationEdges]:
    """Return the edges of a graph, relation by relation."""
    order = np.lexsort((targets, relations))
    sources, targets, relations = sources[order], targets[order], relations[order]
    cuts = [0, *(np.flatnonzero(np.diff(relations)) + 1).tolist(), len(order)]
    found: list[RelationEdges] = []
    for first, end in pairwise(cuts) if len(order) else ():
        own = targets[first:end]
        begins = np.flatnonzero(np.concatenate(([True], own[1:] != own[:-1])))
        shares = (1.0 / np.diff(begins, append=len(own))).astype(np.float32)[:, None]
        found.append(RelationEdges(int(relations[first]), sources[first:end], begins, own[begins], shares))
    return found


class Convolution:
    """The relational convolution: a matrix for the node itself, and one for the mean of its neighbours by each relation.

    The matrix of a relation is mixed from the bases when its first edge needs it.
    """

    def __init__(self, weights: Mapping[str, AnyArray]) -> None:
        self._root, self._bias = (floats(weights[name]) for name in ("root", "bias"))
        self._bases, self._coefficients = weights["bases"], weights["coefficients"]
        self._vectors = weights.get("vectors")
        self._matrices: dict[int, FloatArray] = {}

    def __call__(self, x: FloatArray, edges: Sequence[RelationEdges]) -> FloatArray:
        """Return what each node takes from itself and from its neighbours."""
        out: FloatArray = x @ self._root + self._bias
        for each in edges:
            means = x[each.sources]
            if len(each.begins) < len(means):
                means = np.add.reduceat(means, each.begins, axis=0) * each.shares
            if self._vectors is not None:
                means += self._vectors[each.relation]
            out[each.targets] += means @ self._matrix(each.relation)
        return out

    def _matrix(self, relation: int) -> FloatArray:
        if relation not in self._matrices:
            mixed = floats(self._coefficients[relation]) @ self._flat
            self._matrices[relation] = mixed.reshape(self._bases.shape[1:])
        return self._matrices[relation]

    @cached_property
    def _flat(self) -> FloatArray:
        return floats(self._bases).reshape(len(self._bases), -1)


def normalise_layer(x: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    """Return the rows with mean zero and variance one, scaled and shifted."""
    centred: FloatArray = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.einsum("ij,ij->i", centred, centred) / np.float32(x.shape[1]) + EPSILON)
    centred /= spread[:, None]
    centred *= weight
    centred += bias
    return centred


def normalise_rows(x: FloatArray) -> FloatArray:
    """Return the rows with length one, in place."""
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), np.float32(1e-12))
    return x


def gelu(x: FloatArray) -> FloatArray:
    """Return x times the normal distribution function, a few rows at a time so that they stay in the cache."""
    found = np.empty_like(x)
    room = np.empty((4, min(len(x), NEAR_ROWS), x.shape[1]), np.float32)
    for first in range(0, len(x), NEAR_ROWS):
        rows = x[first : first + NEAR_ROWS]
        near, square, above, below = room[:, : len(rows)]
        np.multiply(rows, np.float32(0.5**0.5), out=near)
        np.clip(near, -ERF_END, ERF_END, out=near)
        np.multiply(near, near, out=square)
        _polynomial(square, ERF_ABOVE, above)
        _polynomial(square, ERF_BELOW, below)
        above *= near
        above /= below
        above += np.float32(1)
        above *= rows
        np.multiply(above, np.float32(0.5), out=found[first : first + NEAR_ROWS])
    return found


def _polynomial(x: FloatArray, coefficients: tuple[float, ...], out: FloatArray) -> None:
    np.multiply(x, np.float32(coefficients[0]), out=out)
    out += np.float32(coefficients[1])
    for coefficient in coefficients[2:]:
        out *= x
        out += np.float32(coefficient)


def floats(array: AnyArray) -> FloatArray:
    """Return an array in 32 bits, row by row in memory."""
    return np.ascontiguousarray(array, np.float32)


def weights_below(weights: Mapping[str, AnyArray], name: str) -> dict[str, AnyArray]:
    """Return the weights whose names begin with `name`, under the rest of their names."""
    return {key.removeprefix(name): array for key, array in weights.items() if key.startswith(name)}
