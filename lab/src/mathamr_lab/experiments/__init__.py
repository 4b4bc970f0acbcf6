"""The papers' experiments by name: each a declaration, run in stages that are never done twice."""

from __future__ import annotations

from mathamr.core.registry import Registry
from mathamr_lab.experiments.experiment import Experiment

_THESIS, _FORMULAS, _TEXT = (
    f"mathamr_lab.experiments.declarations.{name}" for name in ("thesis", "formulasystems", "textandformulas")
)

EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment",
    {
        "formula-representations": f"{_THESIS}:FORMULA_REPRESENTATIONS",
        "virtual-nodes": f"{_THESIS}:VIRTUAL_NODES",
        "connectivity": f"{_THESIS}:CONNECTIVITY",
        "initialisation": f"{_THESIS}:INITIALISATION",
        "retrieval-strategies": f"{_THESIS}:RETRIEVAL_STRATEGIES",
        "document-loss": f"{_THESIS}:DOCUMENT_LOSS",
        "benchmark": f"{_THESIS}:BENCHMARK",
        "linearised-graphs": f"{_THESIS}:LINEARISED",
        "formula-graph-pairings": f"{_FORMULAS}:PAIRINGS",
        "formula-graph-training": f"{_FORMULAS}:FORMULA_GRAPH_TRAINING",
        "ssemb-ablation": f"{_FORMULAS}:SSEMB_ABLATION",
        "ssemb-fusion": f"{_FORMULAS}:SSEMB_FUSION",
        "ssemb-training": f"{_FORMULAS}:SSEMB_TRAINING",
        "mathamr-contexts": f"{_TEXT}:CONTEXTS",
        "mathamr-rerank": f"{_TEXT}:RERANK",
        "marf-benchmark": f"{_TEXT}:BENCHMARK",
        "marf-scoring": f"{_TEXT}:SCORING",
        "marf-math-dominance": f"{_TEXT}:DOMINANCE",
    },
    group="mathamr.experiments",
)
