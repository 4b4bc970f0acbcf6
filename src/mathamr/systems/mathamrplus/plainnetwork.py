"""MathAMR+ over numpy alone, for reading: the same vectors as `network` to five digits, without loading torch.

Weights lie in the file until they are needed. The matrix of a relation is made from the bases when its first edge comes
and kept, so that a query multiplies only what it has: one small graph costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.arrays import Floats
from mathamr.errors import MathAMRError
from mathamr.layers.stack import GraphStack
from mathamr.systems.mathamrplus.configuration import ModelConfiguration

Array = npt.NDArray[Any]
EPSILON = 1e-5
"""Of the normalisations: torch's own default."""
PIECE_ROWS = 1 << 16
"""Groups that are multiplied at a time: it bounds the memory of a huge post."""
NEAR_ROWS = 64


def is_plain(configuration: ModelConfiguration) -> bool:
    """Whether a network of this shape is computed here; the rarer kinds are torch's alone."""
    starts = ("zero-embedding", "random-embedding")
    return (
        not configuration.attention_heads
        and not configuration.text_size
        and configuration.virtual_start in starts
    )


class PlainNetwork:
    """Embeddings, pre-norm residual relational layers, and a projection head for the representatives."""

    def __init__(
        self, configuration: ModelConfiguration, weights: Mapping[str, Array], labels: int, relations: int
    ) -> None:
        _check(configuration, weights, labels, relations)
        self.configuration, self._weights = configuration, weights
        self._layers = [_Layer(_below(weights, f"layers.{n}.")) for n in range(configuration.layers)]
        self._head = {name: _floats(array) for name, array in _below(weights, "head.").items()}

    def __call__(self, stack: GraphStack) -> Floats:
        """The vectors of all representatives, graph by graph, of length one."""
        x = _floats(self._weights["embedding.weight"][stack.node_ids])
        groups = _Groups(stack)
        for layer in self._layers:
            x = layer(x, groups)
        x, head = x[stack.representatives], self._head
        x = x @ head["first.weight"].T + head["first.bias"]
        x = _gelu(_normal(x, head["first_norm.weight"], head["first_norm.bias"]))
        x = x @ head["second.weight"].T + head["second.bias"]
        x = _normal(x, head["second_norm.weight"], head["second_norm.bias"])
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), np.float32(1e-12))
        return x


