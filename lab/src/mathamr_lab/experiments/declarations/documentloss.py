"""Does a loss on document vectors pay? (thesis, section 4.4.2)"""

from __future__ import annotations

from mathamr_lab.experiments.declarations.retrievalstrategies import SMALL
from mathamr_lab.experiments.experiment import MAXSIM, SINGLE, Experiment, Published, Strategy, Variant

_STRATEGIES = (
    ("maxsim", "ColBERT MaxSim", MAXSIM),
    ("rerank", "Doc-VN + MaxSim", Strategy("rerank", pool=SMALL)),
    ("single", "Single-vector", SINGLE),
)
# beta -> (nDCG', P'@10, significant measures) of each strategy: Table 4.17.
_THESIS = {
    1.0: ((0.454, 0.209, ()), (0.352, 0.191, ()), (0.330, 0.142, ())),
    0.7: ((0.454, 0.210, ()), (0.412, 0.210, ("nDCG'",)), (0.396, 0.165, ("nDCG'",))),
    0.5: ((0.452, 0.200, ()), (0.421, 0.194, ("nDCG'",)), (0.405, 0.167, ("nDCG'",))),
    0.3: ((0.454, 0.210, ()), (0.432, 0.204, ("nDCG'",)), (0.411, 0.165, ("nDCG'",))),
    0.0: ((0.365, 0.200, ("nDCG'",)), (0.437, 0.196, ("nDCG'",)), (0.425, 0.176, ("nDCG'", "P'@10"))),
}

EXPERIMENT = Experiment(
    name="document-loss",
    title="Auxiliary document-level loss",
    section="4.4.2",
    question="Does training the document vector directly close the gap of the faster ways of ranking?",
    heads=("Loss weight", "Retrieval"),
    tables=("4.17", "", ""),
    columns=("seconds", "memory", "rate"),
    formulas=False,
    pivot=("nDCG'", "P'@10"),
    variants=tuple(
        Variant(
            f"beta-{beta:g}-{name}",
            (f"β = {beta:g}", label),
            changes=() if beta == 1 else (f"beta={beta}",),
            strategy=strategy,
            baseline=None if beta == 1 else f"beta-1-{name}",
            published=Published({"nDCG'": figures[0], "P'@10": figures[1]}, figures[2]),
        )
        for beta, row in _THESIS.items()
        for (name, label, strategy), figures in zip(_STRATEGIES, row, strict=True)
    ),
)
