"""Does the hierarchy of virtual nodes earn its place? (thesis, section 4.3.2)"""

from __future__ import annotations

from mathamr.graphs.configuration import GraphConfiguration
from mathamr_lab.experiments.experiment import SINGLE, Experiment, Published, Variant

EXPERIMENT = Experiment(
    name="virtual-nodes",
    title="Virtual node structure",
    section="4.3.2",
    question="Is the hierarchy of formula, sentence and document nodes better than simpler ways to sum up a post?",
    heads=("VN structure", "Retrieval"),
    tables=("4.9", "", ""),
    variants=(
        Variant(
            "hierarchy",
            ("Full hierarchy", "MaxSim"),
            published=Published.of((0.461, 0.145, 0.221, 0.235)),
        ),
        Variant(
            "none",
            ("No VNs", "MaxSim"),
            GraphConfiguration(structure="none"),
            baseline="hierarchy",
            published=Published.of((0.368, 0.109, 0.183, 0.228), ("nDCG'", "MAP'")),
        ),
        Variant(
            "global",
            ("Global VN", "MaxSim"),
            GraphConfiguration(structure="global"),
            baseline="hierarchy",
            published=Published.of((0.459, 0.129, 0.199, 0.217)),
        ),
        Variant(
            "global-single",
            ("Global VN", "Single-vector"),
            GraphConfiguration(structure="global"),
            ("beta=0.0",),
            SINGLE,
            baseline="hierarchy",
            published=Published.of((0.486, 0.134, 0.182, 0.229)),
        ),
    ),
)
