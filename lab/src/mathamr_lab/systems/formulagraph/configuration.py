"""`NodeTraining`: how formula graphs are trained, and the named configurations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mathamr.systems.formulagraph.network import FormulaGraphConfiguration
from mathamr_lab.systems.formulagraph.pairing import pairing
from mathamr_lab.training.settings import FormulaTraining, Ranges, check_precision, named_configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTraining(FormulaTraining):
    """How both networks are trained; pairing and temperature are the paper's.

    Formulas with more than `largest` nodes are left out. `precision` ``auto`` is bfloat16 on a GPU.
    """

    ranges: ClassVar[Ranges] = {"largest": (1, 1e9)}

    pairing: str = "inner+outer"
    batch_size: int = 256
    epochs: int = 4
    learning_rate: float = 2e-3
    minimum_rate: float = 1e-4
    warmup: float = 0.05
    temperature: float = 0.1
    largest: int = 2000
    precision: str = "auto"

    def check(self) -> None:
        """Refuse an unknown pairing or precision."""
        pairing(self.pairing)
        check_precision(self.precision)


PUBLISHED = FormulaGraphConfiguration(hidden=100, size=100, printed=True)
Configurations = tuple[FormulaGraphConfiguration, NodeTraining]
CONFIGURATIONS: dict[str, Configurations] = {
    "box": (
        FormulaGraphConfiguration(types=True),
        NodeTraining(
            batch_size=384,
            epochs=8,
            variables=0.5,
            numbers=0.3,
            contrast=0.0,
            teacher=1.0,
            teacher_temperature=0.1,
            largest=150,
            formulas=100_000,
        ),
    ),
    "paper": (PUBLISHED, NodeTraining()),
    "near": (
        PUBLISHED,
        NodeTraining(contrast=0.0, near=1.0, shared=0.75, epochs=2, formulas=193_000, largest=150),
    ),
    "small": (
        FormulaGraphConfiguration(hidden=16, size=8, layers=2, bases=4),
        NodeTraining(batch_size=16, epochs=2, rare=1, validation=20),
    ),
}
"""By name: the model in the box, the paper's, its network trained to find near formulas, and a quick one to try things with."""


def configured(name: str, changes: Iterable[str]) -> Configurations:
    """Return the named configuration with some fields changed.

    >>> model, training = configured("small", ["size=32", "pairing=outer"])
    >>> model.size, training.pairing
    (32, 'outer')
    """
    return named_configuration(name, CONFIGURATIONS, changes)
