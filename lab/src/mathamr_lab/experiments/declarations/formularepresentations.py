"""Which trees of formulas does the graph need? (thesis, section 4.3.1)"""

from __future__ import annotations

from mathamr.graphs.configuration import GraphConfiguration
from mathamr_lab.experiments.experiment import JUDGED, Experiment, Published, Variant

EXPERIMENT = Experiment(
    name="formula-representations",
    title="Formula representations",
    section="4.3.1",
    question="Do operator trees and layout trees of formulas each add something to retrieval?",
    heads=("Formula mode",),
    tables=("4.6", "4.7", "4.8"),
    variants=(
        Variant(
            "both",
            ("Both (OPT+SLT)",),
            baseline="none",
            published=Published.of(
                (0.497, 0.150, 0.217, 0.228),
                JUDGED,
                ((0.494, 0.002), (0.147, 0.004), (0.211, 0.010), (0.224, 0.004)),
                {"seconds": 472.5, "memory": 52.3, "index": 145.6},
            ),
        ),
        Variant(
            "opt",
            ("OPT-only",),
            GraphConfiguration("opt"),
            baseline="none",
            published=Published.of(
                (0.496, 0.143, 0.199, 0.222),
                JUDGED,
                ((0.486, 0.007), (0.141, 0.004), (0.198, 0.010), (0.217, 0.008)),
                {"seconds": 362.4, "memory": 41.3, "index": 145.6},
            ),
        ),
        Variant(
            "slt",
            ("SLT-only",),
            GraphConfiguration("slt"),
            baseline="none",
            published=Published.of(
                (0.495, 0.147, 0.196, 0.213),
                JUDGED,
                ((0.488, 0.006), (0.141, 0.005), (0.197, 0.010), (0.217, 0.005)),
                {"seconds": 340.9, "memory": 36.3, "index": 145.6},
            ),
        ),
        Variant(
            "absent",
            ("None, placeholders dropped",),
            GraphConfiguration("absent"),
            baseline="none",
        ),
        Variant(
            "none",
            ("None",),
            GraphConfiguration("none"),
            published=Published.of(
                (0.404, 0.106, 0.167, 0.183),
                (),
                ((0.392, 0.009), (0.098, 0.005), (0.155, 0.011), (0.177, 0.006)),
                {"seconds": 262.1, "memory": 24.5, "index": 58.3},
            ),
        ),
    ),
)
