"""The network of formula graphs in numpy, for a few formulas at a time: the same vectors to five digits, without torch.

A search uses it to reorder the first formulas by the similarity of their nodes to the query's; an index stores none of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import WEIGHTS
from mathamr.core.tensorfile import read_arrays
from mathamr.formulas.tree import Tree
from mathamr.formulas.trees import Trees
from mathamr.graphs.formulashard import FormulaTrees
from mathamr.systems.formulafolder import read_formula_folder
from mathamr.systems.layers.numpylayers import (
    Convolution,
    RelationEdges,
    floats,
    group_edges,
    normalise_layer,
    normalise_rows,
    weights_below,
)
from mathamr.systems.models import model_folder

KIND = "formula-graph"
VIEWS = ("opt", "slt")
"""The views in the order of `Trees`."""


class NumpyNodes:
    """Both networks of a model folder, for inference."""

    def __init__(self, folder: Path) -> None:
        _, self._labels = read_formula_folder(folder, KIND)
        weights, kinds = read_arrays(folder / WEIGHTS), self._labels.types()
        try:
            self._views = {view: _View(weights_below(weights, f"views.{view}."), kinds) for view in VIEWS}
        except (KeyError, ValueError) as error:
            raise MathAMRError(f"{folder / WEIGHTS} lacks the weights of a view: {error}") from error

    def vectors(self, view: str, trees: Sequence[Tree]) -> tuple[FloatArray, AnyArray]:
        """Return the unit vectors of all nodes of some trees, and the index at which each tree begins."""
        numbers = FormulaTrees.of(trees, self._labels, view)
        return self._views[view](numbers), numbers.starts

    def alike(self, query: Trees, others: Sequence[Trees]) -> list[float]:
        """Return how much of the query each of the other formulas contains, in the view where that is more."""
        return [float(each) for each in self.by_view(query, others).max(axis=0)]

    def by_view(self, query: Trees, others: Sequence[Trees]) -> FloatArray:
        """Compute MaxSim over nodes (Amador and Zanibbi, equation 4): one row per view, one column per other formula.

        A view that either formula lacks scores 0, and so does a formula that is similar to nothing in the query.
        """
        found = np.zeros((len(VIEWS), len(others)), np.float32)
        for place, view in enumerate(VIEWS):
            there = [number for number, trees in enumerate(others) if trees[place] is not None]
            query_tree = query[place]
            if query_tree is None or not there:
                continue
            trees = [tree for number in there if (tree := others[number][place]) is not None]
            rows, starts = self.vectors(view, [query_tree, *trees])
            ours, theirs = rows[: starts[1]], rows[starts[1] :]
            similar = np.maximum.reduceat(ours @ theirs.T, starts[1:-1] - starts[1], axis=1)
            found[place, there] = np.maximum(similar.mean(axis=0), 0)
        return found


@lru_cache(maxsize=4)
def nodes_of(model: str) -> NumpyNodes:
    """Load the networks of a model by its name, once per process."""
    return NumpyNodes(model_folder(model))


class _View:
    """Embeddings of labels and types, relational layers with ReLU, and a projection (equation 1)."""

    def __init__(self, weights: Mapping[str, AnyArray], kinds: AnyArray) -> None:
        self._embedding, self._kinds = weights["embedding.weight"], kinds
        self._types = weights.get("types.weight")
        count = len({name.split(".")[1] for name in weights if name.startswith("norms.")})
        self._layers = [
            _Layer(weights_below(weights, f"norms.{number}."), weights_below(weights, f"layers.{number}."))
            for number in range(count)
        ]
        self._projection, self._bias = (floats(weights[f"projection.{part}"]) for part in ("weight", "bias"))

    def __call__(self, trees: FormulaTrees) -> FloatArray:
        x = floats(self._embedding[trees.labels])
        if self._types is not None:
            x += self._types[self._kinds[trees.labels]]
        edges = _edges(trees)
        for layer in self._layers:
            x = layer(x, edges)
        x = x @ self._projection.T + self._bias
        return normalise_rows(x)


class _Layer:
    """One residual layer: x + ReLU(RGCN(LayerNorm(x)))."""

    def __init__(self, norm: Mapping[str, AnyArray], convolution: Mapping[str, AnyArray]) -> None:
        self._weight, self._shift = (floats(norm[part]) for part in ("weight", "bias"))
        self._convolution = Convolution(convolution)

    def __call__(self, x: FloatArray, edges: Sequence[RelationEdges]) -> FloatArray:
        out = self._convolution(normalise_layer(x, self._weight, self._shift), edges)
        found: FloatArray = x + np.maximum(out, 0)
        return found


def _edges(trees: FormulaTrees) -> list[RelationEdges]:
    """Return the edges of trees in both directions; the inverse of relation 2 r is 2 r + 1."""
    above = trees.above()
    down = np.flatnonzero(above >= 0)
    up, relation = above[down], 2 * trees.edges[down].astype(np.int64)
    return group_edges(
        np.concatenate([up, down]), np.concatenate([down, up]), np.concatenate([relation, relation + 1])
    )
