"""`TextTraining`: how the text encoder is trained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from mathamr.core.configured import changed, check_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTraining:
    """How the text encoder is trained.

    `beta` weighs MaxSim over a post's parts against the vectors of whole posts, as for the graph network. A batch
    is made of groups of `neighbours` pairs that the model of the last epoch finds alike; 1 is an order by chance.
    `projection` is the size of a vector, `head_rate` the rate of the projection, which starts at random.
    `last_epoch` ends training before the schedule of `epochs` does; zero is the last of them. `budget` bounds the
    word pieces in memory at a time, padding not counted: a larger batch is encoded in parts, twice. Parameters whose
    names begin with a word of `frozen` are not learned; `half` stores sixteen bits a number instead of eight. Without a
    `projection` the states themselves learn.
    """

    batch_size: int = 256
    epochs: int = 5
    last_epoch: int = 0
    patience: int = 5
    learning_rate: float = 1e-4
    head_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    temperature: float = 0.05
    clip: float = 1.0
    beta: float = 0.5
    neighbours: int = 32
    projection: int = 128
    validation: float = 0.1
    seed: int = 0
    budget: int = 1_000_000
    frozen: str = ""
    half: bool = False

    def __post_init__(self) -> None:
        check_ranges(
            self,
            "text training",
            {
                "batch_size": (2, 1e6),
                "epochs": (1, 1e6),
                "last_epoch": (0, 1e6),
                "patience": (1, 1e6),
                "learning_rate": (0, 1),
                "head_rate": (0, 1),
                "warmup": (0, 0.9),
                "weight_decay": (0, 10),
                "temperature": (1e-3, 100),
                "clip": (1e-9, 1e9),
                "beta": (0, 1),
                "neighbours": (1, 1e6),
                "projection": (0, 1e5),
                "validation": (0, 0.9),
                "seed": (0, 2**63 - 1),
                "budget": (1, 1e12),
            },
        )

    def to_json(self) -> dict[str, Any]:
        """For cards."""
        return asdict(self)


def text_training(changes: Iterable[str], base: TextTraining | None = None) -> TextTraining:
    """The training with some fields changed, each as ``name=value``.

    >>> text_training(["epochs=3", "beta=0.3"]).beta
    0.3
    """
    found = changed({"text training": base or TextTraining()}, changes)
    result: TextTraining = found["text training"]
    return result
