"""`NodeTraining`: how formula graphs are trained, and the named configurations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from mathamr.core.configured import changed, check_ranges
from mathamr.core.errors import UnknownNameError
from mathamr.systems.formulagraph.network import FormulaGraphConfiguration
from mathamr_lab.systems.formulagraph.pairing import pairing
from mathamr_lab.training.schedule import DESCENT_RANGES


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTraining:
    """How both networks are trained; pairing and temperature are the paper's.

    `rare` labels, which occur less often, count as their type. `variables` and `numbers` are the shares of formulas
    whose second graph is renamed. `contrast` weighs the loss of the paper, `teacher` one that learns the order of a teacher. `largest` leaves out formulas with more nodes,
    and of the others at most `formulas` are drawn. `precision` ``auto`` is bfloat16 on a GPU.
    """

    pairing: str = "inner+outer"
    batch_size: int = 256
    epochs: int = 4
    learning_rate: float = 2e-3
    minimum_rate: float = 1e-4
    warmup: float = 0.05
    weight_decay: float = 1e-3
    temperature: float = 0.1
    clip: float = 1.0
    rare: int = 5
    variables: float = 0.0
    numbers: float = 0.0
    contrast: float = 1.0
    teacher: float = 0.0
    teacher_temperature: float = 0.05
    largest: int = 2000
    formulas: int = 10_000_000
    validation: int = 1000
    seed: int = 0
    precision: str = "auto"

    def __post_init__(self) -> None:
        pairing(self.pairing)
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise UnknownNameError("precision", self.precision, ["auto", "float32", "bfloat16"])
        check_ranges(
            self,
            "training",
            {
                **DESCENT_RANGES,
                "rare": (1, 1e9),
                "variables": (0, 1),
                "numbers": (0, 1),
                "contrast": (0, 1000),
                "teacher": (0, 1000),
                "formulas": (2, 1e12),
                "teacher_temperature": (1e-3, 100),
                "largest": (1, 1e9),
                "validation": (0, 1e7),
            },
        )

    def to_json(self) -> dict[str, Any]:
        """For checkpoints and cards."""
        return asdict(self)


SHAPES = {
    "box": FormulaGraphConfiguration(types=True),
    "paper": FormulaGraphConfiguration(hidden=100, size=100),
    "small": FormulaGraphConfiguration(hidden=16, size=8, layers=2, bases=4),
}
TRAININGS = {
    "box": NodeTraining(
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
    "paper": NodeTraining(),
    "small": NodeTraining(batch_size=16, epochs=2, rare=1, validation=20),
}
"""By name: that of the model in the box, the paper's, and a quick one to try things with."""


def configured(name: str, changes: Iterable[str]) -> tuple[FormulaGraphConfiguration, NodeTraining]:
    """The named configuration with some fields changed.

    >>> model, training = configured("paper", ["size=32", "pairing=outer"])
    >>> model.size, training.pairing
    (32, 'outer')
    """
    if name not in TRAININGS:
        raise UnknownNameError("configuration", name, list(TRAININGS))
    found = changed({"model": SHAPES[name], "training": TRAININGS[name]}, changes)
    return found["model"], found["training"]
