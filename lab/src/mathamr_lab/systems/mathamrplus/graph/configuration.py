"""`GraphTraining`: how the graph network is trained, and the named configurations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from mathamr.core.configured import changed
from mathamr.core.errors import UnknownNameError
from mathamr.systems.mathamrplus.configuration import ModelConfiguration, model_configuration
from mathamr_lab.training.settings import Precision, Ranges, TrainingConfiguration, check_precision

Monitor = Literal["loss", "mrr"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTraining(TrainingConfiguration):
    """The training of the graph network; the defaults are the thesis's (Table 4.5).

    `beta` weighs MaxSim against the document vectors
    (equation 4.2); zero trains the document vector alone. `monitor` chooses the figure for early stopping and the best
    epoch. `budget` bounds the nodes and edges in memory at a time: a larger batch is encoded in parts, twice, with the same
    result. `precision` ``auto`` is bfloat16 on a GPU.
    """

    ranges: ClassVar[Ranges] = {
        "patience": (1, 1e6),
        "node_mask": (0, 0.99),
        "edge_drop": (0, 0.99),
        "beta": (0, 1),
        "validation": (0, 0.9),
        "budget": (1, 1e12),
    }

    batch_size: int = 32
    epochs: int = 7
    learning_rate: float = 1e-4
    minimum_rate: float = 1e-5
    weight_decay: float = 1e-3
    warmup: float = 0.0
    patience: int = 3
    monitor: Monitor = "loss"
    node_mask: float = 0.1
    edge_drop: float = 0.1
    beta: float = 1.0
    validation: float = 0.1
    budget: int = 2_000_000
    precision: Precision = "auto"

    def check(self) -> None:
        """Refuse an unknown measure to monitor or an unknown precision."""
        check_precision(self.precision)
        if self.monitor not in get_args(Monitor):
            raise UnknownNameError("measure to monitor", self.monitor, list(get_args(Monitor)))


TRAININGS = {
    "thesis": GraphTraining(),
    "thesis-full": GraphTraining(batch_size=16, learning_rate=5e-4, beta=0.3),
    "small": GraphTraining(batch_size=16, epochs=8, learning_rate=3e-3, minimum_rate=1e-4),
    "box": GraphTraining(
        batch_size=256,
        epochs=14,
        learning_rate=2e-3,
        warmup=0.05,
        beta=0.7,
        node_mask=0.15,
        edge_drop=0.15,
        monitor="mrr",
    ),
}
"""By name: Tables 4.5 and 4.18 of the thesis, a quick one for trials, and that of the model in the box."""


def configured(name: str, changes: Iterable[str]) -> tuple[ModelConfiguration, GraphTraining]:
    """Return the named configuration with some fields changed.

    >>> model, training = configured("thesis", ["hidden=128", "beta=0.3", "virtual_start=mean"])
    >>> model.hidden, model.virtual_start, training.beta
    (128, 'mean', 0.3)
    """
    found = changed({"model": model_configuration(name), "training": TRAININGS[name]}, changes)
    return found["model"], found["training"]
