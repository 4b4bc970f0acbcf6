"""Experiments as data: a question, the variants that answer it, and the paper's figures.

The three kinds differ in how they compute scores. A `GraphExperiment` trains graph networks on posts, a
`FormulaExperiment` systems that read formulas alone, and a `TrialExperiment` MathAMR or MaRF as published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from mathamr.graphs.configuration import GraphConfiguration
from mathamr.systems.ranking import Ranking
from mathamr_lab.papers import PAPERS

Means = Mapping[str, float]
Spreads = Mapping[str, tuple[float, float]]
Column = Literal["seconds", "memory", "parameters", "index", "vectors", "rate", "formulas", "formula rate"]
PoolKind = Literal["judged pool", "NTCIR-12"]
StrategyName = Literal["maxsim", "rerank", "single"]

FULL, SUBSET, SAMPLE, ASSESSED = "full collection", "judged subset", "training sample", "assessed formulas"
"""What published figures were measured on: everything; the 33,771 posts of the thesis's Tables 4.6 to 4.17, and the sample of pairs that
its experiments train on; or assessed formulas alone."""
JUDGED = ("nDCG'", "MAP'", "P'@10", "Bpref")
"""The measures of the thesis's tables (section 4.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A question of a paper, the `variants` that answer it, and where the paper has the same tables (`source`).

    `kind` says which plan runs it: a name of `planner.PLANS`.
    """

    kind: str
    name: str
    title: str
    question: str
    source: str = ""
    paper: str = ""
    """The key of its paper in `PAPERS`, if a paper has the experiment."""
    differs: str = ""
    """What differs from the paper, in a sentence; element by element in lab/notes/fidelity.md."""
    variants: tuple[Variant | FormulaVariant | TrialRow | SystemRow, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `mathamr experiment` that act on it, beside those that act on every experiment."""
        return ()

    @property
    def place(self) -> str:
        """Where its paper has the tables."""
        return self.source

    @property
    def beside(self) -> tuple[str, ...]:
        """The paper that its results stand beside, and what differs, for the report."""
        paper = PAPERS.get(self.paper)
        lines = (
            f"Paper: {paper} {self.place}." if paper else "",
            f"What differs: {self.differs}." if self.differs else "",
        )
        return tuple(filter(None, lines))

    @property
    def needs(self) -> str:
        """What it needs beside mathamr, "" for nothing."""
        return ""

    @property
    def pools(self) -> tuple[PoolKind, ...]:
        """The collections of formulas alone that it ranks, if a --corpus names one."""
        return ()

    @property
    def varied(self) -> frozenset[str]:
        """The fields that its own rows change; those of a user would change what a row is about."""
        return frozenset(change.partition("=")[0] for each in self.variants for change in each.changes)

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows of its tables."""
        return tuple(each.name for each in self.variants)


@dataclass(frozen=True, slots=True)
class Strategy:
    """How posts are ranked (thesis, section 3.5.2), exactly or with an approximate index.

    `pool` is the share of all candidates that the document vectors pass on to be reranked: the thesis's 5,000 and
    1,000 of 33,771 posts. The other candidates follow.
    """

    ranking: StrategyName = "maxsim"
    exact: bool = True
    pool: float = 1.0

    @property
    def name(self) -> str:
        """The name in folders and tables.

        >>> Strategy("rerank", exact=False, pool=0.03).name
        'rerank-3-approximate'
        """
        pool = f"-{100 * self.pool:g}" if self.ranking == "rerank" else ""
        return f"{self.ranking}{pool}{'' if self.exact else '-approximate'}"

    def pool_size(self, candidates: int) -> int:
        """Return how many candidates are reranked; at least ten, at most all."""
        return min(candidates, max(10, round(self.pool * candidates)))


THESIS_GRAPHS = GraphConfiguration()
MAXSIM = Strategy()
SINGLE = Strategy("single")


@dataclass(frozen=True, slots=True)
class Published:
    """The thesis's figures for a variant: its best seed, mean and deviation over seeds, and costs.

    `stars` are the measures it found significant; `costs` are in the units of our tables (seconds, GB, MB).
    """

    best: Means = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    spread: Spreads = field(default_factory=dict)
    costs: Mapping[Column, float] = field(default_factory=dict)
    formulas: Means = field(default_factory=dict)
    """Its figures of formula retrieval (Table 4.21), of one model."""

    @classmethod
    def of(
        cls,
        best: tuple[float, ...] = (),
        stars: tuple[str, ...] = (),
        spread: tuple[tuple[float, float], ...] = (),
        costs: Mapping[Column, float] | None = None,
        formulas: tuple[float, ...] = (),
    ) -> Published:
        """Create the figures from a list in the order of `JUDGED`.

        >>> Published.of((0.497, 0.150, 0.217, 0.228)).best["P'@10"]
        0.217
        """
        named = dict(zip(JUDGED, best, strict=False)), stars, dict(zip(JUDGED, spread, strict=False))
        return cls(*named, costs or {}, dict(zip(JUDGED, formulas, strict=False)))


@dataclass(frozen=True, slots=True)
class Variant:
    """One condition: how graphs are built, which settings are changed, how posts are ranked.

    `title` is what its row of a table is called. `baseline` names the variant it is tested against. With `reads` ``lines`` a
    sentence encoder reads the graphs as lines of MathAMR. `model` is one of the box that is not trained here, over
    graphs with `coreference` if that is wanted, and `is_untrained` keeps the first weights of one that would be trained.
    """

    name: str
    title: str
    graphs: GraphConfiguration = THESIS_GRAPHS
    changes: tuple[str, ...] = ()
    strategy: Strategy = MAXSIM
    baseline: str | None = None
    published: Published = Published()
    reads: Literal["graphs", "lines"] = "graphs"
    model: str = ""
    coreference: bool = False
    is_untrained: bool = False

    @property
    def learned(self) -> tuple[object, ...]:
        """What its model is trained by: variants with the same differ in how they rank."""
        return self.graphs, self.changes, self.reads, self.model, self.coreference, self.is_untrained


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphExperiment(Experiment):
    """Variants of the graph network, and the thesis's tables of best seeds, of means and of costs ("" for none).

    `columns` are the costs that matter. `scale` is the configuration it runs with by default. `formulas` says whether
    formula retrieval belongs to the question. `measures` are those of the thesis's table, if not all are tested.
    """

    kind: str = "graphs"
    paper: str = "yoon2026mathamrplus"
    differs: str = "the built-in AMR parser instead of IBM's, a sentence at a time; trees from LaTeX"
    section: str
    variants: tuple[Variant, ...]
    tables: tuple[str, str, str]
    formula_table: str = ""
    """The thesis's table of formula retrieval."""
    columns: tuple[Column, ...] = ("seconds", "memory", "parameters", "index", "rate")
    scale: str = "thesis"
    searched: str = SUBSET
    trained: str = SAMPLE
    """What the thesis's figures of retrieval, and its costs of training, were measured on."""
    formulas: bool = True
    measures: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `mathamr experiment` for graphs, pairs, models and engines."""
        return (
            *("accepted", "baseline", "engine", "judged-only", "parser"),
            *("parser-model", "scale", "store", "train", "without", "workers"),
        )

    @property
    def place(self) -> str:
        """The thesis's section and tables."""
        tables = ", ".join(dict.fromkeys(filter(None, (*self.tables, self.formula_table))))
        return f"section {self.section}, Tables {tables}"

    @property
    def needs(self) -> str:
        """A server, where rows are ranked with an approximate index."""
        return "a Qdrant server, MATHAMR_QDRANT_URL; not for --smallest" if self.is_approximate else ""

    @property
    def is_approximate(self) -> bool:
        """True if a variant is ranked with an approximate index."""
        return any(not variant.strategy.exact for variant in self.variants)


