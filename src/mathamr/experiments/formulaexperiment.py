"""`FormulaExperiment`: a question put to systems that read formulas alone, declared as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FormulaVariant:
    """One row of a table: what is trained, and how its scores rank.

    `ranking` is one of those that `formulascores.fused` gives (``max``, ``mutual mean``, ``structure``, …); ``with context``
    adds the text around formulas, ``NAME, rrf`` fuses the ranking with the run of another way to rank. Without a `system` the
    row is that other way alone. `published` are the figures of the paper.
    """

    name: str
    system: str = ""
    config: str = "paper"
    changes: tuple[str, ...] = ()
    ranking: str = ""
    published: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FormulaExperiment:
    """Variants in the order of the paper's table; `baseline` names the one that others are tested against."""

    name: str
    title: str
    source: str
    question: str
    variants: tuple[FormulaVariant, ...]
    baseline: str
    measures: tuple[str, ...] = ("nDCG'", "MAP'", "P'@10", "Bpref")
    scale: tuple[str, ...] = ()
    """Changes of every training: how many formulas, how many epochs."""


OTHERS = ("shared parts", "alignment")
"""Ways to rank without a network: BM25 over parts of trees, and the alignment of trees."""
