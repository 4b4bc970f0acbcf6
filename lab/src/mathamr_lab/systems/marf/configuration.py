"""How MaRF's parts are trained, and the named configurations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.systems.marf.configuration import CONFIGURATIONS, MarfConfiguration
from mathamr_lab.recipes.recipe import TrainingSettings
from mathamr_lab.training.settings import Ranges, TrainingConfiguration

STAGES = ("words", "context", "formulas", "fusion", "join")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTraining(TrainingConfiguration):
    """The training of one part; `length` cuts what it reads of a post, and `pairs` bounds those of an epoch (0: no bound)."""

    title: ClassVar[str] = "training of MaRF"
    ranges: ClassVar[Ranges] = {"length": (3, 512), "pairs": (0, 1e9), "validation": (0, 0.9)}

    temperature: float = 0.03
    length: int = 160
    pairs: int = 0
    validation: float = 0.04


@dataclass(frozen=True, slots=True, kw_only=True)
class MarfTraining:
    """The sizes of MaRF and the training of each part."""

    model: MarfConfiguration
    parts: dict[str, PartTraining]
    stages: tuple[str, ...]

    def of(self, stage: str) -> PartTraining:
        """Returns the training of a stage."""
        return self.parts[stage]


_PARTS = {
    "words": PartTraining(epochs=1, learning_rate=5e-4, length=128),
    "context": PartTraining(epochs=3),
    "formulas": PartTraining(epochs=6, batch_size=256, learning_rate=5e-4, temperature=0.05),
    "fusion": PartTraining(epochs=2, learning_rate=5e-4),
}


def marf_training(settings: TrainingSettings) -> MarfTraining:
    """Returns the configuration for a training's settings; changes of ``model`` change the sizes."""
    if settings.config == "paper":
        raise MathAMRError(
            "MaRF as published is trained and measured by: mathamr experiment marf-benchmark --set marf.base=BASE; no index loads"
            f" such a model. Configurations of a model for an index: {', '.join(CONFIGURATIONS)}"
        )
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked((*STAGES, "model", "all"))
    parts = {name: part.changed([*settings.of("all"), *settings.of(name)]) for name, part in _PARTS.items()}
    return MarfTraining(
        model=CONFIGURATIONS[settings.config].changed(settings.of("model")),
        parts=parts,
        stages=tuple(stage for stage in STAGES if not settings.stages or stage in settings.stages),
    )
