"""Which pairs of graphs should formula graphs be trained on, and how are both views' scores made one?"""

from __future__ import annotations

from mathamr.experiments.formulaexperiment import FormulaExperiment, FormulaVariant

_MEASURES = ("nDCG'", "MAP'", "P'@10")


def _row(name: str, pairing: str, ranking: str, *published: float) -> FormulaVariant:
    figures = dict(zip(_MEASURES, published, strict=True))
    return FormulaVariant(name, "formula-graph", "paper", (f"nodes.pairing={pairing}",), ranking, figures)


_ALL = "inner+outer"

EXPERIMENT = FormulaExperiment(
    name="formula-graph-pairings",
    title="Pairings of formula graphs, and fusions of both views",
    source="Amador and Zanibbi, ICTIR 2025, Table 2 (ARQMath-3, 76 topics, 9.3 million formulas)",
    question="Do layout and operators help each other in training, and how should their scores be fused?",
    baseline="SLG",
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
        FormulaVariant(
            "Inner+Outer, both ways, MAX", "formula-graph", "paper", (f"nodes.pairing={_ALL}",), "mutual max"
        ),
        FormulaVariant(
            "Inner+Outer, both ways, AVG", "formula-graph", "paper", (f"nodes.pairing={_ALL}",), "mutual mean"
        ),
        FormulaVariant("taught, MAX", "formula-graph", "box", ranking="max"),
        FormulaVariant("taught, both ways, MAX", "formula-graph", "box", ranking="mutual max"),
        FormulaVariant("taught, both ways, AVG", "formula-graph", "box", ranking="mutual mean"),
        FormulaVariant("parts of trees, BM25", ranking="shared parts"),
        FormulaVariant("alignment of trees", ranking="alignment"),
    ),
)