class _Groups:
    """Edges by (relation, target), each group averaged and multiplied once (see `EdgeGroups`), in pieces of bounded size."""

    def __init__(self, stack: GraphStack) -> None:
        nodes = len(stack.node_ids)
        order = np.argsort(stack.relations.astype(np.int64) * nodes + stack.targets, kind="stable")
        sources, relations, targets = stack.sources[order], stack.relations[order], stack.targets[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (targets[1:] != targets[:-1]) | (relations[1:] != relations[:-1])
        begins = np.flatnonzero(first)
        counts = np.diff(begins, append=len(order))
        self.pieces = [
            _Piece(sources, relations[some], targets[some], some, counts[at : at + PIECE_ROWS])
            for at in range(0, len(begins), PIECE_ROWS)
            for some in (begins[at : at + PIECE_ROWS],)
        ]


class _Piece:
    """Some groups, relation by relation: few calls for all of them, for a query has a dozen relations with two edges each."""

    def __init__(
        self, sources: Array, relations: Array, targets: Array, begins: Array, counts: Array
    ) -> None:
        self.relations, self._firsts = relations, sources[begins]
        cuts = [0, *(np.flatnonzero(np.diff(relations)) + 1).tolist(), len(relations)]
        self.spans = [(int(relations[start]), start, end) for start, end in pairwise(cuts) if end > start]
        # Most groups have one edge: only those with more are summed.
        self._larger = np.flatnonzero(counts > 1)
        if len(self._larger):
            many = counts[self._larger]
            self._shares = (1.0 / many).astype(np.float32)[:, None]
            self._begins = np.cumsum(many) - many
            within = np.arange(many.sum()) - np.repeat(self._begins, many)
            self._sources = sources[np.repeat(begins[self._larger], many) + within]
        self._by_target = np.argsort(targets, kind="stable")
        ordered = targets[self._by_target]
        self._target_begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self._targets = ordered[self._target_begins]

    def means(self, x: Floats) -> Floats:
        """The mean of the sources of every group."""
        means: Floats = x[self._firsts]
        if len(self._larger):
            means[self._larger] = np.add.reduceat(x[self._sources], self._begins, axis=0) * self._shares
        return means

    def add(self, brought: Floats, out: Floats) -> None:
        """Adds what the groups bring to their targets."""
        out[self._targets] += np.add.reduceat(brought[self._by_target], self._target_begins, axis=0)


class _Layer:
    """One residual layer: h + GELU(RGCN(LayerNorm(h))) (equation 3.1)."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
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
        self._matrices: dict[int, Floats] = {}

    def __call__(self, x: Floats, groups: _Groups) -> Floats:
        small = self._small
        normal = _normal(x, small["norm.weight"], small["norm.bias"])
        out = normal @ small["convolution.root"]
        out += small["convolution.bias"]
        vectors = small["convolution.vectors"]
        for piece in groups.pieces:
            means = piece.means(normal)
            means += vectors[piece.relations]
            brought = np.empty_like(means)
            for relation, begin, end in piece.spans:
                np.matmul(means[begin:end], self._matrix(relation), out=brought[begin:end])
            piece.add(brought, out)
        added = _gelu(out)
        added += x
        return added

    def _matrix(self, relation: int) -> Floats:
        """The matrix of a relation: the bases, mixed by its coefficients."""
        found = self._matrices.get(relation)
        if found is None:
            bases, mix = self._weights["convolution.bases"], self._weights["convolution.coefficients"]
            mixed = _floats(mix[relation]) @ self._bases()
            found = self._matrices[relation] = mixed.reshape(bases.shape[1:])
        return found

    def _bases(self) -> Floats:
        if not hasattr(self, "_flat"):
            bases = self._weights["convolution.bases"]
            self._flat = _floats(bases).reshape(len(bases), -1)
        return self._flat


def _normal(x: Floats, weight: Floats, bias: Floats) -> Floats:
    centred: Floats = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.einsum("ij,ij->i", centred, centred) / np.float32(x.shape[1]) + np.float32(EPSILON))
    centred /= spread[:, None]
    centred *= weight
    centred += bias
    return centred


def _gelu(x: Floats) -> Floats:
    """GELU, some rows at a time: its dozen steps find their numbers still near the processor."""
    found = np.empty_like(x)
    for first in range(0, len(x), NEAR_ROWS):
        found[first : first + NEAR_ROWS] = _gelu_of(x[first : first + NEAR_ROWS])
    return found


def _gelu_of(x: Floats) -> Floats:
    """x times the normal distribution up to x, by Abramowitz and Stegun's 7.1.26: off by 1.5e-7 at most."""
    far = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * far)
    series = np.full_like(t, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= t
        series += np.float32(coefficient)
    series *= t
    series *= np.exp(-far * far)
    # `series` is 1 - erf(|x| / √2): half of it is the distribution's tail.
    tail = series * np.float32(0.5)
    share: Floats = np.where(x > 0, 1 - tail, tail)
    share *= x
    return share


def _floats(array: Array) -> Floats:
    return np.ascontiguousarray(array, np.float32)


def _below(weights: Mapping[str, Array], name: str) -> dict[str, Array]:
    return {key.removeprefix(name): array for key, array in weights.items() if key.startswith(name)}


def _check(
    configuration: ModelConfiguration, weights: Mapping[str, Array], labels: int, relations: int
) -> None:
    """Every weight is there and no other, in the shape that the configuration asks for, and finite."""
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
    foreign = sorted(weights.keys() ^ shapes.keys())
    if foreign:
        raise MathAMRError(
            f"the weights are those of another model: {foreign[0]} is missing, or not known here"
        )
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            raise MathAMRError(f"{name} has shape {weights[name].shape}, the configuration asks for {shape}")
        if not np.isfinite(weights[name]).all():
            raise MathAMRError(f"{name} holds numbers that are not finite; the file is damaged")
