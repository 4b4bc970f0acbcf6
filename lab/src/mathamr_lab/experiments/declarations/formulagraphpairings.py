"""Which pairs of graphs should formula graphs be trained on, and how are both views' scores made one?"""

from __future__ import annotations

from mathamr_lab.experiments.formulaexperiment import BASELINES, LEXICAL, FormulaExperiment, FormulaVariant

_MEASURES = ("nDCG'", "MAP'", "P'@10")


def _row(name: str, pairing: str, ranking: str, *published: float) -> FormulaVariant:
    figures = dict(zip(_MEASURES, published, strict=True))
    return FormulaVariant(name, "formula-graph", "paper", (f"nodes.pairing={pairing}",), ranking, figures)


def _ours(name: str, ranking: str, config: str, *changes: str) -> FormulaVariant:
    return FormulaVariant(name, "formula-graph", config, changes, ranking)


_ALL = "inner+outer"
_NAMELESS = ("nodes.types=true", "nodes.variables=0.5", "nodes.numbers=0.3")
"""Nodes know their type, and the second graph of a pair has other letters and numbers."""

EXPERIMENT = FormulaExperiment(
    name="formula-graph-pairings",
    title="Pairings of formula graphs, and fusions of both views",
    source="Amador and Zanibbi, ICTIR 2025, Table 2 (ARQMath-3, 76 topics, 9.3 million formulas)",
    question="Do layout and operators help each other in training, and how should their scores be fused?",
    baseline="SLG",
    beside=LEXICAL,
    scale=("nodes.formulas=50000", "nodes.epochs=3", "nodes.largest=150"),
    variants=(
        _row("SLG", "slg", "layout", 0.649, 0.446, 0.547),
        _row("OPG", "opg", "operators", 0.682, 0.476, 0.587),
        _row("SLG+OPG MAX", "slg+opg", "max", 0.690, 0.498, 0.591),
        _row("Inner MAX", "inner", "max", 0.694, 0.497, 0.600),
        _row("Outer MAX", "outer", "max", 0.693, 0.496, 0.599),
        _row("Inner+Outer MAX", _ALL, "max", 0.701, 0.505, 0.597),
        _row("Inner+Outer AVG", _ALL, "mean", 0.684, 0.486, 0.581),
        _row("Inner+Outer F1", _ALL, "f1", 0.670, 0.475, 0.576),
        _row("Inner+Outer RRF", _ALL, "rrf", 0.678, 0.485, 0.599),
        _ours("Inner+Outer, both ways, MAX", "mutual max", "paper", f"nodes.pairing={_ALL}"),
        _ours("Inner+Outer, both ways, AVG", "mutual mean", "paper", f"nodes.pairing={_ALL}"),
        _ours("types and renaming, MAX", "max", "paper", *_NAMELESS),
        _ours("types and renaming, both ways, MAX", "mutual max", "paper", *_NAMELESS),
        _ours("taught, MAX", "max", "box"),
        _ours("taught, AVG", "mean", "box"),
        _ours("taught, both ways, MAX", "mutual max", "box"),
        _ours("taught, both ways, AVG", "mutual mean", "box"),
        _ours("in the box, MAX", "max", ""),
        _ours("in the box, AVG", "mean", ""),
        _ours("in the box, both ways, MAX", "mutual max", ""),
        *BASELINES,
    ),
)