@dataclass(frozen=True, slots=True)
class FormulaVariant:
    """One row of a table: what is trained, and how its scores are turned into a ranking.

    `ranking` is one of its system (``structure``, ``max``, …); `others` are rankings without a network whose ranks are fused with it.
    Without a `system` the row is such a ranking alone, or `others` fused; without any of them its figures are `known` from
    elsewhere, by the name of a collection. `published` are the paper's.
    """

    name: str
    system: str = ""
    config: str = "paper"
    changes: tuple[str, ...] = ()
    ranking: str = ""
    published: Means = field(default_factory=dict)
    known: Mapping[str, Means] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    is_untrained: bool = False
    """True if the network keeps its random weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaExperiment(Experiment):
    """Variants in the order of the paper's table; the others are tested against those named in `baselines`.

    `scale` changes every training with the configuration ``paper``: how many formulas, how many epochs.
    """

    kind: str = "formulas"
    variants: tuple[FormulaVariant, ...]
    baselines: tuple[str, ...]
    measures: tuple[str, ...] = JUDGED
    scale: tuple[str, ...] = ()
    of_runs: Callable[[tuple[str, ...]], tuple[FormulaVariant, ...]] | None = None
    """The rows of runs of other systems, by their names, if such runs are compared."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `mathamr experiment` for formulas to learn from, models, and runs of other systems."""
        return ("train", *(("run",) if self.of_runs else ()))

    @property
    def pools(self) -> tuple[PoolKind, ...]:
        """Both kinds of collections of formulas alone: the judged pool and NTCIR-12."""
        return ("judged pool", "NTCIR-12")


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A row of a table of whole systems: a model and a strategy of its index, or several other rows fused.

    With a `recipe`, a name of `RECIPES`, the model is trained on the posts by its configuration `config`. `seed` names the field that
    takes the random seed, ``STAGE.FIELD``; a row without one is measured once.
    """

    name: str
    model: str = ""
    strategy: str | Ranking | None = None
    recipe: str = ""
    config: str = ""
    changes: tuple[str, ...] = ()
    seed: str = ""
    fused: tuple[str, ...] = ()
    fusion: str = "rrf"
    published: Means = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemExperiment(Experiment):
    """Whole systems compared as a user has them: posts indexed with a model, topics searched by a strategy.

    The other rows are tested against those named in `baselines`.
    """

    kind: str = "systems"
    variants: tuple[SystemRow, ...]
    baselines: tuple[str, ...] = ()
    measures: tuple[str, ...] = JUDGED

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `mathamr experiment` for the AMR parser, and for pairs that are not learned from."""
        return ("parser", "parser-model", "without", "workers")


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A row of MathAMR or MaRF: its name, the context or the part of MaRF that ranks, and what is changed in the training."""

    name: str
    part: str
    changes: tuple[str, ...] = ()
    published: Means = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTable:
    """Rows that are compared on one test set; the others are tested against the first row.

    `least` are shares of mathematics: there is a row for the topics above each of them. With `answers` the shares are those of the
    answers, and their recall is measured.
    """

    title: str
    test: str
    rows: tuple[TrialRow, ...]
    measures: tuple[str, ...]
    source: str = ""
    searched: str = FULL
    """What the paper's figures were measured on."""
    least: tuple[float, ...] = ()
    answers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialExperiment(Experiment):
    """The tables that answer a question about MathAMR or MaRF as published; both are trained by their recipes."""

    kind: Literal["contexts", "marf"]
    paper: str
    tables: tuple[TrialTable, ...]
    reranking: tuple[TrialRow, ...] = ()
    """The rows whose scores rerank runs of other systems."""
    variants: tuple[TrialRow, ...] = field(init=False)
    """The rows of all tables, each once."""

    def __post_init__(self) -> None:
        rows = (*(row for table in self.tables for row in table.rows), *self.reranking)
        object.__setattr__(self, "variants", tuple({row.name: row for row in rows}.values()))

    @property
    def pools(self) -> tuple[PoolKind, ...]:
        """NTCIR-12 for experiments with MaRF; none for others."""
        return ("NTCIR-12",) if self.kind == "marf" else ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `mathamr experiment` for sentences to parse, or for pairs to learn from."""
        own = ("parser", "parser-model") if self.kind == "contexts" else ("train", "without")
        return (*own, "run") if self.reranking else own
