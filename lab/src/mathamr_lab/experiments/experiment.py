"""`Experiment`: a question put to variants of the system, declared as data; the stages know how to answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mathamr.graphs.configuration import GraphConfiguration

Means = Mapping[str, float]
Spreads = Mapping[str, tuple[float, float]]
Column = Literal["seconds", "memory", "parameters", "index", "vectors", "rate"]
Ranking = Literal["maxsim", "rerank", "single"]

JUDGED = ("nDCG'", "MAP'", "P'@10", "Bpref")
"""The measures of the thesis's tables (section 4.2)."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How posts are ranked (thesis, section 3.5.2), exactly or with an approximate index.

    `pool` is the share of all candidates that the document vectors hand over to be reranked: the thesis's 5,000 and
    1,000 of 33,771 posts, so that a smaller collection is cut as sharply. What is not reranked follows.
    """

    ranking: Ranking = "maxsim"
    exact: bool = True
    pool: float = 1.0

    @property
    def name(self) -> str:
        """For folders and tables.

        >>> Strategy("rerank", exact=False, pool=0.03).name
        'rerank-3-approximate'
        """
        pool = f"-{100 * self.pool:g}" if self.ranking == "rerank" else ""
        return f"{self.ranking}{pool}{'' if self.exact else '-approximate'}"

    def pool_size(self, candidates: int) -> int:
        """How many candidates are reranked; at least ten, at most all."""
        return min(candidates, max(10, round(self.pool * candidates)))


THESIS_GRAPHS = GraphConfiguration()
MAXSIM = Strategy()
SINGLE = Strategy("single")


@dataclass(frozen=True, slots=True)
class Published:
    """What the thesis printed for a variant: its best seed, mean and deviation over seeds, and costs.

    `stars` are the measures it found significant; `costs` are in the units of our tables (seconds, GB, MB).
    """

    best: Means = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    spread: Spreads = field(default_factory=dict)
    costs: Mapping[Column, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        best: tuple[float, ...] = (),
        stars: tuple[str, ...] = (),
        spread: tuple[tuple[float, float], ...] = (),
        costs: Mapping[Column, float] | None = None,
    ) -> Published:
        """Figures in the order of `JUDGED`.

        >>> Published.of((0.497, 0.150, 0.217, 0.228)).best["P'@10"]
        0.217
        """
        return cls(
            dict(zip(JUDGED, best, strict=False)),
            stars,
            dict(zip(JUDGED, spread, strict=False)),
            costs or {},
        )


@dataclass(frozen=True, slots=True)
class Variant:
    """One condition: how graphs are made, what of the configuration is changed, how posts are ranked.

    `cells` are its row's first cells in a table. `baseline` names the variant it is tested against.
    """

    name: str
    cells: tuple[str, ...]
    graphs: GraphConfiguration = THESIS_GRAPHS
    changes: tuple[str, ...] = ()
    strategy: Strategy = MAXSIM
    baseline: str | None = None
    published: Published = Published()


@dataclass(frozen=True, slots=True)
class CitedSystem:
    """A system of other authors, as the thesis cites it, on one task."""

    name: str
    task: Literal["answers", "formulas"]
    figures: Means


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question, its variants, and where the thesis has the same tables.

    `tables` are the thesis's tables of best seeds, of means and of costs, "" where it has none. `columns` are the
    costs that matter. `scale` is the configuration it runs with unless another one is asked for. `formulas` says
    whether formula retrieval belongs to the question, too. `pivot` sets variants that differ in the last cell
    side by side, as Table 4.17 does, with the measures it names.
    """

    name: str
    title: str
    section: str
    question: str
    heads: tuple[str, ...]
    variants: tuple[Variant, ...]
    tables: tuple[str, str, str]
    columns: tuple[Column, ...] = ("seconds", "memory", "parameters", "index", "rate")
    scale: str = "thesis"
    formulas: bool = True
    systems: tuple[CitedSystem, ...] = ()
    pivot: tuple[str, ...] = ()

    def variant(self, name: str) -> Variant:
        """The variant of that name."""
        return next(variant for variant in self.variants if variant.name == name)
