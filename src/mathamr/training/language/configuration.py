"""`TextTraining`: how the text encoder is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mathamr.errors import MathAMRError


@dataclass(frozen=True, slots=True)
class TextTraining:
    """How the text encoder is trained.

    `beta` weighs MaxSim over a post's parts against the vectors of whole posts, as for the graph network. A batch
    is made of groups of `neighbours` pairs that the model of the last epoch finds alike; 1 is an order by chance.
    `projection` is the size of a vector, `head_rate` the rate of the projection, which starts at random.
    """

    batch_size: int = 256
    epochs: int = 5
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

    def __post_init__(self) -> None:
        for name, low, high in (
            ("batch_size", 2, 1e6),
            ("epochs", 1, 1e6),
            ("learning_rate", 0, 1),
            ("head_rate", 0, 1),
            ("warmup", 0, 0.9),
            ("weight_decay", 0, 10),
            ("temperature", 1e-3, 100),
            ("clip", 1e-9, 1e9),
            ("beta", 0, 1),
            ("neighbours", 1, 1e6),
            ("projection", 1, 1e5),
            ("validation", 0, 0.9),
            ("seed", 0, 2**63 - 1),
        ):
            if not low <= getattr(self, name) <= high:
                raise MathAMRError(
                    f"the text training's {name} is from {low:g} to {high:g}, not {getattr(self, name)}"
                )

    def to_json(self) -> dict[str, Any]:
        """For cards."""
        return asdict(self)
