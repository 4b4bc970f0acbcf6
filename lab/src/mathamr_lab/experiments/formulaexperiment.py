"""`FormulaExperiment`: a question put to systems that read formulas alone, declared as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FormulaVariant:
    """One row of a table: what is trained, and how its scores rank.

    `ranking` is one of those that `formulascores.fused` gives (``max``, ``mutual mean``, ``structure``, …). `share` is what it
    counts beside the text around formulas; `others` are ways to rank without a network, whose ranks are fused with it.
    Without a `system` the row is one such way alone; without a ranking, too, it is known from elsewhere. `published` are
    the figures of the paper, `known` ours by the name of a collection. Without a `config` the model is the one in the box.
    """

    name: str
    system: str = ""
    config: str = "paper"
    changes: tuple[str, ...] = ()
    ranking: str = ""
    published: Mapping[str, float] = field(default_factory=dict)
    known: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    share: float = 1.0
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormulaExperiment:
    """Variants in the order of the paper's table; `baseline` names the one that others are tested against."""

    name: str
    title: str
    source: str
    question: str
    variants: tuple[FormulaVariant, ...]
    baseline: str
    beside: str = ""
    """A second row that others are tested against."""
    measures: tuple[str, ...] = ("nDCG'", "MAP'", "P'@10", "Bpref")
    scale: tuple[str, ...] = ()
    """Changes of every training as in the paper: how many formulas, how many epochs. Other configurations have their own."""


LEXICAL = "lexical"
"""The row that says what our own search finds by words and parts of trees."""
BASELINES = (
    FormulaVariant("BM25, LaTeX n-grams", ranking="BM25, LaTeX n-grams"),
    FormulaVariant("BM25, layout tuples", ranking="BM25, layout tuples"),
    FormulaVariant("BM25, operator tuples", ranking="BM25, operator tuples"),
    FormulaVariant(LEXICAL, ranking="lexical"),
    FormulaVariant("Tangent-S, layout trees", known={"pool of ARQMath-1": {"nDCG'": 0.810}}),
    FormulaVariant("Tangent-S, operator trees", known={"pool of ARQMath-1": {"nDCG'": 0.799}}),
    FormulaVariant("alignment of trees", ranking="alignment"),
)
"""Ways to rank without a network, which every table shows; of Tangent-S' stored orders only the mean is known."""
