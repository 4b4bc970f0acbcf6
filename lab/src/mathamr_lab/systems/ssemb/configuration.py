"""`StructTraining`: how StructEmb is trained, and the named configurations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mathamr.systems.ssemb.context import MINILM
from mathamr.systems.ssemb.network import StructEmbConfiguration
from mathamr.systems.ssemb.system import READER
from mathamr_lab.systems.ssemb.augmentation import AugmentationConfiguration
from mathamr_lab.training.settings import FormulaTraining, Ranges, named_configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class StructTraining(FormulaTraining):
    """The training of the network; the defaults are the paper's (section 3.1.3), except for the rate.

    Formulas with fewer than `smallest` nodes are left out. `reader` is the text encoder that the trained model reads
    contexts with, which is not trained ("": none, for structures alone); with `windows` it reads the text around each formula alone,
    as published.
    """

    ranges: ClassVar[Ranges] = {"smallest": (1, 1e6)}

    batch_size: int = 2560
    epochs: int = 25
    learning_rate: float = 1e-3
    minimum_rate: float = 1e-5
    warmup: float = 0.05
    weight_decay: float = 0.0
    temperature: float = 0.1
    rare: int = 11
    smallest: int = 3
    validation: int = 2000
    reader: str = READER
    windows: bool = False


PUBLISHED = StructEmbConfiguration(size=400, edge_labels=False, norm="batch")
Configurations = tuple[StructEmbConfiguration, AugmentationConfiguration, StructTraining]
CONFIGURATIONS: dict[str, Configurations] = {
    "box": (
        StructEmbConfiguration(edge_labels=True),
        AugmentationConfiguration(),
        StructTraining(epochs=30, variables=0.5, numbers=0.3, contrast=0.3, teacher=1.0, formulas=100_000),
    ),
    "paper": (
        PUBLISHED,
        AugmentationConfiguration(),
        StructTraining(
            learning_rate=1e-4, minimum_rate=1e-4, warmup=0, clip=1e9, reader=MINILM, windows=True
        ),
    ),
    "near": (
        PUBLISHED,
        AugmentationConfiguration(),
        StructTraining(contrast=0.0, near=1.0, shared=0.75, formulas=100_000),
    ),
    "small": (
        StructEmbConfiguration(size=16),
        AugmentationConfiguration(),
        StructTraining(batch_size=16, epochs=2, rare=1, smallest=1, validation=20),
    ),
}
"""By name: that of the model in the box, the paper's, its network trained to find near formulas, and a quick one for trials."""


def configured(name: str, changes: Iterable[str]) -> Configurations:
    """Return the named configuration with some fields changed.

    >>> model, augmentation, training = configured("paper", ["size=64", "kind=attribute", "epochs=2"])
    >>> model.size, augmentation.kind, training.epochs
    (64, 'attribute', 2)
    """
    return named_configuration(name, CONFIGURATIONS, changes)
