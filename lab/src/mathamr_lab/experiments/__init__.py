"""The papers' experiments by name: each a declaration, run in stages that are never done twice."""

from __future__ import annotations

from mathamr.core.registry import Registry
from mathamr_lab.experiments.experiment import Experiment
from mathamr_lab.experiments.formulaexperiment import FormulaExperiment

_DECLARATIONS = "mathamr_lab.experiments.declarations"

EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment",
    {
        "formula-representations": f"{_DECLARATIONS}.formularepresentations:EXPERIMENT",
        "virtual-nodes": f"{_DECLARATIONS}.virtualnodes:EXPERIMENT",
        "connectivity": f"{_DECLARATIONS}.connectivity:EXPERIMENT",
        "initialisation": f"{_DECLARATIONS}.initialisation:EXPERIMENT",
        "retrieval-strategies": f"{_DECLARATIONS}.retrievalstrategies:EXPERIMENT",
        "document-loss": f"{_DECLARATIONS}.documentloss:EXPERIMENT",
        "benchmark": f"{_DECLARATIONS}.benchmark:EXPERIMENT",
    },
)

FORMULA_EXPERIMENTS: Registry[FormulaExperiment] = Registry(
    "experiment",
    {
        "formula-graph-pairings": f"{_DECLARATIONS}.formulagraphpairings:EXPERIMENT",
        "ssemb-ablation": f"{_DECLARATIONS}.ssembablation:EXPERIMENT",
        "ssemb-fusion": f"{_DECLARATIONS}.ssembfusion:EXPERIMENT",
    },
)
"""Those of systems that read formulas alone: they need no graphs of posts."""
