"""How MaRF's parts are trained, and the named configurations of the whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from mathamr.core.configured import changed, check_ranges
from mathamr.core.errors import UnknownNameError
from mathamr.systems.marf.configuration import CONFIGURATIONS, MarfConfiguration
from mathamr_lab.recipes.recipe import TrainingSettings

STAGES = ("words", "context", "formulas", "fusion", "join")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTraining:
    """How one part learns; `temperature` divides the similarities of its contrast, `length` cuts what it reads of a post.

    `pairs` bounds the pairs or posts of an epoch, none by 0.
    """

    batch_size: int = 128
    epochs: int = 3
    learning_rate: float = 3e-4
    warmup: float = 0.1
    temperature: float = 0.03
    length: int = 160
    pairs: int = 0
    validation: float = 0.04
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(
            self,
            "training of MaRF",
            {
                "batch_size": (2, 1e6),
                "epochs": (1, 1e6),
                "learning_rate": (0, 1),
                "warmup": (0, 0.9),
                "temperature": (1e-3, 100),
                "length": (3, 512),
                "pairs": (0, 1e9),
                "validation": (0, 0.9),
            },
        )

    def to_json(self) -> dict[str, Any]:
        """For cards and checkpoints."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarfTraining:
    """The sizes of MaRF and how each part learns."""

    model: MarfConfiguration
    parts: dict[str, PartTraining]
    stages: tuple[str, ...]

    def of(self, stage: str) -> PartTraining:
        """How a stage learns."""
        return self.parts[stage]


_PARTS = {
    "words": PartTraining(epochs=1, learning_rate=5e-4, length=128),
    "context": PartTraining(epochs=3),
    "formulas": PartTraining(epochs=6, batch_size=256, learning_rate=5e-4, temperature=0.05),
    "fusion": PartTraining(epochs=2, learning_rate=5e-4),
}


def marf_training(settings: TrainingSettings) -> MarfTraining:
    """The whole configuration of a training's settings; changes of ``model`` are of the sizes."""
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked((*STAGES, "model", "all"))
    parts = {
        name: changed({name: part}, [*settings.of("all"), *settings.of(name)])[name]
        for name, part in _PARTS.items()
    }
    return MarfTraining(
        model=CONFIGURATIONS[settings.config].changed(settings.of("model")),
        parts={name: replace(part) for name, part in parts.items()},
        stages=tuple(stage for stage in STAGES if not settings.stages or stage in settings.stages),
    )
