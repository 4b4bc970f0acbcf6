"""Formula graphs: a vector for every node of the layout and of the operators, compared by MaxSim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch

from mathamr.formulas.tree import Tree
from mathamr.graphs.formulashard import FormulaLabels, FormulaTrees
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.formulagraph.batch import batch_of, whole
from mathamr.systems.formulagraph.network import FormulaGraphConfiguration, FormulaGraphNetwork
from mathamr.systems.formulasystem import FormulaSystem
from mathamr.systems.layers.stack import packed
from mathamr.systems.nodematch import TreeMatch, View, most_similar
from mathamr.systems.ranking import (
    Aligned,
    Component,
    Fuse,
    Lexical,
    MaxSim,
    Mutual,
    NearestRows,
    Promote,
    Ranking,
    Rankings,
    Rerank,
)
from mathamr.systems.system import Encoded, Item, Need, VisualFormula
from mathamr.systems.vectors import Vectors

LAYOUT, OPERATORS = "layout", "operators"
VIEW_OF = {LAYOUT: "slt", OPERATORS: "opt"}
NODES = 20_000
"""The number of nodes that are encoded at a time; a larger formula is encoded alone."""
VISUALS = 512
ROWS = 20
"""The number of nearest nodes through which each node of the query finds candidates (section 4)."""
POOL = 100
"""The number of top-ranked visual classes whose trees are aligned with the query's."""
MUTUAL_POOL = 300
"""The number of top-ranked visual classes that are compared in both directions."""


def _views(
    fusion: str, normalisation: str | None = "none", *, total: bool = True, near: bool = False
) -> Fuse:
    """Return the fusion of both views by exact MaxSim: sums over the query's nodes (equation 4), or means without `total`.

    With `near`, each node first finds candidates by one nearest-neighbour query (section 4): for engines that
    find nearest rows without scanning all of them. In an engine that scans all rows anyway, MaxSim itself is faster.
    """
    views: dict[str, Ranking] = {field: MaxSim(field, total) for field in VIEW_OF}
    if near:
        views = {
            field: Rerank(first=NearestRows(field, rows=ROWS), then=then) for field, then in views.items()
        }
    parts = tuple(Component(field, ranking) for field, ranking in views.items())
    return Fuse(parts=parts, fusion=fusion, normalisation=normalisation)


def _summed(*parts: Component) -> Fuse:
    return Fuse(parts=parts, fusion="weighted-sum", normalisation="top")


_MUTUAL = Fuse(
    parts=(Component(LAYOUT, Mutual(LAYOUT)), Component(OPERATORS, Mutual(OPERATORS))),
    fusion="max",
    normalisation="none",
)
_LEXICAL = Component("lexical", Lexical(), 1.0)
_NODES = Component("nodes", _views("max", total=False), 0.8)
_ALIGNED = Component("aligned", Aligned(), 0.1)
"""The weight of each part, with scores as shares of the best; chosen by cross-validation over topics (lab/notes/ranking.md)."""


class FormulaGraphSystem(FormulaSystem[FormulaGraphNetwork]):
    """Represents visual classes by the vectors of the nodes of both their trees; posts have no vectors."""

    kind: ClassVar[str] = "formula-graph"
    needs: ClassVar[frozenset[Need]] = frozenset({"trees"})
    rankings: ClassVar[Rankings] = {
        "formulas": {
            "hybrid": Promote(
                Rerank(
                    first=_summed(_LEXICAL, _NODES),
                    then=_summed(_LEXICAL, _NODES, _ALIGNED),
                    pool=POOL,
                    keeps_rest=True,
                )
            ),
            "mutual": Rerank(
                first=_views("max", total=False), then=_MUTUAL, pool=MUTUAL_POOL, keeps_rest=True
            ),
            "max": _views("max"),
            "mean": _views("mean"),
            "f1": _views("f1"),
            "rrf": _views("rrf", None),
            "normalised": _views("max", total=False),
            "layout": MaxSim(LAYOUT),
            "operators": MaxSim(OPERATORS),
            "near": _views("max", near=True),
            "lexical": Lexical(),
        }
    }

    @property
    def fields(self) -> tuple[Field, ...]:
        """One row per node, in one field per view."""
        size = self.network.configuration.size
        return tuple(Field(name=name, of="visual", size=size, many=True) for name in VIEW_OF)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield no vectors: posts are found only by their formulas."""
        return (Encoded(id=item.post.id) for item in items)

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        """Yield a row for every node of each tree that a visual class has."""
        stream = iter(visuals)
        while chosen := list(islice(stream, VISUALS)):
            found: list[dict[str, Vectors]] = [{} for _ in chosen]
            for field, view in VIEW_OF.items():
                trees = [visual.slt if view == "slt" else visual.opt for visual in chosen]
                there = [(place, tree) for place, tree in enumerate(trees) if tree is not None]
                rows = self.node_vectors(view, [tree for _, tree in there])
                for (place, _), vectors in zip(there, rows, strict=True):
                    found[place][field] = vectors
            yield from found

    def node_vectors(self, view: str, trees: Sequence[Tree]) -> Iterator[Vectors]:
        """Yield the vectors of the nodes of trees of one view, tree by tree."""
        numbers = FormulaTrees.of(trees, self.labels, view)
        self.network.eval()
        for run in packed(enumerate(np.diff(numbers.starts).tolist()), NODES):
            chosen = np.array(run)
            with torch.inference_mode():
                batch = batch_of(numbers, chosen, whole(numbers, chosen)).to(self._device)
                rows = self.network(view, batch).float().cpu().numpy()
            ends = batch.starts.cpu().numpy()[1:-1]
            for vectors in np.split(rows, ends):
                yield Vectors(
                    vectors.copy(),
                    np.full(len(vectors), Level.NODE, np.int8),
                    tuple(map(str, range(len(vectors)))),
                )

    def match_nodes(self, query: VisualFormula, found: VisualFormula) -> Sequence[TreeMatch]:
        """Match every node of the query with a node of the found formula, by view, with MaxSim in both directions."""
        matches: list[TreeMatch] = []
        views: tuple[tuple[View, Tree | None, Tree | None], ...] = (
            ("opt", query.opt, found.opt),
            ("slt", query.slt, found.slt),
        )
        for view, ours, theirs in views:
            if ours is None or theirs is None:
                continue
            rows, others = (each.vectors for each in self.node_vectors(view, [ours, theirs]))
            similar = rows @ others.T
            there, back = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
            score = 2 * there * back / (there + back) if there > 0 and back > 0 else 0.0
            matches.append(TreeMatch(view, score, most_similar(similar)))
        return matches

    @staticmethod
    def made_network(model: dict[str, Any], labels: FormulaLabels) -> FormulaGraphNetwork:
        """Return a network of the shape that a configuration describes."""
        return FormulaGraphNetwork(FormulaGraphConfiguration.from_json(model), labels)
