"""MathAMR+ in numpy, for inference: the same vectors as `network` to five digits, without loading torch.

Weights stay in the file until they are needed. The matrix of a relation is computed from the bases at its first edge and
cached, so that a small graph costs milliseconds. Equal nodes of many graphs are computed once (`refinement`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.systems.layers.stack import GraphStack
from mathamr.systems.mathamrplus.configuration import ModelConfiguration
from mathamr.systems.mathamrplus.refinement import FEW, Step, refined

EPSILON = 1e-5
"""The epsilon of the normalisations: torch's default."""
PIECE_ROWS = 1 << 16
"""The number of groups that are multiplied at a time, which bounds the memory of a huge post."""
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
"""erf(x) is x times a rational function of x², to six digits, without an exponential (as in Eigen, TensorFlow and XLA)."""


def runs_in_numpy(configuration: ModelConfiguration) -> bool:
    """True if this module can compute a network of this shape; other networks need torch."""
    return configuration.virtual_start in ("zero-embedding", "random-embedding")


class NumpyNetwork:
    """Embeddings, pre-norm residual relational layers, and a projection head for the representatives."""

    def __init__(
        self, configuration: ModelConfiguration, weights: Mapping[str, AnyArray], labels: int, relations: int
    ) -> None:
        _check(configuration, weights, labels, relations)
        self.piece_rows, self.few = PIECE_ROWS, FEW
        self.configuration, self._weights = configuration, weights
        self._layers = [_Layer(_below(weights, f"layers.{n}.")) for n in range(configuration.layers)]
        self._head = {name: _floats(array) for name, array in _below(weights, "head.").items()}

    def __call__(self, stack: GraphStack) -> FloatArray:
        """Returns the unit vectors of all representatives, graph by graph."""
        plan = refined(stack, len(self._layers), self.piece_rows, self.few)
        x = _floats(self._weights["embedding.weight"][plan.labels])
        for layer, step in zip(self._layers, plan.steps, strict=True):
            x = layer(x, step)
        head = self._head
        x = x @ head["first.weight"].T + head["first.bias"]
        x = _gelu(_normal(x, head["first_norm.weight"], head["first_norm.bias"]))
        x = x @ head["second.weight"].T + head["second.bias"]
        x = _normal(x, head["second_norm.weight"], head["second_norm.bias"])
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), np.float32(1e-12))
        return x[plan.representatives]


class _Layer:
    """One residual layer: h + GELU(RGCN(LayerNorm(h))) (equation 3.1)."""

    def __init__(self, weights: Mapping[str, AnyArray]) -> None:
        self._weights = weights
        self._small = {
            name: _floats(weights[name])
            for name in (
                "norm.weight",
                "norm.bias",
                "convolution.root",
                "convolution.bias",
                "convolution.vectors",
            )
        }
        self._matrices: dict[int, FloatArray] = {}

    def __call__(self, x: FloatArray, step: Step) -> FloatArray:
        small = self._small
        normal = _normal(x, small["norm.weight"], small["norm.bias"])
        # A class may split into several, or no longer be needed: its product is computed at most once.
        out: FloatArray
        if len(step.own) < len(normal):
            out = normal[step.own] @ small["convolution.root"]
        else:
            out = (normal @ small["convolution.root"])[step.own]
        out += small["convolution.bias"]
        for part in step.parts:
            means: FloatArray = normal[part.firsts]
            if len(part.larger):
                means[part.larger] = part.sources(normal) * part.shares
            means += small["convolution.vectors"][part.relations]
            brought = np.empty_like(means)
            for relation, begin, end in part.spans:
                np.matmul(means[begin:end], self._matrix(relation), out=brought[begin:end])
            out[part.targets] += part.received(brought)
        added = _gelu(out)
        added += x[step.own]
        return added

    def _matrix(self, relation: int) -> FloatArray:
        """The matrix of a relation: the bases, mixed by its coefficients."""
        found = self._matrices.get(relation)
        if found is None:
            bases, mix = self._weights["convolution.bases"], self._weights["convolution.coefficients"]
            mixed = _floats(mix[relation]) @ self._bases()
            found = self._matrices[relation] = mixed.reshape(bases.shape[1:])
        return found

    def _bases(self) -> FloatArray:
        if not hasattr(self, "_flat"):
            bases = self._weights["convolution.bases"]
            self._flat = _floats(bases).reshape(len(bases), -1)
        return self._flat


def _normal(x: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    centred: FloatArray = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.einsum("ij,ij->i", centred, centred) / np.float32(x.shape[1]) + np.float32(EPSILON))
    centred /= spread[:, None]
    centred *= weight
    centred += bias
    return centred


def _gelu(x: FloatArray) -> FloatArray:
    """Computes x times the normal distribution function, a few rows at a time so that they stay in the cache."""
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


def _floats(array: AnyArray) -> FloatArray:
    return np.ascontiguousarray(array, np.float32)


def _below(weights: Mapping[str, AnyArray], name: str) -> dict[str, AnyArray]:
    return {key.removeprefix(name): array for key, array in weights.items() if key.startswith(name)}


def weight_shapes(
    configuration: ModelConfiguration, labels: int, relations: int
) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight of a network, by name."""
    size, bases, result = configuration.hidden, configuration.bases, configuration.projection
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (labels, size)}
    for number in range(configuration.layers):
        name = f"layers.{number}."
        shapes |= {f"{name}norm.{part}": (size,) for part in ("weight", "bias")}
        shapes |= {
            f"{name}convolution.bases": (bases, size, size),
            f"{name}convolution.coefficients": (relations, bases),
            f"{name}convolution.root": (size, size),
            f"{name}convolution.bias": (size,),
            f"{name}convolution.vectors": (relations, size),
        }
    for part, (rows, columns) in {"first": (size, size), "second": (result, size)}.items():
        shapes |= {f"head.{part}.weight": (rows, columns), f"head.{part}.bias": (rows,)}
        shapes |= {f"head.{part}_norm.{kind}": (rows,) for kind in ("weight", "bias")}
    return shapes


def _check(
    configuration: ModelConfiguration, weights: Mapping[str, AnyArray], labels: int, relations: int
) -> None:
    """Refuse weights that are missing, unknown, not finite, or not of the shape that the configuration requires."""
    shapes = weight_shapes(configuration, labels, relations)
    foreign = sorted(weights.keys() ^ shapes.keys())
    if foreign:
        raise MathAMRError(f"these are the weights of another model: {foreign[0]} is missing or unknown")
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            raise MathAMRError(f"{name} has shape {weights[name].shape}, the configuration requires {shape}")
        if not np.isfinite(weights[name]).all():
            raise MathAMRError(f"{name} holds numbers that are not finite; the file is damaged")
