"""Do edges between virtual nodes help? (thesis, section 4.3.3)"""

from __future__ import annotations

from mathamr.graphs.configuration import GraphConfiguration
from mathamr_lab.experiments.experiment import Experiment, Published, Variant

EXPERIMENT = Experiment(
    name="connectivity",
    title="Virtual node connectivity",
    section="4.3.3",
    question="Do auxiliary edges between the virtual nodes of sentences and formulas help, or do they blur them?",
    heads=("Aux. edges",),
    tables=("4.10", "4.11", "4.12"),
    variants=(
        Variant(
            "none",
            ("None",),
            published=Published.of(
                (0.431, 0.131, 0.212, 0.229),
                (),
                ((0.421, 0.008), (0.125, 0.004), (0.205, 0.014), (0.216, 0.008)),
                {"seconds": 628.3, "memory": 5.752},
            ),
        ),
        Variant(
            "sequential",
            ("Sequential",),
            GraphConfiguration(auxiliary="sequential"),
            baseline="none",
            published=Published.of(
                (0.423, 0.121, 0.194, 0.218),
                (),
                ((0.409, 0.011), (0.118, 0.004), (0.187, 0.009), (0.204, 0.008)),
                {"seconds": 646.0, "memory": 5.848},
            ),
        ),
        Variant(
            "circular",
            ("Circular",),
            GraphConfiguration(auxiliary="circular"),
            baseline="none",
            published=Published.of(
                (0.422, 0.125, 0.205, 0.213),
                (),
                ((0.409, 0.008), (0.119, 0.004), (0.188, 0.011), (0.205, 0.006)),
                {"seconds": 650.0, "memory": 5.852},
            ),
        ),
        Variant(
            "full",
            ("Fully connected",),
            GraphConfiguration(auxiliary="full"),
            baseline="none",
            published=Published.of(
                (0.420, 0.118, 0.181, 0.214),
                (),
                ((0.417, 0.004), (0.119, 0.004), (0.190, 0.013), (0.215, 0.002)),
                {"seconds": 870.4, "memory": 7.368},
            ),
        ),
    ),
)
