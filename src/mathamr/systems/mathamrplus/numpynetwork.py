"""MathAMR+ in numpy, for inference: the same vectors as `network` to five digits, without loading torch.

Weights stay in the file until they are needed, so that a small graph costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.systems.layers.numpylayers import (
    Convolution,
    RelationEdges,
    floats,
    gelu,
    group_edges,
    normalise_layer,
    normalise_rows,
    weights_below,
)
from mathamr.systems.layers.stack import GraphStack
from mathamr.systems.mathamrplus.configuration import ModelConfiguration


def runs_in_numpy(configuration: ModelConfiguration) -> bool:
    """Return True if this module can compute a network of this shape; other networks need torch."""
    return configuration.virtual_start in ("zero-embedding", "random-embedding")


class NumpyNetwork:
    """Embeddings, pre-norm residual relational layers, and a projection head for the representatives."""

    def __init__(
        self, configuration: ModelConfiguration, weights: Mapping[str, AnyArray], labels: int, relations: int
    ) -> None:
        _check(configuration, weights, labels, relations)
        self._weights = weights
        self._layers = [_Layer(weights_below(weights, f"layers.{n}.")) for n in range(configuration.layers)]
        self._head = {name: floats(array) for name, array in weights_below(weights, "head.").items()}

    def __call__(self, stack: GraphStack) -> FloatArray:
        """Return the unit vectors of all representatives, graph by graph."""
        edges = group_edges(stack.sources, stack.targets, stack.relations)
        x = floats(self._weights["embedding.weight"][stack.node_ids])
        for layer in self._layers:
            x = layer(x, edges)
        head = self._head
        x = x[stack.representatives] @ head["first.weight"].T + head["first.bias"]
        x = gelu(normalise_layer(x, head["first_norm.weight"], head["first_norm.bias"]))
        x = x @ head["second.weight"].T + head["second.bias"]
        return normalise_rows(normalise_layer(x, head["second_norm.weight"], head["second_norm.bias"]))


class _Layer:
    """One residual layer: h + GELU(RGCN(LayerNorm(h))) (equation 3.1)."""

    def __init__(self, weights: Mapping[str, AnyArray]) -> None:
        self._weight, self._shift = (floats(weights[f"norm.{part}"]) for part in ("weight", "bias"))
        self._convolution = Convolution(weights_below(weights, "convolution."))

    def __call__(self, x: FloatArray, edges: Sequence[RelationEdges]) -> FloatArray:
        return x + gelu(self._convolution(normalise_layer(x, self._weight, self._shift), edges))


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
