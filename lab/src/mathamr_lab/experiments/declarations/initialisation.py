"""How should virtual nodes start? (thesis, section 4.3.4)"""

from __future__ import annotations

from mathamr_lab.experiments.experiment import Experiment, Published, Variant

EXPERIMENT = Experiment(
    name="initialisation",
    title="Virtual node initialisation",
    section="4.3.4",
    question="Does it matter with which vector a virtual node starts?",
    heads=("Init value", "Learned"),
    tables=("", "4.13", "4.14"),
    variants=(
        Variant(
            "zero",
            ("Zero", "None"),
            changes=("virtual_start=zero",),
            published=Published.of(
                spread=((0.467, 0.003), (0.134, 0.005), (0.199, 0.005), (0.217, 0.005)),
                costs={"seconds": 455.184, "parameters": 7.917e6},
            ),
        ),
        Variant(
            "zero-embedding",
            ("Zero", "Embedding"),
            baseline="zero",
            published=Published.of(
                spread=((0.483, 0.004), (0.145, 0.003), (0.206, 0.008), (0.215, 0.006)),
                costs={"seconds": 455.343, "parameters": 7.917e6},
            ),
        ),
        Variant(
            "random-embedding",
            ("Random", "Embedding"),
            changes=("virtual_start=random-embedding",),
            baseline="zero",
            published=Published.of(
                spread=((0.476, 0.007), (0.139, 0.006), (0.200, 0.008), (0.217, 0.005)),
                costs={"seconds": 456.293, "parameters": 7.917e6},
            ),
        ),
        Variant(
            "mean",
            ("Mean-pooled", "None"),
            changes=("virtual_start=mean",),
            baseline="zero",
            published=Published.of(
                spread=((0.470, 0.008), (0.134, 0.005), (0.201, 0.010), (0.215, 0.006)),
                costs={"seconds": 460.883, "parameters": 7.917e6},
            ),
        ),
        Variant(
            "mean-projection",
            ("Mean-pooled", "Projection"),
            changes=("virtual_start=mean-projection",),
            baseline="zero",
            published=Published.of(
                spread=((0.477, 0.010), (0.138, 0.006), (0.204, 0.002), (0.219, 0.002)),
                costs={"seconds": 459.146, "parameters": 7.921e6},
            ),
        ),
        Variant(
            "mean-typed-projection",
            ("Mean-pooled", "Typed proj."),
            changes=("virtual_start=mean-typed-projection",),
            baseline="zero",
            published=Published.of(
                spread=((0.477, 0.005), (0.137, 0.003), (0.204, 0.007), (0.213, 0.007)),
                costs={"seconds": 468.075, "parameters": 7.929e6},
            ),
        ),
    ),
)
