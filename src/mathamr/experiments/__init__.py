"""The thesis's experiments by name: each a declaration, run in stages that are never done twice."""

from __future__ import annotations

from mathamr.experiments.experiment import Experiment
from mathamr.registry import Registry

_DECLARATIONS = "mathamr.experiments.declarations"

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
